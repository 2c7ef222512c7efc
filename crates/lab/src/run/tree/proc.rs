//! Short files of `/proc`, and the children that it names.

use std::fs::{self, File};
use std::io::Read;
use std::sync::LazyLock;

/// Longer than a line of `stat` and than any name.
const SHORT: usize = 4096;

/// Looks at the children of a process, at most.
const LOOKS: u32 = 4;

/// Reads a short file at once; `None` if it is missing or too long. The kernel tells no length of
/// it, and a usual read in pieces needs five calls.
pub(in crate::run) fn text(path: &str) -> Option<String> {
    let mut bytes = [0; SHORT];
    let length = File::open(path).ok()?.read(&mut bytes).ok()?;
    if length == SHORT {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Checks whether this kernel is built to name a process's children.
pub(super) fn names_children() -> bool {
    static NAMES: LazyLock<bool> =
        LazyLock::new(|| fs::exists("/proc/thread-self/children").unwrap_or(false));
    *NAMES
}

/// Returns the children of a process now. While one ends the kernel may omit the next, so several
/// are read until two looks agree.
pub(super) fn children(process: i32) -> Vec<i32> {
    let mut found = look(process);
    for _ in 1..LOOKS {
        if found.len() < 2 {
            break;
        }
        let again = look(process);
        if again == found {
            break;
        }
        found = again;
    }
    found
}

/// Returns the children of all its threads: each thread has those that it started.
fn look(process: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let names = threads.filter_map(|thread| {
        let path = thread.path().join("children");
        fs::read_to_string(path).ok()
    });
    let numbers = |names: String| {
        let numbers = names
            .split_whitespace()
            .filter_map(|name| name.parse().ok());
        numbers.collect::<Vec<i32>>()
    };
    names.flat_map(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_has_no_text() {
        assert_eq!(text("/proc/self/nothing"), None);
        let own = text("/proc/self/stat").unwrap();
        assert!(own.starts_with(&std::process::id().to_string()), "{own}");
    }

    #[test]
    fn who_has_no_children_names_none() {
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        let own = children(std::process::id() as i32);
        assert!(!names_children() || own.contains(&(child.id() as i32)));
        assert!(children(child.id() as i32).is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
