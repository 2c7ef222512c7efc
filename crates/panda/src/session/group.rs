//! Groups: every member's upcall sees the same events in the same order.

use super::engine::Ask;
use super::{Session, number_of, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::group::GroupEvent;

/// A membership of a group. Dropping it does not leave.
#[derive(Clone)]
pub struct Group {
    session: Session,
    name: String,
    number: u64,
}

impl Session {
    /// Joins a group, and waits until this process is in it. Its first event is the view that it begins with; every message after that comes to it, in the one
    /// order, its own included. The upcall must not wait; it may send.
    ///
    /// # Errors
    /// The group ended with its last member, or this is an upcall.
    #[track_caller]
    pub fn join_group(
        &self,
        name: &str,
        upcall: impl FnMut(GroupEvent) + Send + 'static,
    ) -> Result<Group, Error> {
        upcall::must_not_wait()?;
        let number = number_of(name);
        let upcall: super::desk::GroupUpcall = Box::new(upcall);
        self.desk().group(number, |membership| {
            membership.upcall = Some(std::sync::Arc::new(parking_lot::Mutex::new(upcall)));
            (membership.members, membership.ended) = (None, None);
        });
        self.ask(Ask::Join(number));
        let desk = self.desk();
        let is_decided = || {
            desk.group(number, |membership| {
                membership.members.is_some() || membership.ended.is_some()
            })
        };
        self.inner.engine.wait(&mut { is_decided }, None);
        let group = Group {
            session: self.clone(),
            name: name.to_string(),
            number,
        };
        group.check().map(|()| group)
    }
}

impl Group {
    /// Sends a message to all members, and goes on. Waits only while many messages of this member have no place yet.
    ///
    /// # Errors
    /// This process is no member any more.
    pub fn send(&self, payload: impl Into<Message>) -> Result<(), Error> {
        self.check()?;
        let engine = &self.session.inner.engine;
        if !upcall::is_running() && engine.group_is_congested(self.number) {
            engine.wait(
                &mut || !engine.group_is_congested(self.number) || self.check().is_err(),
                None,
            );
            self.check()?;
        }
        self.session
            .ask(Ask::GroupSend(self.number, payload.into()));
        Ok(())
    }

    /// The members, oldest first, as of the last view that the upcall has seen.
    #[must_use]
    pub fn members(&self) -> Vec<Rank> {
        self.session.desk().group(self.number, |membership| {
            membership.members.clone().unwrap_or_default()
        })
    }

    /// Leaves when all that this member sent has been delivered, and waits for that.
    ///
    /// # Errors
    /// This process was expelled, or this is an upcall.
    #[track_caller]
    pub fn leave(self) -> Result<(), Error> {
        upcall::must_not_wait()?;
        self.check()?;
        self.session.ask(Ask::Leave(self.number));
        let desk = self.session.desk();
        self.session.inner.engine.wait(
            &mut || desk.group(self.number, |membership| membership.ended.is_some()),
            None,
        );
        match self.check() {
            Err(Error::NotMember(_)) => Ok(()),
            other => other,
        }
    }

    fn check(&self) -> Result<(), Error> {
        match self
            .session
            .desk()
            .group(self.number, |membership| membership.ended.clone())
        {
            None => Ok(()),
            Some(None) => Err(Error::NotMember(self.name.clone())),
            Some(Some(why)) => Err(Error::Expelled {
                group: self.name.clone(),
                why,
            }),
        }
    }
}
