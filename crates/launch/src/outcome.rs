//! The ends of a session's processes.

use antiphon_panda::platform::Rank;
use antiphon_runner::{End, Usage};

/// The ends of all processes, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One for each process; a single one for `mpirun`.
    pub ended: Vec<Ended>,
}

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its rank; `None` for `mpirun`.
    pub rank: Option<Rank>,
    /// Its end.
    pub end: End,
    /// Resources that it and its children used.
    pub usage: Usage,
}

impl Outcome {
    /// Returns 0 if all ended well, else the exit code of the first that did not. For an end by a
    /// signal it is 128 and the signal's number.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        self.failed().next().map_or(0, Ended::exit_code)
    }

    /// Returns the exit code of one process, or `None` if no process has that rank.
    #[must_use]
    pub fn exit_code_of(&self, rank: Rank) -> Option<i32> {
        let ended = self.ended.iter().find(|ended| ended.rank == Some(rank));
        ended.map(Ended::exit_code)
    }

    /// Describes the processes that failed, in order: `rank 2 was ended by SIGSEGV (11)`. Returns
    /// `None` if none did.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let failed: Vec<String> = self.failed().map(ToString::to_string).collect();
        (!failed.is_empty()).then(|| failed.join("; "))
    }

    fn failed(&self) -> impl Iterator<Item = &Ended> {
        self.ended
            .iter()
            .filter(|ended| ended.end != End::Exited(0))
    }
}

impl Ended {
    fn exit_code(&self) -> i32 {
        match self.end {
            End::Exited(code) => code,
            End::Signalled(number) => 128 + number,
            End::TimedOut { .. } => 128 + libc::SIGKILL,
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.rank {
            Some(rank) => write!(f, "rank {rank} {}", self.end),
            None => write!(f, "mpirun {}", self.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_failed_decides() {
        let ended = |rank, end| Ended {
            rank: Some(rank),
            end,
            usage: Usage::default(),
        };
        let outcome = |ends: &[End]| Outcome {
            ended: (0..)
                .zip(ends)
                .map(|(rank, &end)| ended(rank, end))
                .collect(),
        };
        assert_eq!(outcome(&[End::Exited(0), End::Exited(0)]).exit_code(), 0);
        assert_eq!(outcome(&[End::Exited(0)]).summary(), None);
        let failed = outcome(&[End::Exited(0), End::Signalled(11), End::Exited(3)]);
        assert_eq!(failed.exit_code(), 139);
        assert_eq!(failed.exit_code_of(2), Some(3));
        assert_eq!(failed.exit_code_of(3), None);
        let summary = failed.summary().expect("two failed");
        assert_eq!(
            summary,
            "rank 1 was ended by SIGSEGV (11); rank 2 ended with exit code 3"
        );
    }
}
