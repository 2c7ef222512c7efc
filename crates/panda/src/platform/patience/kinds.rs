//! Two kinds of waits, whose spins bring different things.
//!
//! Who has sent something and waits for what comes of it may be in the way: a peer that shares the processor needs it for the answer. Who has had that, and sent nothing since, waits for others: that peer
//! mostly sleeps by now, and a spin is in nobody's way. So the root of a tree should sleep for the first of its children and spin for the others. What one kind of waits was like says nothing of the other.
//!
//! Where peers are threads of this process, it is seen who had the processor, and one kind does as well.

use super::Patience;

/// What waits of each kind were like.
#[derive(Debug, Default)]
pub struct Kinds {
    pub(super) after_sending: Patience,
    pub(super) otherwise: Patience,
    pub(super) has_sent: bool,
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
