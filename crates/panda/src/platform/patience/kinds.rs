//! Two kinds of waits, whose spins bring different things.
//!
//! Who has sent something and waits for what comes of it may be in the way: a peer that shares the processor needs it for the answer. Who has had that, and sent nothing since, waits for others: that peer
//! mostly sleeps by now, and a spin is in nobody's way. So the root of a tree should sleep for the first of its children and spin for the others. What one kind of waits was like says nothing of the other.
//!
//! Where peers are threads of this process, it is seen who had the processor, and one kind does as well.

use std::time::Duration;

use super::Patience;

/// What waits of each kind were like.
#[derive(Debug)]
pub struct Kinds {
    pub(super) after_sending: Patience,
    pub(super) otherwise: Patience,
    pub(super) has_sent: bool,
}

impl Default for Kinds {
    /// Who receives a stream finds more at a time if it sleeps soon: it gives way for no longer than a few yields take.
    fn default() -> Self {
        Self {
            after_sending: Patience::default(),
            otherwise: Patience {
                gives_way_for: Duration::ZERO,
                ..Patience::default()
            },
            has_sent: false,
        }
    }
}

impl Kinds {
    /// A wait begins, after something was sent since the last one, or not.
    #[inline]
    pub fn begin(&mut self, has_sent: bool) {
        self.has_sent = has_sent;
    }

    /// What waits as this one were like.
    #[inline]
    pub fn of_this_wait(&mut self) -> &mut Patience {
        match self.has_sent {
            true => &mut self.after_sending,
            false => &mut self.otherwise,
        }
    }
}
