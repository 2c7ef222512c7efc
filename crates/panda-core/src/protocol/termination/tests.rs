//! Thousands of schedules: processes work, spawn, leave and are lost at random. Links and messages
//! of work take any time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::*;
use crate::Chance;

/// Bound on steps, which no schedule reaches.
const STEPS: u32 = 20_000;

/// A message on a link, in order.
enum Carried {
    Letter(Message),
    Lost,
}

/// A process of the world.
struct Process {
    machine: Termination,
    counters: Arc<Counters>,
    /// Activities that go on.
    active: u32,
    has_entered: bool,
    is_there: bool,
    is_excluded: bool,
    /// Number of its activities, which it reports.
    ticks: u64,
    /// Verdicts that its program was told of, and what it had reported for the last one.
    verdicts: Vec<u64>,
    heard: u64,
}

impl Process {
    fn report(&self) {
        let report = Message::of(&self.ticks).expect("a number");
        self.counters.set_report(report);
    }
}

/// Work and control between processes, in no order but that of each link.
struct World {
    chance: Chance,
    fault: Fault,
    founders: u32,
    processes: Vec<Process>,
    links: BTreeMap<(Rank, Rank), VecDeque<Carried>>,
    /// Messages of work under way.
    work: Vec<(Rank, Rank)>,
    /// Number of actions left to processes.
    budget: u32,
    announced: Vec<Verdict>,
    letters: u64,
    wrong: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Turmoil {
    /// Processes only work.
    None,
    /// They are also spawned, leave and are lost.
    All,
}

impl World {
    fn new(seed: u64, size: u32, fault: Fault) -> Self {
        let mut world = Self {
            chance: Chance::new(seed),
            fault,
            founders: size,
            processes: Vec::new(),
            links: BTreeMap::new(),
            work: Vec::new(),
            budget: 30,
            announced: Vec::new(),
            letters: 0,
            wrong: None,
        };
        (0..size).for_each(|_| world.add());
        world
    }

    fn add(&mut self) {
        let rank = self.processes.len() as Rank;
        let mut machine = Termination::new(rank, self.founders);
        machine.fault = self.fault;
        self.processes.push(Process {
            machine,
            counters: Arc::new(Counters::new()),
            active: 1,
            has_entered: false,
            is_there: true,
            is_excluded: false,
            ticks: 1,
            verdicts: Vec::new(),
            heard: 0,
        });
    }

    fn draw(&mut self, end: usize) -> usize {
        self.chance.below(end as u64) as usize
    }

    fn of(&mut self, rank: Rank) -> &mut Process {
        &mut self.processes[rank as usize]
    }

    fn there(&self) -> Vec<Rank> {
        let all = (0..).zip(&self.processes);
        let there = all.filter(|(_, process)| process.is_there);
        there.map(|(rank, _)| rank).collect()
    }

    fn carry(&mut self, from: Rank, to: Rank, what: Carried) {
        if self.of(to).is_there {
            self.links.entry((from, to)).or_default().push_back(what);
        }
    }

    /// Does what a machine wants done.
    fn perform(&mut self, rank: Rank) {
        while let Some(out) = self.of(rank).machine.take_output() {
            for event in out.events {
                match event {
                    Event::Quiescent(verdict) => self.hear(rank, &verdict),
                    Event::Excluded { .. } => self.of(rank).is_excluded = true,
                }
            }
            for (to, letter) in out.sends {
                self.letters += 1;
                self.carry(rank, to, Carried::Letter(letter));
            }
            let watch = out.watch.into_iter();
            let gone: Vec<Rank> = watch.filter(|of| !self.of(*of).is_there).collect();
            gone.into_iter()
                .for_each(|of| self.carry(of, rank, Carried::Lost));
        }
    }

    fn hear(&mut self, rank: Rank, verdict: &Verdict) {
        if !self.announced.contains(verdict) {
            self.check(verdict);
            self.announced.push(verdict.clone());
        }
        let own = verdict.reports.iter().find(|(of, _)| *of == rank);
        let (_, own) = own.expect("it took part");
        let process = self.of(rank);
        process.verdicts.push(verdict.number);
        process.heard = own.value().expect("it was reported");
    }

    /// Checks an announced verdict: nothing may go on among its processes.
    fn check(&mut self, verdict: &Verdict) {
        let members: BTreeSet<Rank> = verdict.reports.iter().map(|(rank, _)| *rank).collect();
        let lost: BTreeSet<Rank> = verdict.lost.iter().copied().collect();
        let process = |rank: Rank| &self.processes[rank as usize];
        for (rank, process) in (0..).zip(&self.processes) {
            let takes_part = process.is_there && !lost.contains(&rank);
            if takes_part && !members.contains(&rank) {
                self.wrong = Some(format!("verdict {} leaves {rank} out", verdict.number));
            }
            if takes_part && process.active > 0 {
                self.wrong = Some(format!("verdict {}: {rank} is active", verdict.number));
            }
        }
        for (rank, report) in &verdict.reports {
            let (reported, ticks) = (report.value(), process(*rank).ticks);
            if reported != Ok(ticks) {
                self.wrong = Some(format!("{rank} has {ticks} and reported {reported:?}"));
            }
        }
        let is_work = |(from, to): &&(Rank, Rank)| {
            !lost.contains(from) && process(*to).is_there && !lost.contains(to)
        };
        if let Some((from, to)) = self.work.iter().find(is_work) {
            let number = verdict.number;
            self.wrong = Some(format!("verdict {number}: work goes from {from} to {to}"));
        }
    }

