//! How to read the figures.

use crate::document::{Block, Fact, Section};

const TERMS: [(&str, &str); 11] = [
    (
        "Cost",
        "The median of paired differences between a test loop and a control loop that differ by the feature alone, per operation. \
         Test and control alternate in the order A B B A, in slices of some tens of microseconds, so that a noisy machine hits both alike.",
    ),
    (
        "± interval",
        "Half the width of the bootstrap interval of that median. The interval by the sign test, which assumes less, stands beside it in \
         each figure's evidence. Written digits follow the interval.",
    ),
    (
        "≈ control",
        "The interval contains zero, or lies within the floor (below): the feature cannot be told from nothing. The bound is the largest size that the two still allow; \
         instruction counts, where they could be taken, are a second opinion: `+2 instr` stands for two instructions more than the control, `+0 instr` \
         for no difference.",
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
        "Policy, placement",
        "`other` is the system's ordinary scheduling, `fifo` real-time. `same`: all threads on one processor; `across`: partners on another; \
         `free`: wherever the system puts them. Every thread reports its own.",
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
    (
        "More",
        "The whole method, with the paper's equation numbers: docs/method.md. How a program is made measurable: docs/subject-protocol.md.",
    ),
];

/// The closing section.
pub fn section() -> Section {
    let facts = TERMS
        .iter()
        .map(|(term, text)| Fact::new(*term, *text))
        .collect();
    Section {
        id: "method".into(),
        title: "How to read the figures".into(),
        blocks: vec![Block::Facts { facts }],
    }
}
