//! A caller's array, lent to an operation until the caller takes it back. The only place where a borrow is turned into a pointer: the protocols hold what has no lifetime.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;

/// The array, for those who work on it.
pub struct Lent<T> {
    /// Points to an array that nobody else reads or writes, for as long as it is there.
    array: Mutex<Option<NonNull<[T]>>>,
}

// SAFETY: it is used by one thread at a time, with the lock held, as a `&mut [T]` is that was sent there.
unsafe impl<T: Send> Send for Lent<T> {}
// SAFETY: as above; a shared reference gives nothing without the lock.
unsafe impl<T: Send> Sync for Lent<T> {}

/// Takes the array back when it is dropped.
pub struct Loan<'a, T> {
    lent: Arc<Lent<T>>,
    array: PhantomData<&'a mut [T]>,
}

/// Lends an array while something is done. What is lent is not used any more when that has returned.
pub fn lend<T, R>(array: &mut [T], act: impl FnOnce(&Arc<Lent<T>>) -> R) -> R {
    let lent = Arc::new(Lent {
        array: Mutex::new(Some(NonNull::from(array))),
    });
    // Never handed out, so that it is dropped whatever `act` does.
    let loan = Loan {
        lent,
        array: PhantomData,
    };
    act(&loan.lent)
}

impl<T> Lent<T> {
    /// Works on the array; nothing if it was taken back.
    pub fn with<R>(&self, act: impl FnOnce(&mut [T]) -> R) -> Option<R> {
        let mut array = self.array.lock();
        let pointer = array.as_mut()?;
        // SAFETY: it is there, so the caller's borrow lasts, and goes on until the lock is let go of, since who takes it back waits for that. The lock gives it to one at a time.
        Some(act(unsafe { pointer.as_mut() }))
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        // Waits for who works on it.
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
