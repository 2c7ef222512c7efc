//! How the program runs: the model of execution, the servers, and the reports at its end.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use antiphon_fiber::Policy;

/// The environment variable.
pub const VARIABLE: &str = "ANTIPHON_SR";

/// Default bytes of a process's stack. Only touched pages have memory.
const STACK_BYTES: usize = 1 << 20;
/// Default iterations between switches, as in original SR.
const LOOPS: u32 = 10_000;
/// The quantum of the paper.
const QUANTUM: Duration = Duration::from_millis(10);

/// Default limit of turns in the timeline. With more, viewers are slow.
const TRACE_TURNS: usize = 2_000_000;

/// Default limit of virtual machines.
const MACHINES: u32 = 64;

/// Default time that a virtual machine may be silent before it counts as lost. On a busy host it is
/// seldom silent for so long. The death of a machine is noticed at once.
const SILENCE: Duration = Duration::from_secs(15);

/// Silences that can be asked for, in seconds: up to a year.
const SILENCES: RangeInclusive<f64> = 1.0..=31_536_000.0;

/// Platforms between virtual machines; `local` is this machine by the fastest of them.
const PLATFORMS: [&str; 4] = ["shm", "tcp", "udp", "mpi"];

/// How counts are reported at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stats {
    None,
    Text,
    Json,
}

/// How the program runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub model: Policy,
    pub servers: usize,
    pub stack_bytes: usize,
    pub stats: Stats,
    /// The file for the timeline of processes.
    pub trace: Option<PathBuf>,
    /// Turns kept in the timeline: the last ones.
    pub trace_turns: usize,
    /// The seed of `random`.
    pub seed: Option<f64>,
    /// The seed of a random schedule, in virtual time.
    pub schedule: Option<u64>,
    /// Whether messages are exactly those of original SR.
    pub is_plain: bool,
    /// Virtual machines that the program may have at once.
    pub machines: u32,
    /// The platform by which they reach each other.
    pub over: String,
    /// How long one may be silent before it counts as lost.
    pub silence: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            model: Policy::Cooperative,
            servers: 1,
            stack_bytes: STACK_BYTES,
            stats: Stats::None,
            trace: None,
            trace_turns: TRACE_TURNS,
            seed: None,
            schedule: None,
            is_plain: false,
            machines: MACHINES,
            over: "shm".into(),
            silence: SILENCE,
        }
    }
}

/// A word that is no option.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionError {
    word: String,
    wanted: &'static str,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{VARIABLE}: \"{}\": {}", self.word, self.wanted)
    }
}

const ALL: &str = "write model=, servers=, stack=, stats=, trace=, trace-turns=, seed=, schedule=, vms=, over=, silence= or report=, separated by commas";
const MODELS: &str =
    "write model=cooperative, counted[:LOOPS], sliced[:MS] or sliced-deferred[:MS]";

impl Options {
    /// Changes the options that a text such as `model=counted:100,servers=2` names.
    pub fn read(&mut self, text: &str) -> Result<(), OptionError> {
        for word in text.split(',').filter(|w| !w.is_empty()) {
            let error = |wanted| OptionError {
                word: word.into(),
                wanted,
            };
            let (name, value) = word.split_once('=').ok_or(error(ALL))?;
            match name {
                "model" => self.model = model(value).ok_or(error(MODELS))?,
                "servers" => {
                    let servers = value.parse().ok().filter(|n| (1..=256).contains(n));
                    self.servers = servers.ok_or(error("write a number from 1 to 256"))?;
                }
                "stack" => {
                    let bytes = value.parse().ok().filter(|n| *n >= 16 << 10);
                    self.stack_bytes = bytes.ok_or(error("write bytes, at least 16384"))?;
                }
                "stats" => {
                    self.stats = match value {
                        "text" => Stats::Text,
                        "json" => Stats::Json,
                        _ => return Err(error("write stats=text or stats=json")),
                    }
                }
                "trace" => self.trace = Some(value.into()),
                "trace-turns" => {
                    let turns = value.parse().ok().filter(|n| *n > 0);
                    self.trace_turns = turns.ok_or(error("write a number above 0"))?;
                }
                "seed" => self.seed = Some(value.parse().ok().ok_or(error("write a number"))?),
                "schedule" => {
                    let seed = value.strip_prefix("seed:").and_then(|s| s.parse().ok());
                    self.schedule = Some(seed.ok_or(error("write schedule=seed:NUMBER"))?);
                }
                "vms" => {
                    let machines = value.parse().ok().filter(|n| (1..=1024).contains(n));
                    self.machines = machines.ok_or(error("write a number from 1 to 1024"))?;
                }
                "over" if value == "local" => self.over = "shm".into(),
                "over" if PLATFORMS.contains(&value) => self.over = value.into(),
                "over" => return Err(error("write over=local, shm, tcp, udp or mpi")),
                "silence" => {
                    let seconds = value.parse().ok().filter(|s| SILENCES.contains(s));
                    let silence = seconds.map(Duration::from_secs_f64);
                    self.silence = silence.ok_or(error("write seconds, from 1 to 31536000"))?;
                }
                "report" if value == "plain" || value == "full" => self.is_plain = value == "plain",
                "report" => return Err(error("write report=plain or report=full")),
                _ => return Err(error(ALL)),
            }
        }
        Ok(())
    }
}

