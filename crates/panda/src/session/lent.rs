//! A caller's array, lent to an operation until the caller takes it back. Only here a borrow
//! becomes a pointer: the protocols hold values without a lifetime.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;

/// The array, for the threads that work on it.
pub struct Lent<T> {
    /// Points to an array that no other code reads or writes while it is `Some`.
    array: Mutex<Option<NonNull<[T]>>>,
}

// SAFETY: one thread at a time uses the array, under the lock. That is as if it had been sent a
// `&mut [T]`, which `T: Send` allows.
unsafe impl<T: Send> Send for Lent<T> {}
// SAFETY: a shared reference gives access only under the lock, so one thread at a time uses the
// array.
unsafe impl<T: Send> Sync for Lent<T> {}

/// A loan, whose drop takes the array back.
pub struct Loan<'a, T> {
    lent: Arc<Lent<T>>,
    array: PhantomData<&'a mut [T]>,
}

/// Lends an array to `act`. The array is not used any more when `act` has returned.
pub fn lend<T, R>(array: &mut [T], act: impl FnOnce(&Arc<Lent<T>>) -> R) -> R {
    let lent = Arc::new(Lent {
        array: Mutex::new(Some(NonNull::from(array))),
    });
    // The loan is never handed out, so it is dropped whatever `act` does.
    let loan = Loan {
        lent,
        array: PhantomData,
    };
    act(&loan.lent)
}

impl<T> Lent<T> {
    /// Runs `act` on the array; returns `None` if it was taken back.
    pub fn with<R>(&self, act: impl FnOnce(&mut [T]) -> R) -> Option<R> {
        let mut array = self.array.lock();
        let pointer = array.as_mut()?;
        // SAFETY: the pointer is there, so the caller's borrow lasts. It lasts until the lock is
        // released, since the taker waits for the lock. The lock gives the array to one thread at a
        // time.
        Some(act(unsafe { pointer.as_mut() }))
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        // The lock waits for a thread that works on the array.
        *self.lent.array.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_back_is_not_there() {
        let mut array = [1, 2, 3];
        let kept = lend(&mut array, |lent| {
            assert_eq!(lent.with(|array| array[1] += 40), Some(()));
            lent.clone()
        });
        assert_eq!(kept.with(|_| ()), None);
        assert_eq!(array, [1, 42, 3]);
    }

    #[test]
    fn it_is_taken_back_from_who_panics() {
        let mut array = [1];
        let mut kept = None;
        let act = std::panic::AssertUnwindSafe(|| {
            lend(&mut array, |lent| {
                kept = Some(lent.clone());
                std::panic::resume_unwind(Box::new("on purpose"));
            })
        });
        assert!(std::panic::catch_unwind(act).is_err());
        assert_eq!(kept.and_then(|kept| kept.with(|_| ())), None);
    }
}
