//! What is known of a group here, and what its events make of that.

use std::sync::Arc;

use super::communicator::family_of_view;
use super::dispatcher::{Dispatcher, GroupUpcall};
use super::engine::{Ask, Engine};
use super::upcall::Registered;
use crate::platform::Rank;
use crate::protocol::GroupId;
use crate::protocol::group::GroupEvent;
use crate::protocol::requests::Failure;

/// What is known of a group here.
#[derive(Default)]
pub struct Membership {
    pub upcall: Option<Arc<Registered<GroupUpcall>>>,
    /// Whether the program has joined and nothing has ended that; before its upcall is told of the end, so that it may have somebody join again.
    pub is_joined: bool,
    /// How often the program has joined: what ends one membership says nothing of the next.
    pub joined: u64,
    /// The last view that its upcall has seen.
    pub view: Option<View>,
    /// Why it ended; none if it was left.
    pub ended: Option<Option<String>>,
    /// What the upcall panicked with: the membership is over as far as the program is concerned.
    pub panic: Option<String>,
}

/// A view, as its members see it.
pub struct View {
    pub number: u64,
    pub members: Vec<Rank>,
    /// Whether the program has asked for its communicator, or for one of some of its members.
    pub has_communicator: bool,
}

/// What an event makes of a membership.
struct Change {
    view: Option<View>,
    ended: Option<Option<String>>,
    /// Why operations of the communicators of the view before end.
    failure: Option<Failure>,
}

impl Dispatcher {
    /// Does something with what is known of a group, which need not be joined.
    pub fn group<R>(&self, group: GroupId, act: impl FnOnce(&mut Membership) -> R) -> R {
        act(self.groups.lock().entry(group).or_default())
    }

    pub(super) fn deliver_to_group(&self, group: GroupId, event: GroupEvent, engine: &dyn Engine) {
        let is_end = matches!(event, GroupEvent::Left | GroupEvent::Expelled { .. });
        let (upcall, joined) = self.group(group, |membership| {
            membership.is_joined &= !is_end;
            // After its last event nobody needs it.
            let upcall = match is_end {
                true => membership.upcall.take(),
                false => membership.upcall.clone(),
            };
            (upcall, membership.joined)
        });
        let change = self.change(&event, engine.rank());
        let ran = upcall.map_or(Ok(()), |upcall| upcall.run(|upcall| upcall(event)));
        if let Err(panic) = ran {
            self.leave_for_panic(group, joined, panic, engine);
        }
        if let Some(change) = change {
            self.follow(group, joined, change, engine);
        }
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

    /// Who waits for a view goes on after its upcall has run. By then the program may have joined again.
    fn follow(&self, group: GroupId, joined: u64, change: Change, engine: &dyn Engine) {
        let before = self.group(group, |membership| {
            if membership.joined != joined {
                return None;
            }
            membership.ended = change.ended;
            std::mem::replace(&mut membership.view, change.view)
        });
        // Others may have gone on to this view, or will, and wait in that one for nobody any more.
        if let Some((before, failure)) = before.zip(change.failure) {
            engine.ask(Ask::Close {
                family: family_of_view(group, before.number, &before.members),
                failure,
                may_begin: before.has_communicator,
            });
        }
    }

    /// What an upcall that panicked made of its copy nobody knows, so this process leaves rather than go on with a copy that differs from all others.
    fn leave_for_panic(&self, group: GroupId, joined: u64, panic: String, engine: &dyn Engine) {
        let upcall = self.group(group, |membership| {
            let is_same = membership.joined == joined;
            let upcall = membership.upcall.take_if(|_| is_same)?;
            let place = upcall.place;
            membership.panic = Some(format!("its upcall, given at {place}, panicked: {panic}"));
            Some(upcall)
        });
        if let Some(upcall) = upcall {
            engine.ask(Ask::Leave(group));
            // Outside of the lock: what it keeps may come here when it is dropped.
            upcall.let_go();
        }
    }
}
