//! Reproducible schedules: drawn from a seed, recorded, replayed.

use std::fmt;
use std::str::FromStr;

/// The choice of the next ready fiber and of the times of ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Schedule {
    /// First in first out within a priority, with the machine's clock.
    #[default]
    Fair,
    /// Draws by the seed: any fiber of the highest priority, and ticks after random numbers of
    /// polls. Time is virtual.
    Seeded(u64),
    /// Runs fairly and records the trace. Time is virtual, ticks are real.
    Recorded,
    /// Follows a trace. Time is virtual.
    Replayed(Trace),
}

/// One fiber's turn on the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    /// Its place among the ready ones of the highest priority.
    choice: u32,
    /// Number of polls after which a tick took the processor; 0 if none did.
    polls_to_tick: u32,
}

/// A recorded schedule. As text, a turn is `choice` or `choice.polls`. Turns are separated by
/// blanks; repeated turns are `turn*times`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    turns: Vec<Turn>,
}

impl Trace {
    /// Returns the number of turns.
    pub fn length(&self) -> usize {
        self.turns.len()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (number, run) in self.turns.chunk_by(|a, b| a == b).enumerate() {
            if number > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{}", run[0].choice)?;
            if run[0].polls_to_tick > 0 {
                write!(f, ".{}", run[0].polls_to_tick)?;
            }
            if run.len() > 1 {
                write!(f, "*{}", run.len())?;
            }
        }
        Ok(())
    }
}

/// Error of a text that is no trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "word {number} of the trace, \"{word}\", is not a turn: write choice, choice.polls or either with *times"
)]
pub struct TraceError {
    number: usize,
    word: String,
}

/// Most repetitions in a word of a trace: more turns than any run has, and fewer than memory holds.
const MOST_TIMES: usize = 1 << 28;

impl FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Trace, TraceError> {
        let mut turns = Vec::new();
        for (number, word) in text.split_whitespace().enumerate() {
            let turn = parse(word).filter(|(_, times)| turns.len() + times <= MOST_TIMES);
            let (turn, times) = turn.ok_or_else(|| TraceError {
                number: number + 1,
                word: word.to_string(),
            })?;
            turns.extend(std::iter::repeat_n(turn, times));
        }
        Ok(Trace { turns })
    }
}

fn parse(word: &str) -> Option<(Turn, usize)> {
    let (turn, times) = word.split_once('*').unwrap_or((word, "1"));
    let (choice, polls) = turn.split_once('.').unwrap_or((turn, "0"));
    let turn = Turn {
        choice: choice.parse().ok()?,
        polls_to_tick: polls.parse().ok()?,
    };
    Some((turn, times.parse().ok()?))
}

/// The maker of choices in a run whose schedule is not [`Schedule::Fair`].
#[derive(Debug)]
pub(crate) struct Director {
    source: Source,
    /// Turns taken so far.
    pub trace: Trace,
}

#[derive(Debug)]
enum Source {
    Seed(u64),
    Fair,
    Turns(std::vec::IntoIter<Turn>),
}

/// Most polls between two ticks that a seed draws.
const MOST_POLLS: u64 = 64;

impl Director {
    pub fn new(schedule: &Schedule) -> Option<Director> {
        let source = match schedule {
            Schedule::Fair => return None,
            Schedule::Seeded(seed) => Source::Seed(*seed),
            Schedule::Recorded => Source::Fair,
            Schedule::Replayed(trace) => Source::Turns(trace.turns.clone().into_iter()),
        };
        Some(Director {
            source,
            trace: Trace::default(),
        })
    }

    /// Returns the place of the next fiber among `ready` ones (at least 1), and the polls to its
    /// tick (0 for none, or for a real one).
    pub fn turn(&mut self, ready: usize, ticks: bool) -> (usize, u32) {
        let turn = match &mut self.source {
            Source::Fair => Turn {
                choice: 0,
                polls_to_tick: 0,
            },
            Source::Seed(state) => Turn {
                choice: (random(state) % ready as u64) as u32,
                polls_to_tick: if ticks {
                    (1 + random(state) % MOST_POLLS) as u32
                } else {
                    0
                },
            },
            // A program that differs from the recorded one may run on when the trace is over. Then
            // it is first come, first served.
            Source::Turns(turns) => turns.next().unwrap_or(Turn {
                choice: 0,
                polls_to_tick: 0,
            }),
        };
        let choice = (turn.choice as usize).min(ready - 1);
        self.trace.turns.push(Turn {
            choice: choice as u32,
            polls_to_tick: 0,
        });
        (choice, turn.polls_to_tick)
    }

    /// Returns whether the turn ends at a point where it may. A seed ends one of two. A replay has
    /// these ends among its ticks.
    pub fn ends_turn(&mut self) -> bool {
        match &mut self.source {
            Source::Seed(state) => random(state) & 1 == 0,
            Source::Fair | Source::Turns(_) => false,
        }
    }

    /// Notes that the last turn ended by a tick after so many polls.
    pub fn ticked(&mut self, polls: u32) {
        if let Some(turn) = self.trace.turns.last_mut() {
            turn.polls_to_tick = polls;
        }
    }
}

/// Draws by SplitMix64 (Steele, Lea and Flood, 2014): every seed is good, and a schedule needs no
/// more.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_trace_is_read_back_from_its_text(turns in prop::collection::vec((0..3u32, 0..3u32), 0..200)) {
            let turns = turns.into_iter().map(|(choice, polls_to_tick)| Turn { choice, polls_to_tick }).collect();
            let trace = Trace { turns };
            prop_assert_eq!(trace.to_string().parse::<Trace>().unwrap(), trace);
        }

        #[test]
        fn no_text_breaks_the_reader(text in "[0-9.* x-]{0,40}") {
            let _ = text.parse::<Trace>();
        }
    }

    #[test]
    fn a_wrong_word_is_named() {
        let error = "0 1.2 x*3".parse::<Trace>().unwrap_err();
        assert_eq!(
            error.to_string().split(',').next(),
            Some("word 3 of the trace")
        );
    }
}
