//! The memory that this process may use.

use std::sync::OnceLock;

/// Returns the bytes of memory that this process may use.
///
/// That is the machine's memory, or less if a limit applies to its control group (cgroup, either
/// version). A value that cannot be read limits nothing.
pub fn usable() -> usize {
    static USABLE: OnceLock<usize> = OnceLock::new();
    *USABLE.get_or_init(|| usable_by(|path| std::fs::read_to_string(path).ok()))
}

/// Does the same as [`usable`], with a given way to read files.
fn usable_by(read: impl Fn(&str) -> Option<String>) -> usize {
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(limits_of);
    let bytes = |text: String| text.trim().parse::<usize>().ok();
    let limits = limits.filter_map(|path| read(&path).and_then(bytes));
    let machine = read("/proc/meminfo").as_deref().and_then(total);
    limits.chain(machine).min().unwrap_or(usize::MAX)
}

/// Returns the files with the limits of a control group and of the groups around it. `line` is one
/// of `/proc/self/cgroup`. In a container the path may be that outside, so all are tried.
fn limits_of(line: &str) -> Vec<String> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
        return Vec::new();
    };
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return Vec::new(),
    };
    let ends = path.match_indices('/').map(|(at, _)| at);
    let within = ends.chain([path.len()]).map(|end| &path[..end]);
    within
        .map(|group| format!("{root}{group}/{file}"))
        .collect()
}

/// Returns the machine's memory in bytes, from `/proc/meminfo`.
fn total(meminfo: &str) -> Option<usize> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: usize = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> usize {
        usable_by(|path| {
            let file = files.iter().find(|(name, _)| *name == path);
            file.map(|(_, text)| (*text).to_owned())
        })
    }

    const MEMORY: (&str, &str) = ("/proc/meminfo", "MemTotal:       2048 kB\nMemFree:  7 kB\n");

    #[test]
    fn the_machine_and_its_groups_limit_it() {
        assert_eq!(with(&[]), usize::MAX);
        assert_eq!(with(&[MEMORY]), 2 << 20);
        let newer = ("/proc/self/cgroup", "0::/jobs/seven\n");
        let none = ("/sys/fs/cgroup/jobs/seven/memory.max", "max\n");
        assert_eq!(with(&[MEMORY, newer, none]), 2 << 20);
        let above = ("/sys/fs/cgroup/jobs/memory.max", "1048576\n");
        assert_eq!(with(&[MEMORY, newer, none, above]), 1 << 20);
        let older = ("/proc/self/cgroup", "5:cpu:/a\n4:memory:/a\n0::/\n");
        let its = ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "65536\n");
        assert_eq!(with(&[MEMORY, older, its]), 1 << 16);
    }

    #[test]
    fn there_is_some_here() {
        assert!(usable() > 1 << 20);
    }
}
