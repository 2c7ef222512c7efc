//! One job server or several. The run-time is generic over this, so that it has no atomics, or only
//! the necessary ones.

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::server::Server;

/// All fibers run on one processor: locks are none and counts are plain.
#[derive(Debug, Clone, Copy)]
pub struct One;

/// Fibers run on several processors at once.
#[derive(Debug, Clone, Copy)]
pub struct Many;

/// [`One`] or [`Many`].
pub trait Servers: sealed::Sealed + Sized + 'static {
    /// Whether fibers may run at the same time.
    const SEVERAL: bool;
    /// A lock around a value, held for a few instructions.
    type Lock<V>: Lock<V>;
    /// A count that fibers share.
    type Word: Word;
    /// A value that fibers share.
    type Ref<V>: Clone + Deref<Target = V>;

    /// Shares a value.
    fn share<V>(value: V) -> Self::Ref<V>;
    /// Returns the job server of the calling OS thread; null outside of one. The caller must not
    /// keep it over a switch, since the fiber may go on elsewhere.
    #[doc(hidden)]
    fn server() -> *const Server<Self>;
    #[doc(hidden)]
    fn set_server(server: *const Server<Self>);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::One {}
    impl Sealed for super::Many {}
}

/// A lock held for a few instructions, never over a switch of the holder's making.
pub trait Lock<V> {
    /// The right to the value.
    type Guard<'a>: DerefMut<Target = V>
    where
        Self: 'a,
        V: 'a;
    /// Makes a lock that no thread holds.
    fn new(value: V) -> Self;
    /// Takes the lock.
    fn lock(&self) -> Self::Guard<'_>;
    /// Keeps the lock taken after the guard is gone. The next fiber or server on this processor
    /// releases it.
    fn keep(guard: Self::Guard<'_>) -> HeldLock;
}

/// A lock that outlives its guard.
#[derive(Debug, Clone, Copy)]
#[must_use = "a lock that is not let go of is held for ever"]
pub struct HeldLock(Option<(*const (), LetGo)>);

/// Function that releases the lock at an address.
type LetGo = unsafe fn(*const ());

impl HeldLock {
    /// No lock: threads that block by themselves release it before they do.
    pub const NONE: HeldLock = HeldLock(None);

    /// Releases the lock.
    ///
    /// # Safety
    ///
    /// The lock still lives, and this OS thread holds it by [`Lock::keep`].
    #[inline]
    pub(crate) unsafe fn let_go(self) {
        if let Some((lock, let_go)) = self.0 {
            // SAFETY: by this function's contract the lock lives and this thread holds it.
            unsafe { let_go(lock) }
        }
    }
}

/// A count shared by fibers.
pub trait Word: Default {
    /// Returns the value.
    fn get(&self) -> u64;
    /// Sets the value. A reader that must not miss it reads after a fence, or under a lock that the
    /// caller holds. A store that waited for others to see it would cost a third of a yield.
    fn set(&self, value: u64);
    /// Adds, with wrap-around, and returns the value before.
    fn add(&self, by: u64) -> u64;
    /// Replaces `from` by `to`, and returns whether it was `from`.
    fn replace(&self, from: u64, to: u64) -> bool;
}

impl Word for Cell<u64> {
    #[inline]
    fn get(&self) -> u64 {
        Cell::get(self)
    }
    #[inline]
    fn set(&self, value: u64) {
        Cell::set(self, value);
    }
    #[inline]
    fn add(&self, by: u64) -> u64 {
        let before = Cell::get(self);
        Cell::set(self, before.wrapping_add(by));
        before
    }
    #[inline]
    fn replace(&self, from: u64, to: u64) -> bool {
        let is_equal = Cell::get(self) == from;
        if is_equal {
            Cell::set(self, to);
        }
        is_equal
    }
}

impl Word for AtomicU64 {
    #[inline]
    fn get(&self) -> u64 {
        self.load(Ordering::SeqCst)
    }
    #[inline]
    fn set(&self, value: u64) {
        self.store(value, Ordering::Release);
    }
    #[inline]
    fn add(&self, by: u64) -> u64 {
        self.fetch_add(by, Ordering::SeqCst)
    }
    #[inline]
    fn replace(&self, from: u64, to: u64) -> bool {
        self.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

/// The lock of a single processor. No second holder can come, since its holder does not switch.
#[derive(Debug, Default)]
pub struct Alone<V> {
    value: UnsafeCell<V>,
    is_held: Cell<bool>,
}

/// The right to the value of an [`Alone`].
#[derive(Debug)]
pub struct AloneGuard<'a, V>(&'a Alone<V>);

impl<V> Lock<V> for Alone<V> {
    type Guard<'a>
        = AloneGuard<'a, V>
    where
        V: 'a;

