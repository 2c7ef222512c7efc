use crate::fiber::Wait;
use crate::servers::Lock;
use crate::threads::Threads;

/// Lets threads go on when so many have come, again and again.
pub struct Barrier<K: Threads> {
    members: usize,
    state: K::Lock<State<K>>,
}

struct State<K: Threads> {
    arrived: usize,
    waiting: K::WaitQueue,
}

impl<K: Threads> Barrier<K> {
    /// A barrier for so many threads; at least one.
    pub fn new(members: usize) -> Self {
        Barrier {
            members: members.max(1),
            state: K::Lock::new(State {
                arrived: 0,
                waiting: K::WaitQueue::default(),
            }),
        }
    }

    /// Waits for the others; whether the caller came last.
    #[track_caller]
    pub fn wait(&self) -> bool {
        let wait = Wait::on("a barrier");
        let _entered = K::enter();
        let mut state = self.state.lock();
        state.arrived += 1;
        if state.arrived < self.members {
            K::enqueue(&mut state.waiting, wait);
            K::park(state);
            return false;
        }
        state.arrived = 0;
        let mut waiting = std::mem::take(&mut state.waiting);
        drop(state);
        while let Some(sleeper) = K::dequeue(&mut waiting) {
            K::wake(sleeper);
        }
        true
    }
}