fn model(text: &str) -> Option<Policy> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let quantum = || match value {
        None => Some(QUANTUM),
        Some(value) => {
            let ms = value
                .parse::<f64>()
                .ok()
                .filter(|ms| (0.01..1e6).contains(ms))?;
            Some(Duration::from_secs_f64(ms / 1000.0))
        }
    };
    match name {
        "cooperative" if value.is_none() => Some(Policy::Cooperative),
        "counted" => Some(Policy::Counted(
            value.map_or(Some(LOOPS), |v| v.parse().ok())?,
        )),
        "sliced" => Some(Policy::Sliced(quantum()?)),
        "sliced-deferred" => Some(Policy::SlicedDeferred(quantum()?)),
        _ => None,
    }
}

static OPTIONS: OnceLock<Options> = OnceLock::new();
static IS_SLICED: AtomicBool = AtomicBool::new(false);
static IS_MANY: AtomicBool = AtomicBool::new(false);

/// Sets the options of the run, once.
pub fn set(options: Options, is_many: bool) {
    IS_SLICED.store(
        matches!(options.model, Policy::Sliced(_)),
        Ordering::Relaxed,
    );
    IS_MANY.store(is_many, Ordering::Relaxed);
    let _ = OPTIONS.set(options);
}

/// Returns the options of the run.
pub fn get() -> &'static Options {
    OPTIONS.get_or_init(Options::default)
}

/// Whether ticks switch inside generated code.
#[inline(always)]
pub fn is_sliced() -> bool {
    IS_SLICED.load(Ordering::Relaxed)
}

/// Whether the program is of the flavour for several servers.
#[inline(always)]
pub fn is_many() -> bool {
    IS_MANY.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        options.read(text).map_err(|e| e.to_string())?;
        Ok(options)
    }

    #[test]
    fn options_are_read() {
        let options =
            read("model=counted:77,servers=2,stats=json,trace=a b,stack=65536,report=plain")
                .unwrap();
        assert_eq!(options.model, Policy::Counted(77));
        assert_eq!((options.servers, options.stack_bytes), (2, 65536));
        assert_eq!(options.stats, Stats::Json);
        assert_eq!(options.trace, Some("a b".into()));
        assert!(options.is_plain);
        let silence = read("silence=2.5").unwrap().silence;
        assert_eq!(silence, Duration::from_millis(2500));
        let sliced = read("model=sliced:2.5").unwrap().model;
        assert_eq!(sliced, Policy::Sliced(Duration::from_micros(2500)));
        assert_eq!(read("").unwrap(), Options::default());
    }

    #[test]
    fn a_wrong_word_is_named_with_what_to_write() {
        for (text, part) in [
            ("model=fast", "model=cooperative, counted"),
            ("servers=0", "1 to 256"),
            ("speed=9", "write model="),
            ("stack", "write model="),
            ("schedule=7", "schedule=seed:"),
            ("silence=0", "from 1 to"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part) && error.contains(text), "{error}");
        }
    }
}
