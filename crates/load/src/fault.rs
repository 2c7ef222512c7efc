//! Faults of an answer.

use std::net::SocketAddr;

/// Fault of the answer to one request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No connection.
    #[error("no connection to {address} ({why})")]
    NoConnection {
        /// Address of the connection.
        address: SocketAddr,
        /// The system's word for it.
        why: String,
    },
    /// The server closed the connection before a byte of the answer.
    #[error("the server closed the connection without an answer")]
    NoAnswer,
    /// The server closed the connection within the answer.
    #[error("the server closed the connection after {got} bytes of an answer that was not whole")]
    Half {
        /// Bytes received.
        got: usize,
    },
    /// The connection was reset or broke otherwise.
    #[error("the connection broke ({why})")]
    Broken {
        /// The system's word for it.
        why: String,
    },
    /// The answer did not come in time.
    #[error("no whole answer within {limit_ms} ms")]
    TimedOut {
        /// Time waited, ms.
        limit_ms: u64,
    },
    /// The answer is not HTTP/1.x.
    #[error("the answer is not HTTP ({why}): it begins `{head}`")]
    NotHttp {
        /// Fault of the text.
        why: String,
        /// Its first bytes.
        head: String,
    },
    /// The answer is longer than is taken.
    #[error("the answer is longer than {most} bytes")]
    TooLong {
        /// The most that is taken, bytes.
        most: usize,
    },
    /// Another status.
    #[error("the status is {got}, and not {expected}")]
    Status {
        /// Received status.
        got: u16,
        /// Expected status.
        expected: u16,
    },
    /// Another length.
    #[error("the body has {got} bytes, and not {expected}")]
    Length {
        /// Received length, bytes.
        got: usize,
        /// Expected length, bytes.
        expected: usize,
    },
    /// Another body.
    #[error("the body differs from the expected one: it begins `{head}`")]
    Body {
        /// Its first bytes.
        head: String,
    },
    /// More came than one answer.
    #[error("{bytes} bytes came that nobody asked for")]
    Unasked {
        /// Number of bytes.
        bytes: usize,
    },
}

impl Fault {
    /// Returns a word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::NoConnection { .. } => "no connection",
            Fault::NoAnswer => "no answer",
            Fault::Half { .. } => "half an answer",
            Fault::Broken { .. } => "connection broke",
            Fault::TimedOut { .. } => "timed out",
            Fault::NotHttp { .. } => "not HTTP",
            Fault::TooLong { .. } => "too long",
            Fault::Status { .. } => "wrong status",
            Fault::Length { .. } => "wrong length",
            Fault::Body { .. } => "wrong body",
            Fault::Unasked { .. } => "unasked bytes",
        }
    }

    /// Returns advice for the user.
    pub fn help(&self) -> &'static str {
        match self {
            Fault::NoConnection { .. } => "start the server, or mend its address",
            Fault::TimedOut { .. } => "see why the server does not answer, or raise the time limit",
            Fault::Status { .. } => "mend the path, or say which status is right",
            Fault::Length { .. } | Fault::Body { .. } => {
                "a server must answer alike each time: mend it, or check the status alone"
            }
            _ => "mend the server",
        }
    }
}

/// Returns the beginning of the received bytes, for a message.
pub(crate) fn head(bytes: &[u8]) -> String {
    const LETTERS: usize = 40;
    let cut = &bytes[..bytes.len().min(LETTERS)];
    cut.escape_ascii().to_string()
}
