//! What tests of spawned processes expect, wherever these run.

use antiphon_launch::Outcome;

/// Two processes that spawn two further ones: those are as the others, whose lines are marked and
/// whose ends count.
pub fn are_followed(outcome: &Outcome, lines: impl IntoIterator<Item = (u32, String)>) {
    let mut said: Vec<_> = lines.into_iter().collect();
    said.sort();
    let expected = [
        (0, "heard [2, 3]"),
        (0, "spawned [2, 3]"),
        (1, "heard [2, 3]"),
        (2, "spawned with Ok(\"green\")"),
        (3, "spawned with Ok(\"green\")"),
    ];
    assert_eq!(said, expected.map(|(rank, text)| (rank, text.to_owned())));
    assert_eq!(outcome.exit_code(), 9);
    let summary = outcome.summary();
    assert_eq!(summary.as_deref(), Some("rank 3 ended with exit code 9"));
}

/// The same over Open MPI, where they are their spawner's own processes: what they write may come
/// as its lines, and their ends do not count.
pub fn are_heard(outcome: &Outcome, lines: impl IntoIterator<Item = (u32, String)>) {
    let mut said: Vec<_> = lines.into_iter().collect();
    said.retain(|(_, text)| !text.starts_with("spawned with"));
    said.sort();
    let expected = [
        (0, "heard [2, 3]"),
        (0, "spawned [2, 3]"),
        (1, "heard [2, 3]"),
    ];
    assert_eq!(said, expected.map(|(rank, text)| (rank, text.to_owned())));
    assert_eq!(outcome.summary(), None);
}
