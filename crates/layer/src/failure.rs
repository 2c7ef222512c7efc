//! Why a test gives no figure.

/// Why a process cannot do its part, in words.
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
