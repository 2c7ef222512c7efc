//! Hooks for a simulator, which replaces a process's clock, its threads, and the engine of its
//! session.
//!
//! The crate `antiphon-panda-sim` implements [`Runtime`] and [`Engine`]; production code knows it
//! by these alone. Nothing here is part of the interface.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_fiber::{Builder as FiberBuilder, StackError};

use crate::platform::LaunchInfo;
use crate::protocol::link::Links;
use crate::session::{Session, WeakSession};

pub use crate::platform::linger::Linger;
pub use crate::session::dispatcher::{Dispatcher, LastUpcalls};
pub use crate::session::engine::{
    Ask, Awaited, Engine, Interest, Nobody, Request, Waiting, WaitsFor,
};
pub use crate::session::upcall::words_of;
pub use crate::thread::start::caught;

/// Bytes of a fiber's stack.
pub const STACK_BYTES: usize = crate::thread::STACK_BYTES;

/// The run-time on which the fibers of a simulated process run.
pub trait Runtime: Send + Sync {
    /// Returns the simulated time.
    fn now(&self) -> Instant;

    /// Blocks the calling fiber until `woken` is ready, or until a time at most. `what` is for
    /// reports.
    fn park(
        &self,
        what: WaitsFor,
        woken: Pin<&mut dyn Future<Output = ()>>,
        until: Option<Instant>,
    );

    /// Lets other fibers run.
    fn yield_now(&self);

    /// Blocks the calling fiber for a simulated time.
    fn sleep(&self, time: Duration);

    /// Starts a thread of the program.
    ///
    /// # Errors
    /// There is no memory for its stack.
    fn spawn(
        self: Arc<Self>,
        builder: FiberBuilder,
        body: Box<dyn FnOnce() + Send>,
    ) -> Result<(), StackError>;

    /// Returns the session that the program joins.
    fn session(&self) -> WeakSession;
}

/// Finds the run-time of the calling fiber; `None` if the fiber belongs to no simulated process.
pub type Find = fn() -> Option<Arc<dyn Runtime>>;

thread_local! {
    /// Finder of the run-time for fibers of this OS thread; `None` outside of simulations.
    static FIND: Cell<Option<Find>> = const { Cell::new(None) };
}

/// An installed finder: until it is dropped, fibers of this OS thread run on its run-time.
#[derive(Debug)]
pub struct Installed {
    before: Option<Find>,
}

impl Installed {
    /// Installs the finder now.
    #[must_use]
    pub fn new(find: Find) -> Self {
        let before = FIND.replace(Some(find));
        Self { before }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        FIND.set(self.before);
    }
}

/// Returns the caller's run-time; `None` outside of simulations.
// Not inlined: a fiber that moves to another OS thread would otherwise keep that thread-local's old
// address.
#[inline(never)]
pub fn runtime() -> Option<Arc<dyn Runtime>> {
    FIND.get().and_then(|find| find())
}

/// Makes a session over an engine whose links are `L`.
pub fn session<L: Links>(
    engine: Arc<dyn Engine>,
    dispatcher: Arc<Dispatcher>,
    info: &LaunchInfo,
) -> Session {
    Session::with::<L>(engine, dispatcher, info)
}
