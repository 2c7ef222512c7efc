//! Groups: every member's upcall sees the same events in the same order.

use std::sync::Arc;

use super::communicator::{Communicator, name_of_view};
use super::core::Core;
use super::engine::Ask;
use super::{Session, upcall};
use crate::error::{Error, Named};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::group::GroupEvent;

/// A membership of a group. Dropping it does not leave.
#[derive(Clone)]
pub struct Group {
    core: Arc<Core>,
    name: String,
    number: u64,
}

impl Session {
    /// Joins a group, and waits until this process is in it. Its first event is the view that it begins with; every message after that comes to it, in the one
    /// order, its own included. The upcall must not wait; it may send. If it panics, this process leaves the group, and its operations fail with [`Error::Expelled`].
    ///
    /// # Errors
    /// This process is a member, or joins already; the group ended with its last member; the name cannot be told from that of another group; or this is an upcall.
    #[track_caller]
    pub fn join_group(
        &self,
        name: &str,
        upcall: impl FnMut(GroupEvent) + Send + 'static,
    ) -> Result<Group, Error> {
        upcall::must_not_wait()?;
        let number = self.core().dispatcher.names.number(Named::Group, name)?;
        self.wait_for_leave(number);
        let place = std::panic::Location::caller();
        let given: super::dispatcher::GroupUpcall = Box::new(upcall);
        let call = parking_lot::Mutex::new(given);
        let mut upcall = Some(Arc::new(upcall::Registered { place, call }));
        let is_first = self.core().dispatcher.group(number, |membership| {
            let is_first = !std::mem::replace(&mut membership.is_joined, true);
            if is_first {
                // What was there is dropped outside of the lock.
                std::mem::swap(&mut membership.upcall, &mut upcall);
                membership.joined += 1;
                (membership.view, membership.ended) = (None, None);
                membership.panic = None;
            }
            is_first
        });
        drop(upcall);
        if !is_first {
            return Err(Error::AlreadyMember(name.to_string()));
        }
        self.core().ask(Ask::Join(number));
        let dispatcher = &self.core().dispatcher;
        let is_decided = || {
            dispatcher.group(number, |membership| {
                membership.view.is_some() || membership.ended.is_some()
            })
        };
        (self.core()).wait("a group to let it in", is_decided, None);
        let group = Group {
            core: self.keeper.core.clone(),
            name: name.to_string(),
            number,
        };
        group.check().map(|()| group)
    }

    /// A membership whose upcall panicked is on its way out: the next one begins after it.
    fn wait_for_leave(&self, number: u64) {
        let has_left = || {
            self.core().dispatcher.group(number, |membership| {
                membership.panic.is_none() || membership.ended.is_some()
            })
        };
        (self.core()).wait("the end of its last membership", has_left, None);
    }
}

impl Group {
    /// Sends a message to all members, and goes on. Waits only while many messages of this member have no place yet.
    ///
    /// # Errors
    /// This process is no member any more, or the message is too long for the platform.
    pub fn send(&self, payload: impl Into<Message>) -> Result<(), Error> {
        let payload = payload.into();
        self.check()?;
        let core = &self.core;
        core.check_length(&payload)?;
        let is_free = || !core.engine.group_is_congested(self.number);
        if !upcall::is_running() && !is_free() {
            let is_over = || is_free() || self.check().is_err();
            core.wait("its group to order what it sent", is_over, None);
            self.check()?;
        }
        core.ask(Ask::GroupSend(self.number, payload));
        Ok(())
    }

    /// The members, oldest first, as of the last view that the upcall has seen.
    #[must_use]
    pub fn members(&self) -> Vec<Rank> {
        if self.core.check().is_err() {
            return Vec::new();
        }
        self.core.dispatcher.group(self.number, |membership| {
            let members = membership.view.as_ref().map(|view| view.members.clone());
            members.unwrap_or_default()
        })
    }

    /// The members as of the last view that the upcall has seen, for collective operations: members that have seen the same view get the same communicator, apart from all other communicators of
    /// the same processes. Where the view changes, its operations end with an error that names who is lost, has left or has joined, and so do all later ones: ask for the next
    /// view's communicator. As in every communicator, others may have ended the operation that failed here.
    ///
    /// # Errors
    /// This process is no member any more.
    pub fn communicator(&self) -> Result<Communicator, Error> {
        let (number, members) = self.view_for_communicators()?;
        Communicator::named(&self.core, &name_of_view(self.number, number), &members)
    }

    /// Some of the members as of the last view that the upcall has seen, each once and in this order, for collective operations: as [`communicator`](Self::communicator), of those alone. The same list, in the same
    /// order, at all of them. It is apart from that communicator and from those of other views, also where it has the same processes, and ends with the view, whoever has come or gone.
    ///
    /// # Errors
    /// [`Error::Mismatch`]: one of them is not in that view. This process is no member any more, or not one of them; or one is there twice.
    pub fn communicator_of(&self, ranks: &[Rank]) -> Result<Communicator, Error> {
        let (number, members) = self.view_for_communicators()?;
        if let Some(rank) = ranks.iter().find(|rank| !members.contains(rank)) {
            self.core.check_rank(*rank)?;
            return Err(Error::Mismatch {
                rank: *rank,
                peer: self.core.dispatcher.name_of(*rank),
                why: format!(
                    "is not in the view of group {:?} that this member has seen last",
                    self.name
                ),
            });
        }
        Communicator::of_view(&self.core, (self.number, number, &members), ranks)
    }

    /// The last view that the upcall has seen, whose communicators end with it from now on.
    fn view_for_communicators(&self) -> Result<(u64, Vec<Rank>), Error> {
        self.check()?;
        let view = self.core.dispatcher.group(self.number, |membership| {
            let view = membership.view.as_mut()?;
            view.has_communicator = true;
            Some((view.number, view.members.clone()))
        });
        view.ok_or_else(|| Error::NotMember(self.name.clone()))
    }

    /// Leaves when all that this member sent has been delivered, and waits for that.
    ///
    /// # Errors
    /// This process was expelled, or this is an upcall.
    #[track_caller]
    pub fn leave(self) -> Result<(), Error> {
        upcall::must_not_wait()?;
        self.check()?;
        let core = &self.core;
        core.ask(Ask::Leave(self.number));
        let dispatcher = &core.dispatcher;
        core.wait(
            "a group to let it go",
            || dispatcher.group(self.number, |membership| membership.ended.is_some()),
            None,
        );
        match self.check() {
            Err(Error::NotMember(_)) => Ok(()),
            other => other,
        }
    }

    /// That this process is a member, and the session goes on.
    fn check(&self) -> Result<(), Error> {
        self.core.check()?;
        let ended = self.core.dispatcher.group(self.number, |membership| {
            let panic = membership.panic.clone().map(Some);
            panic.or_else(|| membership.ended.clone())
        });
        match ended {
            None => Ok(()),
            Some(None) => Err(Error::NotMember(self.name.clone())),
            Some(Some(why)) => Err(Error::Expelled {
                group: self.name.clone(),
                why,
            }),
        }
    }
}
