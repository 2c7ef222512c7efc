//! Option values with a syntax of their own.

use std::fmt;
use std::str::FromStr;

/// When a process yields to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// After this many iterations of loops.
    Counted(u32),
    /// After this much time, anywhere.
    Sliced(Quantum),
    /// After this much time, at the next loop head.
    SlicedDeferred(Quantum),
    /// When it blocks, ends or naps.
    Cooperative,
}

/// The number of iterations in the original.
const ITERATIONS: u32 = 10_000;

/// A quantum, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum(u32);

/// The quantum of the published measurements.
const QUANTUM: Quantum = Quantum(10_000);

/// The range of a quantum in microseconds. A shorter one would only switch.
const QUANTA_US: std::ops::Range<f64> = 10.0..1e9;

impl Quantum {
    /// Reads milliseconds, with an optional fraction.
    fn of_ms(text: &str) -> Option<Quantum> {
        let us = text.parse::<f64>().ok()? * 1000.0;
        QUANTA_US.contains(&us).then(|| Quantum(us.round() as u32))
    }
}

/// In milliseconds.
impl fmt::Display for Quantum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", f64::from(self.0) / 1000.0)
    }
}

impl Model {
    /// Returns whether loop heads do any work.
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
        let iterations = || match value.map(str::parse) {
            None => Ok(ITERATIONS),
            Some(Ok(number)) if number > 0 => Ok(number),
            Some(_) => Err(format!(
                "give a number of iterations above 0, such as {name}={ITERATIONS}"
            )),
        };
        let quantum = || match value.map(Quantum::of_ms) {
            None => Ok(QUANTUM),
            Some(Some(quantum)) => Ok(quantum),
            Some(None) => Err(format!(
                "give milliseconds from 0.01 to 1000000, such as {name}={QUANTUM} or {name}=0.5"
            )),
        };
        match name {
            "counted" => Ok(Model::Counted(iterations()?)),
            "sliced" => Ok(Model::Sliced(quantum()?)),
            "sliced-deferred" => Ok(Model::SlicedDeferred(quantum()?)),
            "cooperative" if value.is_none() => Ok(Model::Cooperative),
            "cooperative" => Err("cooperative takes no number".to_owned()),
            _ => Err(
                "the models are counted[=LOOPS], sliced[=MS], sliced-deferred[=MS] and cooperative"
                    .to_owned(),
            ),
        }
    }
}

/// Writes the model in the form that the run-time reads.
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

/// The format of printed counters.
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
        let deferred = Model::SlicedDeferred(Quantum(3000));
        assert_eq!(read("sliced-deferred=3"), Ok(deferred));
        assert_eq!(read("sliced=0.5"), Ok(Model::Sliced(Quantum(500))));
        assert_eq!(read("sliced=0.5").unwrap().to_string(), "sliced:0.5");
        assert_eq!(read("sliced").unwrap().to_string(), "sliced:10");
        assert_eq!(read("cooperative"), Ok(Model::Cooperative));
        for wrong in [
            "counted=0",
            "sliced=x",
            "sliced=0",
            "sliced=-1",
            "sliced=NaN",
            "sliced=1e9",
            "cooperative=1",
            "fast",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
