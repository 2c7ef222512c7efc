//! Figures of a load in tables, and their sources.

use crate::document::Unit;
use antiphon_lab::{Latencies, LoadOutcome, LoadRound};
use antiphon_measure::Interval;

const PROCESSOR_TIME: &str = "Processor time of the server a request";
const WAITS: &str = "Voluntary context switches of the server a request";

/// A figure of a load, with its heading and unit.
pub(super) struct Shown {
    pub(super) title: &'static str,
    pub(super) unit: Unit,
    pub(super) of: Of,
}

/// Source of a figure; a round gives `None` if the generator does not tell it.
pub(super) enum Of {
    /// Median over rounds.
    Median(fn(&LoadRound) -> Option<f64>),
    /// Maximum over rounds.
    Most(fn(&LoadRound) -> Option<f64>),
    /// Latencies of all rounds together, and the value of a single round.
    All(
        fn(&Latencies) -> Option<Interval>,
        fn(&LoadRound) -> Option<f64>,
    ),
}

impl Shown {
    /// Checks whether it is the processor time of a request on the server.
    pub(super) fn is_processor_time(&self) -> bool {
        self.title == PROCESSOR_TIME
    }

    /// Checks whether it is the number of a server's waits.
    pub(super) fn is_of_waits(&self) -> bool {
        self.title == WAITS
    }

    /// Checks whether it exists only for loads that are a part of a server's capacity.
    pub(super) fn is_of_parts(&self) -> bool {
        self.title == REST[0].title
    }

    pub(super) fn of_round(&self, round: &LoadRound) -> Option<f64> {
        match self.of {
            Of::Median(of) | Of::Most(of) | Of::All(_, of) => of(round),
        }
    }

    pub(super) fn figure(&self, load: &LoadOutcome, latencies: &Latencies) -> Option<Interval> {
        match self.of {
            Of::Median(of) => load.reported(of),
            Of::Most(of) => load
                .rounds
                .iter()
                .filter_map(of)
                .reduce(f64::max)
                .map(exactly),
            Of::All(of, _) => of(latencies),
        }
    }
}

fn exactly(value: f64) -> Interval {
    Interval {
        value,
        low: value,
        high: value,
    }
}

/// Rounds to thousandths: a few switches of a moment, or the one that ends it, do not belong to a
/// request.
fn thousandths(switches: f64) -> f64 {
    (switches * 1000.0).round() / 1000.0
}

fn time(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

/// Returns a request's cost, the rate and the latencies, in the order of their weight, under these
/// titles.
const fn first(titles: [&'static str; 5]) -> [Shown; 5] {
    let [cpu, rate, p50, p99, p999] = titles;
    [
        Shown {
            title: cpu,
            unit: Unit::Nanoseconds,
            of: Of::Median(|round| Some(round.cpu_ns())),
        },
        Shown {
            title: rate,
            unit: Unit::Count,
            of: Of::Median(|round| Some(round.per_second)),
        },
        Shown {
            title: p50,
            unit: Unit::Nanoseconds,
            of: Of::All(|all| all.p50, |round| time(round.p50_ns)),
        },
        Shown {
            title: p99,
            unit: Unit::Nanoseconds,
            of: Of::All(|all| all.p99, |round| time(round.p99_ns)),
        },
        Shown {
            title: p999,
            unit: Unit::Nanoseconds,
            of: Of::All(|all| all.p999, |round| time(round.p999_ns)),
        },
    ]
}

/// Returns the waits of the server's threads, under this title.
const fn waits(title: &'static str) -> Shown {
    Shown {
        title,
        unit: Unit::Count,
        of: Of::Median(|round| round.voluntary().map(thousandths)),
    }
}

/// Returns the quantities with a separate table each, over all loads of a group.
pub(super) fn over_loads() -> impl Iterator<Item = Shown> {
    let titles = [
        PROCESSOR_TIME,
        "Requests a second",
        "Latency, median",
        "Latency, 99 %",
        "Latency, 99.9 %",
    ];
    first(titles).into_iter().chain([waits(WAITS)])
}

/// Returns the quantities of the full table.
pub(super) fn in_full() -> impl Iterator<Item = Shown> {
    first(["CPU a request", "Requests/s", "p50", "p99", "p99.9"])
        .into_iter()
        .chain(REST)
}

const REST: [Shown; 11] = [
    Shown {
        title: "In closed loop/s",
        unit: Unit::Count,
        of: Of::Median(|round| Some(round.closed?.per_second)),
    },
    Shown {
        title: "Longest",
        unit: Unit::Nanoseconds,
        of: Of::Most(|round| time(round.longest_ns)),
    },
    Shown {
        title: "Starved",
        unit: Unit::Count,
        of: Of::Most(|round| {
            round
                .tells_connections()
                .then_some(round.starved.len() as f64)
        }),
    },
    Shown {
        title: "Memory after",
        unit: Unit::Bytes,
        of: Of::Median(|round| Some(round.pss_bytes as f64)),
    },
    Shown {
        title: "Peak",
        unit: Unit::Bytes,
        of: Of::Median(|round| Some(round.peak_bytes as f64)),
    },
    Shown {
        title: "Threads",
        unit: Unit::Count,
        of: Of::Median(|round| Some(round.threads as f64)),
    },
    waits("Voluntary switches a request"),
    Shown {
        title: "Involuntary",
        unit: Unit::Count,
        of: Of::Median(|round| round.involuntary().map(thousandths)),
    },
    Shown {
        title: "Sent late by, p99",
        unit: Unit::Nanoseconds,
        of: Of::Median(|round| time(round.lag_p99_ns)),
    },
    Shown {
        title: "Generator busy",
        unit: Unit::Share,
        of: Of::Median(|round| Some(round.generator_share)),
    },
    Shown {
        title: "Foreign",
        unit: Unit::Share,
        of: Of::Median(|round| Some(round.foreign_share)),
    },
];
