//! Comparison of the outputs of two programs, as strictly as the runs of the original allow.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_runner::{End, Output};

/// How strictly outputs can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Agreement {
    /// The original prints the same text in all runs.
    #[default]
    Text,
    /// It prints the same lines in different orders.
    Lines,
    /// Its lines differ from run to run.
    Unstable,
    /// It does not end, and is compared by its beginning.
    Endless,
}

/// The result of one comparison.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// How strictly the outputs were compared.
    pub agreement: Agreement,
    /// Runs of the original and of the translation.
    pub runs: (usize, usize),
    /// Whether the translation ended where the original did not.
    pub ends_now: bool,
    /// Whether the original's output varies so much that only the ends of the runs were compared.
    pub varies_too_much: bool,
    /// The differences, in words; empty if there are none.
    pub differences: Vec<String>,
}

impl Comparison {
    /// Returns one or more lines of a report.
    pub fn text(&self) -> String {
        let how = match self.agreement {
            Agreement::Text => "same text",
            Agreement::Lines => "same lines, in orders that vary in the original too",
            Agreement::Unstable => {
                "the original's own output varies: what is common to its runs is there"
            }
            Agreement::Endless => "the original does not end: same output up to the time limit",
        };
        let how = if self.varies_too_much {
            "the original's own output varies too much to compare: only how the programs ended was compared,"
        } else {
            how
        };
        let (before, after) = self.runs;
        if self.differences.is_empty() {
            let ends = if self.ends_now {
                "; the translation ends"
            } else {
                ""
            };
            return format!("{how} in {before} and {after} runs{ends}\n");
        }
        let mut out = format!("DIFFERENT in {before} and {after} runs\n");
        self.differences
            .iter()
            .for_each(|d| out.push_str(&format!("  {d}\n")));
        out
    }
}

/// A run in a comparable form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    end: String,
    lines: Vec<String>,
}

impl Seen {
    fn of(output: &Output) -> Seen {
        let end = match output.end {
            End::TimedOut { .. } => "no end".to_string(),
            other => other.to_string(),
        };
        let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|l| l.trim_end().to_string())
            .collect();
        lines.extend(
            output
                .stderr
                .lines()
                .filter(|l| !l.trim().is_empty())
                .map(without_places),
        );
        Seen { end, lines }
    }

    fn is_endless(&self) -> bool {
        self.end == "no end"
    }

    fn bag(&self) -> BTreeMap<&str, usize> {
        bag(&self.lines)
    }
}

