//! Requests: what the laboratory writes.

use super::{VERSION, encode};
use antiphon_measure::Role;
use std::fmt;

/// Where a subject's threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Every thread on one processor.
    Same(u32),
    /// The main thread on the first processor, every partner on the second.
    Across(u32, u32),
    /// Wherever the system puts them.
    Free,
}

impl Placement {
    /// The placement's word in a result's identity: `same`, `across` or `free`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::Across(..) => "across",
            Self::Free => "free",
        }
    }

    /// The processors that the process must be allowed on; empty where every one is.
    pub fn processors(self) -> Vec<usize> {
        match self {
            Self::Same(processor) => vec![processor as usize],
            Self::Across(main, partner) => vec![main as usize, partner as usize],
            Self::Free => Vec::new(),
        }
    }
}

/// One request. `Display` writes its line, without the line end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the fields are those of docs/subject-protocol.md, by the same names"
)]
pub enum Request<'a> {
    /// Always first.
    Hello,
    /// What the subject can do.
    List,
    /// Successive readings of a clock.
    Clock { name: &'a str, count: u64 },
    /// Where threads run; at most once.
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
            Self::Placement(Placement::Same(processor)) => {
                write!(out, "placement same {processor}")
            }
            Self::Placement(Placement::Across(main, partner)) => {
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

/// The word of a role in requests and answers.
pub(super) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Control => "control",
        Role::Test => "test",
        Role::Reference => "reference",
    }
}
