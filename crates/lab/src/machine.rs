//! The machine of a run, as it appears in /proc and /sys, and advice for steadier figures.

mod advice;
mod chosen;
mod clocks;
mod contention;
mod core_distance;
mod core_to_core;
mod counters;
pub(crate) use counters::can_be_read as counters_can_be_read;

pub use advice::Advice;
pub use chosen::chosen_processors;
pub(crate) use contention::{Quota, Taken};

pub use clocks::{ClockReport, clock_reports, interference};
pub use core_distance::{apart_over, typical_core_to_core_ns};
use core_to_core::core_to_core_ns;

use crate::record::{Apart, Machine};
use rustix::thread::CpuSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Root of the system's files: `/`, or a copy of parts of it in a test.
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    pub(crate) fn at(root: &Path) -> Self {
        System {
            root: root.to_owned(),
        }
    }

    /// Returns the trimmed text of a file; `None` if it is missing or empty.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.root.join(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// Returns the time that this thread was ready but not running so far; `None` if the kernel
    /// does not tell.
    pub(crate) fn waited_ns(&self) -> Option<u64> {
        let text = self.text("proc/thread-self/schedstat")?;
        text.split_whitespace().nth(1)?.parse().ok()
    }

    /// Returns the value of `key` in lines such as `key : value` or `key=value`.
    pub(crate) fn field(&self, path: &str, key: &str, separator: char) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(separator)?;
            (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
        })
    }

    /// Returns the different frequency governors of the processors.
    pub(crate) fn governors(&self) -> Vec<String> {
        let mut governors: Vec<_> = (0..processors())
            .filter_map(|cpu| {
                self.text(&format!(
                    "sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
                ))
            })
            .collect();
        governors.sort();
        governors.dedup();
        governors
    }

    pub(crate) fn load(&self) -> f64 {
        let text = self.text("proc/loadavg").unwrap_or_default();
        let first = text.split(' ').next().unwrap_or_default();
        first.parse().unwrap_or(0.0)
    }

    pub(crate) fn hypervisor(&self) -> Option<String> {
        if let Some(kind) = self.text("sys/hypervisor/type") {
            return Some(kind);
        }
        let maker = self.text("sys/class/dmi/id/sys_vendor").unwrap_or_default();
        let product = self
            .text("sys/class/dmi/id/product_name")
            .unwrap_or_default();
        let named = format!("{maker} {product}");
        let known = [
            "QEMU",
            "KVM",
            "VMware",
            "VirtualBox",
            "Xen",
            "Microsoft Corporation Virtual",
            "Amazon EC2",
            "Google",
        ];
        if let Some(known) = known.iter().find(|known| named.contains(*known)) {
            return Some((*known).to_owned());
        }
        let flags = self.field("proc/cpuinfo", "flags", ':')?;
        let virtual_machine = flags.split(' ').any(|flag| flag == "hypervisor");
        virtual_machine.then(|| "a hypervisor that does not name itself".to_owned())
    }

    fn governor(&self) -> String {
        let governors = self.governors();
        if governors.is_empty() {
            let why = "the kernel shows no frequency control";
            return match self.hypervisor() {
                Some(_) => format!("unknown: {why} (usual in a virtual machine)"),
                None => format!("unknown: {why}"),
            };
        }
        governors.join(", ")
    }

    pub(crate) fn machine(&self) -> Machine {
        let uname = rustix::system::uname();
        let memory = self
            .field("proc/meminfo", "MemTotal", ':')
            .unwrap_or_default();
        let memory_kib: u64 = memory.trim_end_matches(" kB").parse().unwrap_or(0);
        let model = self
            .field("proc/cpuinfo", "model name", ':')
            .or_else(|| self.field("proc/cpuinfo", "Model", ':'));
        Machine {
            host: uname.nodename().to_string_lossy().into_owned(),
            processor: model.unwrap_or_else(|| uname.machine().to_string_lossy().into_owned()),
            processors: processors(),
            memory_bytes: memory_kib * 1024,
            kernel: format!(
                "{} {}",
                uname.release().to_string_lossy(),
                uname.version().to_string_lossy()
            ),
            system: self
                .field("etc/os-release", "PRETTY_NAME", '=')
                .unwrap_or_else(|| "unknown".to_owned()),
            governor: self.governor(),
            clock_source: self
                .text("sys/devices/system/clocksource/clocksource0/current_clocksource")
                .unwrap_or_else(|| "unknown".to_owned()),
            virtualization: self.hypervisor(),
            load: self.load(),
            counters: counters::state(self),
            fifo: fifo(),
        }
    }
}

impl Machine {
    /// Collects this machine's description of itself.
    pub fn collect() -> Machine {
        System::at(Path::new("/")).machine()
    }

    /// Returns facts and changes that make numbers steadier, the most useful first.
    pub fn advice() -> Vec<Advice> {
        advice::advice(&System::at(Path::new("/")))
    }
}

/// Returns advice about the distance of two processors, given readings over some time.
pub fn advice_on_apart(processors: (usize, usize), seen: Option<&Apart>) -> Advice {
    advice::apart(processors, seen)
}

