//! Reason for a test without a figure.

/// Reason, in words, why a process cannot do its part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

impl From<antiphon_panda::Error> for Failed {
    fn from(error: antiphon_panda::Error) -> Self {
        Failed(error.to_string())
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Failed(error.to_string())
    }
}

impl From<orca::Error> for Failed {
    fn from(error: orca::Error) -> Self {
        Failed(error.to_string())
    }
}
