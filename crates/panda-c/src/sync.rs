//! Mutexes, conditions, semaphores and barriers between threads of one process, fibers or not.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon_panda::session::must_not_wait;
use antiphon_panda::thread::{Barrier, Condition, Mutex, MutexGuard, Semaphore};

use crate::given::{given, time};
use crate::status::{Failure, entry, freed, panda_status, value};

/// Mutual exclusion. Unlocking passes the mutex to the thread that has waited longest. An upcall
/// may lock it, so hold it only to read or change the guarded data, and during no wait but a
/// condition's.
pub struct panda_mutex {
    // The guard goes first: it refers to the mutex.
    guard: UnsafeCell<Option<MutexGuard<'static, ()>>>,
    mutex: Box<Mutex<()>>,
    is_locked: AtomicBool,
}

// SAFETY: only the holder of the mutex touches the guard's place.
unsafe impl Sync for panda_mutex {}

impl panda_mutex {
    /// Returns the mutex with the lifetime of its guards.
    fn mutex(&self) -> &'static Mutex<()> {
        // SAFETY: it does not move, and is freed after the guard.
        unsafe { &*std::ptr::from_ref(&*self.mutex) }
    }

    fn put(&self, guard: MutexGuard<'static, ()>) {
        self.is_locked.store(true, Ordering::Relaxed);
        // SAFETY: the caller holds the mutex, so the place is its own, and empty.
        unsafe { *self.guard.get() = Some(guard) };
    }

    /// Takes the holder's guard.
    fn take(&self) -> Result<MutexGuard<'static, ()>, Failure> {
        let was_locked = self.is_locked.swap(false, Ordering::Relaxed);
        let is_free = || Failure::argument("mutex", "is not locked");
        if !was_locked {
            return Err(is_free());
        }
        // SAFETY: the caller promises to hold it, and it is checked to be held.
        unsafe { (*self.guard.get()).take() }.ok_or_else(is_free)
    }
}

/// A condition variable: signal and continue, without spurious wake-ups.
pub struct panda_condition {
    condition: Condition,
}

/// A counting semaphore. A unit goes to the thread that has waited longest.
pub struct panda_semaphore {
    semaphore: Semaphore,
}

/// A barrier for a number of threads of this process. Between processes it is panda_comm_barrier().
pub struct panda_barrier {
    barrier: Barrier,
}

/// Returns a free mutex, which the caller frees, as the others below.
#[unsafe(no_mangle)]
pub extern "C" fn panda_mutex_new() -> *mut panda_mutex {
    Box::into_raw(Box::new(panda_mutex {
        guard: UnsafeCell::new(None),
        mutex: Box::new(Mutex::new(())),
        is_locked: AtomicBool::new(false),
    }))
}

/// Frees a mutex that no thread uses. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_mutex_free(mutex: Option<Box<panda_mutex>>) {
    freed("panda_mutex_free", mutex);
}

/// Locks the mutex, and waits for it. A thread that has it already waits for ever.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_mutex_lock(mutex: Option<&panda_mutex>) -> panda_status {
    entry("panda_mutex_lock", || {
        let mutex = given(mutex, "mutex")?;
        mutex.put(mutex.mutex().lock());
        Ok(())
    })
}

/// Locks the mutex if it is free.
///
/// Errors: PANDA_NOT_NOW: it is locked; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_mutex_trylock(mutex: Option<&panda_mutex>) -> panda_status {
    entry("panda_mutex_trylock", || {
        let mutex = given(mutex, "mutex")?;
        let guard = mutex.mutex().try_lock().ok_or(Failure::NotNow)?;
        mutex.put(guard);
        Ok(())
    })
}

/// Unlocks a mutex that the caller has.
///
/// Errors: PANDA_BAD_ARGUMENT, also if it is not locked.
#[unsafe(no_mangle)]
pub extern "C" fn panda_mutex_unlock(mutex: Option<&panda_mutex>) -> panda_status {
    entry("panda_mutex_unlock", || {
        drop(given(mutex, "mutex")?.take()?);
        Ok(())
    })
}

/// Returns a condition without waiting threads.
#[unsafe(no_mangle)]
pub extern "C" fn panda_condition_new() -> *mut panda_condition {
    let condition = Condition::new();
    Box::into_raw(Box::new(panda_condition { condition }))
}

/// Frees a condition that no thread uses. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_condition_free(condition: Option<Box<panda_condition>>) {
    freed("panda_condition_free", condition);
}

