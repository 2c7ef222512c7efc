//! The ownership of messages between C and the session.

use std::mem::MaybeUninit;

use antiphon_panda::Message;

use crate::message::panda_message;

/// Makes a message that C owns.
#[inline]
pub(crate) fn owned(message: Message) -> *mut panda_message {
    let is_lent = false;
    Box::into_raw(Box::new(panda_message { message, is_lent }))
}

/// Lends a message to C while `act` runs.
#[inline]
pub(crate) fn lent<R>(message: Message, act: impl FnOnce(*mut panda_message) -> R) -> R {
    let is_lent = true;
    let mut lent = panda_message { message, is_lent };
    act(&raw mut lent)
}

/// Takes a message that C passed, and returns its content in a message of our own. A lent message
/// stays in place, and is empty then. Every function does this first, whatever its other arguments,
/// so that a lent message is never freed as if it were owned. The message stays in its box until it
/// is passed on, because each move takes time.
#[inline]
pub(crate) fn taken(given: Option<Box<panda_message>>) -> Option<Box<panda_message>> {
    let given = given?;
    match given.is_lent {
        false => Some(given),
        true => Some(taken_from_lent(given)),
    }
}

fn taken_from_lent(mut given: Box<panda_message>) -> Box<panda_message> {
    let message = std::mem::take(&mut given.message);
    // It is on the stack of the code that lent it.
    let _ = Box::into_raw(given);
    let is_lent = false;
    Box::new(panda_message { message, is_lent })
}

/// Memory for an awaited message, so that receiving it allocates nothing.
pub(crate) struct Awaited(Box<MaybeUninit<panda_message>>);

impl Awaited {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(Box::new_uninit())
    }

    /// Returns the received message, which C then owns.
    #[inline]
    pub(crate) fn owned(self, message: Message) -> *mut panda_message {
        let is_lent = false;
        Box::into_raw(Box::write(self.0, panda_message { message, is_lent }))
    }
}
