//! Explanation of the figures.

use super::cold;
use crate::document::{Block, Fact, Section};
use antiphon_lab::{Outcome, ResultRecord, RunRecord};

type Term = (&'static str, &'static str);

/// Terms of servers under load.
const SERVERS: [Term; 6] = [
    (
        "CPU a request",
        "Processor time of all the server's processes, shared among its right answers: the median of the rounds. It suffers least from other work on the machine.",
    ),
    (
        "± interval",
        "The interval of that median by the sign test, at 95 %; the whole range where there are fewer than six rounds, which of three holds the median three times in four. A ratio is the median of the ratios within \
         rounds, so that a slow moment hits both sides. Where it lies unevenly about its figure, the two limits stand in brackets instead.",
    ),
    (
        "Context switches a request",
        "Of all the server’s threads but a virtual machine’s compilers, shared among its right answers: voluntary ones are waits for a request, for another thread or for a lock; involuntary \
         ones are preemptions and yields. A round in which a thread ended has none.",
    ),
    (
        "p50, p99, p99.9",
        "Latencies that so many per cent of the requests did not exceed; on a schedule they count from the time at which a request was due.",
    ),
    (
        "Disturbed",
        "Others used more than a tenth of the processors in use meanwhile: the server’s alone where the generator polls, which leaves nothing of its own.",
    ),
    (
        "Generator busy",
        "The part of its time that the generator used of its processor, without polls that found nothing: above nine tenths it may be what limits the rate. Under `across` it polls, where \
         it may come before other work; elsewhere it sleeps, and the server is charged with waking it.",
    ),
];

/// Terms of operations that subjects do in turns.
const TURNS: [Term; 2] = [
    (
        "Time, processor time of an operation",
        "The median of its turns in which nothing slowed the processors. All subjects of a test take turns, each with slices of some milliseconds; time is by the subject’s own \
         clock, processor time by the system’s account of its process and of the database’s server.",
    ),
    (
        "± interval, of turns",
        "The interval of that median by the sign test, at 95 %; of fewer than six turns their whole range, which of three holds the median three times in four. It is wider \
         where too few turns met no slowed processor. A ratio is taken within rounds, and its interval holds at 95 % also what starts of a process differ by.",
    ),
];

/// Terms of whole programs.
const PROGRAMS: [Term; 2] = [
    (
        "Time of a program",
        "The median of its runs, each a start of its own. Programs that are compared take turns, and a ratio is taken between runs of the same round.",
    ),
    (
        "± interval, of programs",
        "The interval of that median at 95 %: by the sign test, and of fewer than six runs by Student’s t of their logarithms, with all of them held.",
    ),
];

/// Terms of all other measurements.
const TERMS: [Term; 9] = [
    (
        "Cost",
        "The median of paired differences between a test loop and a control loop that differ by the feature alone, per operation. \
         Test and control alternate in the order A B B A, in slices of some tens of microseconds, so that a noisy machine hits both alike.",
    ),
    (
        "± interval",
        "Half the width of the bootstrap interval of that median, at 95 %. The interval by the sign test, which assumes less, stands beside it in \
         each figure's evidence. Where it lies unevenly about its figure, the two limits stand in brackets instead. Written digits follow the interval.",
    ),
    (
        "≈ control",
        "The interval contains zero, or lies within the floor (below): the feature cannot be told from nothing. The bound is the largest size that the two still allow; \
         instruction counts, where they could be taken, are a second opinion on all but the kernel's work, which is not in them: `+2 instr` stands for two \
         instructions more than the control, `+0 instr` for no difference. Where a run was asked to count the instructions of all tests, they stand beside every cost.",
    ),
    (
        "†",
        "There is a finding that is worth knowing and does not weaken the figure, such as outlying slices; the evidence has it. Beside the name of a row, \
         †, – and ! repeat what its cells are marked with, as a narrow window may not show those.",
    ),
    (
        "Withheld",
        "The frame's work was removed by the compiler, frames that claim equal work gave different checksums, or a thread ran elsewhere \
         than it should: the number would mislead, so it stands in the evidence only.",
    ),
    (
        "Switches",
        "Context switches per operation (sw), voluntary and involuntary, of the whole process, test less control. Under `fifo` a hand-over \
         to a task that became ready counts as involuntary.",
    ),
    (
        "The paper's figures",
        "The difference of separate minima and the long-loop mean, raw and times 1 − β (equation 20), where β is the system's share of \
         the time. They stand in the evidence, for comparison with figures of 1986.",
    ),
    (
        "Floor",
        "Where a loop happens to lie in memory moves a difference of two loops by about half a nanosecond; a smaller difference between two \
         builds says nothing of the feature.",
    ),
    (
        "Latency",
        "From the actual start, and from the intended start: the second includes the time an operation waited for the one before.",
    ),
];

