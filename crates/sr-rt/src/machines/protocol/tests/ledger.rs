//! The truth about a history: what every machine has sent, what runs, and where each invocation is.
//! A machine knows only its own part.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use antiphon_panda::thread;

/// The longest time from the moment that a claim is about until it is handled.
const CLAIM: Duration = Duration::from_secs(1);

/// An invocation, as all machines together know it.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The machine whose process waits for it; none if it was a send.
    pub caller: Option<u32>,
    /// The machine that has it, or to which it was sent.
    pub at: u32,
    /// Whether it is there.
    pub has_come: bool,
    /// How often a process has done it.
    pub served: u32,
    /// How often its caller was told that it is done.
    pub answered: u32,
    /// How often its caller was told that its machine is gone.
    pub failed: u32,
    /// The machines that it was sent to.
    pub way: BTreeSet<u32>,
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub begun: Option<Instant>,
    /// When machines crash.
    pub crashes: BTreeMap<u32, Duration>,
    pub destroyed: BTreeSet<u32>,
    pub machines: Vec<u32>,
    pub invocations: Vec<Invocation>,
    /// Letters of work that were sent and not handled, by their senders and receivers.
    pub under_way: BTreeMap<u64, (u32, u32)>,
    /// Processes that can go on, by machine.
    pub running: BTreeMap<u32, i64>,
    pub letters: u64,
    pub verdicts: u32,
    pub faults: Vec<String>,
}

impl Ledger {
    pub fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    /// Returns whether a machine is dead or destroyed.
    pub fn is_gone(&self, machine: u32) -> bool {
        self.has_been_gone(machine, Duration::ZERO)
    }

    /// Returns whether a machine is destroyed, or has been dead for a time.
    fn has_been_gone(&self, machine: u32, time: Duration) -> bool {
        let now = self.begun.map(|begun| thread::now() - begun);
        let crash = self.crashes.get(&machine);
        let has_crashed = crash.zip(now).is_some_and(|(at, now)| now >= *at + time);
        has_crashed || self.destroyed.contains(&machine)
    }

    /// Enters a new invocation of an operation of a machine, and returns its number.
    pub fn invoked(&mut self, caller: Option<u32>, at: u32) -> u64 {
        self.invocations.push(Invocation {
            caller,
            at,
            has_come: false,
            served: 0,
            answered: 0,
            failed: 0,
            way: BTreeSet::from([at]),
        });
        self.invocations.len() as u64 - 1
    }

    fn of(&mut self, number: u64) -> &mut Invocation {
        &mut self.invocations[number as usize]
    }

    /// Notes that an invocation is sent to another machine.
    pub fn passed(&mut self, number: u64, to: u32) {
        let it = self.of(number);
        (it.at, it.has_come) = (to, false);
        it.way.insert(to);
    }

    pub fn came(&mut self, number: u64, at: u32) {
        let it = self.of(number);
        (it.at, it.has_come) = (at, true);
    }

    /// Notes that a process has done what an invocation asks for.
    pub fn served(&mut self, number: u64, on: u32) {
        let it = self.of(number);
        it.served += 1;
        if it.served > 1 || it.at != on {
            let it = it.clone();
            self.fault(format!("invocation {number} is served by {on}: {it:?}"));
        }
    }

    /// Notes that a caller goes on with the results.
    pub fn answered(&mut self, number: u64) {
        let it = self.of(number);
        it.answered += 1;
        if it.served != 1 || it.answered + it.failed > 1 {
            let it = it.clone();
            self.fault(format!("invocation {number} is answered: {it:?}"));
        }
    }

    /// Notes that a caller is told that a machine is gone.
    pub fn failed(&mut self, number: u64, machine: u32) {
        let is_gone = self.is_gone(machine);
        let it = self.of(number);
        it.failed += 1;
        if !is_gone || !it.way.contains(&machine) || it.answered + it.failed > 1 {
            let it = it.clone();
            self.fault(format!(
                "invocation {number} fails for machine {machine}: {it:?}"
            ));
        }
    }

    /// Notes a letter that is sent, and returns its number.
    pub fn sent(&mut self, from: u32, to: u32) -> u64 {
        self.letters += 1;
        self.under_way.insert(self.letters, (from, to));
        self.letters
    }

    pub fn handled(&mut self, letter: u64) {
        self.under_way.remove(&letter);
    }

    /// Checks the claim that nothing can go on.
    pub fn check_verdict(&mut self) {
        self.verdicts += 1;
        let mut faults = Vec::new();
        for (machine, running) in &self.running {
            if *running > 0 && !self.is_gone(*machine) {
                faults.push(format!(
                    "the end is found while {running} processes of machine {machine} run"
                ));
            }
        }
        for (from, to) in self.under_way.values() {
            if !self.is_gone(*from) && !self.is_gone(*to) {
                faults.push(format!(
                    "the end is found while a letter goes from {from} to {to}"
                ));
            }
        }
        for (number, it) in self.invocations.iter().enumerate() {
            let Some(caller) = it.caller else { continue };
            if self.is_gone(caller) || it.answered + it.failed == 1 {
                continue;
            }
            // Its caller waits. That is right while a process of a living machine has it. The claim
            // is about a past moment, at which a machine may have lived that has died since.
            if !it.has_come || it.served > 0 || self.has_been_gone(it.at, CLAIM) {
                faults.push(format!(
                    "the caller of invocation {number} waits in vain: {it:?}"
                ));
            }
        }
        self.faults.extend(faults);
    }
}