/// Unlocks the mutex, which the caller has, and waits for a signal for a time at most, in
/// nanoseconds or PANDA_FOREVER. It locks the mutex again in any case.
///
/// Errors: PANDA_TIMED_OUT: no signal came; PANDA_IN_UPCALL and PANDA_BAD_ARGUMENT, without having
/// unlocked.
#[unsafe(no_mangle)]
pub extern "C" fn panda_condition_wait(
    condition: Option<&panda_condition>,
    mutex: Option<&panda_mutex>,
    timeout_ns: u64,
) -> panda_status {
    entry("panda_condition_wait", || {
        let condition = &given(condition, "condition")?.condition;
        let mutex = given(mutex, "mutex")?;
        must_not_wait()?;
        let mut guard = mutex.take()?;
        let is_signalled = match time(timeout_ns) {
            None => {
                condition.wait(&mut guard);
                true
            }
            Some(time) => condition.wait_for(&mut guard, time),
        };
        mutex.put(guard);
        match is_signalled {
            true => Ok(()),
            false => Err(Failure::TimedOut("no signal came in time")),
        }
    })
}

/// Wakes the thread that has waited longest, if there is one.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_condition_signal(condition: Option<&panda_condition>) -> panda_status {
    entry("panda_condition_signal", || {
        given(condition, "condition")?.condition.signal();
        Ok(())
    })
}

/// Wakes all threads that wait now.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_condition_broadcast(condition: Option<&panda_condition>) -> panda_status {
    entry("panda_condition_broadcast", || {
        given(condition, "condition")?.condition.broadcast();
        Ok(())
    })
}

/// The most with which a semaphore begins. No program counts from here to where the number would
/// wrap, or down to 0. So it behaves as one of a greater value.
const MOST: u64 = u64::MAX / 2;

/// Returns a semaphore with this value.
#[unsafe(no_mangle)]
pub extern "C" fn panda_semaphore_new(value: u64) -> *mut panda_semaphore {
    let semaphore = Semaphore::new(value.min(MOST));
    Box::into_raw(Box::new(panda_semaphore { semaphore }))
}

/// Frees a semaphore that no thread uses. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_semaphore_free(semaphore: Option<Box<panda_semaphore>>) {
    freed("panda_semaphore_free", semaphore);
}

/// P: takes a unit, and waits for one if there is none.
///
/// Errors: PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_semaphore_wait(semaphore: Option<&panda_semaphore>) -> panda_status {
    entry("panda_semaphore_wait", || {
        let semaphore = &given(semaphore, "semaphore")?.semaphore;
        must_not_wait()?;
        semaphore.p();
        Ok(())
    })
}

/// Takes a unit if there is one.
///
/// Errors: PANDA_NOT_NOW: there is none; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_semaphore_trywait(semaphore: Option<&panda_semaphore>) -> panda_status {
    entry("panda_semaphore_trywait", || {
        match given(semaphore, "semaphore")?.semaphore.try_p() {
            true => Ok(()),
            false => Err(Failure::NotNow),
        }
    })
}

/// V: adds a unit.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_semaphore_post(semaphore: Option<&panda_semaphore>) -> panda_status {
    entry("panda_semaphore_post", || {
        given(semaphore, "semaphore")?.semaphore.v();
        Ok(())
    })
}

/// Returns how many units a semaphore has now. When the caller reads the number, it may have
/// changed. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_semaphore_value(semaphore: Option<&panda_semaphore>) -> u64 {
    value("panda_semaphore_value", 0, || {
        Ok(given(semaphore, "semaphore")?.semaphore.value())
    })
}

/// Returns a barrier for this many threads, at least one.
#[unsafe(no_mangle)]
pub extern "C" fn panda_barrier_new(threads: usize) -> *mut panda_barrier {
    let barrier = Barrier::new(threads);
    Box::into_raw(Box::new(panda_barrier { barrier }))
}

/// Frees a barrier that no thread uses. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_barrier_free(barrier: Option<Box<panda_barrier>>) {
    freed("panda_barrier_free", barrier);
}

/// Waits for the others. `is_last`, which may be NULL, tells whether the caller came last.
///
/// Errors: PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_barrier_wait(
    barrier: Option<&panda_barrier>,
    is_last: Option<&mut MaybeUninit<bool>>,
) -> panda_status {
    entry("panda_barrier_wait", || {
        let barrier = &given(barrier, "barrier")?.barrier;
        must_not_wait()?;
        let came_last = barrier.wait();
        is_last.map(|is_last| is_last.write(came_last));
        Ok(())
    })
}
