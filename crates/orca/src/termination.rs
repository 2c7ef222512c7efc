//! The end of a program: all processes have ended, or all wait for each other.
//!
//! Panda detects the moments at which no process runs and no message of work is in flight. If no
//! processes are left, that is the end. Otherwise it is a deadlock, unless the loss of a machine
//! lets a process go on, which no message announces. So each machine reports twice what its
//! processes wait for, some time apart. If nothing has changed in between, the deadlock is
//! reported, at one place of the order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use antiphon_panda::{QuiescenceEvent, Rank, Verdict, thread};
use bytes::Bytes;

use crate::entry::Effect;
use crate::error::{BlockedProcess, Deadlock, Error};
use crate::machine::Machine;
use crate::order::Order;

/// How long a standstill lasts before it counts as a deadlock.
const STANDSTILL: Duration = Duration::from_millis(100);

impl Machine {
    /// Follows panda's detection of quiescence.
    pub fn follow_quiescence(self: &Arc<Self>) -> Result<(), Error> {
        self.report();
        let machine = Arc::downgrade(self);
        self.quiescence.on_event(move |event| {
            let Some(machine) = machine.upgrade() else {
                return;
            };
            match event {
                QuiescenceEvent::Quiescent(verdict) => machine.on_verdict(&verdict),
                QuiescenceEvent::Excluded { by } => {
                    let why = format!("was taken for lost by rank {by}");
                    let (rank, peer) = (machine.rank, machine.session.name_of(machine.rank));
                    machine.fail(antiphon_panda::Error::Lost { rank, peer, why }.into());
                }
            }
        })?;
        Ok(())
    }

    fn on_verdict(&self, verdict: &Verdict) {
        let live = |report: &antiphon_panda::Message| report.value::<u64>().unwrap_or(0);
        let all: u64 = verdict.reports.iter().map(|(_, report)| live(report)).sum();
        if all == 0 {
            self.end(Ok(()));
            return;
        }
        let machines: Vec<_> = verdict.reports.iter().map(|(rank, _)| *rank).collect();
        self.say_what_waits(verdict.number, 1, machines);
    }

    fn say_what_waits(&self, verdict: u64, turn: u8, machines: Vec<Rank>) {
        let order = {
            let own = self.own.lock();
            let waiting = own.waiting.values();
            let mut blocked: Vec<_> = waiting.map(|it| it.describe(self.rank)).collect();
            blocked.sort();
            Order::Stuck {
                verdict,
                turn,
                machines,
                live: own.live,
                activations: self.activations.load(Ordering::Acquire),
                blocked,
            }
        };
        // It fails where the program is over here.
        let _ = self.send(&order, Bytes::new());
    }

    /// Makes the machine's own thread report once more what waits here, after some time.
    pub fn ask_again(&self, verdict: u64, machines: Vec<Rank>) {
        let at = thread::now() + STANDSTILL;
        self.daemon.lock().again = Some((at, verdict, machines));
        self.wakes.broadcast();
    }

    /// Reports a deadlock to all processes, which all wait.
    pub fn on_deadlock(&self, blocked: Vec<BlockedProcess>) -> Vec<Effect> {
        let error = Error::Deadlock(Arc::new(Deadlock { blocked }));
        self.daemon.lock().failures.push(error.clone());
        self.end_all_with(&error)
    }

    /// Runs the machine's own thread: starts processes, until the program ends.
    pub fn serve(self: &Arc<Self>) -> Result<(), Error> {
        loop {
            let start = {
                let mut daemon = self.daemon.lock();
                loop {
                    if let Some(site) = daemon.sites.pop() {
                        drop(daemon);
                        self.start_site(site);
                        daemon = self.daemon.lock();
                        continue;
                    }
                    if let Some(start) = daemon.starts.pop_front() {
                        break Some(start);
                    }
                    if let Some(end) = daemon.end.take() {
                        return daemon.failures.drain(..).next().map_or(end, Err);
                    }
                    let Some((at, ..)) = &daemon.again else {
                        self.wakes.wait(&mut daemon);
                        continue;
                    };
                    let left = at.saturating_duration_since(thread::now());
                    if left.is_zero() {
                        break None;
                    }
                    self.wakes.wait_for(&mut daemon, left);
                }
            };
            if let Some(start) = start {
                self.run_process(start);
                continue;
            }
            let again = self.daemon.lock().again.take();
            if let Some((_, verdict, machines)) = again {
                self.say_what_waits(verdict, 2, machines);
            }
        }
    }
}
