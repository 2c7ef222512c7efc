//! A server's processes: what they use together.

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use std::fs;
use std::time::Duration;

/// A process and all below it, as they were when they were looked for.
pub(super) struct Tree {
    members: Vec<i32>,
}

/// Memory and threads of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Proportional memory: pages that are shared count in parts. Resident memory where the kernel does not tell.
    pub(super) pss_bytes: u64,
    /// The sum of the processes' largest resident memories.
    pub(super) peak_bytes: u64,
    pub(super) threads: u64,
}

impl Tree {
    /// The processes now.
    pub(super) fn of(root: u32) -> Tree {
        let root = root as i32;
        let parents: Vec<(i32, i32)> = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(|process| Some((process, parent(process)?)))
            .collect();
        let mut members = vec![root];
        let mut next = 0;
        while let Some(above) = members.get(next).copied() {
            next += 1;
            let below = parents.iter().filter(|(_, parent)| *parent == above);
            members.extend(below.map(|(process, _)| *process));
        }
        Tree { members }
    }

    /// Processor time that they used so far, ns: by each process's own clock, which ticks in ns and counts threads that have ended.
    pub(super) fn cpu_ns(&self) -> u64 {
        let of = |process: &i32| {
            let clock = clock_getcpuclockid(Pid::from_raw(*process)).ok()?;
            Some(Duration::from(clock.now().ok()?).as_nanos() as u64)
        };
        self.members.iter().filter_map(of).sum()
    }

    pub(super) fn held(&self) -> Held {
        let mut held = Held::default();
        for process in &self.members {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let rollup =
                fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
            let resident = field(&status, "VmRSS:").unwrap_or(0);
            held.pss_bytes += field(&rollup, "Pss:").unwrap_or(resident) * 1024;
            held.peak_bytes += field(&status, "VmHWM:").unwrap_or(resident) * 1024;
            held.threads += field(&status, "Threads:").unwrap_or(0);
        }
        held
    }
}

fn parent(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything, and stands in parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// The number of a line such as `VmRSS:   123 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn children_of_children_are_found_and_counted() {
        // A shell that waits for another shell, which waits for its input.
        let mut child = Command::new("sh")
            .args(["-c", "sh -c 'read line'; true"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let tree = || Tree::of(child.id());
        while tree().members.len() < 2 {
            std::thread::yield_now();
        }
        let held = tree().held();
        assert!(held.threads >= 2);
        assert!(held.pss_bytes > 0 && held.peak_bytes >= held.pss_bytes / 2);
        assert!(tree().cpu_ns() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_gone_uses_nothing() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let gone = Tree {
            members: vec![child.id() as i32],
        };
        assert_eq!((gone.cpu_ns(), gone.held()), (0, Held::default()));
    }
}
