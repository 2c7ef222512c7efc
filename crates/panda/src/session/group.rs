//! Groups: every member's upcall sees the same events in the same order.

use std::sync::Arc;
use std::time::Instant;

use super::communicator::{Communicator, name_of_view};
use super::core::Core;
use super::engine::Ask;
use super::membership::{GroupUpcall, Membership, Replica};
use super::{Session, upcall};
use crate::error::{Error, Named};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::group::{GroupEvent, Progress, Ticket};

/// A membership of a group. Dropping it does not leave.
#[derive(Clone)]
pub struct Group {
    core: Arc<Core>,
    name: String,
    number: u64,
    /// Progress of this membership; the process may join again with another one.
    progress: Arc<Progress>,
}

impl Session {
    /// Joins a group, and waits until this process is a member.
    ///
    /// The first event is the view that the membership begins with. Every later message comes to
    /// this process in the group's one order, its own included. The upcall must not block; it may
    /// send. If it panics, this process leaves the group, and its operations fail with
    /// [`Error::Expelled`].
    ///
    /// # Errors
    ///
    /// This process is a member, or joins already. The group ended with its last member. The name
    /// cannot be told from that of another group. Or this is an upcall.
    #[track_caller]
    pub fn join_group(
        &self,
        name: &str,
        upcall: impl FnMut(GroupEvent) + Send + 'static,
    ) -> Result<Group, Error> {
        self.join_group_by(name, GroupUpcall::Events(Box::new(upcall)))
    }

    /// Joins a group whose members keep copies of some state, and waits until this process has its
    /// copy.
    ///
    /// If the group has members, one of them gives a snapshot of its copy, taken between two
    /// events. The snapshot is installed before the first event. The copy is then told of the view
    /// that holds at the snapshot's place, and of exactly the events behind that place. If the
    /// giver leaves or is lost before, another member gives. The first members begin with their own
    /// copies.
    ///
    /// # Errors
    ///
    /// See [`join_group`](Self::join_group). [`Error::NoState`]: no member gave a snapshot.
    /// [`Error::Expelled`]: the copy could not install it.
    #[track_caller]
    pub fn join_group_with_state(
        &self,
        name: &str,
        replica: impl Replica + 'static,
    ) -> Result<Group, Error> {
        self.join_group_by(name, GroupUpcall::Replica(Box::new(replica)))
    }

    #[track_caller]
    fn join_group_by(&self, name: &str, given: GroupUpcall) -> Result<Group, Error> {
        upcall::must_not_wait()?;
        let number = self.core().dispatcher.names.number(Named::Group, name)?;
        self.wait_for_leave(number);
        let place = std::panic::Location::caller();
        let has_state = given.has_state();
        let call = parking_lot::Mutex::new(given);
        let mut upcall = Some(Arc::new(upcall::Registered { place, call }));
        let progress = Arc::<Progress>::default();
        let is_first = self.core().dispatcher.group(number, |membership| {
            let is_first = !std::mem::replace(&mut membership.is_joined, true);
            if is_first {
                // The earlier upcall is dropped outside of the lock.
                std::mem::swap(&mut membership.upcall, &mut upcall);
                membership.joined += 1;
                membership.progress = progress.clone();
                (membership.view, membership.ended) = (None, None);
                (membership.fault, membership.missing) = (None, None);
            }
            is_first
        });
        drop(upcall);
        if !is_first {
            return Err(Error::AlreadyMember(name.to_string()));
        }
        self.core().ask(Ask::Join {
            group: number,
            has_state,
        });
        let dispatcher = &self.core().dispatcher;
        let is_decided = || {
            dispatcher.group(number, |membership| {
                let has_failed = membership.ended.is_some() || membership.fault.is_some();
                membership.view.is_some() || has_failed
            })
        };
        (self.core()).wait("a group to let it in", is_decided, None);
        let group = Group {
            core: self.keeper.core.clone(),
            name: name.to_string(),
            number,
            progress,
        };
        group.check().map(|()| group)
    }

    /// Waits until a membership whose upcall panicked has left: the next one begins after it.
    fn wait_for_leave(&self, number: u64) {
        let has_left = || {
            self.core().dispatcher.group(number, |membership| {
                membership.fault.is_none() || membership.ended.is_some()
            })
        };
        (self.core()).wait("the end of its last membership", has_left, None);
    }
}

impl Group {
    /// Sends a message to all members without waiting for its delivery. Waits only while many
    /// messages of this member have no place yet.
    ///
    /// # Errors
    ///
    /// This process is no member any more, or the message is too long for the platform.
    pub fn send(&self, payload: impl Into<Message>) -> Result<(), Error> {
        self.send_with(payload.into(), None)
    }