/// Returns the quota of this process's control group, which does not change during the process.
pub(crate) fn own_quota() -> Option<&'static Quota> {
    static OWN: OnceLock<Option<Quota>> = OnceLock::new();
    OWN.get_or_init(|| System::at(Path::new("/")).quota())
        .as_ref()
}

/// Returns the processor time taken from this process and its machine so far.
pub(crate) fn taken() -> Taken {
    System::at(Path::new("/")).taken(own_quota())
}

/// Returns the time for which the quota of this process's control group stopped it so far, ns.
pub(crate) fn stopped_ns() -> u64 {
    own_quota().map_or(0, |quota| System::at(Path::new("/")).stops(quota).1)
}

/// Returns the processors that this process may run on.
pub fn allowed_processors() -> Vec<usize> {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU)
            .filter(|cpu| set.is_set(*cpu))
            .collect(),
        Err(_) => (0..processors()).collect(),
    }
}

/// Returns these processors as an affinity set; `None` if a number is too large for the system.
pub(crate) fn set_of(processors: impl IntoIterator<Item = usize>) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for processor in processors {
        if processor >= CpuSet::MAX_CPU {
            return None;
        }
        set.set(processor);
    }
    Some(set)
}

/// Returns the number of processors that this process may use.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The priority of subjects under FIFO. The keeper that watches them runs above it.
pub(crate) const FIFO_PRIORITY: i32 = 50;

/// Says whether FIFO is permitted, and otherwise how to permit it.
fn fifo() -> String {
    match (antiphon_runner::Policy::Fifo {
        priority: FIFO_PRIORITY,
    })
    .permitted()
    {
        Ok(()) => "permitted".to_owned(),
        Err(why) => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a root with the given files.
    pub(super) fn root(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let system = System::at(folder.path());
        (folder, system)
    }

    #[test]
    fn a_bare_root_gives_a_machine_that_says_what_is_unknown() {
        let (_folder, system) = root(&[]);
        let machine = system.machine();
        assert!(
            machine.governor.starts_with("unknown: "),
            "{}",
            machine.governor
        );
        assert_eq!(machine.virtualization, None);
        assert_eq!(machine.load, 0.0);
    }

    #[test]
    fn the_files_are_read() {
        let (_folder, system) = root(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: A Processor @ 3 GHz\nflags\t\t: fpu hypervisor\n",
            ),
            ("proc/meminfo", "MemTotal:       2048 kB\n"),
            ("proc/loadavg", "0.75 0.5 0.1 1/100 4\n"),
            ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 13\"\n"),
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
        ]);
        let machine = system.machine();
        assert_eq!(machine.processor, "A Processor @ 3 GHz");
        assert_eq!(machine.memory_bytes, 2048 * 1024);
        assert_eq!(machine.load, 0.75);
        assert_eq!(machine.system, "Debian 13");
        assert_eq!(machine.governor, "powersave");
        assert!(machine.virtualization.is_some());
    }

    #[test]
    fn processors_that_move_are_told_with_what_to_do() {
        let advice = |ns: &[f64]| advice_on_apart((0, 1), Apart::of(ns.iter().copied()).as_ref());
        let steady = advice(&[120.0, 130.0, 125.0]);
        assert_eq!(
            steady.state,
            "120 ns at least, 125 in the median and 130 at most between processors 0 and 1"
        );
        assert_eq!(steady.change, None);
        let moved = advice(&[120.0, 120.0, 330.0]);
        let change = moved.change.unwrap();
        assert!(
            change.contains("pin") && change.contains("like distance"),
            "{change}"
        );
        let unknown = advice(&[]);
        assert!(unknown.state.starts_with("unknown"), "{}", unknown.state);
        assert_eq!(unknown.change, None);
    }

    #[test]
    fn advice_names_what_to_change_only_where_something_is_to_be_changed() {
        let (_folder, system) = root(&[
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
            ("sys/devices/system/cpu/smt/active", "0\n"),
            ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            (
                "sys/fs/cgroup/cpu.stat",
                "nr_throttled 3\nthrottled_usec 2500000\n",
            ),
            ("proc/stat", "cpu 50 0 0 900 0 0 0 50 0 0\n"),
            ("proc/pressure/cpu", "some avg10=2.00 avg60=0.00 total=7\n"),
        ]);
        let advice = advice::advice(&system);
        let of = |topic: &str| advice.iter().find(|advice| advice.topic == topic).unwrap();
        assert!(
            of("frequency governor")
                .change
                .as_deref()
                .unwrap()
                .contains("performance")
        );
        assert_eq!(of("sibling threads").change, None);
        assert!(
            of("real-time throttling")
                .change
                .as_deref()
                .unwrap()
                .contains("sched_rt_runtime_us=-1")
        );
        let quota = of("processor quota");
        assert_eq!(
            quota.state,
            "0.5 processors' time in each 100 ms (/sys/fs/cgroup/cpu.max); it has stopped this container 3 times, for 2.5 s in all"
        );
        assert!(
            quota
                .change
                .as_deref()
                .unwrap()
                .contains("whole processors")
        );
        assert!(of("stolen time").state.contains("5.0 %"));
        assert!(of("stolen time").change.is_some());
        assert!(of("pressure").state.contains("2 %") && of("pressure").change.is_none());
    }
}
