//! Collective operations.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use antiphon_panda::Circle;

use crate::combine::Combining;
use crate::given::{array, fill, given, room, text};
use crate::group::panda_group;
use crate::handing::{owned, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session, ranks};
use crate::status::{Failure, entry, freed, panda_rank, panda_status, value};

/// Some processes of a session, in a fixed order. All of them call the same operations in the same order, each from one thread at a time.
pub struct panda_circle {
    pub(crate) circle: Circle,
    /// This process's.
    rank: panda_rank,
}

/// Combines two values of the same length: `into` becomes what both make together. It must be associative and commutative. Both are aligned for any type. It runs as an upcall does, on
/// the thread that drives the session, and must not wait; not after the operation that it was given to has returned.
pub type panda_combine = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        into: *mut c_void,
        other: *const c_void,
        length: usize,
    ),
>;

fn handle(circle: Circle, rank: panda_rank) -> *mut panda_circle {
    Box::into_raw(Box::new(panda_circle { circle, rank }))
}

/// The processes that the session began with. The handle is the caller's, to be given back by panda_circle_free(), as of those below.
///
/// Errors: PANDA_NOT_IN_CIRCLE: this process came later; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_circle_everyone(
    session: Option<&panda_session>,
    circle: Option<&mut MaybeUninit<*mut panda_circle>>,
) -> panda_status {
    entry("panda_circle_everyone", || {
        let place = given(circle, "circle")?;
        let session = of(session)?;
        place.write(handle(session.everyone()?, session.rank()));
        Ok(())
    })
}

/// Some processes, each once; the same list, in the same order, at all of them. All circles of the same processes and the same name are one; two that are used at the same time have different
/// names. The name may be NULL, which is "".
///
/// Errors: PANDA_NOT_IN_CIRCLE: this process is not one of them; PANDA_TWICE_IN_CIRCLE; PANDA_NO_SUCH_RANK; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_of(
    session: Option<&panda_session>,
    name: *const c_char,
    processes: *const panda_rank,
    count: usize,
    circle: Option<&mut MaybeUninit<*mut panda_circle>>,
) -> panda_status {
    entry("panda_circle_of", || {
        let place = given(circle, "circle")?;
        let session = of(session)?;
        let name = match name.is_null() {
            true => "",
            // SAFETY: the caller's promise, as below.
            false => unsafe { text(name, "name") }?,
        };
        // SAFETY: as above.
        let processes = unsafe { ranks(processes, count) }?;
        let circle = session.circle_named(name, processes)?;
        place.write(handle(circle, session.rank()));
        Ok(())
    })
}

/// The members of a group as of the last view that this member's upcall has seen, apart from all other circles. When the view changes its operations end with PANDA_LOST, or with
/// PANDA_MISMATCH where a process has joined, and so do all later ones: ask for the next view's.
///
/// Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_circle_of_group(
    group: Option<&panda_group>,
    circle: Option<&mut MaybeUninit<*mut panda_circle>>,
) -> panda_status {
    entry("panda_circle_of_group", || {
        let place = given(circle, "circle")?;
        let panda_group { group, rank } = given(group, "group")?;
        place.write(handle(group.circle()?, *rank));
        Ok(())
    })
}

/// Some members of a group as of the last view that this member's upcall has seen, each once; the same list, in the same order, at all of them. It is apart from all other circles, and ends with the
/// view as panda_circle_of_group() says, whoever has come or gone.
///
/// Errors: PANDA_MISMATCH: one of them is not in that view; PANDA_NOT_IN_CIRCLE: this process is not one of them; PANDA_TWICE_IN_CIRCLE; PANDA_NO_SUCH_RANK; PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_of_members(
    group: Option<&panda_group>,
    processes: *const panda_rank,
    count: usize,
    circle: Option<&mut MaybeUninit<*mut panda_circle>>,
) -> panda_status {
    entry("panda_circle_of_members", || {
        let place = given(circle, "circle")?;
        let panda_group { group, rank } = given(group, "group")?;
        // SAFETY: the caller's promise.
        let processes = unsafe { ranks(processes, count) }?;
        place.write(handle(group.circle_of(processes)?, *rank));
        Ok(())
    })
}

/// Gives a handle back. NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn panda_circle_free(circle: Option<Box<panda_circle>>) {
    freed("panda_circle_free", circle);
}

/// Who takes part, in order: at most `room` of them into `processes`. Returns how many there are; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_ranks(
    circle: Option<&panda_circle>,
    processes: *mut panda_rank,
    room: usize,
) -> usize {
    value("panda_circle_ranks", 0, || {
        let circle = &given(circle, "circle")?.circle;
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(processes, room, "processes") }?;
        Ok(fill(places, circle.ranks()))
    })
}

