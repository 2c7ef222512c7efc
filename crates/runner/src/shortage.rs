//! The limit that a refused system call met, with its value and the way to raise it.

use libc::{RLIM_INFINITY, rlim_t};
use nix::sys::resource::{Resource, getrlimit};
use std::fs;
use std::io;

/// Returns the limit that a failed system call met, its value, and the way to raise it, as the end
/// of an error's text. The text is empty if there was no such limit.
///
/// The values are those of this process, which is the one whose call failed.
#[must_use]
pub fn limit_of(error: &io::Error) -> String {
    let reported = match error.raw_os_error() {
        Some(libc::EMFILE) => of_open_files(),
        Some(libc::ENFILE) => format!(
            "the system may have {} files open, raise it with `sysctl fs.file-max`",
            setting("/proc/sys/fs/file-max")
        ),
        Some(libc::EAGAIN) => of_threads(),
        Some(libc::ENOMEM) => of_memory(),
        Some(libc::EFBIG) => format!(
            "a file of this process may have {} bytes, raise `ulimit -f`",
            soft(Resource::RLIMIT_FSIZE).map_or("no more".into(), |bytes| bytes.to_string())
        ),
        Some(libc::ENOSPC | libc::EDQUOT) => "make room there (see `df`)".into(),
        _ => return String::new(),
    };
    format!(": {reported}")
}

fn of_open_files() -> String {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((0, 0));
    let how = match soft < hard {
        true => format!("raise `ulimit -n` (up to {hard}; beyond that,"),
        false => "raise `ulimit -n` (as its hard limit is the same,".into(),
    };
    format!(
        "this process may have {soft} files open, {how} in /etc/security/limits.conf or where the container or service is set up)"
    )
}

fn of_threads() -> String {
    let mut limits = vec![format!(
        "the system has {} (`sysctl kernel.threads-max`)",
        setting("/proc/sys/kernel/threads-max")
    )];
    limits.extend(of_container().map(|most| format!("the container {most} (its limit of pids)")));
    limits
        .extend(soft(Resource::RLIMIT_NPROC).map(|most| format!("this user {most} (`ulimit -u`)")));
    // A thread that gets no stack is refused with the same number.
    limits.extend(soft(Resource::RLIMIT_AS).map(of_addresses));
    limits.reverse();
    format!(
        "there may be no more processes and threads, raise the limit that is met or end other programs: {}",
        limits.join(", ")
    )
}

fn of_memory() -> String {
    if has_all_mappings() {
        return format!(
            "this process may have {} mappings, raise it with `sysctl vm.max_map_count`",
            setting(MAP_COUNT)
        );
    }
    match soft(Resource::RLIMIT_AS) {
        Some(bytes) => format!("{}, raise it", of_addresses(bytes)),
        None => "the system has no memory left for it, end other programs or raise the container's limit".into(),
    }
}

fn of_addresses(bytes: rlim_t) -> String {
    format!(
        "this process may have {} KiB of addresses (`ulimit -v`)",
        bytes >> 10
    )
}

const MAP_COUNT: &str = "/proc/sys/vm/max_map_count";

/// Returns a limit of this process; `None` if there is none.
fn soft(of: Resource) -> Option<rlim_t> {
    let (soft, _) = getrlimit(of).ok()?;
    (soft != RLIM_INFINITY).then_some(soft)
}

/// Returns the value of a setting of the system.
fn setting(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    match text.trim() {
        "" => "no more".to_owned(),
        value => value.to_owned(),
    }
}

/// Returns whether this process has about as many mappings as the system allows.
fn has_all_mappings() -> bool {
    let most = setting(MAP_COUNT).parse::<usize>();
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let count = maps.iter().filter(|byte| **byte == b'\n').count();
    most.is_ok_and(|most| count + 2 >= most)
}

/// Returns how many processes and threads the container may have, if it has a limit.
fn of_container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    // Within a container, its own group is the root.
    let paths = [
        format!("/sys/fs/cgroup{}/pids.max", group.trim_end_matches('/')),
        "/sys/fs/cgroup/pids/pids.max".to_owned(),
    ];
    let read = |path: &String| fs::read_to_string(path).ok()?.trim().parse().ok();
    paths.iter().find_map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(number: i32) -> String {
        limit_of(&io::Error::from_raw_os_error(number))
    }

    #[test]
    fn a_limit_is_told_with_its_value_and_what_raises_it() {
        let (files, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let open = reported(libc::EMFILE);
        assert!(open.contains(&format!("have {files} files open")), "{open}");
        assert!(open.contains("raise `ulimit -n`"), "{open}");
        let system = fs::read_to_string("/proc/sys/fs/file-max").unwrap();
        let all = reported(libc::ENFILE);
        assert!(
            all.contains(&format!("may have {} files", system.trim())),
            "{all}"
        );
        let threads = fs::read_to_string("/proc/sys/kernel/threads-max").unwrap();
        let fork = reported(libc::EAGAIN);
        assert!(
            fork.contains(&format!("the system has {} (", threads.trim())),
            "{fork}"
        );
        let memory = reported(libc::ENOMEM);
        assert!(
            memory.contains("memory") || memory.contains("ulimit -v"),
            "{memory}"
        );
        assert!(reported(libc::ENOSPC).contains("make room"));
        assert!(reported(libc::EFBIG).contains("ulimit -f"));
        assert_eq!(reported(libc::ENOENT), "");
        assert_eq!(limit_of(&io::Error::other("a word")), "");
    }
}
