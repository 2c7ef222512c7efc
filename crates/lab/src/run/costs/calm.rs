//! Calm moments, in which nothing slows the processors. Rounds wait for them, and are judged by the
//! processors' fast state.

use super::member::{Member, Turn, slowed};
use super::processor_speed::{Gauge, Moment};
use super::turn::probe;
use crate::record::CostRound;
use crate::record::calm::CALM;
use crate::run::RunError;
use crate::run::engine::Engine;
use crate::run::gate::ATTEMPTS;
use std::time::{Duration, Instant};

/// Number of calm probes that make a calm moment, and the pause before each.
const PROBES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(5);

/// Longest wait of a turn for a calm moment, and pause between probes. Half of all slow moments end
/// within it, and a slowed turn is repeated.
const BEFORE_TURN: Duration = Duration::from_millis(100);
const SHORT_PAUSE: Duration = Duration::from_millis(2);

/// Waits until the processors of an item are calm, but no longer than `until`. None of our
/// processes runs meanwhile.
pub(super) fn wait(engine: &mut Engine<'_, '_>, position: usize, until: Instant) {
    engine.processes.rest();
    let mut calm = 0;
    while calm < PROBES && Instant::now() < until && !engine.interrupted() {
        std::thread::sleep(PAUSE);
        let moment = probe(engine, position);
        let is_calm = engine.gauge.slowed(&moment) <= CALM;
        calm = if is_calm { calm + 1 } else { 0 };
    }
}

/// Waits briefly until the processors of an item are calm, but no longer than `until`. None of our
/// processes runs meanwhile. Returns whether it waited at all.
pub(super) fn wait_for_turn(engine: &mut Engine<'_, '_>, position: usize, until: Instant) -> bool {
    let until = until.min(Instant::now() + BEFORE_TURN);
    let mut waited = false;
    while Instant::now() < until && !engine.interrupted() {
        let moment = probe(engine, position);
        if engine.gauge.slowed(&moment) <= CALM {
            break;
        }
        if !std::mem::replace(&mut waited, true) {
            engine.processes.rest();
        }
        std::thread::sleep(SHORT_PAUSE);
    }
    waited
}

/// Takes a turn, and repeats it while the processors are slowed and time is left. Returns the least
/// slowed attempt.
///
/// `take` returns its result with the slowness. The choice depends on a loop of known work, never
/// on the turn's cost.
pub(super) fn calmest_turn<T, E>(
    until: Instant,
    mut take: impl FnMut() -> Result<(T, f64), E>,
) -> Result<T, E> {
    let (mut kept, mut slowed) = take()?;
    for _ in 1..ATTEMPTS {
        if slowed <= CALM || Instant::now() >= until {
            break;
        }
        let (again, by) = take()?;
        if by < slowed {
            (kept, slowed) = (again, by);
        }
    }
    Ok(kept)
}

/// Probes of the processors during the turns of an item.
pub(in crate::run) struct Gauged {
    position: usize,
    start: u32,
    /// Probes of the turns, with the numbers of the rounds.
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

    /// Sets the slowness of each round by present knowledge of the processors. Returns whether any
    /// of them changed.
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

/// Judges the rounds of a run again by the final speed of the processors. The first minute may have
/// been a slow one.
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
    use super::super::processor_speed::PROCESSOR_0;
    use super::*;

    /// Returns cost ratios of two subjects in turn, with random slow moments that affect the one
    /// more than the other.
    ///
    /// Each moment is slow or not by itself, as in bursts shorter than a round. Turns repeat only
    /// before `until`.
    fn ratios(until: Instant) -> Vec<f64> {
        let mut chance = 1_u64;
        let mut is_slow = || {
            chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1);
            (chance >> 33).is_multiple_of(2)
        };
        let mut cost = |fast: f64, slow: f64| {
            let take = || {
                Ok::<_, ()>(match is_slow() {
                    true => (slow, 0.5),
                    false => (fast, 0.01),
                })
            };
            calmest_turn(until, take).unwrap()
        };
        (0..1000)
            .map(|_| cost(10.0, 16.0) / cost(20.0, 21.0))
            .collect()
    }

    #[test]
    fn what_comes_and_goes_is_in_few_turns() {
        let now = Instant::now();
        let true_ones = |ratios: &[f64]| ratios.iter().filter(|ratio| **ratio == 0.5).count();
        let late = ratios(now);
        assert!((200..300).contains(&true_ones(&late)));
        // Of three attempts each one in eight meets no calm moment.
        let gated = ratios(now + Duration::from_secs(3600));
        assert!(true_ones(&gated) > 700, "{}", true_ones(&gated));
    }

    #[test]
    fn of_slowed_turns_the_least_slowed_is_kept_whatever_it_cost() {
        let take = |slowed: &[f64], until| {
            let mut made = 0;
            let kept = calmest_turn(until, || {
                made += 1;
                Ok::<_, ()>((made, slowed[made - 1]))
            });
            (kept.unwrap(), made)
        };
        let later = Instant::now() + Duration::from_secs(3600);
        assert_eq!(take(&[0.0], later), (1, 1));
        assert_eq!(take(&[0.5, 0.05], later), (2, 2));
        assert_eq!(take(&[0.5, 0.2, 0.3], later), (2, 3));
        assert_eq!(take(&[0.5], Instant::now()), (1, 1), "there is no time");
        let fails = calmest_turn(later, || Err::<((), f64), _>("broken"));
        assert_eq!(fails, Err("broken"));
    }

    #[test]
    fn a_slow_first_minute_is_known_for_one_by_a_later_fast_one() {
        let round = |start, round| CostRound {
            start,
            round,
            iterations: 1,
            subject_ns: 10.0,
            server_ns: None,
            wall_ns: 10.0,
            time_ns: None,
            step_ns: 0.0,
            slowed: 0.0,
            held_bytes: 0,
            walked_bytes: 0,
            taken: 1,
        };
        let gauged = Gauged {
            position: 0,
            start: 1,
            turns: vec![
                (0, vec![vec![(PROCESSOR_0, 150.0)]]),
                (1, vec![vec![(PROCESSOR_0, 180.0)]]),
            ],
        };
        let mut rounds = [round(0, 0), round(1, 0), round(1, 1)];
        assert!(!gauged.tell(&Gauge::of_one([150.0; 100]), &mut rounds[..2]));
        assert!(gauged.tell(&Gauge::of_one([120.0; 100]), &mut rounds));
        assert_eq!(rounds.map(|round| round.slowed), [0.0, 0.25, 0.5]);
    }
}
