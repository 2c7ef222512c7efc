//! End of a request, and further use of its connection.

use super::{Engine, broken};
use crate::Fault;
use crate::connection::State;
use rustix::io::Errno;

impl Engine<'_> {
    /// Records a whole and right answer.
    pub(super) fn answered(&mut self, index: usize, stays: bool) {
        let now_ns = self.now_ns();
        let connection = &mut self.part.connections[index];
        let latency_ns = now_ns - connection.due_ns;
        self.measured.latency.record(latency_ns);
        self.measured.answered += 1;
        self.measured.answered_in_time += u64::from(now_ns <= self.end_ns);
        connection.had.answered += 1;
        connection.had.latency_sum_ns += latency_ns;
        connection.had.longest_ns = connection.had.longest_ns.max(latency_ns);
        match stays {
            true => connection.state = State::Free,
            false => connection.close(),
        }
        self.let_go(index);
        self.send_due(now_ns);
    }

    /// Closes the connections that will send nothing more, as clients do. A server with few threads
    /// may need theirs for waiting connections.
    pub(super) fn close_free(&mut self) {
        for index in &self.free {
            self.part.connections[*index].close();
        }
    }

    /// Records a failed request. Its connection is not used again.
    pub(super) fn failed(&mut self, index: usize, fault: Fault) {
        self.count(&fault);
        self.part.connections[index].close();
        self.let_go(index);
    }

    fn count(&mut self, fault: &Fault) {
        let kind = fault.kind().to_owned();
        *self.measured.failures.entry(kind).or_default() += 1;
        self.measured
            .first_failure
            .get_or_insert_with(|| fault.to_string());
    }

    pub(super) fn let_go(&mut self, index: usize) {
        self.busy -= 1;
        if self.free.is_empty() {
            self.free_since_ns = self.now_ns();
        }
        self.free.push_back(index);
    }

    /// Handles a broken connection, which is a failure if an answer was due.
    pub(super) fn lost(&mut self, index: usize, why: Errno) {
        match self.part.connections[index].state {
            State::Free => self.part.connections[index].close(),
            _ => self.failed(index, broken(why)),
        }
    }

    /// Handles input on a connection without a request: its end, or bytes that belong to no
    /// request.
    pub(super) fn came_unasked(&mut self, index: usize, bytes: usize) {
        self.part.connections[index].close();
        if bytes > 0 {
            self.count(&Fault::Unasked { bytes });
        }
    }
}
