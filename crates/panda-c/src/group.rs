//! Groups: every member's upcall sees the same events in the same order.

use std::ffi::{CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use antiphon_panda::{Group, GroupEvent};

use crate::given::{Upcall, fill, given, panda_release, text};
use crate::handing::{lent, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session};
use crate::status::{PANDA_ANY, entry, freed, panda_rank, panda_status, value};

/// A membership of a group. Its handle may be used by all threads at once.
pub struct panda_group {
    pub(crate) group: Group,
    /// This process's.
    pub(crate) rank: panda_rank,
}

/// What happens in a group.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum panda_event_kind {
    /// A message came: from, place, message.
    PANDA_EVENT_MESSAGE = 0,
    /// Members came or went: view, members, joined, left. The first event of a new member.
    PANDA_EVENT_VIEW = 1,
    /// This process has left, as it asked. The last event.
    PANDA_EVENT_LEFT = 2,
    /// The others went on without this process, or a majority could not be reached: why. What it sent may not have been delivered. The last event.
    PANDA_EVENT_EXPELLED = 3,
}

use panda_event_kind::*;

/// Some ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct panda_ranks {
    /// As many as there are; NULL if there is none.
    pub ranks: *const panda_rank,
    /// How many.
    pub count: usize,
}

/// What a member is told, at the same point of the order as every other member. All that it points to is lent until the upcall returns.
#[repr(C)]
pub struct panda_event {
    /// What happened. What the others below say counts for the kinds that name it; else it is 0, NULL or PANDA_ANY.
    pub kind: panda_event_kind,
    /// The sender, which may be this process.
    pub from: panda_rank,
    /// The message's place in the order, the same at all members; grows by one.
    pub place: u64,
    /// What was sent. It may be taken: panda_message_take().
    pub message: *mut panda_message,
    /// The view's number, the same at all members.
    pub view: u64,
    /// The view's members, oldest first.
    pub members: panda_ranks,
    /// Those that were not in the view before.
    pub joined: panda_ranks,
    /// Those that were in the view before.
    pub left: panda_ranks,
    /// Why this process was expelled, in words.
    pub why: *const c_char,
}

/// Takes an event. It runs on the thread that drives the session, one at a time for each group, and must not wait for messages; it may send, answer and lock a mutex for a moment.
pub type panda_event_upcall =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, event: *const panda_event)>;

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
            members,
            joined,
            left,
        } => to(&panda_event {
            kind: PANDA_EVENT_VIEW,
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

/// Joins a group, and waits until this process is in it. The first event is the view that it begins with; every message after that comes to the upcall in the one order, this process's own
/// included. release(context) is called once, when the upcall is let go of: when this process has left or was expelled, after that event; at the end of the session; or at
/// once if this fails. It may be NULL. The handle is the caller's, to be given back by panda_group_free().
///
/// Errors: PANDA_ALREADY_MEMBER; PANDA_EXPELLED; PANDA_NOT_MEMBER: the group ended with its last member; PANDA_SAME_NUMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
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

/// Sends a message, which it takes, to all members, and goes on. It waits only while many messages of this member have no place yet, and not in an upcall.
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

/// The members, oldest first, as of the last view that the upcall has seen: at most `room` of them into `members`. Returns how many there are; 0 once this process is no member.
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

/// Leaves the group when all that this member sent has been delivered, and waits for that. The handle stays valid.
///
/// Errors: PANDA_EXPELLED; PANDA_NOT_MEMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_leave(group: Option<&panda_group>) -> panda_status {
    entry("panda_group_leave", || {
        Ok(given(group, "group")?.group.clone().leave()?)
    })
}

/// Gives a handle back. It does not leave the group: the upcall goes on. NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn panda_group_free(group: Option<Box<panda_group>>) {
    freed("panda_group_free", group);
}
