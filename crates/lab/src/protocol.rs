//! The subject protocol, version 1, as text: form of requests and meaning of answers
//! (docs/reference/subject-protocol.md). No I/O.

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

/// Beginning of every protocol line of an answer.
pub const MARK: &str = "@@ ";

/// Longest request line, bytes, without its line end.
pub const REQUEST_MAX: usize = 4096;

/// Longest line of an answer, bytes, without its line end.
pub const ANSWER_LINE_MAX: usize = 65_536;

/// Most bytes of an answer, including the subject's own output meanwhile.
pub const ANSWER_MAX: usize = 64 << 20;

/// Most lines of an answer, including the subject's own output meanwhile.
pub const ANSWER_LINES_MAX: usize = 1_000_000;

/// Most readings that one `clock` request may ask for.
pub const READINGS_MAX: u64 = 1_000_000;

/// Most gaps that are kept in one answer to `gaps`.
pub const GAPS_MAX: u64 = 200_000;

/// Permitted duration of one `gaps` request, ns: least and most.
pub const GAPS_TIME_NS: std::ops::RangeInclusive<u64> = 1_000_000..=60_000_000_000;
