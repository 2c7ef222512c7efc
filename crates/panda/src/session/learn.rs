//! Reports of the protocols on this process's requests and peers.

use super::dispatcher::Dispatcher;
use super::engine::Waiting;
use super::pending_requests::Ended;
use crate::protocol::Action;

impl Dispatcher {
    /// Takes a report that is neither for the network nor for upcalls, and wakes the threads that
    /// wait for it. Returns whether a request has ended.
    pub fn learn(&self, reported: Action, waiting: &Waiting) -> bool {
        match reported {
            Action::Complete(id, outcome) => {
                self.pending.end(id, Ended::Reply(outcome));
                waiting.ended(id);
            }
            Action::Collected(id, outcome) => {
                self.pending.end(id, Ended::Collected(outcome));
                waiting.ended(id);
            }
            Action::Lost(rank, why) => {
                let ended = self.lost(rank, why).into_iter();
                ended.for_each(|id| waiting.ended(id));
                waiting.changed();
            }
            Action::Back(rank) => {
                self.is_heard_of(rank);
                waiting.changed();
                return false;
            }
            other => {
                self.make_room(other);
                return false;
            }
        }
        true
    }

    /// Updates the flow control by a report.
    fn make_room(&self, reported: Action) {
        match reported {
            Action::Full(rank, bytes) => {
                self.flow_control
                    .found_full(rank, self.flow_control.found(), bytes);
            }
            Action::Room(rank) => self.flow_control.found_room(rank),
            Action::Hold {
                rank,
                port,
                is_held,
            } => self.flow_control.held(rank, port, is_held),
            other => unreachable!("{other:?} is for the network or for upcalls"),
        }
    }
}
