//! The state of a group's membership at this process, and what events change in it.

use std::sync::Arc;

use super::communicator::family_of_view;
use super::dispatcher::Dispatcher;
use super::engine::{Ask, Engine};
use super::upcall::Registered;
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::GroupId;
use crate::protocol::group::{GroupEvent, Progress, StateRequest, Ticket};
use crate::protocol::requests::Failure;

/// A copy of some state, of which each member of a group keeps its own.
///
/// The group's events change the copies, and are the same at all members. So copies that have been
/// told of the same events are equal, as long as nothing else changes them. The methods run on the
/// thread that drives the session, one at a time. They must not block, and may send.
pub trait Replica: Send {
    /// Takes the next event.
    fn deliver(&mut self, event: GroupEvent);

    /// Returns a snapshot of the copy for a member that joins.
    ///
    /// It holds the effects of the events up to `place`. The group's other members go on meanwhile;
    /// this one goes on only when the method returns. A large snapshot goes to the joiner in parts.
    ///
    /// # Errors
    ///
    /// The copy cannot be given: another member is asked.
    fn snapshot(&mut self, place: u64) -> Result<Message, Error>;

    /// Replaces the copy by another member's `snapshot`. The next events are the view that holds at
    /// `place`, then those behind that place.
    ///
    /// # Errors
    ///
    /// The message holds no such state: this process leaves the group.
    fn install(&mut self, place: u64, state: Message) -> Result<(), Error>;
}

/// The receiver of a group's events.
pub enum GroupUpcall {
    Events(Box<dyn FnMut(GroupEvent) + Send>),
    Replica(Box<dyn Replica>),
}

impl GroupUpcall {
    pub fn has_state(&self) -> bool {
        matches!(self, Self::Replica(_))
    }

    fn deliver(&mut self, event: GroupEvent) {
        match self {
            Self::Events(upcall) => upcall(event),
            Self::Replica(replica) => replica.deliver(event),
        }
    }

    /// Returns the copy that the program keeps. The protocols ask only members that announced a
    /// state.
    fn replica(&mut self) -> Result<&mut dyn Replica, String> {
        match self {
            Self::Events(_) => Err("it keeps no state".into()),
            Self::Replica(replica) => Ok(&mut **replica),
        }
    }
}

/// The state of a group's membership at this process.
#[derive(Default)]
pub struct Membership {
    pub upcall: Option<Arc<Registered<GroupUpcall>>>,
    /// Whether the program has joined and nothing has ended that. Cleared before the upcall hears
    /// of the end, so that the program may join again from there.
    pub is_joined: bool,
    /// Number of times that the program has joined. The end of one membership says nothing about
    /// the next.
    pub joined: u64,
    /// Progress of its upcall.
    pub progress: Arc<Progress>,
    /// The last view that its upcall has seen.
    pub view: Option<View>,
    /// Reason of its end; `Some(None)` after a leave.
    pub ended: Option<Option<String>>,
    /// Fault of the copy here: for the program the membership is over.
    pub fault: Option<String>,
    /// Reason why no member gave a state.
    pub missing: Option<String>,
}

/// A view, as its members see it.
pub struct View {
    pub number: u64,
    pub members: Vec<Rank>,
    /// Whether the program has asked for its communicator, or for one of some of its members.
    pub has_communicator: bool,
}

/// The change of a membership by an event.
struct Change {
    view: Option<View>,
    ended: Option<Option<String>>,
    /// Reason with which operations of the previous view's communicators end.
    failure: Option<Failure>,
}

impl Dispatcher {
    /// Runs `act` on the membership of a group, which need not be joined.
    pub fn group<R>(&self, group: GroupId, act: impl FnOnce(&mut Membership) -> R) -> R {
        act(self.groups.lock().entry(group).or_default())
    }

    /// Tells the program of an event, and then the thread that waits for its place.
    pub(super) fn deliver_to_group(
        &self,
        group: GroupId,
        event: GroupEvent,
        ticket: Option<Ticket>,
        engine: &dyn Engine,
    ) {
        let Some(place) = event.place() else {
            self.tell_member(group, event, engine);
            return;
        };
        let progress = self.group(group, |membership| membership.progress.clone());
        progress.hand_over(place, || self.tell_member(group, event, engine));
        if let Some(ticket) = ticket.filter(|_| progress.has_reached(place)) {
            ticket.delivered(place);
        }
    }

    /// Tells the program of an event. Returns whether its upcall has taken the event.
    fn tell_member(&self, group: GroupId, event: GroupEvent, engine: &dyn Engine) -> bool {
        let (upcall, joined) = self.group(group, |membership| {
            membership.is_joined &= !event.is_end();
            // After its last event the upcall is not needed any more.
            let upcall = match event.is_end() {
                true => membership.upcall.take(),
                false => membership.upcall.clone(),
            };
            (upcall, membership.joined)
        });
        let change = self.change(&event, engine.rank());
        let is_reported = match upcall.map(|upcall| upcall.run(|upcall| upcall.deliver(event))) {
            Some(Ok(())) => true,
            Some(Err(panic)) => {
                self.leave_for_fault(group, joined, &format!("panicked: {panic}"), engine);
                false
            }
            None => false,
        };
        if let Some(change) = change {
            self.follow(group, joined, change, engine);
        }
        is_reported
    }

