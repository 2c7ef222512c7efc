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

/// Some processes of a session, in a fixed order. All of them must call the same operations in the
/// same order. Each calls from one thread at a time.
pub struct panda_comm {
    pub(crate) communicator: Communicator,
    /// This process's rank.
    rank: panda_rank,
}

/// Combines two values of the same length: `into` becomes the result of both. It must be
/// associative and commutative. Both values are aligned for any type. It runs as an upcall does, on
/// the thread that drives the session, and must not wait. It is not called after its operation has
/// returned.
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

/// Gets the communicator of the processes with which the session began. The caller frees the
/// handle, as those of the functions below, by panda_comm_free().
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

/// Gets the communicator of some processes, each listed once. All of them pass the same list in
/// the same order. Calls with the same processes and the same name return the same communicator, so
/// two that are used at the same time need different names. The name may be NULL, which stands for
/// "".
///
/// Errors: PANDA_NOT_IN_COMM: this process is not one of them; PANDA_TWICE_IN_COMM;
/// PANDA_NO_SUCH_RANK; PANDA_OVER; PANDA_BAD_ARGUMENT.
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

/// Gets the communicator of a group's members, as of the last view that this member's upcall has
/// seen. It is separate from all other communicators. When the view changes its operations end with
/// PANDA_LOST, or with PANDA_MISMATCH if a process has joined. So do all later ones: ask for the
/// communicator of the next view.
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

/// Gets the communicator of some members of a group, each listed once, as of the last view that
/// this member's upcall has seen. All of them pass the same list in the same order. It is separate
/// from all other communicators. It ends with the view as panda_comm_of_group() says, even if its
/// own members stay.
///
/// Errors: PANDA_MISMATCH: one of them is not in that view; PANDA_NOT_IN_COMM: this process is not
/// one of them; PANDA_TWICE_IN_COMM; PANDA_NO_SUCH_RANK; PANDA_NOT_MEMBER; PANDA_EXPELLED;
/// PANDA_OVER; PANDA_BAD_ARGUMENT.
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

/// Frees a handle. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_free(communicator: Option<Box<panda_comm>>) {
    freed("panda_comm_free", communicator);
}

/// Writes the members, in order, to `processes`: at most `room` of them. Returns their number, or 0
/// for NULL.
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

/// Waits until all members have called it.
///
/// Errors, as of all operations of a communicator: PANDA_LOST; PANDA_MISMATCH; PANDA_NOT_IN_COMM:
/// the root is not a member; PANDA_IN_UPCALL; PANDA_OVER; PANDA_TOO_LONG, for those that send a
/// message; PANDA_BAD_ARGUMENT: this process has not taken part, and the others wait for it. So
/// check arguments alike at all processes.
#[unsafe(no_mangle)]
pub extern "C" fn panda_comm_barrier(communicator: Option<&panda_comm>) -> panda_status {
    entry("panda_comm_barrier", || {
        Ok(given(communicator, "communicator")?
            .communicator
            .barrier()?)
    })
}

/// Sends the root's message to all. The root's message is taken. Those of others are freed, and may
/// be NULL. The caller owns the received message.
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

/// Gathers the messages of all, which are taken, at the root. There the caller owns results[at] for
/// each process, in the order of the communicator. At other processes `results` is not written, and
/// may be NULL.
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

/// Sends each process its own of the root's messages, which are taken: one for each process, in the
/// order of the communicator. At other processes `messages` is not read, and may be NULL. The
/// caller owns the received message. If `communicator` is NULL the number of messages is unknown,
/// and they stay the caller's.
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
                // SAFETY: NULL, or a message that the caller owns.
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

/// Combines the messages of all, which are taken and must have the same length, at the root. There
/// the caller owns the result. At other processes `result` is not written, and may be NULL. The
/// context is used until this returns.
///
/// Errors: see panda_comm_barrier(); PANDA_PANICKED: values of different lengths, at all processes.
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

/// Combines the messages of all, which are taken and must have the same length, at all processes.
/// The caller owns the result. The context is used until this returns.
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
