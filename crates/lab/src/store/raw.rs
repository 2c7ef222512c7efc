//! Stored form of a subject's answer: enough to repeat the estimate.

use super::{json, pack};
use antiphon_measure::{Batch, GapLoop, LatencySample, ThreadReport};
use serde::{Deserialize, Serialize};

/// One reading of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// A batch of slices.
    Batch {
        /// Words of the request.
        asked: String,
        /// The argument, if the test takes one.
        arg: Option<u64>,
        /// Answer.
        batch: Batch,
    },
    /// Readings of a clock.
    Readings {
        /// The clock.
        clock: String,
        /// Its readings, absolute; a clock of ticks may have any origin.
        readings: Vec<i64>,
    },
    /// A loop over a clock, of which only the gaps were kept.
    Gaps {
        /// The clock.
        clock: String,
        /// First differences above this are gaps.
        over_ns: u64,
        /// Result of the loop.
        seen: GapLoop,
    },
    /// A latency series.
    Samples(Vec<LatencySample>),
    /// A storage loop.
    Series {
        /// The clock after each turn, absolute, ns; the first is the one before the first turn.
        readings: Vec<i64>,
        /// Turns done.
        completed: u64,
        /// Reason why the system refused storage, if it did.
        exhausted: Option<String>,
    },
    /// Anything small that came beside the numbers, as JSON, by its name.
    Note {
        /// Name of the note.
        name: String,
        /// JSON.
        json: String,
    },
}

#[derive(Serialize, Deserialize)]
struct BatchHead {
    asked: String,
    arg: Option<u64>,
    threads: Vec<ThreadReport>,
    wall_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct GapsHead {
    clock: String,
    over_ns: u64,
    /// Without the gaps that were kept, which are packed.
    seen: GapLoop,
}

#[derive(Serialize, Deserialize)]
struct SeriesHead {
    completed: u64,
    exhausted: Option<String>,
}

impl Raw {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Raw::Batch { .. } => "batch",
            Raw::Readings { .. } => "readings",
            Raw::Gaps { .. } => "gaps",
            Raw::Samples(_) => "samples",
            Raw::Series { .. } => "series",
            Raw::Note { .. } => "note",
        }
    }

    /// Packs into a head, which is JSON, and packed numbers.
    pub(super) fn pack(&self) -> (String, Vec<u8>) {
        match self {
            Raw::Batch { asked, arg, batch } => {
                let head = BatchHead {
                    asked: asked.clone(),
                    arg: *arg,
                    threads: batch.threads.clone(),
                    wall_ns: batch.wall_ns,
                };
                (json(&head), pack::slices(&batch.slices))
            }
            Raw::Readings { clock, readings } => (json(clock), pack::signed(readings)),
            Raw::Gaps {
                clock,
                over_ns,
                seen,
            } => {
                let head = GapsHead {
                    clock: clock.clone(),
                    over_ns: *over_ns,
                    seen: GapLoop {
                        kept: Vec::new(),
                        ..*seen
                    },
                };
                (json(&head), pack::gaps(&seen.kept))
            }
            Raw::Samples(samples) => (String::new(), pack::samples(samples)),
            Raw::Series {
                readings,
                completed,
                exhausted,
            } => {
                let head = SeriesHead {
                    completed: *completed,
                    exhausted: exhausted.clone(),
                };
                (json(&head), pack::signed(readings))
            }
            Raw::Note { name, json } => (name.clone(), json.clone().into_bytes()),
        }
    }

    pub(super) fn unpack(kind: &str, head: &str, body: &[u8]) -> Result<Raw, String> {
        let wrong = |error: serde_json::Error| error.to_string();
        match kind {
            "batch" => {
                let head: BatchHead = serde_json::from_str(head).map_err(wrong)?;
                let batch = Batch {
                    slices: pack::unpack_slices(body)?,
                    threads: head.threads,
                    wall_ns: head.wall_ns,
                };
                Ok(Raw::Batch {
                    asked: head.asked,
                    arg: head.arg,
                    batch,
                })
            }
            "readings" => Ok(Raw::Readings {
                clock: serde_json::from_str(head).map_err(wrong)?,
                readings: pack::unpack_signed(body)?,
            }),
            "gaps" => {
                let head: GapsHead = serde_json::from_str(head).map_err(wrong)?;
                Ok(Raw::Gaps {
                    clock: head.clock,
                    over_ns: head.over_ns,
                    seen: GapLoop {
                        kept: pack::unpack_gaps(body)?,
                        ..head.seen
                    },
                })
            }
            "samples" => Ok(Raw::Samples(pack::unpack_samples(body)?)),
            "series" => {
                let head: SeriesHead = serde_json::from_str(head).map_err(wrong)?;
                Ok(Raw::Series {
                    readings: pack::unpack_signed(body)?,
                    completed: head.completed,
                    exhausted: head.exhausted,
                })
            }
            "note" => Ok(Raw::Note {
                name: head.to_owned(),
                json: String::from_utf8_lossy(body).into_owned(),
            }),
            _ => Err(format!("`{kind}` is no kind of reading")),
        }
    }
}
