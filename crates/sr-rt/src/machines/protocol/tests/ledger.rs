//! The truth about a history: what every machine has sent, what runs, and where each invocation is.
//! A machine knows only its own part.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use antiphon_panda::thread;

/// The longest time from the moment that a claim is about until it is handled, where messages may
/// have to be sent again.
const CLAIM: Duration = Duration::from_secs(1);
/// The same where no message is lost.
const SOON: Duration = Duration::from_millis(20);

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
    /// Machines that crash, and when.
    pub crashes: Vec<(u32, Duration)>,
    pub destroyed: BTreeSet<u32>,
    pub machines: Vec<u32>,
    pub invocations: Vec<Invocation>,
    /// Letters of work that were sent and not handled, by their senders and receivers.
    pub under_way: BTreeMap<u64, (u32, u32)>,
    /// Processes that can go on, by machine.
    pub running: BTreeMap<u32, i64>,
    pub letters: u64,
    /// Whether messages may have to be sent again.
    pub is_lossy: bool,
    /// The last moment after which nothing could go on without news of a loss.
    pub quiet_at: Option<Instant>,
    pub verdicts: u32,
    pub faults: Vec<String>,
}

impl Ledger {
    pub fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    /// Notes that a machine is there. It outlives the crashes that were planned for an earlier time.
    pub fn joined(&mut self, machine: u32) {
        let Some(now) = self.begun.map(|begun| thread::now() - begun) else {
            return;
        };
        self.crashes
            .retain(|(crashed, at)| *crashed != machine || *at >= now);
    }

    /// Returns whether a machine is dead or destroyed.
    pub fn is_gone(&self, machine: u32) -> bool {
        self.has_been_gone(machine, Duration::ZERO)
    }

    /// Returns whether a machine is destroyed, or has been dead for a time.
    fn has_been_gone(&self, machine: u32, time: Duration) -> bool {
        let now = self.begun.map(|begun| thread::now() - begun);
        let has_crashed = |now: Duration| {
            let mut crashes = self.crashes.iter();
            crashes.any(|(crashed, at)| *crashed == machine && now >= *at + time)
        };
        now.is_some_and(has_crashed) || self.destroyed.contains(&machine)
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

    /// Notes that a process of a machine can go on. If nothing else can, it has got news of a loss.
    pub fn goes_on(&mut self, machine: u32) {
        let has_begun = !self.running.is_empty();
        if has_begun && self.activities().is_empty() {
            self.quiet_at = Some(thread::now());
        }
        *self.running.entry(machine).or_default() += 1;
    }

    pub fn pauses(&mut self, machine: u32) {
        *self.running.entry(machine).or_default() -= 1;
    }

    /// Returns what goes on, in words.
    fn activities(&self) -> Vec<String> {
        let is_running =
            |(machine, running): &(&u32, &i64)| **running > 0 && !self.is_gone(**machine);
        let running = self.running.iter().filter(is_running);
        let running = running
            .map(|(machine, running)| format!("{running} processes of machine {machine} run"));
        let arrives = |(from, to): &&(u32, u32)| !self.is_gone(*from) && !self.is_gone(*to);
        let letters = self.under_way.values().filter(arrives);
        let letters = letters.map(|(from, to)| format!("a letter goes from {from} to {to}"));
        running.chain(letters).collect()
    }

    /// Returns whether nothing could go on a moment ago. The claim is about that moment. Since then a
    /// machine may have died, and others may have heard of it.
    fn was_quiet(&self) -> bool {
        let claim = if self.is_lossy { CLAIM } else { SOON };
        self.quiet_at
            .is_some_and(|quiet_at| thread::now() - quiet_at <= claim)
    }

    /// Checks the claim that nothing can go on.
    pub fn check_verdict(&mut self) {
        self.verdicts += 1;
        let activities = self.activities();
        let is_quiet = activities.is_empty();
        let mut faults = Vec::new();
        if !self.was_quiet() {
            let found = |activity| format!("the end is found while {activity}");
            faults.extend(activities.into_iter().map(found));
        }
        for (number, it) in self.invocations.iter().enumerate() {
            let Some(caller) = it.caller else { continue };
            if self.is_gone(caller) || it.answered + it.failed == 1 {
                continue;
            }
            // Its caller waits. That is right while a process of a living machine has it. The claim
            // is about a past moment, at which a machine may have lived that has died since.
            let is_under_way = !it.has_come || it.served > 0;
            if is_quiet && is_under_way || self.has_been_gone(it.at, CLAIM) {
                faults.push(format!(
                    "the caller of invocation {number} waits in vain: {it:?}"
                ));
            }
        }
        self.faults.extend(faults);
    }
}