    fn enter(&mut self, rank: Rank) {
        let process = self.of(rank);
        process.has_entered = true;
        process.report();
        process.machine.enter(process.counters.clone());
        self.perform(rank);
    }

    fn begin(&mut self, rank: Rank) {
        let process = self.of(rank);
        process.counters.active();
        process.active += 1;
        process.ticks += 1;
        process.report();
    }

    fn rest(&mut self, rank: Rank) {
        let process = self.of(rank);
        process.active -= 1;
        if process.counters.passive().expect("it is active") {
            process.machine.passive();
        }
        self.perform(rank);
    }

    /// An active process does something.
    fn act(&mut self, rank: Rank, turmoil: Turmoil) {
        self.budget -= 1;
        let there = self.there();
        match (self.chance.below(14), turmoil) {
            (0..7, _) => {
                let to = there[self.draw(there.len())];
                self.of(rank).counters.sent(to);
                self.work.push((rank, to));
            }
            (11, Turmoil::All) if there.len() < 9 => self.spawn(rank),
            (12, Turmoil::All) if there.len() > 1 => self.leave(rank),
            (13, Turmoil::All) if there.len() > 1 => self.crash(rank),
            _ => self.rest(rank),
        }
    }

    /// Spawns a process. All others know it before its spawner goes on. It knows itself of no other
    /// that joined later.
    fn spawn(&mut self, by: Rank) {
        let rank = self.processes.len() as Rank;
        self.add();
        for other in self.there() {
            if other != rank {
                self.of(other).machine.joined(rank);
                self.perform(other);
            }
        }
        self.begin(by);
        self.rest(by);
    }

    fn leave(&mut self, rank: Rank) {
        self.of(rank).machine.leave();
        self.perform(rank);
        self.go(rank);
    }

    /// Crashes a process: its messages may come or not.
    fn crash(&mut self, rank: Rank) {
        let mut work = std::mem::take(&mut self.work);
        work.retain(|(from, _)| *from != rank || self.chance.happens(500));
        self.work = work;
        for ((from, _), link) in &mut self.links {
            if *from == rank && self.chance.happens(500) {
                link.clear();
            }
        }
        self.go(rank);
    }

    fn go(&mut self, rank: Rank) {
        self.of(rank).is_there = false;
        self.work.retain(|(_, to)| *to != rank);
        self.links.retain(|(_, to), _| *to != rank);
        for other in self.there() {
            // A process that does not watch it may never hear of it.
            if self.of(other).machine.watched.contains(&rank) || self.chance.happens(500) {
                self.carry(rank, other, Carried::Lost);
            }
        }
    }

    /// Takes a message of work, or writes it off if its sender is known to be lost.
    fn take_work(&mut self) {
        let at = self.draw(self.work.len());
        let (from, to) = self.work.swap_remove(at);
        if !self.has_lost(to, from) {
            self.begin(to);
            self.of(to).counters.received(from);
        }
    }

    fn has_lost(&self, by: Rank, of: Rank) -> bool {
        let gone = &self.processes[by as usize].machine.gone;
        matches!(gone.get(&of), Some(Gone::Lost))
    }

    fn take_carried(&mut self, link: (Rank, Rank)) {
        let (from, to) = link;
        let Some(what) = self.links.get_mut(&link).and_then(VecDeque::pop_front) else {
            return;
        };
        match what {
            Carried::Letter(letter) => {
                let taken = self.of(to).machine.receive(from, letter);
                taken.expect("a letter of this protocol");
            }
            Carried::Lost => {
                self.of(to).machine.lost(from);
            }
        }
        self.perform(to);
    }

    /// Makes one thing happen; returns false if nothing can.
    fn step(&mut self, turmoil: Turmoil) -> bool {
        let there = self.there();
        let mut links: Vec<_> = self
            .links
            .iter()
            .filter(|(_, link)| !link.is_empty())
            .collect();
        links.retain(|((_, to), _)| there.contains(to));
        let links: Vec<_> = links.into_iter().map(|(link, _)| *link).collect();
        let idle: Vec<Rank> = there
            .iter()
            .copied()
            .filter(|rank| !self.processes[*rank as usize].has_entered)
            .collect();
        let busy: Vec<Rank> = there
            .iter()
            .copied()
            .filter(|rank| {
                let process = &self.processes[*rank as usize];
                process.has_entered && process.active > 0
            })
            .collect();
        let kinds = [
            links.len().min(4),
            idle.len(),
            busy.len(),
            self.work.len().min(3),
        ];
        let all: usize = kinds.iter().sum();
        if all == 0 {
            return false;
        }
        let at = self.draw(all);
        if at < kinds[0] {
            let link = links[self.draw(links.len())];
            self.take_carried(link);
        } else if at < kinds[0] + kinds[1] {
            self.enter(idle[at - kinds[0]]);
        } else if at < kinds[0] + kinds[1] + kinds[2] {
            let rank = busy[at - kinds[0] - kinds[1]];
            match self.budget {
                0 => self.rest(rank),
                _ => self.act(rank, turmoil),
            }
        } else {
            self.take_work();
        }
        true
    }