/// Removes source lines from messages of the run-time system, because a translation moves lines.
fn without_places(line: &str) -> String {
    line.split_whitespace()
        .map(|w| {
            if w.contains(".adb:") || w.contains(".ads:") {
                "PLACE"
            } else {
                w
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Compares the runs of a translation under one schedule with all runs of the original, of which
/// `own` were under that schedule.
pub(super) fn compare(original: &[&Output], own: usize, translation: &[Output]) -> Comparison {
    let before: Vec<Seen> = original.iter().map(|o| Seen::of(o)).collect();
    let after: Vec<Seen> = translation.iter().map(Seen::of).collect();
    let mut result = judge(&before, &after);
    result.runs.0 = own;
    result
}

fn judge(before: &[Seen], after: &[Seen]) -> Comparison {
    let mut result = Comparison {
        runs: (before.len(), after.len()),
        ..Comparison::default()
    };
    let Some(first) = before.first() else {
        return result;
    };
    let is_endless = before.iter().any(Seen::is_endless);
    result.ends_now = is_endless && after.iter().all(|s| !s.is_endless());
    result.agreement = if is_endless {
        Agreement::Endless
    } else if before.iter().all(|s| s == first) {
        Agreement::Text
    } else if before
        .iter()
        .all(|s| s.end == first.end && s.bag() == first.bag())
    {
        Agreement::Lines
    } else {
        Agreement::Unstable
    };
    result.varies_too_much = matches!(result.agreement, Agreement::Unstable | Agreement::Endless)
        && !has_settled(before);
    let ends: BTreeSet<&str> = before.iter().map(|s| s.end.as_str()).collect();
    for seen in after {
        if is_endless {
            // A translation of such a program may end, but not by a failure.
            if !seen.is_endless() && seen.end != "ended with exit code 0" {
                result
                    .differences
                    .push(format!("the translation {}", seen.end));
            }
        } else if !ends.contains(seen.end.as_str()) {
            let end = if seen.is_endless() {
                "does not end"
            } else {
                seen.end.as_str()
            };
            result
                .differences
                .push(format!("the translation {end}; the original {}", first.end));
        }
        if !result.varies_too_much {
            result
                .differences
                .extend(lines_differ(result.agreement, before, seen));
        }
    }
    result.differences.sort();
    result.differences.dedup();
    result
}

fn lines_differ(agreement: Agreement, before: &[Seen], seen: &Seen) -> Option<String> {
    let first = before.first()?;
    match agreement {
        Agreement::Text => {
            let at = (0..first.lines.len().max(seen.lines.len()))
                .find(|&i| first.lines.get(i) != seen.lines.get(i))?;
            // One run of the original does not show that the order is fixed. So the same lines in
            // another order do not count as a difference.
            let show = |s: &Seen| {
                s.lines
                    .get(at)
                    .map_or("nothing".to_string(), |l| format!("`{l}`"))
            };
            if first.bag() == seen.bag() && before.len() < 2 {
                return None;
            }
            Some(format!(
                "line {}: {} in the original, {} in the translation",
                at + 1,
                show(first),
                show(seen)
            ))
        }
        Agreement::Lines => bag_difference(&first.bag(), &seen.bag(), true),
        Agreement::Unstable => bag_difference(&common(before), &seen.bag(), false),
        Agreement::Endless if first.lines.is_empty() => None,
        Agreement::Endless => bag_difference(&fewest(before), &seen.bag(), false),
    }
}

/// Whether the common lines of all runs are more than chance. Each run must have the lines that the
/// others have in common. Otherwise the original would differ from itself.
fn has_settled(before: &[Seen]) -> bool {
    (0..before.len()).all(|left_out| {
        let others: Vec<&Seen> = before
            .iter()
            .enumerate()
            .filter(|&(i, _)| i != left_out)
            .map(|(_, s)| s)
            .collect();
        others.is_empty()
            || bag_difference(&common(others), &before[left_out].bag(), false).is_none()
    })
}

/// Returns the required lines of a program that is stopped at the time limit. Its progress depends
/// on speed. So these are the lines that the first halves of all runs have in common, half as
/// often.
fn fewest(before: &[Seen]) -> BTreeMap<&str, usize> {
    let halves = before
        .iter()
        .map(|seen| bag(&seen.lines[..seen.lines.len().div_ceil(2)]));
    let mut fewest = in_all(halves);
    fewest
        .values_mut()
        .for_each(|count| *count = count.div_ceil(2));
    fewest
}

/// Returns the common lines of all runs.
fn common<'s>(before: impl IntoIterator<Item = &'s Seen>) -> BTreeMap<&'s str, usize> {
    in_all(before.into_iter().map(Seen::bag))
}

fn in_all<'s>(
    bags: impl IntoIterator<Item = BTreeMap<&'s str, usize>>,
) -> BTreeMap<&'s str, usize> {
    let mut bags = bags.into_iter();
    let mut common = bags.next().unwrap_or_default();
    for bag in bags {
        common.retain(|line, count| {
            *count = (*count).min(bag.get(line).copied().unwrap_or(0));
            *count > 0
        });
    }
    common
}

