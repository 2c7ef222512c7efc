//! The least version of a command that will do, and the one that a machine has.

use antiphon_runner::Program;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Time limit of a version command. Go may fetch a newer Go meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// The least version of a command that will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Least {
    /// Numbers and dots, such as `1.25`.
    pub version: String,
    /// Source of a version that is new enough, for people.
    pub newer: String,
    /// Version command. It runs in the subject's folder, because files there may choose among
    /// several versions (`go.mod`).
    asked: Vec<String>,
    folder: PathBuf,
    /// Reported version, after the command has run.
    found: OnceLock<Option<String>>,
}

impl Least {
    pub(super) fn new(
        version: String,
        newer: String,
        asked: Vec<String>,
        folder: PathBuf,
    ) -> Least {
        Least {
            version,
            newer,
            asked,
            folder,
            found: OnceLock::new(),
        }
    }

    /// Returns the present version; `None` if the command does not tell it.
    pub fn found(&self) -> Option<&str> {
        self.found.get_or_init(|| self.ask()).as_deref()
    }

    /// Checks that the version is new enough. A command without a version counts as met: its
    /// failure will tell more.
    pub(super) fn is_met(&self) -> bool {
        self.found()
            .is_none_or(|found| numbers(found) >= numbers(&self.version))
    }

    fn ask(&self) -> Option<String> {
        let (program, args) = self.asked.split_first()?;
        let program = Program::new(program).args(args).cwd(&self.folder);
        let output = program.time_limit(PATIENCE).run().ok()?.success().ok()?;
        // Older commands of Java's write it to standard error.
        version_in(&String::from_utf8_lossy(&output.stdout)).or_else(|| version_in(&output.stderr))
    }
}

/// Checks that a text is numbers between dots.
pub(super) fn is_version(text: &str) -> bool {
    text.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// Returns the first word of a text that is a version, after letters (`go1.25.0`, `v20.1`) or signs
/// (`"17.0.1"`).
fn version_in(text: &str) -> Option<String> {
    text.split_whitespace().find_map(|word| {
        let begin = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = begin.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (version, rest) = begin.split_at(end.unwrap_or(begin.len()));
        let version = version.trim_end_matches('.');
        // In `x86_64-linux-gnu-gcc` it is no version.
        let is_one = is_version(version) && !rest.starts_with('_');
        is_one.then(|| version.to_owned())
    })
}

/// Returns the numbers of a version, without meaningless zeros at the end.
fn numbers(version: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = version.split('.').flat_map(str::parse).collect();
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_commands_tell() {
        for (reported, version) in [
            ("go version go1.19.8 linux/amd64\n", Some("1.19.8")),
            ("go version go1.26rc1 linux/amd64\n", Some("1.26")),
            ("gcc (Debian 12.2.0-14) 12.2.0\nCopyright", Some("12.2.0")),
            ("x86_64-linux-gnu-gcc 13.1\n", Some("13.1")),
            ("openjdk version \"17.0.1\" 2021-10-19\n", Some("17.0.1")),
            ("openjdk 21 2023-09-19\n", Some("21")),
            ("v20.1.0.\n", Some("20.1.0")),
            ("command not found\n", None),
        ] {
            assert_eq!(version_in(reported).as_deref(), version, "{reported}");
        }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("1.9") < numbers("1.25"));
        assert!(numbers("1.25") < numbers("1.25.1"));
        assert!(numbers("1.25") == numbers("1.25.0"));
        assert!(numbers("2") > numbers("1.25"));
    }

    #[test]
    fn who_does_not_tell_a_version_is_tried() {
        let least = |asked: &[&str]| {
            let asked = asked.iter().map(|word| (*word).to_owned()).collect();
            Least::new("2".to_owned(), String::new(), asked, "/".into())
        };
        assert!(!least(&["echo", "toy 1.9"]).is_met());
        assert!(least(&["echo", "toy 2.0"]).is_met());
        assert!(least(&["echo", "toy"]).is_met());
        assert!(least(&["sh", "-c", "echo toy 1.9; exit 1"]).is_met());
        assert!(least(&["no-such-compiler"]).is_met());
    }
}
