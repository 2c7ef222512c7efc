//! The subject protocol, version 1, as text: what requests look like and what answers mean (docs/subject-protocol.md). No I/O.

mod answer;
mod escape;
mod request;
mod words;

pub use answer::{
    ClockInfo, ClockUnit, Data, Hello, Line, Outcome, Refusal, TestInfo, TestKind, Usage,
    parse_line,
};
pub use escape::{decode, encode};
pub use request::Request;
pub(crate) use request::role_word;
pub use words::SyntaxError;

/// The version that this laboratory speaks.
pub const VERSION: u64 = 1;

/// What every protocol line of an answer begins with.
pub const MARK: &str = "@@ ";

/// Longest request line, bytes, without its line end.
pub const REQUEST_MAX: usize = 4096;

/// Longest line of an answer, bytes, without its line end.
pub const ANSWER_LINE_MAX: usize = 65_536;

/// Most readings that one `clock` request may ask for.
pub const READINGS_MAX: u64 = 1_000_000;

/// Most gaps that are kept in one answer to `gaps`.
pub const GAPS_MAX: u64 = 200_000;

/// How long one `gaps` request may take, ns: least and most.
pub const GAPS_TIME_NS: std::ops::RangeInclusive<u64> = 1_000_000..=60_000_000_000;
