//! Sessions.

use std::ffi::{CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use antiphon_panda::platform::Local;
use antiphon_panda::session::must_not_wait;
use antiphon_panda::{Error, PeerEvent, Session};

use crate::given::{
    Upcall, array, called, fill, fill_text, given, panda_release, room, text, time,
};
use crate::program::fill_with;
use crate::status::{Failure, PANDA_ANY, entry, panda_rank, panda_status, value};

/// A process's part in a session. All threads may use its handle at once.
pub struct panda_session {
    pub(crate) session: Session,
    platform: CString,
}

/// Returns whether an awaited condition holds. It is called often, on the waiting thread, and must
/// not wait itself. Its reads must be safe while upcalls run on another thread.
pub type panda_predicate = Option<unsafe extern "C-unwind" fn(context: *mut c_void) -> bool>;

/// The kind of a peer's event.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum panda_peer_event {
    /// It is there: it has joined, or it was lost and answers again.
    PANDA_PEER_JOINED = 0,
    /// It has ended its session.
    PANDA_PEER_LEFT = 1,
    /// It is lost for another reason: why.
    PANDA_PEER_LOST = 2,
}

use panda_peer_event::*;

/// Takes an event of a peer. For a loss, `why` gives the reason, in words that follow the peer's
/// name. It is lent until the upcall returns, and NULL for other events. It runs on the thread that
/// drives the session, one at a time, and must not wait for messages. It may send, reply and lock a
/// mutex for a moment.
pub type panda_peer_upcall = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        rank: panda_rank,
        event: panda_peer_event,
        why: *const c_char,
    ),
>;

pub(crate) fn handle(session: Session) -> *mut panda_session {
    let platform = CString::new(session.platform()).unwrap_or_default();
    Box::into_raw(Box::new(panda_session { session, platform }))
}

/// Returns the session of a handle, unless it is over.
pub(crate) fn of(session: Option<&panda_session>) -> Result<&Session, Failure> {
    let session = &given(session, "session")?.session;
    session.check()?;
    Ok(session)
}

/// Joins the session in which `antiphon launch` or `mpirun` started this process, over the platform
/// that its environment names. The caller frees the handle by panda_session_free().
///
/// Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_join(
    session: Option<&mut MaybeUninit<*mut panda_session>>,
) -> panda_status {
    entry("panda_session_join", || {
        given(session, "session")?.write(handle(Session::join()?));
        Ok(())
    })
}

/// Joins in the same way, and sets how long a peer may be silent before it counts as lost, in
/// nanoseconds. The default is 3 s. A launcher may set another time, which takes precedence
/// (`antiphon launch --silence`). Processes of a session should set the same.
///
/// Errors: as panda_session_join().
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_join_with_silence(
    silence_ns: u64,
    session: Option<&mut MaybeUninit<*mut panda_session>>,
) -> panda_status {
    entry("panda_session_join_with_silence", || {
        let session = given(session, "session")?;
        let silence = Duration::from_nanos(silence_ns);
        if silence.is_zero() {
            return Err(Failure::argument("silence_ns", "is 0"));
        }
        session.write(handle(Session::join_with_silence(silence)?));
        Ok(())
    })
}

/// Joins a running session of this user as one more process that was started by hand. `name` names
/// the session; NULL stands for the only one that can be joined. `antiphon launch --joinable NAME`
/// makes a session joinable, and the process must run on the launcher's host. It has no parent, and
/// may end at any time. The caller frees the handle by panda_session_free().
///
/// Errors: PANDA_NOT_JOINED, with the reason, and the sessions that there are; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_join_existing(
    name: *const c_char,
    session: Option<&mut MaybeUninit<*mut panda_session>>,
) -> panda_status {
    entry("panda_session_join_existing", || {
        let session = given(session, "session")?;
        let name = match name.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => Some(unsafe { text(name, "name") }?),
        };
        session.write(handle(Session::join_existing(name)?));
        Ok(())
    })
}

/// Makes sessions of `size` parts of this process, for instance one for each thread, over the
/// platform `local`: sessions[rank] for each rank. The caller frees all of them.
///
/// Errors: PANDA_NOT_JOINED: the system starts no more threads; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_local(
    size: u32,
    sessions: *mut *mut panda_session,
) -> panda_status {
    entry("panda_session_local", || {
        // SAFETY: the caller's promise.
        let places = unsafe { room(sessions, size as usize, "sessions") }?;
        fill_with(places, Local::sessions(size)?);
        Ok(())
    })
}

