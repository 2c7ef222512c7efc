//! A process and all below it, with their common resource use.

mod followed;
mod mappings;
mod proc;
mod switches;

use super::busy::TICK_NS;
use crate::record::Held;
use antiphon_runner::ProcessStat;
pub(super) use followed::Followed;
pub(super) use mappings::Mapping;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
pub(super) use proc::text;
use std::collections::HashSet;
use std::fs;
use std::hash::Hash;
use std::time::Duration;
pub(super) use switches::SwitchesSoFar;

/// Fields of ended children's ticks in `/proc/PID/stat`.
const ENDED_TICKS: [usize; 2] = [16, 17];

/// Field of ended children's page faults.
const ENDED_FAULTS: usize = 11;

/// All processes with their parents at one moment, to build several trees.
pub(super) struct Parents(Vec<(i32, i32)>);

impl Parents {
    /// Reads all processes now.
    pub(super) fn now() -> Parents {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pairs = processes.filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            Some((process, parent_of(process as u32)? as i32))
        });
        Parents(pairs.collect())
    }

    /// Returns a process's parent; `None` if it was not there.
    pub(super) fn of(&self, process: u32) -> Option<u32> {
        let mut all = self.0.iter();
        let (_, parent) = all.find(|(other, _)| *other == process as i32)?;
        Some(*parent as u32)
    }

    /// Returns the keeper of a process that we started; `None` if either has ended. The process has
    /// another parent then.
    pub(super) fn keeper(&self, process: u32) -> Option<u32> {
        let own = Some(std::process::id());
        self.of(process).filter(|parent| self.of(*parent) == own)
    }

    /// Returns a process and all below it.
    pub(super) fn tree(&self, root: u32) -> Tree {
        let mut members = vec![root as i32];
        let mut next = 0;
        while let Some(above) = members.get(next).copied() {
            next += 1;
            let below = self.0.iter().filter(|(_, parent)| *parent == above);
            members.extend(below.map(|(process, _)| *process));
        }
        Tree { members }
    }
}

/// Acts once on each item that a look finds, until a look finds no new ones. A process that ran
/// meanwhile may have started others.
pub(super) fn each_once<T: Copy + Eq + Hash>(look: impl Fn() -> Vec<T>, mut act: impl FnMut(T)) {
    let mut seen = HashSet::new();
    loop {
        let found = look().into_iter();
        let new: Vec<T> = found.filter(|one| seen.insert(*one)).collect();
        if new.is_empty() {
            return;
        }
        new.into_iter().for_each(&mut act);
    }
}

/// Resource use of processes so far.
///
/// Live processes are read by their own clocks, which tick in ns and include ended threads. The
/// kernel tells the use of ended children in steps of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Processor time of the live ones, ns.
    pub(super) live_ns: u64,
    /// Processor time of their ended children, ns.
    pub(super) ended_ns: u64,
    /// Page faults of these: each had some, however little it used.
    pub(super) ended_faults: u64,
}

impl Used {
    /// Returns the use of one process, whose clock says `live_ns`.
    fn of(process: i32, live_ns: u64) -> Used {
        let stat = ProcessStat::of(process as u32).ok();
        let number = |at| stat.as_ref().and_then(|stat| stat.number(at));
        let ticks: u64 = ENDED_TICKS.iter().filter_map(|at| number(*at)).sum();
        Used {
            live_ns,
            ended_ns: ticks * TICK_NS,
            ended_faults: number(ENDED_FAULTS).unwrap_or_default(),
        }
    }

    fn and(self, other: Used) -> Used {
        Used {
            live_ns: self.live_ns + other.live_ns,
            ended_ns: self.ended_ns + other.ended_ns,
            ended_faults: self.ended_faults + other.ended_faults,
        }
    }

    /// Returns the processor time of both parts, ns.
    pub(super) fn cpu_ns(self) -> u64 {
        self.live_ns + self.ended_ns
    }
}

/// A process and all below it, as they were when they were looked for.
pub(super) struct Tree {
    members: Vec<i32>,
}

impl Tree {
    /// Reads the processes below a root now.
    ///
    /// It follows the kernel's lists of children, or reads all processes if there are no such
    /// lists. Among hundreds of processes a full pass takes milliseconds, and a turn of some
    /// subjects needs ten.
    pub(super) fn of(root: u32) -> Tree {
        if !proc::names_children() {
            return Parents::now().tree(root);
        }
        let mut members = vec![root as i32];
        let mut next = 0;
        while let Some(above) = members.get(next).copied() {
            next += 1;
            members.extend(proc::children(above));
        }
        Tree { members }
    }

