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

/// A process's part in a session. Its handle may be used by all threads at once.
pub struct panda_session {
    pub(crate) session: Session,
    platform: CString,
}

/// Whether something holds that is waited for. It is called often, on the thread that waits, and must not wait itself; what it reads must be safe to read while upcalls
/// run on another thread.
pub type panda_predicate = Option<unsafe extern "C-unwind" fn(context: *mut c_void) -> bool>;

/// What happens to a peer.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum panda_peer_event {
    /// It is there: it has joined, or it was lost and is heard of again.
    PANDA_PEER_JOINED = 0,
    /// It has ended its session.
    PANDA_PEER_LEFT = 1,
    /// It is lost for another reason: why.
    PANDA_PEER_LOST = 2,
}

use panda_peer_event::*;

/// Takes what is told of a peer. `why` says in words, which follow the peer's name, how a loss is
/// known; it is NULL of other events, and lent until the upcall returns. It runs on the thread that
/// drives the session, one at a time, and must not wait for messages; it may send, reply and lock a
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

/// The session of a handle, if it goes on.
pub(crate) fn of(session: Option<&panda_session>) -> Result<&Session, Failure> {
    let session = &given(session, "session")?.session;
    session.check()?;
    Ok(session)
}

/// Joins the session that this process was started in by `antiphon launch` or `mpirun`, over the platform that its environment names. The handle is the caller's, to be given back
/// by panda_session_free().
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

/// The same, with a time for which a peer may be silent before it is taken for lost, in nanoseconds; 3 s otherwise. Whoever launches the program may say another, which
/// counts (`antiphon launch --silence`). Processes of a session should say the same.
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

/// Joins a running session of this user as one more process, which somebody has started by hand: the session of a name, or for NULL the only one that can be joined. `antiphon launch --joinable NAME` lets a
/// session be joined so; the process must run on the launcher's host. It has no parent, and ends when it likes. The handle is the caller's, to be given back by panda_session_free().
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

/// Sessions of `size` parts of this process, for instance one for each thread, over the platform `local`: sessions[rank] for each rank, all to be given back.
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

/// Ends this process's part: operations fail with PANDA_OVER from now on, those that wait, too. What was sent before still reaches the peers. All upcalls are let go of; when
/// this returns, the session's progress thread has ended. Once more it does nothing: whoever calls it while another does may return earlier, before that thread has
/// ended. The handle stays valid. In an upcall it does not wait for the session's thread.
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

/// Ends the session if nobody has, and gives the handle back: no thread may use it any more. Ports, groups, communicators and replies remain the caller's; operations of ports, groups and communicators fail
/// with PANDA_OVER, of replies see panda_reply_send(). NULL is none.
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

/// This process's rank; PANDA_ANY for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_rank(session: Option<&panda_session>) -> panda_rank {
    session.map_or(PANDA_ANY, |session| session.session.rank())
}

/// How many processes the session began with: their ranks are below it. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_size(session: Option<&panda_session>) -> u32 {
    session.map_or(0, |session| session.session.size())
}

/// The process that had this one started, by panda_session_spawn(); PANDA_ANY of those that the session began with, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_parent(session: Option<&panda_session>) -> panda_rank {
    let parent = session.and_then(|session| session.session.parent());
    parent.unwrap_or(PANDA_ANY)
}

/// How many processes there have been, those that were spawned included. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_population(session: Option<&panda_session>) -> u32 {
    value("panda_session_population", 0, || {
        Ok(given(session, "session")?.session.population())
    })
}

/// The platform's name, such as "shm"; kept as long as the handle. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_platform(session: Option<&panda_session>) -> *const c_char {
    session.map_or(std::ptr::null(), |session| session.platform.as_ptr())
}

/// A process's name, such as "rank 3", into `name` as snprintf() writes it: cut to `room` bytes with the zero byte. Returns its whole length; 0 if there is no such rank.
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

/// Why a process is lost to this one, in words written as panda_session_name_of() does; 0 and an empty text if it is not, as far as is known. Only processes that something waits for are
/// watched.
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

/// Registers an upcall to be told of all other processes of the session, in place of an earlier
/// one. The events of one process alternate: PANDA_PEER_JOINED, then PANDA_PEER_LEFT or
/// PANDA_PEER_LOST, then PANDA_PEER_JOINED again if another process takes the rank or the lost one
/// is heard of again. The upcall is first told of all that is known: PANDA_PEER_JOINED for every
/// process that this one has known of, and how it went if it is gone. From now on this process
/// asks all others for signs of life, later ones included. release(context) is called once, when
/// the upcall is let go of: in place of another, at the end of the session, or at once if this
/// fails. It may be NULL.
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

/// Which peers were found to hear this process's multicasts: at most `room` of them into `to`, and how many there are into `count`; into `frames` how many frames went so until now. Each may
/// be NULL. Nobody and 0 on platforms without.
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

/// That the session goes on.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_check(session: Option<&panda_session>) -> panda_status {
    entry("panda_session_check", || of(session).map(drop))
}

/// Sets how many bytes other processes may leave unread at this process's ports, all together and with what each message takes besides its payload; half of the memory that the process may use, if
/// nothing is said. Senders that may wait are held long before. Beyond it the process of which most lies unread is lost to this one: what waits for it ends with PANDA_LOST and
/// words that name the port and the bytes, and so do all later panda_port_receive() from it and the next one from anybody; what it sends to ports is not heard any more. What lies here of it can be
/// received before, until room is needed for others.
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

/// Sets how many bytes may wait here for other processes because those take nothing, all together and with what each message takes besides its payload; half of the memory that the process may use, if
/// nothing is said. Threads that send wait long before: this is for what callbacks send, for answers and for groups. Beyond it the process for which most waits is lost to this one, and what waited is
/// let go of: what waits for it ends with PANDA_LOST and words that name the bytes. Over udp it can be heard of again; over other platforms the two have no more to do with each other.
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

/// Runs what has come without waiting: for programs that compute for long and want upcalls on this thread. It does nothing in an upcall.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_poll(session: Option<&panda_session>) -> panda_status {
    entry("panda_session_poll", || {
        of(session)?.poll();
        Ok(())
    })
}

/// Waits until something holds that upcalls bring about, for a time at most, in nanoseconds or PANDA_FOREVER. This thread drives the session meanwhile, so that upcalls run on it
/// and nobody is woken.
///
/// Errors: PANDA_TIMED_OUT; PANDA_OVER: the session ended before; PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
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

/// Has an upcall that waits end the process, with the places where it waits and where it was given, and has one that runs for more than half a second be reported on standard error. Without it,
/// as it is at first in a release build of the library, such a wait fails with PANDA_IN_UPCALL. For the whole process.
#[unsafe(no_mangle)]
pub extern "C" fn panda_detect_waiting_upcalls(detects: bool) {
    antiphon_panda::session::detect_waiting_upcalls(detects);
}

/// That the caller is in no upcall, for functions of a program's own that wait: PANDA_IN_UPCALL where it is, or the end of the process if panda_detect_waiting_upcalls() said so.
///
/// Errors: PANDA_IN_UPCALL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_must_not_wait() -> panda_status {
    entry("panda_must_not_wait", || Ok(must_not_wait()?))
}

/// The ranks of a list of the program's.
///
/// # Safety
/// It is absent or as long as is said, and stays as it is for `'a`.
pub(crate) unsafe fn ranks<'a>(
    ranks: *const panda_rank,
    count: usize,
) -> Result<&'a [panda_rank], Failure> {
    // SAFETY: the caller's promise.
    unsafe { array(ranks, count, "ranks") }
}
