//! Requests of the laboratory.

use super::{VERSION, encode};
use antiphon_measure::{Placement, Role};
use std::fmt;

/// One request. `Display` writes its line, without the line end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the fields are those of docs/reference/subject-protocol.md, by the same names"
)]
pub enum Request<'a> {
    /// Always first.
    Hello,
    /// Request for the subject's abilities.
    List,
    /// Successive readings of a clock.
    Clock { name: &'a str, count: u64 },
    /// A loop over a clock that keeps its gaps only.
    Gaps {
        name: &'a str,
        time_ns: u64,
        over: u64,
    },
    /// Placement of threads; at most once.
    Placement(Placement),
    /// Blocks of ABBA slices inside the subject.
    Batch {
        test: &'a str,
        iterations: u64,
        blocks: u32,
        reference: u64,
        warmup: u64,
        arg: Option<u64>,
    },
    /// One slice.
    Slice {
        test: &'a str,
        role: Role,
        iterations: u64,
        warmup: u64,
        arg: Option<u64>,
    },
    /// A distribution of latencies.
    Latency {
        test: &'a str,
        count: u64,
        interval_ns: u64,
        arg: Option<u64>,
    },
    /// A storage loop.
    Series {
        test: &'a str,
        count: u64,
        arg: Option<u64>,
    },
    /// Resource use of the subject's process.
    Usage,
    /// The end.
    Quit,
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hello => write!(out, "hello {VERSION}"),
            Self::List => write!(out, "list"),
            Self::Clock { name, count } => write!(out, "clock {} {count}", encode(name)),
            Self::Gaps {
                name,
                time_ns,
                over,
            } => write!(out, "gaps {} time={time_ns} over={over}", encode(name)),
            Self::Placement(Placement::Same { processor }) => {
                write!(out, "placement same {processor}")
            }
            Self::Placement(Placement::Across { main, partner }) => {
                write!(out, "placement across {main} {partner}")
            }
            Self::Placement(Placement::Free) => write!(out, "placement free"),
            Self::Batch {
                test,
                iterations,
                blocks,
                reference,
                warmup,
                arg,
            } => {
                let test = encode(test);
                write!(
                    out,
                    "batch {test} iterations={iterations} blocks={blocks} reference={reference} warmup={warmup}"
                )?;
                write_arg(out, *arg)
            }
            Self::Slice {
                test,
                role,
                iterations,
                warmup,
                arg,
            } => {
                let (test, role) = (encode(test), role_word(*role));
                write!(
                    out,
                    "slice {test} {role} iterations={iterations} warmup={warmup}"
                )?;
                write_arg(out, *arg)
            }
            Self::Latency {
                test,
                count,
                interval_ns,
                arg,
            } => {
                let test = encode(test);
                write!(out, "latency {test} count={count} interval={interval_ns}")?;
                write_arg(out, *arg)
            }
            Self::Series { test, count, arg } => {
                write!(out, "series {} count={count}", encode(test))?;
                write_arg(out, *arg)
            }
            Self::Usage => write!(out, "usage"),
            Self::Quit => write!(out, "quit"),
        }
    }
}

fn write_arg(out: &mut fmt::Formatter<'_>, arg: Option<u64>) -> fmt::Result {
    arg.map_or(Ok(()), |arg| write!(out, " arg={arg}"))
}

/// Returns the word of a role in requests and answers.
pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Control => "control",
        Role::Test => "test",
        Role::Reference => "reference",
    }
}