    /// Runs until nothing happens any more. Then all that take part have heard of the verdict.
    fn run(&mut self, turmoil: Turmoil) -> Result<(), String> {
        for steps in 0.. {
            if !self.step(turmoil) {
                break;
            }
            if steps > STEPS {
                return Err(format!("{} letters and no end", self.letters));
            }
            if let Some(wrong) = self.wrong.take() {
                return Err(wrong);
            }
        }
        for rank in self.there() {
            let process = self.of(rank);
            if process.is_excluded {
                continue;
            }
            let verdicts = &process.verdicts;
            if process.heard != process.ticks {
                return Err(format!("{rank} waits for ever: it heard {verdicts:?}"));
            }
            if !verdicts.is_sorted_by(|one, next| one < next) {
                return Err(format!("{rank} heard {verdicts:?}"));
            }
        }
        Ok(())
    }

    /// The program goes on after a verdict.
    fn go_on(&mut self) {
        self.budget = 20;
        let there = self.there();
        for _ in 0..=self.chance.below(2) {
            let rank = there[self.draw(there.len())];
            self.begin(rank);
        }
    }
}

/// Plays several rounds of one schedule, and returns the number of verdicts.
fn play(seed: u64, turmoil: Turmoil, fault: Fault) -> Result<usize, String> {
    let size = 1 + (seed % 5) as u32;
    let mut world = World::new(seed, size, fault);
    for _ in 0..3 {
        world
            .run(turmoil)
            .map_err(|wrong| format!("seed {seed}: {wrong}"))?;
        world.go_on();
    }
    Ok(world.announced.len())
}

#[test]
fn no_verdict_comes_too_soon_and_each_comes() {
    let mut verdicts = 0;
    for seed in 0..4000 {
        verdicts += play(seed, Turmoil::None, Fault::default()).expect("a verdict a round");
    }
    assert!(verdicts >= 3 * 4000, "{verdicts}");
}

/// Plays a second verdict while the initiator's program acts on the first. The act falls between
/// the initiator's count and the last answer.
fn act_while_the_next_verdict_is_counted(fault: Fault) -> Result<(), String> {
    let mut world = World::new(0, 2, fault);
    world.budget = 0;
    world.run(Turmoil::None)?;
    let number = world.of(0).machine.verdict.number;
    world.begin(1);
    world.rest(1);
    while world.of(0).machine.lead.before.is_none() || !world.of(0).machine.lead.is_open {
        let link = world.links.iter().find(|(_, link)| !link.is_empty());
        let (&link, _) = link.ok_or("the second wave did not begin")?;
        world.take_carried(link);
    }
    world.begin(0);
    world.of(0).counters.sent(1);
    world.work.push((0, 1));
    world.rest(0);
    world.take_carried((0, 1));
    world.take_carried((1, 0));
    if let Some(wrong) = world.wrong.take() {
        return Err(wrong);
    }
    assert_eq!(world.of(0).machine.verdict.number, number);
    world.run(Turmoil::None)
}

#[test]
fn an_initiator_announces_nothing_older_than_its_own_act() {
    act_while_the_next_verdict_is_counted(Fault::default()).expect("a verdict after the act");
}

#[cfg(feature = "mutants")]
#[test]
fn a_verdict_older_than_the_initiators_act_is_found() {
    let fault = Fault::of(Mutant::AnnouncesStale);
    let wrong = act_while_the_next_verdict_is_counted(fault).expect_err("it is older");
    assert!(
        wrong.starts_with("verdict 2: work goes") || wrong.contains("reported"),
        "{wrong}"
    );
}

#[test]
fn processes_may_come_and_go_at_any_time() {
    for seed in 0..6000 {
        play(seed, Turmoil::All, Fault::default()).expect("verdicts that hold");
    }
}

#[test]
#[cfg(feature = "mutants")]
fn faults_in_the_protocol_are_found() {
    for (mutant, turmoil) in [
        (Mutant::TrustsOneWave, Turmoil::None),
        (Mutant::CountsActive, Turmoil::None),
        (Mutant::NeverTells, Turmoil::None),
        (Mutant::WritesOffLeft, Turmoil::All),
        (Mutant::GoesOnWithWave, Turmoil::All),
    ] {
        let found = (0..6000).find_map(|seed| play(seed, turmoil, Fault::of(mutant)).err());
        let found = found.unwrap_or_else(|| panic!("{mutant:?} went unnoticed"));
        println!("{mutant:?}: {found}");
    }
}
