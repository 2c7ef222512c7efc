//! Two kinds of waits, each with a policy of its own.
//!
//! - A thread that has sent something and waits for the effect may be in the way: a peer on the
//!   same processor needs it for the answer.
//! - A thread that has had that answer and sent nothing since waits for others. That peer mostly
//!   sleeps by now, and a spin is in no process's way.
//!
//! So the root of a tree should sleep for the first of its children and spin for the others. Waits
//! of one kind say nothing about the other. If peers are threads of this process, the policy sees
//! who had the processor, and one kind serves as well.

use std::time::Duration;

use super::SpinPolicy;

/// The policies of both kinds of waits.
#[derive(Debug)]
pub struct Kinds {
    pub(super) after_sending: SpinPolicy,
    pub(super) otherwise: SpinPolicy,
    pub(super) has_sent: bool,
}

impl Default for Kinds {
    /// Makes the policies of a new receiving end. A receiver of a stream finds more at a time if it
    /// sleeps soon, so waits of the second kind yield only a few times.
    fn default() -> Self {
        Self {
            after_sending: SpinPolicy::default(),
            otherwise: SpinPolicy {
                gives_way_for: Duration::ZERO,
                ..SpinPolicy::default()
            },
            has_sent: false,
        }
    }
}

impl Kinds {
    /// Notes that a wait begins, and whether anything was sent since the last one.
    #[inline]
    pub fn begin(&mut self, has_sent: bool) {
        self.has_sent = has_sent;
    }

    /// Returns the policy of this wait's kind.
    #[inline]
    pub fn of_this_wait(&mut self) -> &mut SpinPolicy {
        match self.has_sent {
            true => &mut self.after_sending,
            false => &mut self.otherwise,
        }
    }
}
