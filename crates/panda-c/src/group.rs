//! Groups: every member's upcall sees the same events in the same order.

use std::ffi::{CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::time::Instant;

use antiphon_panda::{DecodeError, Error, Group, GroupEvent, Message, Replica};

use crate::given::{Upcall, fill, given, panda_release, text, time};
use crate::handing::{lent, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session};
use crate::status::{Failure, PANDA_ANY, entry, freed, panda_rank, panda_status, value};

/// A membership of a group. Its handle may be used by all threads at once.
pub struct panda_group {
    pub(crate) group: Group,
    /// This process's rank.
    pub(crate) rank: panda_rank,
}

/// The kind of an event in a group.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum panda_event_kind {
    /// A message came: from, place, message.
    PANDA_EVENT_MESSAGE = 0,
    /// The members changed: place, view, members, joined, left. The first event of a new member.
    PANDA_EVENT_VIEW = 1,
    /// This process has left, as it asked. The last event.
    PANDA_EVENT_LEFT = 2,
    /// The others went on without this process, or a majority could not be reached: why. Messages
    /// that it sent may not have been delivered. The last event.
    PANDA_EVENT_EXPELLED = 3,
}

use panda_event_kind::*;

/// Some ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct panda_ranks {
    /// The ranks; NULL if there are none.
    pub ranks: *const panda_rank,
    /// Their number.
    pub count: usize,
}

/// An event of a group, at the same point of the order at every member. All its pointers are lent
/// until the upcall returns.
#[repr(C)]
pub struct panda_event {
    /// The kind of the event. The fields below are set for the kinds that name them. Otherwise they
    /// are 0, NULL or PANDA_ANY.
    pub kind: panda_event_kind,
    /// The sender, which may be this process.
    pub from: panda_rank,
    /// The place of the message or view in the order, the same at all members. Places are numbered
    /// without gaps.
    pub place: u64,
    /// The message. panda_message_take() takes it.
    pub message: *mut panda_message,
    /// The view's number, the same at all members.
    pub view: u64,
    /// The view's members, oldest first.
    pub members: panda_ranks,
    /// Members that were not in the view before.
    pub joined: panda_ranks,
    /// Former members that are not in this view.
    pub left: panda_ranks,
    /// Why this process was expelled, in words.
    pub why: *const c_char,
}

/// Takes an event. It runs on the thread that drives the session, one at a time for each group, and
/// must not wait for messages. It may send, answer and lock a mutex for a moment.
pub type panda_event_upcall =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, event: *const panda_event)>;

/// Makes a snapshot of this process's copy of the group's state, for a member that joins: the state
/// after the events up to `place`. The library owns the returned message. NULL means that the copy
/// cannot be given, and another member is asked. It must not wait.
pub type panda_snapshot = Option<
    unsafe extern "C-unwind" fn(context: *mut c_void, place: u64) -> Option<Box<panda_message>>,
>;

/// Replaces this process's copy by another member's snapshot, which is lent and may be taken. The
/// next events are the view that holds at `place`, and then those after that place. If it does not
/// return PANDA_OK, this process leaves the group. It must not wait.
pub type panda_install = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        place: u64,
        state: *mut panda_message,
    ) -> panda_status,
>;

/// The functions of a copy of a group's state. They run as upcalls of the group do, one at a time.
/// None of them may be NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct panda_replica {
    /// Takes an event, which may change the copy.
    pub deliver: panda_event_upcall,
    /// Makes a snapshot.
    pub snapshot: panda_snapshot,
    /// Installs a snapshot.
    pub install: panda_install,
}

/// A copy of a group's state that a program in C keeps.
struct Copy {
    upcall: Upcall<panda_replica>,
}

impl Replica for Copy {
    fn deliver(&mut self, event: GroupEvent) {
        show(event, |event| {
            self.upcall.call(|functions, context| {
                if let Some(deliver) = functions.deliver {
                    // SAFETY: the program gave both for this.
                    unsafe { deliver(context, event) };
                }
            });
        });
    }

