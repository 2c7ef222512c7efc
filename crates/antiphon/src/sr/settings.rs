//! Values of options that have a form of their own.

use std::fmt;
use std::str::FromStr;

/// When a process gives way to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// After so many iterations of loops.
    Counted(u32),
    /// After so many milliseconds, wherever it is.
    Sliced(u32),
    /// After so many milliseconds, at the head of a loop.
    SlicedDeferred(u32),
    /// When it blocks, ends or naps.
    Cooperative,
}

/// The original's count of iterations.
const ITERATIONS: u32 = 10_000;

/// The quantum of the published measurements, in milliseconds.
const QUANTUM_MS: u32 = 10;

impl Model {
    /// Whether the heads of loops do something.
    pub fn has_loop_checks(self) -> bool {
        matches!(self, Model::Counted(_) | Model::SlicedDeferred(_))
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Model, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let number = |default: u32, unit: &str| match value.map(str::parse) {
            None => Ok(default),
            Some(Ok(number)) if number > 0 => Ok(number),
            Some(_) => Err(format!(
                "give a number of {unit} above 0, such as {name}={default}"
            )),
        };
        match name {
            "counted" => Ok(Model::Counted(number(ITERATIONS, "iterations")?)),
            "sliced" => Ok(Model::Sliced(number(QUANTUM_MS, "milliseconds")?)),
            "sliced-deferred" => Ok(Model::SlicedDeferred(number(QUANTUM_MS, "milliseconds")?)),
            "cooperative" if value.is_none() => Ok(Model::Cooperative),
            "cooperative" => Err("cooperative takes no number".to_owned()),
            _ => Err(
                "the models are counted[=LOOPS], sliced[=MS], sliced-deferred[=MS] and cooperative"
                    .to_owned(),
            ),
        }
    }
}

/// As the run-time reads it.
impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Model::Counted(loops) => write!(out, "counted:{loops}"),
            Model::Sliced(ms) => write!(out, "sliced:{ms}"),
            Model::SlicedDeferred(ms) => write!(out, "sliced-deferred:{ms}"),
            Model::Cooperative => write!(out, "cooperative"),
        }
    }
}

/// How counters are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// For people.
    Text,
    /// One object.
    Json,
}

impl FromStr for Statistics {
    type Err = String;

    fn from_str(text: &str) -> Result<Statistics, String> {
        match text {
            "text" => Ok(Statistics::Text),
            "json" => Ok(Statistics::Json),
            _ => Err("the formats are text and json".to_owned()),
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Statistics::Text => "text",
            Statistics::Json => "json",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_with_and_without_their_number() {
        let read = |text: &str| text.parse::<Model>();
        assert_eq!(read("counted"), Ok(Model::Counted(10_000)));
        assert_eq!(read("counted=7"), Ok(Model::Counted(7)));
        assert_eq!(read("sliced-deferred=3"), Ok(Model::SlicedDeferred(3)));
        assert_eq!(read("cooperative"), Ok(Model::Cooperative));
        for wrong in ["counted=0", "sliced=x", "cooperative=1", "fast", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