    /// Does what the transfer of a group's state asks of the program.
    pub(super) fn follow_state(&self, group: GroupId, request: StateRequest, engine: &dyn Engine) {
        let (progress, joined) = self.group(group, |membership| {
            (membership.progress.clone(), membership.joined)
        });
        match request {
            StateRequest::Snapshot { to, id, place } => {
                let snapshot = self.on_copy(group, engine, |copy| copy.snapshot(place));
                engine.ask(Ask::Give {
                    group,
                    joiner: (to, id),
                    // The snapshot is put into one piece here, where no thread waits for it.
                    snapshot: snapshot.map(|state| state.to_bytes().into()),
                });
            }
            StateRequest::Install { place, state } => {
                match self.on_copy(group, engine, |copy| copy.install(place, state)) {
                    Ok(()) => progress.reached(place),
                    Err(why) => {
                        let fault = format!("could not install the group's state: {why}");
                        self.leave_for_fault(group, joined, &fault, engine);
                    }
                }
            }
            StateRequest::Missing { why } => {
                self.group(group, |membership| membership.missing = Some(why));
            }
        }
    }

    /// Runs a method of the program's copy. A copy that panics ends the membership.
    fn on_copy<R>(
        &self,
        group: GroupId,
        engine: &dyn Engine,
        act: impl FnOnce(&mut dyn Replica) -> Result<R, Error>,
    ) -> Result<R, String> {
        let (upcall, joined) = self.group(group, |membership| {
            (membership.upcall.clone(), membership.joined)
        });
        let mut done = Err("its upcall is gone".into());
        let ran = upcall.map_or(Ok(()), |upcall| {
            upcall.run(|upcall| {
                let copy = upcall.replica();
                done = copy.and_then(|copy| act(copy).map_err(|error| error.to_string()));
            })
        });
        if let Err(panic) = ran {
            let fault = format!("panicked: {panic}");
            self.leave_for_fault(group, joined, &fault, engine);
            return Err(fault);
        }
        done
    }

    fn change(&self, event: &GroupEvent, own: Rank) -> Option<Change> {
        let lost = |rank, why: &str| Failure::Lost {
            rank,
            why: self.why_lost(rank).unwrap_or_else(|| why.into()),
        };
        let over = |why: Option<String>| Change {
            view: None,
            failure: Some(lost(own, "is no member of the group any more")),
            ended: Some(why),
        };
        match event {
            GroupEvent::View {
                number,
                members,
                joined,
                left,
                ..
            } => {
                let came = |rank: &Rank| Failure::Mismatch {
                    rank: *rank,
                    why: "joined the group meanwhile".into(),
                };
                let went = left.first().map(|rank| lost(*rank, "left the group"));
                let view = View {
                    number: *number,
                    members: members.clone(),
                    has_communicator: false,
                };
                Some(Change {
                    view: Some(view),
                    failure: went.or_else(|| joined.first().map(came)),
                    ended: None,
                })
            }
            GroupEvent::Left => Some(over(None)),
            GroupEvent::Expelled { why } => Some(over(Some(why.clone()))),
            GroupEvent::Message { .. } => None,
        }
    }

    /// Records a change after the upcall has run, so that threads that wait for a view go on. By
    /// then the program may have joined again.
    fn follow(&self, group: GroupId, joined: u64, change: Change, engine: &dyn Engine) {
        let before = self.group(group, |membership| {
            if membership.joined != joined {
                return None;
            }
            membership.ended = change.ended;
            std::mem::replace(&mut membership.view, change.view)
        });
        // Other members may have gone on to this view, or will. Operations of the earlier view
        // would wait for them in vain.
        if let Some((before, failure)) = before.zip(change.failure) {
            engine.ask(Ask::Close {
                family: family_of_view(group, before.number, &before.members),
                failure,
                may_begin: before.has_communicator,
            });
        }
    }

    /// Leaves a group because the upcall panicked. The state of the copy is then unknown, and a
    /// copy that differs from all others must not go on.
    fn leave_for_fault(&self, group: GroupId, joined: u64, fault: &str, engine: &dyn Engine) {
        let upcall = self.group(group, |membership| {
            let is_same = membership.joined == joined;
            let upcall = membership.upcall.take_if(|_| is_same)?;
            let place = upcall.place;
            membership.fault = Some(format!("its upcall, given at {place}, {fault}"));
            Some(upcall)
        });
        if let Some(upcall) = upcall {
            engine.ask(Ask::Leave(group));
            // The upcall drops outside of the lock, because what it keeps may come here when it is
            // dropped.
            upcall.let_go();
        }
    }
}
