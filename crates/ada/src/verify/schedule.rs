//! The schedules under which programs run.

use std::path::Path;

use antiphon_runner::{Policy, Program};

/// A way of running a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// All tasks on one processor.
    OneProcessor,
    /// Two processors.
    TwoProcessors,
    /// One processor, first in first out, if the system permits it.
    Fifo,
    /// Together with threads that occupy the processors at random times, on one and two processors
    /// in turn.
    Perturbed,
    /// Two processors; the translation is built with `pragma Detect_Blocking` (RM H.5), which
    /// reports blocking in protected actions.
    DetectBlocking,
}

/// A real-time priority in the lower half. It suffices for FIFO order, and is below that of the
/// process that watches its children.
const FIFO_PRIORITY: i32 = 20;

impl Schedule {
    /// Returns all schedules, cheapest first.
    pub fn all() -> [Schedule; 5] {
        [
            Schedule::OneProcessor,
            Schedule::TwoProcessors,
            Schedule::Fifo,
            Schedule::Perturbed,
            Schedule::DetectBlocking,
        ]
    }

    /// Returns the schedule in words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Schedule::OneProcessor => "one processor",
            Schedule::TwoProcessors => "two processors",
            Schedule::Fifo => "one processor, FIFO",
            Schedule::Perturbed => "perturbed",
            Schedule::DetectBlocking => "with pragma Detect_Blocking",
        }
    }

    /// Returns why this machine cannot run programs under this schedule, if it cannot.
    pub fn unavailable(self) -> Option<String> {
        match self {
            Schedule::TwoProcessors if processors().len() < 2 => {
                Some("this process may use one processor only".into())
            }
            Schedule::Fifo => Policy::Fifo {
                priority: FIFO_PRIORITY,
            }
            .permitted()
            .err(),
            _ => None,
        }
    }

    /// Returns the program to run; `number` is the number of the run.
    pub(super) fn apply(self, executable: &Path, number: usize) -> Program {
        let processors = processors();
        let first = processors.first().copied().unwrap_or(0);
        match self {
            Schedule::OneProcessor => Program::new(executable).affinity([first]),
            Schedule::TwoProcessors | Schedule::DetectBlocking => {
                Program::new(executable).affinity(processors.into_iter().take(2))
            }
            Schedule::Fifo => Program::new(executable)
                .affinity([first])
                .policy(Policy::Fifo {
                    priority: FIFO_PRIORITY,
                }),
            Schedule::Perturbed => {
                Program::new(executable).affinity(processors.into_iter().take(1 + number % 2))
            }
        }
    }
}

/// Returns the processors that this process may use.
fn processors() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .map_or("0", str::trim)
        .to_string();
    list.split(',')
        .flat_map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (low.parse().unwrap_or(0), high.parse().unwrap_or(0));
            low..=high
        })
        .collect()
}
