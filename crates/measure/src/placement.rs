//! Promises of a result's name about policy and placement, and their check against the threads.

use crate::{Finding, FindingKind, ThreadReport};
use serde::{Deserialize, Serialize};

/// Placement of a test's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Every thread on one processor.
    Same {
        /// Processor of all threads.
        processor: u32,
    },
    /// The main thread on one processor and every partner on another.
    Across {
        /// The main thread's.
        main: u32,
        /// The partners'.
        partner: u32,
    },
    /// Wherever the system puts them.
    #[default]
    Free,
}

impl Placement {
    /// Returns `same`, `across` or `free`.
    pub fn name(&self) -> &'static str {
        match self {
            Placement::Same { .. } => "same",
            Placement::Across { .. } => "across",
            Placement::Free => "free",
        }
    }

    /// Returns the one processor that a thread of this role may run on; `None` if it is free.
    pub fn processor(&self, role: &str) -> Option<u32> {
        match *self {
            Placement::Same { processor } => Some(processor),
            Placement::Across { main, .. } if role == "main" => Some(main),
            Placement::Across { partner, .. } => Some(partner),
            Placement::Free => None,
        }
    }
}

/// Promises of a result's identity, for a comparison with the observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// Context switches per operation under placement `same`, as the test declares them: voluntary
    /// and involuntary together, but 0 means no voluntary ones.
    pub switches_per_operation: Option<f64>,
    /// `other` or `fifo`. Empty: not checked.
    pub policy: String,
    /// Placement of the threads.
    pub placement: Placement,
    /// Whether the operation may block. One that may not, and declares no switches, is expected to
    /// make none.
    pub blocking: bool,
    /// Key of equal work, if the test claims one: its checksums must then be the same in every
    /// slice of equal iterations.
    pub work: Option<String>,
    /// Number of threads, as the test says: if more than one, a partner must have reported.
    #[serde(default)]
    pub threads: u64,
}

impl Expected {
    /// Switches per operation to hold slices against; `None` where nothing is promised.
    pub(crate) fn switches(&self) -> Option<f64> {
        match (self.placement, self.switches_per_operation) {
            (Placement::Same { .. }, Some(declared)) => Some(declared),
            (_, None) if !self.blocking => Some(0.0),
            _ => None,
        }
    }

    /// Returns the breach of the promise by a thread's report, as part of a sentence.
    pub fn broken_by(&self, report: &ThreadReport) -> Option<String> {
        let who = format!("{} ({} reports)", report.role, report.count);
        if !self.policy.is_empty() && report.policy != self.policy {
            return Some(format!(
                "{who} ran under {} instead of {}",
                report.policy, self.policy
            ));
        }
        let processor = self.placement.processor(&report.role)?;
        if report.allowed != processor.to_string() {
            return Some(format!(
                "{who} was allowed on processors {} instead of {processor}",
                report.allowed
            ));
        }
        (report.processor != processor).then(|| {
            format!(
                "{who} was on processor {} instead of {processor}",
                report.processor
            )
        })
    }
}

impl Expected {
    /// Returns the note that policy and placement are not verified, if a due report of a thread is
    /// missing.
    pub fn unverified(&self, reports: &[ThreadReport]) -> Option<Finding> {
        let who = self.unreported(reports)?;
        Some(Finding {
            kind: FindingKind::Note,
            text: format!("{who}: policy and placement are not verified"),
        })
    }

    /// Returns the threads whose due report is missing, as part of a sentence.
    fn unreported(&self, reports: &[ThreadReport]) -> Option<&'static str> {
        if self.policy.is_empty() {
            return None;
        }
        let from = |main: bool| reports.iter().any(|r| (r.role == "main") == main);
        match (from(true), self.threads > 1 && !from(false)) {
            (false, _) => Some("the main thread did not report"),
            (true, true) => Some("no partner thread reported"),
            (true, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(role: &str, policy: &str, processor: u32, allowed: &str) -> ThreadReport {
        ThreadReport {
            role: role.into(),
            policy: policy.into(),
            priority: 0,
            processor,
            allowed: allowed.into(),
            count: 3,
        }
    }

    #[test]
    fn a_thread_that_fell_back_to_ordinary_scheduling_is_named() {
        let expected = Expected {
            policy: "fifo".into(),
            placement: Placement::Across {
                main: 0,
                partner: 1,
            },
            ..Expected::default()
        };
        assert_eq!(expected.broken_by(&report("main", "fifo", 0, "0")), None);
        assert_eq!(expected.broken_by(&report("partner", "fifo", 1, "1")), None);
        let fell_back = expected
            .broken_by(&report("partner", "other", 1, "1"))
            .unwrap();
        assert_eq!(
            fell_back,
            "partner (3 reports) ran under other instead of fifo"
        );
        assert!(
            expected
                .broken_by(&report("partner", "fifo", 0, "0-1"))
                .unwrap()
                .contains("0-1")
        );
    }

    #[test]
    fn declared_switches_hold_on_one_processor_only() {
        let mut expected = Expected {
            switches_per_operation: Some(2.0),
            blocking: true,
            ..Expected::default()
        };
        assert_eq!(expected.switches(), None);
        expected.placement = Placement::Same { processor: 0 };
        assert_eq!(expected.switches(), Some(2.0));
        assert_eq!(Expected::default().switches(), Some(0.0));
    }

    #[test]
    fn a_thread_that_says_nothing_is_missed() {
        let expected = Expected {
            policy: "fifo".into(),
            threads: 2,
            ..Expected::default()
        };
        let main = report("main", "fifo", 0, "0");
        let both = [main.clone(), report("partner", "fifo", 0, "0")];
        assert_eq!(expected.unreported(&both), None);
        assert_eq!(
            expected.unreported(&[main]),
            Some("no partner thread reported")
        );
        assert_eq!(
            expected.unreported(&[]),
            Some("the main thread did not report")
        );
        assert_eq!(Expected::default().unreported(&[]), None);
    }
}