    /// Returns all processes below the keeper of a process that we started; none without a keeper.
    /// The keeper inherits children whose parent has ended.
    pub(super) fn kept(process: u32) -> Tree {
        let own = Some(std::process::id());
        let keeper = parent_of(process).filter(|keeper| parent_of(*keeper) == own);
        let mut members = keeper.map_or_else(Vec::new, |keeper| Tree::of(keeper).members);
        if !members.is_empty() {
            members.remove(0);
        }
        Tree { members }
    }

    /// Checks whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns their processor time so far, ns.
    pub(super) fn cpu_ns(&self) -> u64 {
        self.used().cpu_ns()
    }

    /// Returns their resource use so far.
    pub(super) fn used(&self) -> Used {
        let of = |process: &i32| Some(Used::of(*process, clock_ns(*process)?));
        let each = self.members.iter().filter_map(of);
        each.fold(Used::default(), Used::and)
    }

    /// Returns their numbers, the root's first.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.members.iter().map(|process| *process as u32).collect()
    }

    /// Returns the numbers of their threads now.
    pub(super) fn threads(&self) -> Vec<i32> {
        let of = |process: &i32| fs::read_dir(format!("/proc/{process}/task")).into_iter();
        let entries = self.members.iter().flat_map(of).flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect()
    }

    /// Returns their private writable memory, mapping by mapping.
    pub(super) fn mappings(&self) -> Vec<Mapping> {
        let of = |process: &i32| mappings::of(*process);
        self.members.iter().flat_map(of).collect()
    }

    /// Returns the bytes of their memory now that no file backs.
    ///
    /// A page of a file, such as of the C library, counts by its share, and the shares grow when
    /// another process ends that maps the file too. That is no growth of theirs.
    pub(super) fn anonymous_bytes(&self) -> u64 {
        let of = |process: &i32| {
            let path = format!("/proc/{process}/smaps_rollup");
            let rollup = fs::read_to_string(path).unwrap_or_default();
            let file_kib = field(&rollup, "Pss_File:").unwrap_or(0);
            let all_kib = field(&rollup, "Pss:").unwrap_or(0);
            all_kib.saturating_sub(file_kib) * 1024
        };
        self.members.iter().map(of).sum()
    }

    /// Returns their memory and threads now.
    pub(super) fn held(&self) -> Held {
        let mut held = Held::default();
        for process in &self.members {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let rollup =
                fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
            held.processes += u64::from(!status.is_empty());
            let resident = field(&status, "VmRSS:").unwrap_or(0);
            held.pss_bytes += field(&rollup, "Pss:").unwrap_or(resident) * 1024;
            held.peak_bytes += field(&status, "VmHWM:").unwrap_or(resident) * 1024;
            held.threads += field(&status, "Threads:").unwrap_or(0);
        }
        held
    }
}

fn parent_of(process: u32) -> Option<u32> {
    ProcessStat::of(process).ok()?.parent()
}

/// Reads the clock of a process, ns; `None` if it is not there.
fn clock_ns(process: i32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(process)).ok()?;
    Some(Duration::from(clock.now().ok()?).as_nanos() as u64)
}

/// Returns the number of a line such as `VmRSS:   123 kB`.
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
        assert_eq!(tree().used().ended_faults, 0, "both live");
        assert!(tree().threads().contains(&(child.id() as i32)));
        assert!(held.threads >= 2 && held.processes >= 2);
        assert!(held.pss_bytes > 0 && held.peak_bytes >= held.pss_bytes / 2);
        let anonymous = tree().anonymous_bytes();
        assert!(anonymous > 0 && anonymous < held.pss_bytes, "{anonymous}");
        assert!(tree().cpu_ns() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn the_kernel_names_the_same_children_as_their_parents_do() {
        let script = "(read line) & sh -c 'read line; true'; true";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let sorted = |tree: Tree| {
            let mut all = tree.processes();
            all.sort_unstable();
            all
        };
        let until = std::time::Instant::now() + Duration::from_secs(60);
        // The one in the background reads from nothing and ends. The other may start only after
        // that, so looks may differ until then.
        let looks = || {
            let by_parents = sorted(Parents::now().tree(child.id()));
            (sorted(Tree::of(child.id())), by_parents)
        };
        let mut both = looks();
        while (both.0 != both.1 || both.0.len() != 2) && std::time::Instant::now() < until {
            std::thread::yield_now();
            both = looks();
        }
        assert_eq!(both.0, both.1);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_children_used_that_have_ended_is_not_lost() {
        // A shell whose child counts for a while and ends; then it waits for its input.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; read line",
            ])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let until = std::time::Instant::now() + Duration::from_secs(60);
        let used = || Tree::of(child.id()).used();
        while used().ended_ns == 0 && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let used = used();
        assert!(used.ended_ns >= TICK_NS && used.live_ns > 0);
        assert!(used.ended_faults > 0);
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