/// Term for subjects that compile at run time and were not warm.
const NOT_WARM: Term = (
    "Not warm",
    "A subject or server whose language compiles while it runs did not reach its lasting speed in the time for warming, after one of its starts or more: its times may be \
     too high. Claims about its time are undecided. The section on warming up has the rule and the curve.",
);

/// Term for measurements on two processors with known distance.
const NEAR_AND_FAR: Term = (
    "Core-to-core latency",
    "How long a cache line takes from one of the two processors of `across` to the other and back, read before and after each start, or moment of a server. The host of a virtual machine moves its \
     processors, now with a cache between them and now without, and what they do together costs another amount then; a figure that met both is marked `near and far`. Compare \
     such figures only between runs of like distance.",
);

/// Terms of every report.
const ALWAYS: [Term; 2] = [
    (
        "Policy, placement",
        "`other` is the system's ordinary scheduling, `fifo` real-time. `same`: all threads on one processor; `across`: partners on another, of another core where there is one; \
         `free`: wherever the system puts them. Every thread reports its own.",
    ),
    (
        "More",
        "The whole method, with the paper's equation numbers: docs/explanation/method.md; of servers: docs/explanation/servers.md. How a program is made measurable: docs/reference/subject-protocol.md.",
    ),
];

/// Kind of a result's figure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Turns,
    Program,
    Other,
}

impl Kind {
    fn of(result: &ResultRecord) -> Kind {
        match result.outcome {
            Outcome::Load(_) => Kind::Load,
            Outcome::Program { .. } => Kind::Program,
            _ if result.time_of_turns().is_some() => Kind::Turns,
            _ => Kind::Other,
        }
    }
}

/// Returns the closing section, which covers the kinds of figures in these runs.
pub fn section<'r>(runs: impl Iterator<Item = &'r RunRecord> + Clone) -> Section {
    let results = || runs.clone().flat_map(|run| &run.results);
    let has = |kind: Kind| {
        let mut measured = results().filter(|result| !result.outcome.is_absent());
        measured.any(|result| Kind::of(result) == kind)
    };
    let has_none = [Kind::Load, Kind::Turns, Kind::Program]
        .iter()
        .all(|kind| !has(*kind));
    let terms: [(bool, &[Term]); 4] = [
        (has(Kind::Load), &SERVERS),
        (has(Kind::Turns), &TURNS),
        (has(Kind::Program), &PROGRAMS),
        (has(Kind::Other) || has_none, &TERMS),
    ];
    let is_cold = results().any(cold::says_so);
    let is_apart = runs.clone().any(|run| run.apart().is_some());
    let facts = terms
        .iter()
        .filter(|(is_shown, _)| *is_shown)
        .flat_map(|(_, terms)| *terms)
        .chain(is_cold.then_some(&NOT_WARM))
        .chain(is_apart.then_some(&NEAR_AND_FAR))
        .chain(&ALWAYS)
        .map(|(term, text)| Fact::new(*term, *text))
        .collect();
    Section {
        id: "method".into(),
        title: "How to read the figures".into(),
        blocks: vec![Block::Facts { facts }],
    }
}
