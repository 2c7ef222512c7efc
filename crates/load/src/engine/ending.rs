//! Requests without an answer: those whose time is over, and those that are open at the end of the
//! run.

use super::Engine;
use crate::Fault;
use crate::connection::{Connection, State};
use crate::measured::{Measured, OfConnection, Stopped};

impl Engine<'_> {
    /// Fails the requests whose time is over. Their waits count, because a server does not get
    /// faster by not answering.
    pub(super) fn give_up_late(&mut self, now_ns: u64) {
        let limit_ns = self.load.time_limit.as_nanos() as u64;
        for index in 0..self.part.connections.len() {
            let connection = &self.part.connections[index];
            if connection.state == State::Free || now_ns - connection.begun_ns <= limit_ns {
                continue;
            }
            self.waited(index, now_ns);
            self.failed(
                index,
                Fault::TimedOut {
                    limit_ms: self.load.time_limit.as_millis() as u64,
                },
            );
        }
    }

    /// Notes a wait that had no answer.
    fn waited(&mut self, index: usize, now_ns: u64) {
        let connection = &mut self.part.connections[index];
        let wait_ns = now_ns - connection.due_ns;
        self.measured.latency.record(wait_ns);
        connection.had.longest_ns = connection.had.longest_ns.max(wait_ns);
    }

    /// Sums up, and returns the connections. Open requests count with the time that they have
    /// waited so far.
    pub(super) fn account(mut self) -> (Measured, Vec<Connection>) {
        let now_ns = self.now_ns();
        for index in 0..self.part.connections.len() {
            if self.part.connections[index].state != State::Free {
                self.waited(index, now_ns);
                self.measured.unanswered += 1;
            }
        }
        if self.measured.stopped == Stopped::Time {
            // No more than might be sent are owed.
            let mut left = self.part.requests_max.saturating_sub(self.sent);
            while left > 0
                && let Some(due_ns) = self.pace.next_ns()
            {
                left -= 1;
                let due_ns = self.pace.take(due_ns).unwrap_or(due_ns);
                self.measured.latency.record(now_ns.saturating_sub(due_ns));
                self.measured.never_sent += 1;
            }
        }
        self.measured.window_ns = self.end_ns;
        self.measured.wall_ns = now_ns;
        self.measured.connections = self
            .part
            .connections
            .iter()
            .map(|connection| connection.had)
            .collect::<Vec<OfConnection>>();
        (self.measured, self.part.connections)
    }
}
