//! How to read the figures.

use super::cold;
use crate::document::{Block, Fact, Section};
use antiphon_lab::{Outcome, RunRecord};

type Term = (&'static str, &'static str);

/// Of servers under load.
const SERVERS: [Term; 4] = [
    (
        "CPU a request",
        "Processor time of all the server's processes, shared among its right answers: the median of the rounds. It suffers least from other work on the machine.",
    ),
    (
        "± interval",
        "The interval of that median by the sign test; the whole range where there are fewer than six rounds. A ratio is the median of the ratios within \
         rounds, so that a slow moment hits both sides. Where it lies unevenly about its figure, the two limits stand in brackets instead.",
    ),
    (
        "p50, p99, p99.9",
        "Latencies that so many per cent of the requests did not exceed; on a schedule they count from the time at which a request was due.",
    ),
    (
        "Disturbed",
        "Others used more than a tenth of the processors in use meanwhile.",
    ),
];

/// Of anything else that is measured.
const TERMS: [Term; 9] = [
    (
        "Cost",
        "The median of paired differences between a test loop and a control loop that differ by the feature alone, per operation. \
         Test and control alternate in the order A B B A, in slices of some tens of microseconds, so that a noisy machine hits both alike.",
    ),
    (
        "± interval",
        "Half the width of the bootstrap interval of that median. The interval by the sign test, which assumes less, stands beside it in \
         each figure's evidence. Where it lies unevenly about its figure, the two limits stand in brackets instead. Written digits follow the interval.",
    ),
    (
        "≈ control",
        "The interval contains zero, or lies within the floor (below): the feature cannot be told from nothing. The bound is the largest size that the two still allow; \
         instruction counts, where they could be taken, are a second opinion: `+2 instr` stands for two instructions more than the control, `+0 instr` \
         for no difference. Where a run was asked to count the instructions of all tests, they stand beside every cost.",
    ),
    (
        "†",
        "There is a finding that is worth knowing and does not weaken the figure, such as outlying slices; the evidence has it.",
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

/// Of what compiles while it runs, where it was not warm.
const NOT_WARM: Term = (
    "Not warm",
    "A subject or server whose language compiles while it runs did not reach its lasting speed in the time for warming, after one of its starts or more: its times may be \
     too high. Claims about its time are undecided. The section on warming up has the rule and the curve.",
);

/// Of everything.
const ALWAYS: [Term; 2] = [
    (
        "Policy, placement",
        "`other` is the system's ordinary scheduling, `fifo` real-time. `same`: all threads on one processor; `across`: partners on another; \
         `free`: wherever the system puts them. Every thread reports its own.",
    ),
    (
        "More",
        "The whole method, with the paper's equation numbers: docs/method.md; of servers: docs/load.md. How a program is made measurable: docs/subject-protocol.md.",
    ),
];

/// The closing section: what these runs have figures of.
pub fn section<'r>(runs: impl Iterator<Item = &'r RunRecord> + Clone) -> Section {
    let is_load = |outcome: &Outcome| matches!(outcome, Outcome::Load(_));
    let results = || runs.clone().flat_map(|run| &run.results);
    let measured = || results().filter(|result| !result.outcome.is_absent());
    let has_load = measured().any(|result| is_load(&result.outcome));
    let has_other = measured().any(|result| !is_load(&result.outcome)) || !has_load;
    let servers = SERVERS.iter().filter(|_| has_load);
    let others = TERMS.iter().filter(|_| has_other);
    let is_cold = results().any(cold::says_so);
    let facts = servers
        .chain(others)
        .chain(is_cold.then_some(&NOT_WARM))
        .chain(&ALWAYS)
        .map(|(term, text)| Fact::new(*term, *text))
        .collect();
    Section {
        id: "method".into(),
        title: "How to read the figures".into(),
        blocks: vec![Block::Facts { facts }],
    }
}
