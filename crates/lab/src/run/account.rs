//! Account of a whole program about its run: its answer, its time, and its counters.
//!
//! Lines that begin with `@@ run ` are the program's account, as `name=number` words. One of them
//! must be `elapsed_ns` (or `elapsed_us`, `elapsed_ms`). All other lines of standard output are its
//! answer. A run-time system may end standard error with one JSON object, whose numbers are
//! counters too.

use serde_json::Value;
use std::collections::BTreeMap;

/// The mark of a line of accounts.
const MARK: &str = "@@ run ";

/// The words for the time, with the ns of their unit.
const TIMES: [(&str, u64); 3] = [
    ("elapsed_ns", 1),
    ("elapsed_us", 1_000),
    ("elapsed_ms", 1_000_000),
];

/// Account of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// Its answer, line by line.
    pub(super) answer: String,
    /// The time that it took by its own account, ns.
    pub(super) elapsed_ns: u64,
    /// Counters by name.
    pub(super) counters: BTreeMap<String, u64>,
}

impl Account {
    /// Reads both streams; an error says which rule of the account is broken.
    pub(super) fn read(stdout: &str, stderr: &str) -> Result<Account, String> {
        let mut counters = statistics(stderr);
        let mut answer = String::new();
        for line in stdout.lines() {
            match line.strip_prefix(MARK) {
                Some(words) => read_words(words, &mut counters)?,
                None => {
                    answer.push_str(line.trim_end());
                    answer.push('\n');
                }
            }
        }
        // The finest given unit counts.
        let reported = TIMES
            .iter()
            .find_map(|(word, ns)| Some(counters.get(*word)?.saturating_mul(*ns)));
        let elapsed_ns = reported.ok_or("it did not print `@@ run elapsed_ns=…`")?;
        counters.retain(|name, _| TIMES.iter().all(|(word, _)| name != word));
        Ok(Account {
            answer,
            elapsed_ns,
            counters,
        })
    }
}

fn read_words(words: &str, counters: &mut BTreeMap<String, u64>) -> Result<(), String> {
    for word in words.split_whitespace() {
        let pair = word.split_once('=');
        let number = pair.and_then(|(name, text)| Some((name, text.parse().ok()?)));
        let (name, number) = number.ok_or_else(|| format!("`{word}` is no `name=number`"))?;
        counters.insert(name.to_owned(), number);
    }
    Ok(())
}

/// Returns the numbers of the JSON object at the end of standard error; none without one.
fn statistics(stderr: &str) -> BTreeMap<String, u64> {
    let begins = stderr.match_indices('{').map(|(at, _)| at);
    let at_line = |at: &usize| *at == 0 || stderr.as_bytes()[*at - 1] == b'\n';
    let mut objects = begins
        .filter(at_line)
        .filter_map(|at| serde_json::from_str::<Value>(stderr[at..].trim()).ok());
    let mut counters = BTreeMap::new();
    if let Some(object) = objects.next() {
        flatten("", &object, &mut counters);
    }
    counters
}

/// Collects whole numbers by the path of their names, joined by dots.
fn flatten(path: &str, value: &Value, counters: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                flatten(&path, value, counters);
            }
        }
        Value::Number(number) => {
            if let Some(count) = number.as_u64() {
                counters.insert(path.to_owned(), count);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_no_part_of_the_answer() {
        let stdout = "meals 16\n@@ run elapsed_ms=3 yields=12\nthat is all \n";
        let account = Account::read(stdout, "").unwrap();
        assert_eq!(account.answer, "meals 16\nthat is all\n");
        assert_eq!(account.elapsed_ns, 3_000_000);
        assert_eq!(account.counters, [("yields".to_owned(), 12)].into());
    }

    #[test]
    fn a_run_time_system_may_add_its_statistics_as_json() {
        let stderr =
            "warning: {\n{ \"switches\": { \"yields\": 7 }, \"mean\": 0.5,\n \"elapsed_ns\": 9 }\n";
        let account = Account::read("@@ run elapsed_ms=0\n", stderr).unwrap();
        assert_eq!(account.elapsed_ns, 9, "the finer clock counts");
        assert_eq!(account.counters, [("switches.yields".to_owned(), 7)].into());
    }

    #[test]
    fn a_run_without_a_time_is_none() {
        let missing = Account::read("meals 16\n", "").unwrap_err();
        assert!(missing.contains("elapsed_ns"), "{missing}");
        let wrong = Account::read("@@ run elapsed_ns=fast\n", "").unwrap_err();
        assert!(wrong.contains("elapsed_ns=fast"), "{wrong}");
    }
}