/// Ends this process's part. From now on operations fail with PANDA_OVER, also those that wait.
/// Messages that were sent before still reach the peers. All upcalls are released. When this
/// returns, the session's progress thread has ended. A further call does nothing. A call during
/// another thread's call may return earlier, before that thread has ended. The handle stays valid.
/// In an upcall it does not wait for the session's thread.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_end(session: Option<&panda_session>) -> panda_status {
    entry("panda_session_end", || {
        let session = &given(session, "session")?.session;
        if session.check().is_ok() {
            session.end_for_all();
        }
        Ok(())
    })
}

/// Ends the session if that has not happened, and frees the handle: no thread may use it any more.
/// Ports, groups, communicators and replies stay the caller's. Operations of ports, groups and
/// communicators then fail with PANDA_OVER; for replies see panda_reply_send(). NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_free(session: Option<Box<panda_session>>) {
    let freed = || {
        if let Some(session) = session {
            session.session.end_for_all();
        }
        Ok(())
    };
    value("panda_session_free", (), freed);
}

/// Returns this process's rank; PANDA_ANY for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_rank(session: Option<&panda_session>) -> panda_rank {
    session.map_or(PANDA_ANY, |session| session.session.rank())
}

/// Returns the number of processes with which the session began. Their ranks are below it. 0 for
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_size(session: Option<&panda_session>) -> u32 {
    session.map_or(0, |session| session.session.size())
}

/// Returns the process that started this one by panda_session_spawn(). PANDA_ANY for the processes
/// with which the session began, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_parent(session: Option<&panda_session>) -> panda_rank {
    let parent = session.and_then(|session| session.session.parent());
    parent.unwrap_or(PANDA_ANY)
}

/// Returns how many processes there have been, including spawned ones. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_population(session: Option<&panda_session>) -> u32 {
    value("panda_session_population", 0, || {
        Ok(given(session, "session")?.session.population())
    })
}

/// Returns the platform's name, such as "shm". It is valid as long as the handle. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_platform(session: Option<&panda_session>) -> *const c_char {
    session.map_or(std::ptr::null(), |session| session.platform.as_ptr())
}

/// Writes a process's name, such as "rank 3", to `name` as snprintf() does: cut to `room` bytes
/// including the zero byte. Returns its whole length; 0 if there is no such rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_name_of(
    session: Option<&panda_session>,
    rank: panda_rank,
    name: *mut c_char,
    room: usize,
) -> usize {
    value("panda_session_name_of", 0, || {
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(name, room, "name") }?;
        fill_text(places, "");
        let session = &given(session, "session")?.session;
        let size = session.population();
        if rank >= size {
            return Err(Error::NoSuchRank { rank, size }.into());
        }
        Ok(fill_text(places, &session.name_of(rank)))
    })
}

/// Writes why a process is lost to this one, in the way of panda_session_name_of(). Returns 0 and
/// an empty text if it is not known to be lost. Only processes that this one waits for are watched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_why_lost(
    session: Option<&panda_session>,
    rank: panda_rank,
    why: *mut c_char,
    room: usize,
) -> usize {
    value("panda_session_why_lost", 0, || {
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(why, room, "why") }?;
        fill_text(places, "");
        let why = given(session, "session")?.session.why_lost(rank);
        Ok(why.map_or(0, |why| fill_text(places, &why)))
    })
}

/// Registers an upcall for events of all other processes of the session, in place of an earlier
/// one. The events of one process alternate: PANDA_PEER_JOINED, then PANDA_PEER_LEFT or
/// PANDA_PEER_LOST. PANDA_PEER_JOINED comes again if another process takes the rank, or the lost
/// one answers again.
///
/// The upcall first gets all that is known: PANDA_PEER_JOINED for every process that this one has
/// known of, and the end of those that are gone. From now on this process asks all others for signs
/// of life, including later ones.
///
/// release(context) is called once, when the upcall is no longer needed: when another replaces it,
/// at the end of the session, or at once if this fails. It may be NULL.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_on_peer(
    session: Option<&panda_session>,
    upcall: panda_peer_upcall,
    context: *mut c_void,
    release: panda_release,
) -> panda_status {
    let upcall = Upcall::new(upcall, context, release);
    entry("panda_session_on_peer", || {
        let session = of(session)?;
        let upcall = upcall.given()?;
        session.on_peer(move |rank, event| {
            let (event, why) = match event {
                PeerEvent::Joined => (PANDA_PEER_JOINED, None),
                PeerEvent::Left => (PANDA_PEER_LEFT, None),
                PeerEvent::Lost { why } => {
                    let why = CString::new(why.replace('\0', " "));
                    (PANDA_PEER_LOST, why.ok())
                }
            };
            let why = why.as_ref().map_or(std::ptr::null(), |why| why.as_ptr());
            upcall.call(|function, context| {
                // SAFETY: the program gave both for this.
                unsafe { function(context, rank, event, why) };
            });
        })?;
        Ok(())
    })
}