    fn new(value: V) -> Self {
        Alone {
            value: UnsafeCell::new(value),
            is_held: Cell::new(false),
        }
    }

    #[inline]
    fn lock(&self) -> AloneGuard<'_, V> {
        // Only code of this crate runs while it is held, and none of that code switches. A second
        // holder would be a bug here.
        assert!(!self.is_held.replace(true), "a lock was taken twice");
        AloneGuard(self)
    }

    #[inline]
    fn keep(guard: AloneGuard<'_, V>) -> HeldLock {
        drop(guard);
        HeldLock::NONE
    }
}

impl<V> Deref for AloneGuard<'_, V> {
    type Target = V;
    #[inline]
    fn deref(&self) -> &V {
        // SAFETY: `is_held` admits one guard at a time, and `Alone` is not `Sync`.
        unsafe { &*self.0.value.get() }
    }
}

impl<V> DerefMut for AloneGuard<'_, V> {
    #[inline]
    fn deref_mut(&mut self) -> &mut V {
        // SAFETY: `is_held` admits one guard at a time, and the guard is borrowed exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<V> Drop for AloneGuard<'_, V> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_held.set(false);
    }
}

impl<V> Lock<V> for parking_lot::Mutex<V> {
    type Guard<'a>
        = parking_lot::MutexGuard<'a, V>
    where
        V: 'a;

    fn new(value: V) -> Self {
        parking_lot::Mutex::new(value)
    }

    #[inline]
    fn lock(&self) -> parking_lot::MutexGuard<'_, V> {
        parking_lot::Mutex::lock(self)
    }

    #[inline]
    fn keep(guard: parking_lot::MutexGuard<'_, V>) -> HeldLock {
        unsafe fn let_go<V>(lock: *const ()) {
            // SAFETY: the contract of `HeldLock::let_go` says that it is that lock, alive and held.
            // Its guard was forgotten below.
            unsafe { (*lock.cast::<parking_lot::Mutex<V>>()).force_unlock() }
        }
        let lock: *const Self = parking_lot::MutexGuard::mutex(&guard);
        std::mem::forget(guard);
        HeldLock(Some((lock.cast(), let_go::<V>)))
    }
}

thread_local! {
    static OF_ONE: Cell<*const Server<One>> = const { Cell::new(std::ptr::null()) };
    static OF_MANY: Cell<*const Server<Many>> = const { Cell::new(std::ptr::null()) };
}

impl Servers for One {
    const SEVERAL: bool = false;
    type Lock<V> = Alone<V>;
    type Word = Cell<u64>;
    type Ref<V> = Rc<V>;

    fn share<V>(value: V) -> Rc<V> {
        Rc::new(value)
    }

    #[inline]
    fn server() -> *const Server<One> {
        OF_ONE.get()
    }

    fn set_server(server: *const Server<One>) {
        OF_ONE.set(server);
    }
}

impl Servers for Many {
    const SEVERAL: bool = true;
    type Lock<V> = parking_lot::Mutex<V>;
    type Word = AtomicU64;
    type Ref<V> = Arc<V>;

    fn share<V>(value: V) -> Arc<V> {
        Arc::new(value)
    }

    // Not inlined: a fiber that moves to another OS thread would otherwise keep that thread-local's
    // old address.
    #[inline(never)]
    fn server() -> *const Server<Many> {
        OF_MANY.get()
    }

    #[inline(never)]
    fn set_server(server: *const Server<Many>) {
        OF_MANY.set(server);
    }
}