    /// Sends a message to all members, and waits until it has been delivered here. By then this
    /// process's upcall has returned from it and from all events before it.
    ///
    /// Returns the message's place in the order. That costs no more messages than the delivery
    /// itself.
    ///
    /// # Errors
    ///
    /// This process is no member any more, and the message may not have been delivered. The message
    /// is too long for the platform. Or this is an upcall.
    #[track_caller]
    pub fn send_synchronously(&self, payload: impl Into<Message>) -> Result<u64, Error> {
        upcall::must_not_wait()?;
        let (ticket, placed) = Ticket::pair();
        self.send_with(payload.into(), Some(ticket))?;
        let is_over = || placed.is_decided() || self.check().is_err();
        if !is_over() {
            let what = "its message to be delivered to itself";
            self.core.wait(what, is_over, None);
        }
        placed.place().ok_or_else(|| self.why_over())
    }

    /// Returns the place of the last event that this membership's upcall has returned from; 0
    /// before the first.
    ///
    /// The upcall has returned from all earlier events, too. The call costs one atomic load.
    ///
    /// A process can send this place to another one, for instance with a request. The other one can
    /// [wait](Self::wait_for) until it has seen as much.
    #[inline]
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.progress.delivered()
    }

    /// Waits until this membership's upcall has returned from the event at a place and from all
    /// before it.
    ///
    /// The wait ends at `until` by [`thread::now`](crate::thread::now) at the latest. Returns
    /// whether the upcall has returned. Any member may have named the place, since the order is the
    /// same at all of them.
    ///
    /// # Errors
    ///
    /// The membership or the session ended before the place was reached. Or this is an upcall.
    #[track_caller]
    pub fn wait_for(&self, place: u64, until: Option<Instant>) -> Result<bool, Error> {
        upcall::must_not_wait()?;
        if self.progress.has_reached(place) {
            return Ok(true);
        }
        let is_over = || self.progress.has_reached(place) || self.is_over();
        if !is_over() {
            let what = "a place in the order of a group";
            self.core.wait(what, is_over, until);
        }
        match self.progress.has_reached(place) {
            true => Ok(true),
            false if self.is_over() => Err(self.why_over()),
            false => Ok(false),
        }
    }

    /// Returns whether this membership or the session has ended.
    fn is_over(&self) -> bool {
        let is_this = |membership: &mut Membership| {
            Arc::ptr_eq(&membership.progress, &self.progress)
                && membership.ended.is_none()
                && membership.fault.is_none()
        };
        self.core.check().is_err() || !self.core.dispatcher.group(self.number, is_this)
    }

    /// Returns why this membership is over. The process may have joined again since.
    fn why_over(&self) -> Error {
        let error = self.check().err();
        error.unwrap_or_else(|| Error::NotMember(self.name.clone()))
    }

    fn send_with(&self, payload: Message, ticket: Option<Ticket>) -> Result<(), Error> {
        self.check()?;
        let core = &self.core;
        core.check_length(&payload)?;
        let is_free = || !core.engine.group_is_congested(self.number);
        if !upcall::is_running() && !is_free() {
            let is_over = || is_free() || self.check().is_err();
            core.wait("its group to order what it sent", is_over, None);
            self.check()?;
        }
        core.ask(Ask::GroupSend(self.number, payload, ticket));
        Ok(())
    }

    /// Returns the members, oldest first, in the last view that the upcall has seen.
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

    /// Returns a communicator of the members in the last view that the upcall has seen.
    ///
    /// Members that have seen the same view get the same communicator. It is apart from all other
    /// communicators of the same processes. When the view changes, its operations and all later
    /// ones end with an error. The error names the member that is lost, has left or has joined; the
    /// program then asks for the next view's communicator. As in every communicator, other members
    /// may have completed an operation that failed here.
    ///
    /// # Errors
    ///
    /// This process is no member any more.
    pub fn communicator(&self) -> Result<Communicator, Error> {
        let (number, members) = self.view_for_communicators()?;
        Communicator::named(&self.core, &name_of_view(self.number, number), &members)
    }

    /// Returns a communicator of some members in the last view that the upcall has seen.
    ///
    /// Each member is listed once. All of them give the same list in the same order. It behaves as
    /// [`communicator`](Self::communicator), but is apart from that one and from those of other
    /// views, even with the same processes. It ends with the view, also if the changed member is
    /// not in the list.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`]: a process in the list is not in that view. This process is no member
    /// any more, or is not in the list. Or a process is there twice.
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

    /// Returns the last view that the upcall has seen, and marks it: its communicators now end with
    /// it.
    fn view_for_communicators(&self) -> Result<(u64, Vec<Rank>), Error> {
        self.check()?;
        let view = self.core.dispatcher.group(self.number, |membership| {
            let view = membership.view.as_mut()?;
            view.has_communicator = true;
            Some((view.number, view.members.clone()))
        });
        view.ok_or_else(|| Error::NotMember(self.name.clone()))
    }

    /// Leaves the group, and waits until all that this member sent has been delivered.
    ///
    /// # Errors
    ///
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

    /// Checks that this process is a member and the session goes on.
    fn check(&self) -> Result<(), Error> {
        self.core.check()?;
        let (ended, missing) = self.core.dispatcher.group(self.number, |membership| {
            let fault = membership.fault.clone().map(Some);
            let ended = fault.or_else(|| membership.ended.clone());
            (ended, membership.missing.clone())
        });
        if let Some(why) = missing {
            return Err(Error::NoState {
                group: self.name.clone(),
                why,
            });
        }
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
