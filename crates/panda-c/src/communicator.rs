//! Collective operations.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use antiphon_panda::Communicator;

use crate::combine::Combining;
use crate::given::{array, fill, given, room, text};
use crate::group::panda_group;
use crate::handing::{owned, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session, ranks};
use crate::status::{Failure, entry, freed, panda_rank, panda_status, value};

/// Some processes of a session, in a fixed order. All of them call the same operations in the same order, each from one thread at a time.
pub struct panda_comm {
    pub(crate) communicator: Communicator,
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

fn handle(communicator: Communicator, rank: panda_rank) -> *mut panda_comm {
    Box::into_raw(Box::new(panda_comm { communicator, rank }))
}

/// The processes that the session began with. The handle is the caller's, to be given back by panda_comm_free(), as of those below.
///
/// Errors: PANDA_NOT_IN_COMM: this process came later; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_everyone(
    session: Option<&panda_session>,
    communicator: Option<&mut MaybeUninit<*mut panda_comm>>,
) -> panda_status {
    entry("panda_comm_everyone", || {
        let place = given(communicator, "communicator")?;
        let session = of(session)?;
        place.write(handle(session.everyone()?, session.rank()));
        Ok(())
    })
}

/// Some processes, each once; the same list, in the same order, at all of them. All communicators of the same processes and the same name are one; two that are used at the same time have different
/// names. The name may be NULL, which is "".
///
/// Errors: PANDA_NOT_IN_COMM: this process is not one of them; PANDA_TWICE_IN_COMM; PANDA_NO_SUCH_RANK; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_of(
    session: Option<&panda_session>,
    name: *const c_char,
    processes: *const panda_rank,
    count: usize,
    communicator: Option<&mut MaybeUninit<*mut panda_comm>>,
) -> panda_status {
    entry("panda_comm_of", || {
        let place = given(communicator, "communicator")?;
        let session = of(session)?;
        let name = match name.is_null() {
            true => "",
            // SAFETY: the caller's promise, as below.
            false => unsafe { text(name, "name") }?,
        };
        // SAFETY: as above.
        let processes = unsafe { ranks(processes, count) }?;
        let communicator = session.communicator_named(name, processes)?;
        place.write(handle(communicator, session.rank()));
        Ok(())
    })
}

/// The members of a group as of the last view that this member's upcall has seen, apart from all other communicators. When the view changes its operations end with PANDA_LOST, or with
/// PANDA_MISMATCH where a process has joined, and so do all later ones: ask for the next view's.
///
/// Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_of_group(
    group: Option<&panda_group>,
    communicator: Option<&mut MaybeUninit<*mut panda_comm>>,
) -> panda_status {
    entry("panda_comm_of_group", || {
        let place = given(communicator, "communicator")?;
        let panda_group { group, rank } = given(group, "group")?;
        place.write(handle(group.communicator()?, *rank));
        Ok(())
    })
}

/// Some members of a group as of the last view that this member's upcall has seen, each once; the same list, in the same order, at all of them. It is apart from all other communicators, and ends with the
/// view as panda_comm_of_group() says, whoever has come or gone.
///
/// Errors: PANDA_MISMATCH: one of them is not in that view; PANDA_NOT_IN_COMM: this process is not one of them; PANDA_TWICE_IN_COMM; PANDA_NO_SUCH_RANK; PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_of_members(
    group: Option<&panda_group>,
    processes: *const panda_rank,
    count: usize,
    communicator: Option<&mut MaybeUninit<*mut panda_comm>>,
) -> panda_status {
    entry("panda_comm_of_members", || {
        let place = given(communicator, "communicator")?;
        let panda_group { group, rank } = given(group, "group")?;
        // SAFETY: the caller's promise.
        let processes = unsafe { ranks(processes, count) }?;
        place.write(handle(group.communicator_of(processes)?, *rank));
        Ok(())
    })
}

/// Gives a handle back. NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_free(communicator: Option<Box<panda_comm>>) {
    freed("panda_comm_free", communicator);
}

/// Who takes part, in order: at most `room` of them into `processes`. Returns how many there are; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_ranks(
    communicator: Option<&panda_comm>,
    processes: *mut panda_rank,
    room: usize,
) -> usize {
    value("panda_comm_ranks", 0, || {
        let communicator = &given(communicator, "communicator")?.communicator;
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(processes, room, "processes") }?;
        Ok(fill(places, communicator.ranks()))
    })
}

