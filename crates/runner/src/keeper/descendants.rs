//! Search and killing of processes below a keeper. The invariant of
//! [`after_fork`](super::after_fork) holds here too: no allocation, no locks, no panics.

use super::after_fork::{errno, leave_real_time, now_ns};
use libc::pid_t;
use std::ptr::null_mut;

/// Kills everything below us, also outside the child's group, until nothing is left (or the rest
/// cannot be killed).
///
/// The kernel makes orphans below us our children. So without children nothing is left, and the
/// search through all processes of the system is spared.
pub(super) unsafe fn end_descendants() {
    const PATIENCE_NS: u64 = 5_000_000_000;
    let give_up_ns = now_ns().saturating_add(PATIENCE_NS);
    // SAFETY: plain system calls on our own children.
    unsafe {
        while has_children() && now_ns() < give_up_ns {
            kill_children();
            // The priority is lowered only now, because a process that spins at ours could block
            // us.
            leave_real_time();
            while libc::waitpid(-1, null_mut(), libc::WNOHANG) > 0 {}
            if has_children() {
                libc::poll(null_mut(), 0, 1);
            }
        }
    }
}

/// Returns whether we have children, also ended ones. It reaps none, because we may be real-time:
/// see [`leave_real_time`].
unsafe fn has_children() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the buffer is our own.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &mut info, flags) == 0 || errno() != libc::ECHILD
    }
}

/// Sends SIGKILL to each of our children. Orphans below them become ours and are found at the next
/// call.
unsafe fn kill_children() {
    #[repr(align(8))]
    struct Buffer([u8; 4096]);
    // SAFETY: descriptors are our own; the kernel fills at most the length that it is given.
    unsafe {
        let me = libc::getpid();
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let directory = libc::open(c"/proc".as_ptr(), flags);
        if directory < 0 {
            return;
        }
        let mut buffer = Buffer([0; 4096]);
        loop {
            let size = libc::syscall(
                libc::SYS_getdents64,
                directory,
                buffer.0.as_mut_ptr(),
                buffer.0.len(),
            );
            let Some(entries) = usize::try_from(size)
                .ok()
                .and_then(|size| buffer.0.get(..size))
            else {
                break;
            };
            if entries.is_empty() {
                break;
            }
            each_number(entries, |number| {
                if parent_of(number) == Some(me) {
                    libc::kill(number, libc::SIGKILL);
                }
            });
        }
        libc::close(directory);
    }
}

/// Calls `found` with each entry's name that is a number.
///
/// The layout is that of `struct linux_dirent64`: inode (8 bytes), offset (8), length of the record
/// (2), type (1), name up to a zero byte.
fn each_number(mut entries: &[u8], mut found: impl FnMut(pid_t)) {
    while let (Some(&low), Some(&high)) = (entries.get(16), entries.get(17)) {
        let length = usize::from(u16::from_ne_bytes([low, high]));
        let Some(record) = entries.get(..length).filter(|record| record.len() > 19) else {
            return;
        };
        let name = record.get(19..).unwrap_or_default();
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        if let Some(number) = decimal(name) {
            found(number);
        }
        entries = entries.get(length..).unwrap_or_default();
    }
}

/// Returns the parent of a process: the second word after the name's closing parenthesis in
/// `/proc/N/stat`.
unsafe fn parent_of(process: pid_t) -> Option<pid_t> {
    let mut path = [0_u8; 32];
    write_stat_path(process, &mut path)?;
    let mut text = [0_u8; 512];
    // SAFETY: `path` ends in a zero byte; the kernel fills at most the length of `text`.
    let size = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let size = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        size
    };
    let text = text.get(..usize::try_from(size).ok()?)?;
    let after_name = text.iter().rposition(|&byte| byte == b')')? + 1;
    let mut words = text.get(after_name..)?.split(|&byte| byte == b' ');
    decimal(words.nth(2)?)
}

/// Writes `/proc/N/stat` and a zero byte.
fn write_stat_path(process: pid_t, path: &mut [u8; 32]) -> Option<()> {
    let mut digits = [0_u8; 10];
    let mut count = 0;
    let mut rest = u32::try_from(process).ok()?;
    for digit in digits.iter_mut() {
        *digit = b'0' + u8::try_from(rest % 10).ok()?;
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    let number = digits.get(..count)?.iter().rev();
    let whole = b"/proc/".iter().chain(number).chain(b"/stat\0");
    for (place, byte) in path.iter_mut().zip(whole) {
        *place = *byte;
    }
    Some(())
}

fn decimal(digits: &[u8]) -> Option<pid_t> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0, |number: pid_t, &digit| {
        let digit = digit.is_ascii_digit().then(|| pid_t::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::{decimal, each_number, parent_of, write_stat_path};

    /// Returns a record of `struct linux_dirent64`.
    fn record(name: &str) -> Vec<u8> {
        let length = (19 + name.len() + 1).next_multiple_of(8);
        let mut record = vec![0; length];
        record[16..18].copy_from_slice(&(length as u16).to_ne_bytes());
        record[19..19 + name.len()].copy_from_slice(name.as_bytes());
        record
    }

    #[test]
    fn numbers_are_found_among_names() {
        let entries: Vec<u8> = ["self", "1", "42", "4x", "32768", "99999999999"]
            .iter()
            .flat_map(|name| record(name))
            .collect();
        let mut found = Vec::new();
        each_number(&entries, |number| found.push(number));
        assert_eq!(found, [1, 42, 32_768]);
    }

    #[test]
    fn damaged_records_end_the_search() {
        let whole = record("17");
        for length in 0..whole.len() {
            each_number(&whole[..length], |number| {
                panic!("{number} in {length} bytes")
            });
        }
        let mut endless = whole;
        endless[16..18].fill(0);
        each_number(&endless, |number| panic!("{number} in an empty record"));
    }

    #[test]
    fn our_parent_is_found() {
        let me = std::process::id() as libc::pid_t;
        // SAFETY: reads a file.
        let parent = unsafe { parent_of(me) };
        assert_eq!(
            parent,
            Some(std::os::unix::process::parent_id() as libc::pid_t)
        );
    }

    #[test]
    fn paths_and_numbers_are_written_and_read() {
        let mut path = [0; 32];
        assert!(write_stat_path(4_194_304, &mut path).is_some());
        assert!(path.starts_with(b"/proc/4194304/stat\0"));
        assert!(write_stat_path(-1, &mut path).is_none());
        assert_eq!(decimal(b"2147483647"), Some(i32::MAX));
        assert_eq!(decimal(b"2147483648"), None);
        assert_eq!(decimal(b""), None);
    }
}
