//! Receiving: by sender, tag and context, or by a function of the program.
//!
//! A message is taken from the session by its sender and tag, without a look at others. Two kinds
//! of messages are set aside in the order of arrival: those of other contexts, and all messages
//! while the program has a matching function or handlers. Messages set aside are older than those
//! in the session.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use antiphon_panda::{Arrived, Error};

use crate::buffer::Info;
use crate::code::Code;
use crate::state::{self, Handling, with};
use crate::task::{Task, buffer_of};
use crate::tid::Tid;

/// How long a waiting task looks for newcomers when no other task is left.
const LONELY: Duration = Duration::from_millis(20);
/// How often a task that waits for the serving process checks whether that has left.
const LOOK: Duration = Duration::from_millis(500);

/// Whether this process waits for others without a limit, and how many messages it has received.
static WAITS: AtomicBool = AtomicBool::new(false);
static RECEIVED: AtomicU64 = AtomicU64::new(0);

/// Returns whether this process waits for others without a limit, and how many messages it has
/// received.
#[must_use]
pub fn waiting() -> (bool, u64) {
    (
        WAITS.load(Ordering::SeqCst),
        RECEIVED.load(Ordering::SeqCst),
    )
}

/// Runs an action that waits for others without a limit.
pub fn while_waiting<R>(act: impl FnOnce() -> R) -> R {
    WAITS.store(true, Ordering::SeqCst);
    let done = act();
    WAITS.store(false, Ordering::SeqCst);
    done
}

/// Records that a message has been received.
pub fn note_received() {
    RECEIVED.fetch_add(1, Ordering::SeqCst);
}

/// A request for a message; -1 stands for any.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    pub source: c_int,
    pub tag: c_int,
    pub context: c_int,
}

/// How long to wait for a message.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    No,
    Until(Instant),
    Forever,
}

impl Want {
    /// Makes a request for a message in the program's context.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`].
    pub fn new(source: c_int, tag: c_int) -> Result<Self, Code> {
        let is_source = source == -1 || source == Tid::MACHINE.0 || Tid(source).rank().is_some();
        if !is_source || tag < -1 {
            return Err(Code::BAD_PARAM);
        }
        let context = with(|state| state.context);
        Ok(Self {
            source,
            tag,
            context,
        })
    }

    fn fits(&self, info: &Info) -> bool {
        self.context == info.context
            && (self.source == -1 || self.source == info.source.0)
            && (self.tag == -1 || self.tag == info.tag)
    }
}

/// Finds a message, and takes it or leaves it in place. Returns its buffer, or `None` if none came
/// in time.
///
/// # Errors
/// [`Code::NO_TASK`]: the sender has ended, and none of its messages is left; [`Code::SYS_ERR`]; a
/// negative result of the program's matching function.
pub fn receive(want: Want, wait: Wait, takes: bool) -> Result<Option<c_int>, Code> {
    let task = state::task()?;
    loop {
        // The program's function chooses among all messages that have come.
        if with(|state| state.matcher.is_some()) {
            while let Some(arrived) = task.messages.poll(None, None) {
                set_aside(&task, arrived, None);
            }
        }
        if let Some(id) = look_aside(&want, takes)? {
            return Ok(Some(id));
        }
        let is_plain =
            with(|state| state.matcher.is_none() && state.handlers.iter().all(Option::is_none));
        let Some(arrived) = next(&task, &want, wait, is_plain)? else {
            return Ok(None);
        };
        let wanted = (is_plain && takes).then_some(&want);
        if let Some(id) = set_aside(&task, arrived, wanted) {
            return Ok(Some(id));
        }
    }
}

/// Gives a received message to its handler, or sets it aside. Returns its buffer if it is the
/// wanted one.
fn set_aside(task: &Task, arrived: Arrived, wanted: Option<&Want>) -> Option<c_int> {
    let buffer = buffer_of(arrived.tag, arrived.payload, task.tid)?;
    let info = buffer.info;
    let id = with(|state| state.buffers.add(buffer));
    if wanted.is_some_and(|want| want.fits(&info)) {
        return Some(id);
    }
    match handler_of(&info) {
        Some(handling) => handle(handling, id),
        None => with(|state| state.aside.push_back(id)),
    }
    None
}