/// Writes the peers that are known to receive this process's multicasts to `to`: at most `room` of
/// them. Their number goes to `count`, and the number of multicast frames so far to `frames`. Each
/// may be NULL. On platforms without multicast there are none.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_multicast(
    session: Option<&panda_session>,
    to: *mut panda_rank,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
    frames: Option<&mut MaybeUninit<u64>>,
) -> panda_status {
    entry("panda_session_multicast", || {
        let multicast = given(session, "session")?.session.multicast();
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(to, room, "to") }?;
        let heard = fill(places, &multicast.to);
        count.map(|count| count.write(heard));
        frames.map(|frames| frames.write(multicast.frames));
        Ok(())
    })
}

/// Checks that the session goes on.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_check(session: Option<&panda_session>) -> panda_status {
    entry("panda_session_check", || of(session).map(drop))
}

/// Sets how many bytes other processes may leave unread at this process's ports. All ports count
/// together, with the overhead of each message. The default is half of the memory that the process
/// may use. Senders that may wait are held long before.
///
/// Beyond the bound the process with the most unread bytes is lost to this one. Waits for it end
/// with PANDA_LOST, and the error names the port and the bytes. So do all later
/// panda_port_receive() from it, and the next one from any sender. Its later messages to ports are
/// dropped. Earlier ones can still be received, until others need the room.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_limit_unread(
    session: Option<&panda_session>,
    bytes: usize,
) -> panda_status {
    entry("panda_session_limit_unread", || {
        of(session)?.limit_unread(bytes);
        Ok(())
    })
}

/// Sets how many bytes may wait here for other processes that take nothing. All count together,
/// with the overhead of each message. The default is half of the memory that the process may use.
/// Threads that send wait long before. So this bounds what upcalls, answers and groups send.
///
/// Beyond the bound the process with the most waiting bytes is lost to this one, and those are
/// dropped. Waits for it end with PANDA_LOST, and the error names the bytes. Over udp it may
/// return. Over other platforms the two have no further contact.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_limit_untaken(
    session: Option<&panda_session>,
    bytes: usize,
) -> panda_status {
    entry("panda_session_limit_untaken", || {
        of(session)?.limit_untaken(bytes);
        Ok(())
    })
}

/// Runs the upcalls for messages that have come, without waiting. It serves programs that compute
/// for long and want upcalls on this thread. It does nothing in an upcall.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_poll(session: Option<&panda_session>) -> panda_status {
    entry("panda_session_poll", || {
        of(session)?.poll();
        Ok(())
    })
}

/// Waits for a condition that upcalls bring about, for a time at most, in nanoseconds or
/// PANDA_FOREVER. This thread drives the session meanwhile, so upcalls run on it and no other
/// thread is woken.
///
/// Errors: PANDA_TIMED_OUT; PANDA_OVER: the session ended before; PANDA_IN_UPCALL;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_wait_until(
    session: Option<&panda_session>,
    holds: panda_predicate,
    context: *mut c_void,
    timeout_ns: u64,
) -> panda_status {
    entry("panda_session_wait_until", || {
        let holds = given(holds, "holds")?;
        let session = of(session)?;
        let until = time(timeout_ns).and_then(|time| Instant::now().checked_add(time));
        // SAFETY: the caller's promise.
        let holds = || called(|| unsafe { holds(context) });
        match session.wait_until(holds, until)? {
            true => Ok(()),
            false => {
                session.check()?;
                Err(Failure::TimedOut(
                    "what was waited for did not come to hold in time",
                ))
            }
        }
    })
}

/// Makes an upcall that waits end the process, with a report of where it waits and where it was
/// registered. An upcall that runs for more than half a second is reported on standard error.
/// Otherwise such a wait fails with PANDA_IN_UPCALL, which is the default in a release build of the
/// library. It applies to the whole process.
#[unsafe(no_mangle)]
pub extern "C" fn panda_detect_waiting_upcalls(detects: bool) {
    antiphon_panda::session::detect_waiting_upcalls(detects);
}

/// Checks that the caller is not in an upcall, for functions of a program that wait. Otherwise it
/// returns PANDA_IN_UPCALL, or ends the process if panda_detect_waiting_upcalls() said so.
///
/// Errors: PANDA_IN_UPCALL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_must_not_wait() -> panda_status {
    entry("panda_must_not_wait", || Ok(must_not_wait()?))
}

/// Returns the ranks of a list of the program.
///
/// # Safety
/// It is NULL or has the given length, and does not change during `'a`.
pub(crate) unsafe fn ranks<'a>(
    ranks: *const panda_rank,
    count: usize,
) -> Result<&'a [panda_rank], Failure> {
    // SAFETY: the caller's promise.
    unsafe { array(ranks, count, "ranks") }
}