    fn snapshot(&mut self, place: u64) -> Result<Message, Error> {
        let mut made = None;
        self.upcall.call(|functions, context| {
            if let Some(snapshot) = functions.snapshot {
                // SAFETY: the program gave both for this.
                made = unsafe { snapshot(context, place) };
            }
        });
        let message = taken(made).ok_or_else(|| refused("the snapshot function gave none"))?;
        Ok(message.message)
    }

    fn install(&mut self, place: u64, state: Message) -> Result<(), Error> {
        let mut status = panda_status::PANDA_BAD_ARGUMENT;
        lent(state, |state| {
            self.upcall.call(|functions, context| {
                if let Some(install) = functions.install {
                    // SAFETY: the program gave both for this, and the message is lent until it
                    // returns.
                    status = unsafe { install(context, place, state) };
                }
            });
        });
        match status {
            panda_status::PANDA_OK => Ok(()),
            other => Err(refused(&format!("the install function returned {other:?}"))),
        }
    }
}

fn refused(reason: &str) -> Error {
    Error::Decode(DecodeError::Value {
        wanted: "state of a group",
        reason: reason.into(),
    })
}

const NOBODY: panda_ranks = panda_ranks {
    ranks: null(),
    count: 0,
};

fn all(ranks: &[panda_rank]) -> panda_ranks {
    match ranks.is_empty() {
        true => NOBODY,
        false => panda_ranks {
            ranks: ranks.as_ptr(),
            count: ranks.len(),
        },
    }
}

/// Shows an event to C.
fn show(event: GroupEvent, to: impl FnOnce(&panda_event)) {
    let empty = panda_event {
        kind: PANDA_EVENT_LEFT,
        from: PANDA_ANY,
        place: 0,
        message: null_mut(),
        view: 0,
        members: NOBODY,
        joined: NOBODY,
        left: NOBODY,
        why: null(),
    };
    match event {
        GroupEvent::Message {
            from,
            place,
            payload,
        } => lent(payload, |message| {
            to(&panda_event {
                kind: PANDA_EVENT_MESSAGE,
                from,
                place,
                message,
                ..empty
            });
        }),
        GroupEvent::View {
            number,
            place,
            members,
            joined,
            left,
        } => to(&panda_event {
            kind: PANDA_EVENT_VIEW,
            place,
            view: number,
            members: all(&members),
            joined: all(&joined),
            left: all(&left),
            ..empty
        }),
        GroupEvent::Left => to(&empty),
        GroupEvent::Expelled { why } => {
            let why = CString::new(why.replace('\0', "\\0")).unwrap_or_default();
            to(&panda_event {
                kind: PANDA_EVENT_EXPELLED,
                why: why.as_ptr(),
                ..empty
            });
        }
    }
}

/// Joins a group, and waits until this process is a member. The first event is its first view.
/// Every message after that goes to the upcall in the one order, including this process's own.
///
/// release(context) is called once, when the upcall is no longer needed. That is after the event
/// that this process has left or was expelled, at the end of the session, or at once if this fails.
/// It may be NULL. The caller frees the handle by panda_group_free().
///
/// Errors: PANDA_ALREADY_MEMBER; PANDA_EXPELLED; PANDA_NOT_MEMBER: the group ended with its last
/// member; PANDA_SAME_NUMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_group_join(
    session: Option<&panda_session>,
    name: *const c_char,
    upcall: panda_event_upcall,
    context: *mut c_void,
    release: panda_release,
    group: Option<&mut MaybeUninit<*mut panda_group>>,
) -> panda_status {
    let upcall = Upcall::new(upcall, context, release);
    entry("panda_group_join", || {
        let place = given(group, "group")?;
        let session = of(session)?;
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "name") }?;
        let upcall = upcall.given()?;
        let group = session.join_group(name, move |event| {
            show(event, |event| {
                upcall.call(|function, context| {
                    // SAFETY: the program gave both for this.
                    unsafe { function(context, event) };
                });
            });
        })?;
        let rank = session.rank();
        place.write(Box::into_raw(Box::new(panda_group { group, rank })));
        Ok(())
    })
}

