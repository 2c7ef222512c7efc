//! A comparison with every verdict.

use super::interval;

/// Returns a comparison with every verdict.
pub fn comparison() -> antiphon_report::comparison::Comparison {
    use antiphon_report::comparison::{Comparison, ComparisonRow, Side, Verdict};
    let row =
        |group: &str, label: &str, before: f64, factor: f64, half: f64, verdict| ComparisonRow {
            group: group.into(),
            label: label.into(),
            before_ns: Some(interval(before, before * 0.004)),
            after_ns: Some(interval(before * factor, before * 0.004)),
            log_ratio: Some(interval(factor.ln(), half)),
            starts: Some((5, 5)),
            limit: Some(0.03),
            verdict,
            same_within: (verdict == Verdict::Same).then_some(0.006),
            note: String::new(),
        };
    let mut missing = row("Rendezvous", "no body", 900.0, 1.0, 0.01, Verdict::Missing);
    (missing.after_ns, missing.log_ratio) = (None, None);
    (missing.starts, missing.limit) = (None, None);
    missing.note = "the subject hung: no answer within 10 s".into();
    Comparison {
        before: Side {
            name: "run 7".into(),
            lines: vec!["GNAT 13.3 on bench-2".into()],
        },
        after: Side {
            name: "run 8".into(),
            lines: vec!["GNAT 14.2 on bench-2".into()],
        },
        basis: "Each cost is set against the reference operation of its own run.".into(),
        threshold: 0.03,
        confidence: 0.95,
        suite_fault: None,
        rows: vec![
            row(
                "Subprogram calls",
                "inter, no parameters",
                1.8,
                1.002,
                0.004,
                Verdict::Same,
            ),
            row(
                "Subprogram calls",
                "intra, no parameters",
                1.6,
                0.81,
                0.01,
                Verdict::Faster,
            ),
            row(
                "Subprogram calls",
                "inter, 100 integer in",
                28.0,
                1.02,
                0.05,
                Verdict::CannotTell,
            ),
            row("Rendezvous", "simple", 905.0, 1.19, 0.02, Verdict::Slower),
            missing,
        ],
    }
}
