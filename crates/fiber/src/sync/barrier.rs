use crate::fiber::Wait;
use crate::servers::Lock;
use crate::threads::Threads;

/// A barrier, which lets threads go on when a given number has come, again and again.
pub struct Barrier<K: Threads> {
    members: usize,
    waiting: K::Lock<K::WaitQueue>,
}

impl<K: Threads> Barrier<K> {
    /// Makes a barrier for so many threads; at least one.
    pub fn new(members: usize) -> Self {
        Barrier {
            members: members.max(1),
            waiting: K::Lock::new(K::WaitQueue::default()),
        }
    }

    /// Waits for the others, and returns whether the caller came last.
    #[track_caller]
    pub fn wait(&self) -> bool {
        let wait = Wait::on("a barrier");
        let _entered = K::enter();
        let mut waiting = self.waiting.lock();
        if K::waiting(&mut waiting) + 1 < self.members {
            K::enqueue(&mut waiting, wait);
            K::park(waiting);
            return false;
        }
        let mut arrived = std::mem::take(&mut *waiting);
        drop(waiting);
        while let Some(sleeper) = K::dequeue(&mut arrived) {
            K::wake(sleeper);
        }
        true
    }
}
