//! Calm moments, in which nothing slows the processors: rounds wait for them, and are held against how fast the processors turned out to be.

use super::gauge::{Gauge, Moment};
use super::member::{Member, Turn, slowed};
use super::probe;
use crate::record::CostRound;
use crate::record::calm::CALM;
use crate::run::RunError;
use crate::run::engine::Engine;
use std::time::{Duration, Instant};

/// Processors are calm that were so in so many probes, with such pauses before them.
const PROBES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until the processors of an item are calm, but no longer than until then. Nothing of ours runs meanwhile.
pub(super) fn wait(engine: &mut Engine<'_, '_>, position: usize, until: Instant) {
    engine.seats.rest();
    let mut calm = 0;
    while calm < PROBES && Instant::now() < until && !engine.interrupted() {
        std::thread::sleep(PAUSE);
        let moment = probe(engine, position);
        let is_calm = engine.gauge.slowed(&moment) <= CALM;
        calm = if is_calm { calm + 1 } else { 0 };
    }
}

/// What was asked of the processors in the turns of an item.
pub(in crate::run) struct Gauged {
    position: usize,
    start: u32,
    /// With the numbers of the rounds.
    turns: Vec<(u32, Vec<Moment>)>,
}

impl Gauged {
    pub(super) fn of(member: &Member, start: u32) -> Gauged {
        let moments = |(round, turn): &(u32, Turn)| (*round, turn.moments.clone());
        Gauged {
            position: member.position,
            start,
            turns: member.turns.iter().map(moments).collect(),
        }
    }

    /// Says of the rounds by how much the processors were slower, by what is known of them now. Whether that is something else than before.
    fn tell(&self, gauge: &Gauge, rounds: &mut [CostRound]) -> bool {
        let mut is_other = false;
        for (number, moments) in &self.turns {
            let own = (self.start, *number);
            let round = rounds.iter_mut().find(|of| (of.start, of.round) == own);
            if let Some(round) = round {
                let slowed = slowed(moments, gauge);
                is_other |= slowed != round.slowed;
                round.slowed = slowed;
            }
        }
        is_other
    }
}

/// Holds the rounds of a run against how fast the processors are known to be by now: its first minute may have been a slow one.
pub(in crate::run) fn tell_how_slow(engine: &mut Engine<'_, '_>) -> Result<(), RunError> {
    let gauged = std::mem::take(&mut engine.gauged);
    for of in &gauged {
        let Some(mut result) = engine.result(of.position).cloned() else {
            continue;
        };
        let costs = result.costs.as_mut();
        if costs.is_some_and(|costs| of.tell(&engine.gauge, &mut costs.rounds)) {
            engine.amend(of.position, result)?;
        }
    }
    engine.gauged = gauged;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_first_minute_is_known_for_one_by_a_later_fast_one() {
        let round = |start, round| CostRound {
            start,
            round,
            iterations: 1,
            subject_ns: 10.0,
            server_ns: None,
            wall_ns: 10.0,
            step_ns: 0.0,
            slowed: 0.0,
            held_bytes: 0,
            walked_bytes: 0,
        };
        let gauged = Gauged {
            position: 0,
            start: 1,
            turns: vec![(0, vec![vec![(0, 150.0)]]), (1, vec![vec![(0, 180.0)]])],
        };
        let mut rounds = [round(0, 0), round(1, 0), round(1, 1)];
        assert!(!gauged.tell(&Gauge::of_one([150.0; 100]), &mut rounds[..2]));
        assert!(gauged.tell(&Gauge::of_one([120.0; 100]), &mut rounds));
        assert_eq!(rounds.map(|round| round.slowed), [0.0, 0.25, 0.5]);
    }
}
