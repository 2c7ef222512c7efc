//! Messages on their way between C and the session: who has them.

use std::mem::MaybeUninit;

use antiphon_panda::Message;

use crate::message::panda_message;

/// A message for C, which owns it.
#[inline]
pub(crate) fn owned(message: Message) -> *mut panda_message {
    let is_lent = false;
    Box::into_raw(Box::new(panda_message { message, is_lent }))
}

/// Lends C a message for as long as `act` takes.
#[inline]
pub(crate) fn lent<R>(message: Message, act: impl FnOnce(*mut panda_message) -> R) -> R {
    let is_lent = true;
    let mut lent = panda_message { message, is_lent };
    act(&raw mut lent)
}

/// What a function takes: a message of its own with what that held that C gave. One that is lent stays where it is, and is empty. It is the first thing that a function does, whatever else
/// it is given, so that a lent message is never freed as if it were owned. The message stays in its box until it is handed on: each move takes time.
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
    // It is on the stack of who lent it.
    let _ = Box::into_raw(given);
    let is_lent = false;
    Box::new(panda_message { message, is_lent })
}

/// Memory for a message that is waited for, so that nothing is allocated between its coming and the program.
pub(crate) struct Awaited(Box<MaybeUninit<panda_message>>);

impl Awaited {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(Box::new_uninit())
    }

    /// The message that came, which C owns.
    #[inline]
    pub(crate) fn owned(self, message: Message) -> *mut panda_message {
        let is_lent = false;
        Box::into_raw(Box::write(self.0, panda_message { message, is_lent }))
    }
}