/// Returns how often each line occurs.
fn bag(lines: &[String]) -> BTreeMap<&str, usize> {
    let mut bag = BTreeMap::new();
    lines
        .iter()
        .for_each(|l| *bag.entry(l.as_str()).or_default() += 1);
    bag
}

fn bag_difference(
    expected: &BTreeMap<&str, usize>,
    found: &BTreeMap<&str, usize>,
    both_ways: bool,
) -> Option<String> {
    for (line, count) in expected {
        let other = found.get(line).copied().unwrap_or(0);
        if other < *count || (both_ways && other > *count) {
            return Some(format!(
                "`{line}` {count} times in the original, {other} times in the translation"
            ));
        }
    }
    if both_ways {
        let extra = found.keys().find(|l| !expected.contains_key(*l))?;
        return Some(format!("`{extra}` is printed by the translation only"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(end: &str, lines: &[&str]) -> Seen {
        Seen {
            end: end.into(),
            lines: lines.iter().map(ToString::to_string).collect(),
        }
    }

    const OK: &str = "ended with exit code 0";

    #[test]
    fn stable_text_is_compared_as_text() {
        let before = [seen(OK, &["a", "b"]), seen(OK, &["a", "b"])];
        assert_eq!(judge(&before, &before).agreement, Agreement::Text);
        let swapped = judge(&before, &[seen(OK, &["b", "a"])]);
        assert_eq!(
            swapped.differences,
            ["line 1: `a` in the original, `b` in the translation"]
        );
    }

    #[test]
    fn varying_orders_are_compared_as_multisets() {
        let before = [seen(OK, &["a", "b"]), seen(OK, &["b", "a"])];
        assert!(judge(&before, &before).differences.is_empty());
        assert_eq!(
            judge(&before, &[seen(OK, &["a", "a", "b"])])
                .differences
                .len(),
            1
        );
        assert_eq!(
            judge(&before, &[seen(OK, &["a", "b", "c"])])
                .differences
                .len(),
            1
        );
    }

    #[test]
    fn what_varies_too_much_is_not_compared() {
        let steady = [
            seen(OK, &["a", "1"]),
            seen(OK, &["a", "2"]),
            seen(OK, &["a", "3"]),
        ];
        assert_eq!(
            judge(&steady, &[seen(OK, &["a", "9"])]).differences,
            Vec::<String>::new()
        );
        assert_eq!(
            judge(&steady, &[seen(OK, &["b", "9"])]).differences.len(),
            1
        );
        let luck = [
            seen(OK, &["a", "1"]),
            seen(OK, &["a", "1"]),
            seen(OK, &["a", "3"]),
        ];
        assert!(judge(&luck, &[seen(OK, &["b"])]).differences.is_empty());
    }

    #[test]
    fn ends_are_compared() {
        let before = [seen(OK, &[])];
        assert_eq!(judge(&before, &[seen("no end", &[])]).differences.len(), 1);
        let endless = [seen("no end", &["a"])];
        let ends = judge(&endless, &[seen(OK, &["a"])]);
        assert!(ends.ends_now && ends.differences.is_empty());
        assert_eq!(
            judge(&endless, &[seen("ended with exit code 1", &["a"])])
                .differences
                .len(),
            1
        );
        assert_eq!(judge(&endless, &[seen(OK, &[])]).differences.len(), 1);
    }

    #[test]
    fn a_program_that_is_cut_off_may_get_less_far() {
        let endless = [seen("no end", &["a"; 8])];
        let with = |count: usize| judge(&endless, &[seen("no end", &vec!["a"; count])]);
        assert!(with(2).differences.is_empty());
        assert_eq!(with(1).differences.len(), 1);
        let counts = [seen("no end", &["1", "2", "3", "4"])];
        assert!(
            judge(&counts, &[seen("no end", &["1", "2"])])
                .differences
                .is_empty()
        );
        assert_eq!(
            judge(&counts, &[seen("no end", &["1", "3"])])
                .differences
                .len(),
            1
        );
    }
}