/// Waits until all are here.
///
/// Errors, as of all operations of a communicator: PANDA_LOST; PANDA_MISMATCH; PANDA_NOT_IN_COMM: the root is not one of them; PANDA_IN_UPCALL; PANDA_OVER;
/// PANDA_TOO_LONG, of those that send a message; PANDA_BAD_ARGUMENT: this process has taken no part, and the others wait for it, so arguments are to be checked alike everywhere.
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_barrier(communicator: Option<&panda_comm>) -> panda_status {
    entry("panda_comm_barrier", || {
        Ok(given(communicator, "communicator")?
            .communicator
            .barrier()?)
    })
}

/// The root's message, at all. The root's is taken, others' are freed and may be NULL; what comes is the caller's.
///
/// Errors: see panda_comm_barrier().
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_broadcast(
    communicator: Option<&panda_comm>,
    root: panda_rank,
    message: Option<Box<panda_message>>,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_comm_broadcast", || {
        let communicator = &given(communicator, "communicator")?.communicator;
        let result = given(result, "result")?;
        result.write(owned(
            communicator.broadcast_bytes(root, message.map(|message| message.message))?,
        ));
        Ok(())
    })
}

/// Everybody's messages, which are taken, at the root: results[at] for each process in the order of the communicator, the caller's. Others' `results` stays as it is and may be NULL.
///
/// Errors: see panda_comm_barrier().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_gather(
    communicator: Option<&panda_comm>,
    root: panda_rank,
    message: Option<Box<panda_message>>,
    results: *mut *mut panda_message,
) -> panda_status {
    let message = taken(message);
    entry("panda_comm_gather", || {
        let panda_comm { communicator, rank } = given(communicator, "communicator")?;
        let message = given(message, "message")?.message;
        let count = if root == *rank {
            communicator.ranks().len()
        } else {
            0
        };
        // SAFETY: the caller's promise.
        let places = unsafe { room(results, count, "results") }?;
        let values = communicator
            .gather_bytes(root, message)?
            .unwrap_or_default();
        for (place, value) in places.iter_mut().zip(values) {
            place.write(owned(value));
        }
        Ok(())
    })
}

/// To each its own of the root's messages, one for each process in the order of the communicator, which are taken. Others' `messages` may be NULL and are not looked at. What comes is
/// the caller's. Where `communicator` is NULL nobody knows how many messages there are: they stay the caller's.
///
/// Errors: see panda_comm_barrier().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_scatter(
    communicator: Option<&panda_comm>,
    root: panda_rank,
    messages: *const *mut panda_message,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    entry("panda_comm_scatter", || {
        let panda_comm { communicator, rank } = given(communicator, "communicator")?;
        let mut values = Vec::new();
        if root == *rank {
            // SAFETY: the caller's promise.
            for &message in unsafe { array(messages, communicator.ranks().len(), "messages") }? {
                // SAFETY: NULL, or a message that is the caller's to give.
                let message = (!message.is_null()).then(|| unsafe { Box::from_raw(message) });
                values.push(taken(message).map(|message| message.message));
            }
        }
        let result = given(result, "result")?;
        let is_missing = || Failure::argument("messages", "has a message that is NULL");
        let values = values.into_iter().collect::<Option<_>>();
        let value = communicator.scatter_bytes(root, values.ok_or_else(is_missing)?)?;
        result.write(owned(value));
        Ok(())
    })
}

/// Everybody's messages, which are taken and of the same length, combined at the root, where what comes is the caller's. Others' `result` stays as it is and may be NULL. The context is used
/// until this returns.
///
/// Errors: see panda_comm_barrier(); PANDA_PANICKED: values of different lengths, at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_reduce(
    communicator: Option<&panda_comm>,
    root: panda_rank,
    message: Option<Box<panda_message>>,
    combine: panda_combine,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_comm_reduce", || {
        let panda_comm { communicator, rank } = given(communicator, "communicator")?;
        let message = given(message, "message")?.message;
        let combining = Combining::begin(combine, context)?;
        let result = match root == *rank {
            true => Some(given(result, "result")?),
            false => None,
        };
        let value = communicator.reduce_bytes(root, message, combining.closure())?;
        if let Some((result, value)) = result.zip(value) {
            result.write(owned(value));
        }
        Ok(())
    })
}

/// Everybody's messages, which are taken and of the same length, combined, at all; what comes is the caller's. The context is used until this returns.
///
/// Errors: as panda_comm_reduce().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_comm_all_reduce(
    communicator: Option<&panda_comm>,
    message: Option<Box<panda_message>>,
    combine: panda_combine,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_comm_all_reduce", || {
        let communicator = &given(communicator, "communicator")?.communicator;
        let message = given(message, "message")?.message;
        let combining = Combining::begin(combine, context)?;
        let result = given(result, "result")?;
        let value = communicator.all_reduce_bytes(message, combining.closure())?;
        result.write(owned(value));
        Ok(())
    })
}
