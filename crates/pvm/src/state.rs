//! The library's state for its program.
//!
//! PVM's functions are for one thread at a time, and a lock enforces that. Handlers of messages run
//! inside a wait, and call the library again on the same thread.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::ReentrantMutex;

use crate::buffers::Buffers;
use crate::code::Code;
use crate::options::Options;
use crate::output::Catcher;
use crate::task::Task;
use crate::tid::Tid;

/// Judges a message: negative ends the wait, 0 refuses it, 1 takes it, and more is its rank among
/// all.
pub type Matcher = unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;
/// Handles a received message.
pub type Handler = unsafe extern "C" fn(c_int) -> c_int;

/// A handler, and the messages that it handles; -1 stands for any.
#[derive(Clone, Copy)]
pub struct Handling {
    pub source: c_int,
    pub tag: c_int,
    pub context: c_int,
    pub handler: Handler,
}

/// The library's state for its program.
#[derive(Default)]
pub struct State {
    pub task: Option<Arc<Task>>,
    pub buffers: Buffers,
    /// The buffers of messages that were taken from the session and not yet received.
    pub aside: VecDeque<c_int>,
    pub options: Options,
    pub context: c_int,
    pub handlers: Vec<Option<Handling>>,
    pub matcher: Option<Matcher>,
    pub catcher: Catcher,
    /// Programs from `PATH`, of which the user was told.
    pub from_path: HashSet<PathBuf>,
    pub exported: Vec<String>,
    pub last_code: c_int,
}

/// The context, for programs compiled against PVM's internals.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "PVM's name")]
pub static pvmmyctx: AtomicI32 = AtomicI32::new(0);
/// The trace mask, for such programs: nothing is traced.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "PVM's name")]
pub static pvmctrc: [AtomicI32; 17] = [const { AtomicI32::new(0) }; 17];

impl State {
    /// Changes the context, and returns the one before.
    pub fn change_context(&mut self, context: c_int) -> c_int {
        pvmmyctx.store(context, Ordering::Relaxed);
        std::mem::replace(&mut self.context, context)
    }
}

static STATE: LazyLock<ReentrantMutex<RefCell<State>>> = LazyLock::new(ReentrantMutex::default);

/// Calls `act` with the state. It must not call the program.
pub fn with<R>(act: impl FnOnce(&mut State) -> R) -> R {
    act(&mut STATE.lock().borrow_mut())
}

/// Keeps other threads of the program out during an action that may call the program.
pub fn alone<R>(act: impl FnOnce() -> R) -> R {
    let _turn = STATE.lock();
    act()
}

/// Returns this process's part of the machine, which begins with the first call.
///
/// # Errors
/// [`Code::SYS_ERR`]: the machine cannot be reached, or made.
pub fn task() -> Result<Arc<Task>, Code> {
    if let Some(task) = with(|state| state.task.clone()) {
        return Ok(task);
    }
    let task = Task::enrol().map_err(|error| {
        eprintln!("libpvm [pid{}]: {error}", std::process::id());
        Code::SYS_ERR
    })?;
    let task = Arc::new(task);
    crate::task::keep(task.clone());
    with(|state| {
        state.change_context(task.context);
        state.task = Some(task.clone());
    });
    Ok(task)
}

/// Returns this process's id, if it is enrolled.
#[must_use]
pub fn own_tid() -> Option<Tid> {
    with(|state| state.task.as_ref().map(|task| task.tid))
}
