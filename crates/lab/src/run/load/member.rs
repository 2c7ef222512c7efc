//! Servers that take turns, and the loads that are put on each.

use super::processors::Places;
use super::server::Server;
use crate::record::{Absence, Generator, Identity, LoadRound, LoadTask, WarmUp};
use crate::run::engine::Engine;
use crate::run::{Item, Task};
use antiphon_load::Target;

/// One load on one server.
pub(super) struct Cell {
    pub(super) position: usize,
    /// The position of the first item of the plan that has this load: the same for all servers.
    pub(super) load: usize,
    pub(super) task: LoadTask,
    pub(super) places: Places,
    pub(super) rounds: Vec<LoadRound>,
    /// Reason why it is no longer measured.
    pub(super) absence: Option<Absence>,
}

/// A server with its loads.
pub(super) struct Member {
    pub(super) subject: String,
    pub(super) policy: String,
    /// Whether it is the same server once more: its difference from its twin is noise.
    pub(super) is_again: bool,
    pub(super) cells: Vec<Cell>,
    pub(super) warm_ups: Vec<WarmUp>,
    pub(super) running: Option<(Server, Target)>,
    pub(super) reported: bool,
}

/// Returns the servers with their loads, in the order of the plan.
///
/// Placements that put a server on the same processor share one server. Rounds are a better use of
/// the time than another start and warm-up.
pub(super) fn members(engine: &Engine<'_, '_>, position: usize) -> Vec<Member> {
    let own = &engine.items[position].identity;
    let places = |identity: &Identity| {
        Places::of(engine.processes.processors.placement(&identity.placement))
    };
    let mut members: Vec<Member> = Vec::new();
    for (position, item) in engine.items.iter().enumerate() {
        let identity = &item.identity;
        let together =
            identity.policy == own.policy && places(identity).server == places(own).server;
        let (Task::Load(task), true) = (&item.task, together) else {
            continue;
        };
        if engine.had_turn.contains(&position) {
            continue;
        }
        let load = |of: &Identity| (of.test.clone(), of.placement.clone());
        let same = |other: &Item| load(&other.identity) == load(identity);
        let cell = Cell {
            position,
            load: engine.items.iter().position(same).unwrap_or(position),
            task: task.clone(),
            places: places(identity),
            rounds: Vec::new(),
            absence: None,
        };
        match members
            .iter_mut()
            .find(|member| member.subject == identity.subject)
        {
            Some(member) => member.cells.push(cell),
            None => members.push(Member::of(identity, cell)),
        }
    }
    let twins = &engine.twins;
    let again: Vec<Member> = members
        .iter()
        .filter(|member| twins.contains(&member.subject))
        .map(Member::again)
        .collect();
    members.extend(again);
    members
}

impl Cell {
    /// Checks whether the cell tests the method rather than the server: by another generator, or
    /// with a freeze.
    pub(super) fn is_trial(&self) -> bool {
        self.task.by != Generator::Antiphon || self.task.freeze_ms.is_some()
    }

    pub(super) fn expected(&self) -> antiphon_load::Expected {
        antiphon_load::Expected {
            status: 200,
            body: self.task.body.clone().into_bytes(),
        }
    }
}

impl Member {
    fn of(identity: &Identity, cell: Cell) -> Member {
        Member {
            subject: identity.subject.clone(),
            policy: identity.policy.clone(),
            is_again: false,
            cells: vec![cell],
            warm_ups: Vec::new(),
            running: None,
            reported: false,
        }
    }

    /// Returns a second instance of the server, without trials.
    fn again(&self) -> Member {
        let cells = self.cells.iter().filter(|cell| !cell.is_trial());
        let cells = cells.map(|cell| Cell {
            position: cell.position,
            load: cell.load,
            task: cell.task.clone(),
            places: cell.places.clone(),
            rounds: Vec::new(),
            absence: None,
        });
        Member {
            subject: self.subject.clone(),
            policy: self.policy.clone(),
            is_again: true,
            cells: cells.collect(),
            warm_ups: Vec::new(),
            running: None,
            reported: true,
        }
    }

    /// Its loads, as positions of the plan's first items of each.
    pub(super) fn loads(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().map(|cell| cell.load)
    }

    /// Marks every cell absent; an earlier absence stays. A failure in any round leaves the server
    /// without figures.
    pub(super) fn fail_all(&mut self, absence: &Absence) {
        for cell in &mut self.cells {
            cell.absence.get_or_insert_with(|| absence.clone());
        }
    }
}