/// Joins a group whose members keep copies of some state, and waits until this process has a copy.
/// If the group has members, one of them gives a snapshot of its copy, made between two events. If
/// that member leaves or is lost before, another one does.
///
/// The snapshot is installed before the first event. Then the copy gets the view that holds at the
/// snapshot's place, and all events after that place. The first members begin with their own
/// copies. All else is as with panda_group_join().
///
/// Errors: those of panda_group_join(); PANDA_NO_STATE: no member gave a snapshot; PANDA_EXPELLED:
/// it could not be installed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_group_join_with_state(
    session: Option<&panda_session>,
    name: *const c_char,
    replica: Option<&panda_replica>,
    context: *mut c_void,
    release: panda_release,
    group: Option<&mut MaybeUninit<*mut panda_group>>,
) -> panda_status {
    let upcall = Upcall::new(replica.copied(), context, release);
    entry("panda_group_join_with_state", || {
        let place = given(group, "group")?;
        let session = of(session)?;
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "name") }?;
        let functions = given(replica, "replica")?;
        given(functions.deliver, "replica->deliver")?;
        given(functions.snapshot, "replica->snapshot")?;
        given(functions.install, "replica->install")?;
        let group = session.join_group_with_state(name, Copy { upcall })?;
        let rank = session.rank();
        place.write(Box::into_raw(Box::new(panda_group { group, rank })));
        Ok(())
    })
}

/// Sends a message, which it takes, to all members, without waiting for delivery. It waits only
/// while many messages of this member have no place yet, but not in an upcall.
///
/// Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_TOO_LONG; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_send(
    group: Option<&panda_group>,
    message: Option<Box<panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_group_send", || {
        let group = given(group, "group")?;
        Ok(group.group.send(given(message, "message")?.message)?)
    })
}

/// Sends a message, which it takes, to all members, and waits until it has been delivered here:
/// this process's upcall has returned from it and from all earlier events. Its place in the order
/// goes to `place`, which may be NULL.
///
/// Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED: the message may not have been delivered;
/// PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_send_synchronously(
    group: Option<&panda_group>,
    message: Option<Box<panda_message>>,
    place: Option<&mut MaybeUninit<u64>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_group_send_synchronously", || {
        let group = given(group, "group")?;
        let sent = given(message, "message")?.message;
        let at = group.group.send_synchronously(sent)?;
        place.map(|place| place.write(at));
        Ok(())
    })
}

/// Returns the place of the last event from which the upcall of this membership has returned. It
/// has returned from all earlier ones, too. 0 before the first event.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_delivered(group: Option<&panda_group>) -> u64 {
    value("panda_group_delivered", 0, || {
        Ok(given(group, "group")?.group.delivered())
    })
}

/// Waits until the upcall of this membership has returned from the event at a place and from all
/// earlier ones. It waits for a time at most, in nanoseconds or PANDA_FOREVER. Any member may have
/// named the place, because the order is the same at all of them.
///
/// Errors: PANDA_TIMED_OUT; PANDA_NOT_MEMBER or PANDA_EXPELLED: this membership ended before the
/// place was reached; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_wait_for(
    group: Option<&panda_group>,
    place: u64,
    timeout_ns: u64,
) -> panda_status {
    entry("panda_group_wait_for", || {
        let group = given(group, "group")?;
        let until = time(timeout_ns).and_then(|time| Instant::now().checked_add(time));
        match group.group.wait_for(place, until)? {
            true => Ok(()),
            false => Err(Failure::TimedOut("the place was not reached in time")),
        }
    })
}

/// Writes the members, oldest first, as of the last view that the upcall has seen, to `members`: at
/// most `room` of them. Returns their number; 0 once this process is not a member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_group_members(
    group: Option<&panda_group>,
    members: *mut panda_rank,
    room: usize,
) -> usize {
    value("panda_group_members", 0, || {
        let all = given(group, "group")?.group.members();
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(members, room, "members") }?;
        Ok(fill(places, &all))
    })
}

/// Leaves the group once all messages of this member have been delivered, and waits for that. The
/// handle stays valid.
///
/// Errors: PANDA_EXPELLED; PANDA_NOT_MEMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_leave(group: Option<&panda_group>) -> panda_status {
    entry("panda_group_leave", || {
        Ok(given(group, "group")?.group.clone().leave()?)
    })
}

/// Frees a handle. It does not leave the group: the upcall continues. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_free(group: Option<Box<panda_group>>) {
    freed("panda_group_free", group);
}