/// Waits until all are here.
///
/// Errors, as of all operations of a circle: PANDA_LOST; PANDA_MISMATCH; PANDA_NOT_IN_CIRCLE: the root is not one of them; PANDA_IN_UPCALL; PANDA_OVER;
/// PANDA_TOO_LONG, of those that send a message; PANDA_BAD_ARGUMENT: this process has taken no part, and the others wait for it, so arguments are to be checked alike everywhere.
#[unsafe(no_mangle)]
pub extern "C" fn panda_circle_barrier(circle: Option<&panda_circle>) -> panda_status {
    entry("panda_circle_barrier", || {
        Ok(given(circle, "circle")?.circle.barrier()?)
    })
}

/// The root's message, at all. The root's is taken, others' are freed and may be NULL; what comes is the caller's.
///
/// Errors: see panda_circle_barrier().
#[unsafe(no_mangle)]
pub extern "C" fn panda_circle_broadcast(
    circle: Option<&panda_circle>,
    root: panda_rank,
    message: Option<Box<panda_message>>,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_circle_broadcast", || {
        let circle = &given(circle, "circle")?.circle;
        let result = given(result, "result")?;
        result.write(owned(
            circle.broadcast_bytes(root, message.map(|message| message.message))?,
        ));
        Ok(())
    })
}

/// Everybody's messages, which are taken, at the root: results[at] for each process in the order of the circle, the caller's. Others' `results` stays as it is and may be NULL.
///
/// Errors: see panda_circle_barrier().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_gather(
    circle: Option<&panda_circle>,
    root: panda_rank,
    message: Option<Box<panda_message>>,
    results: *mut *mut panda_message,
) -> panda_status {
    let message = taken(message);
    entry("panda_circle_gather", || {
        let panda_circle { circle, rank } = given(circle, "circle")?;
        let message = given(message, "message")?.message;
        let count = if root == *rank {
            circle.ranks().len()
        } else {
            0
        };
        // SAFETY: the caller's promise.
        let places = unsafe { room(results, count, "results") }?;
        let values = circle.gather_bytes(root, message)?.unwrap_or_default();
        for (place, value) in places.iter_mut().zip(values) {
            place.write(owned(value));
        }
        Ok(())
    })
}

/// To each its own of the root's messages, one for each process in the order of the circle, which are taken. Others' `messages` may be NULL and are not looked at. What comes is
/// the caller's. Where `circle` is NULL nobody knows how many messages there are: they stay the caller's.
///
/// Errors: see panda_circle_barrier().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_scatter(
    circle: Option<&panda_circle>,
    root: panda_rank,
    messages: *const *mut panda_message,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    entry("panda_circle_scatter", || {
        let panda_circle { circle, rank } = given(circle, "circle")?;
        let mut values = Vec::new();
        if root == *rank {
            // SAFETY: the caller's promise.
            for &message in unsafe { array(messages, circle.ranks().len(), "messages") }? {
                // SAFETY: NULL, or a message that is the caller's to give.
                let message = (!message.is_null()).then(|| unsafe { Box::from_raw(message) });
                values.push(taken(message).map(|message| message.message));
            }
        }
        let result = given(result, "result")?;
        let is_missing = || Failure::argument("messages", "has a message that is NULL");
        let values = values.into_iter().collect::<Option<_>>();
        let value = circle.scatter_bytes(root, values.ok_or_else(is_missing)?)?;
        result.write(owned(value));
        Ok(())
    })
}

/// Everybody's messages, which are taken and of the same length, combined at the root, where what comes is the caller's. Others' `result` stays as it is and may be NULL. The context is used
/// until this returns.
///
/// Errors: see panda_circle_barrier(); PANDA_PANICKED: values of different lengths, at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_reduce(
    circle: Option<&panda_circle>,
    root: panda_rank,
    message: Option<Box<panda_message>>,
    combine: panda_combine,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_circle_reduce", || {
        let panda_circle { circle, rank } = given(circle, "circle")?;
        let message = given(message, "message")?.message;
        let combining = Combining::begin(combine, context)?;
        let result = match root == *rank {
            true => Some(given(result, "result")?),
            false => None,
        };
        let value = circle.reduce_bytes(root, message, combining.closure())?;
        if let Some((result, value)) = result.zip(value) {
            result.write(owned(value));
        }
        Ok(())
    })
}

/// Everybody's messages, which are taken and of the same length, combined, at all; what comes is the caller's. The context is used until this returns.
///
/// Errors: as panda_circle_reduce().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_circle_all_reduce(
    circle: Option<&panda_circle>,
    message: Option<Box<panda_message>>,
    combine: panda_combine,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_circle_all_reduce", || {
        let circle = &given(circle, "circle")?.circle;
        let message = given(message, "message")?.message;
        let combining = Combining::begin(combine, context)?;
        let result = given(result, "result")?;
        let value = circle.all_reduce_bytes(message, combining.closure())?;
        result.write(owned(value));
        Ok(())
    })
}
