//! The figures of a load that tables show, and what each is made of.

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

/// What a figure is made of; a round says `None` where the generator does not tell it.
pub(super) enum Of {
    /// The median of what rounds say.
    Median(fn(&LoadRound) -> Option<f64>),
    /// The most that a round says.
    Most(fn(&LoadRound) -> Option<f64>),
    /// Latencies of all rounds together, and what a round says by itself.
    All(
        fn(&Latencies) -> Option<Interval>,
        fn(&LoadRound) -> Option<f64>,
    ),
}

impl Shown {
    /// Whether it is what a request costs the server's processors.
    pub(super) fn is_processor_time(&self) -> bool {
        self.title == PROCESSOR_TIME
    }

    /// Whether it is how often the server waits for one.
    pub(super) fn is_of_waits(&self) -> bool {
        self.title == WAITS
    }

    /// Whether only loads have it that are a part of what a server can.
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
            Of::Median(of) => load.told(of),
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

/// A few switches of a moment, or the one that ends it, are none of a request.
fn thousandths(switches: f64) -> f64 {
    (switches * 1000.0).round() / 1000.0
}

fn time(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

/// What a request costs, how many there were, and how long they took, in the order of their weight, under these titles.
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

/// How often the server's threads wait, under this title.
const fn waits(title: &'static str) -> Shown {
    Shown {
        title,
        unit: Unit::Count,
        of: Of::Median(|round| round.voluntary().map(thousandths)),
    }
}

/// Those that have a table each, over all loads of a group.
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

/// Those of the table of everything.
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