/// Returns the next message of the session that may be the wanted one.
fn next(
    task: &Arc<Task>,
    want: &Want,
    wait: Wait,
    is_plain: bool,
) -> Result<Option<Arrived>, Code> {
    let from = Tid(want.source).rank().filter(|_| is_plain);
    let tag = u32::try_from(want.tag).ok().filter(|_| is_plain);
    let port = &task.messages;
    if let Some(rank) = from.filter(|rank| !task.has_met(*rank)) {
        // A message that has come can be taken without asking the machine.
        if let Some(arrived) = port.poll(from, tag) {
            note_received();
            return Ok(Some(arrived));
        }
        let until = match wait {
            Wait::No => return Ok(None),
            Wait::Until(until) => Some(until),
            Wait::Forever => None,
        };
        if !task.meet(rank, until)? {
            return Ok(port.poll(from, tag));
        }
    }
    loop {
        // The serving process may leave the machine and yet go on.
        let most = match from {
            Some(0) => LOOK,
            _ => Duration::MAX,
        };
        let left = match wait {
            Wait::No => return Ok(port.poll(from, tag)),
            Wait::Until(until) => until.saturating_duration_since(Instant::now()),
            Wait::Forever => Duration::MAX,
        };
        let received = match left.min(most) {
            Duration::MAX => while_waiting(|| port.receive(from, tag)),
            time if matches!(wait, Wait::Forever) => {
                while_waiting(|| port.receive_within(from, tag, time))
            }
            time => port.receive_within(from, tag, time),
        };
        let is_over = || matches!(wait, Wait::Until(until) if Instant::now() >= until);
        match received {
            Ok(arrived) => {
                note_received();
                return Ok(Some(arrived));
            }
            Err(Error::TimedOut { .. }) if is_over() => return Ok(None),
            Err(Error::TimedOut { .. }) => {
                let has_left = |rank| task.notices.lock().is_gone(rank);
                if from.is_some_and(has_left) {
                    return Err(Code::NO_TASK);
                }
            }
            Err(Error::Lost { .. } | Error::NoSuchRank { .. }) if from.is_some() => {
                return Err(Code::NO_TASK);
            }
            // No possible sender is left, but a newcomer may appear.
            Err(Error::Lost { .. }) if is_over() => return Ok(None),
            Err(Error::Lost { .. }) => {
                let until = Some(Instant::now() + LONELY);
                let waited = task.session.wait_until(|| false, until);
                waited.map_err(|_| Code::SYS_ERR)?;
            }
            Err(_) => return Err(Code::SYS_ERR),
        }
    }
}

/// Finds a message among those set aside.
fn look_aside(want: &Want, takes: bool) -> Result<Option<c_int>, Code> {
    let matcher = with(|state| state.matcher);
    let found = match matcher {
        None => with(|state| {
            let (aside, buffers) = (&state.aside, &mut state.buffers);
            let mut ids = aside.iter().copied();
            ids.find(|id| buffers.get(*id).is_ok_and(|buffer| want.fits(&buffer.info)))
        }),
        Some(matcher) => {
            let aside: Vec<c_int> = with(|state| state.aside.iter().copied().collect());
            let mut best = (0, None);
            for id in aside {
                // SAFETY: the program has provided the function for this.
                let rank = unsafe { matcher(id, want.source, want.tag) };
                if rank < 0 {
                    return Err(Code(rank));
                }
                if rank > best.0 {
                    best = (rank, Some(id));
                }
                if rank == 1 {
                    best.1 = Some(id);
                    break;
                }
            }
            best.1
        }
    };
    if let Some(id) = found.filter(|_| takes) {
        with(|state| state.aside.retain(|aside| *aside != id));
    }
    Ok(found)
}

/// Returns the handler for a message.
fn handler_of(info: &Info) -> Option<Handling> {
    let is_for = |handling: &Handling| {
        let matches = |wanted: c_int, is: c_int| wanted == -1 || wanted == is;
        matches(handling.source, info.source.0)
            && matches(handling.tag, info.tag)
            && matches(handling.context, info.context)
    };
    with(|state| state.handlers.iter().flatten().copied().find(is_for))
}

/// Calls a handler with a message. When it returns, the program's active buffers are as before.
fn handle(handling: Handling, id: c_int) {
    let before = with(|state| {
        let before = state.buffers.chosen();
        let chosen = (state.buffers.choose_to_send(0)).and(state.buffers.choose_to_receive(id));
        debug_assert!(chosen.is_ok());
        before
    });
    // SAFETY: the program has provided the function for this.
    unsafe { (handling.handler)(id) };
    with(|state| {
        let _ = state.buffers.free(id);
        let _ = state.buffers.choose_to_send(before.0);
        let _ = state.buffers.choose_to_receive(before.1);
    });
}
