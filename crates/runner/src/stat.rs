//! The kernel's record of a process or thread in `/proc/N/stat`.

use std::fs::File;
use std::io::{self, Read};

/// Longer than such a line.
const LONGEST: usize = 4096;

/// Number of the first word behind the name.
const BEFORE_STATE: usize = 3;

/// One line of `/proc/N/stat`. Its second word is the name in parentheses, with any characters, so
/// words count from its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Text from the third word on.
    behind_name: String,
}

impl ProcessStat {
    /// Reads the line of a process or a thread at once. The kernel tells no length of it, and a
    /// usual read in pieces needs five calls.
    ///
    /// # Errors
    /// There is none of that number, for which the system has two errors
    /// ([`says_that_it_ended`](Self::says_that_it_ended)). The read may also fail for want of a
    /// resource, such as a descriptor.
    pub fn of(number: u32) -> io::Result<Self> {
        let mut bytes = [0; LONGEST];
        let length = File::open(format!("/proc/{number}/stat"))?.read(&mut bytes)?;
        Self::parse(&bytes[..length]).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Reads a line.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let name_ends = line.iter().rposition(|&byte| byte == b')')?;
        let behind_name = std::str::from_utf8(&line[name_ends + 1..]).ok()?;
        Some(Self {
            behind_name: behind_name.trim().to_owned(),
        })
    }

    /// Checks whether a read error means that the process or thread has ended.
    pub fn says_that_it_ended(error: &io::Error) -> bool {
        // The second is of one that ended while it was read.
        error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
    }

    /// Returns a word by its number in proc(5), where the name is the second; `None` before the
    /// third.
    pub fn word(&self, number: usize) -> Option<&str> {
        let at = number.checked_sub(BEFORE_STATE)?;
        self.behind_name.split_whitespace().nth(at)
    }

    /// Returns a word as a number; `None` if it is none.
    pub fn number(&self, number: usize) -> Option<u64> {
        self.word(number)?.parse().ok()
    }

    /// Returns the letter of its state, such as `S` for a sleeping one.
    pub fn state(&self) -> Option<char> {
        self.word(3)?.chars().next()
    }

    /// Checks whether it has ended and awaits its parent.
    pub fn has_ended(&self) -> bool {
        matches!(self.state(), Some('Z' | 'X'))
    }

    /// Returns its parent process.
    pub fn parent(&self) -> Option<u32> {
        self.word(4)?.parse().ok()
    }

    /// Returns its start, in ticks since boot. Together with its number, which is reused, this
    /// identifies a process.
    pub fn began_ticks(&self) -> Option<u64> {
        self.number(22)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = ProcessStat::parse(b"7 (a) Z 1 (\xff b) S 5 7 7\n").unwrap();
        assert_eq!((stat.state(), stat.parent()), (Some('S'), Some(5)));
        assert_eq!((stat.word(2), stat.word(3)), (None, Some("S")));
        assert_eq!((stat.number(5), stat.number(7)), (Some(7), None));
        assert!(!stat.has_ended());
        assert_eq!(ProcessStat::parse(b"no name"), None);
    }

    #[test]
    fn our_own_line_says_who_started_us_and_when() {
        let own = ProcessStat::of(std::process::id()).unwrap();
        assert_eq!(own.parent(), Some(std::os::unix::process::parent_id()));
        let again = ProcessStat::of(std::process::id()).unwrap();
        assert!(own.began_ticks().is_some_and(|ticks| ticks > 0));
        assert_eq!(own.began_ticks(), again.began_ticks());
    }

    #[test]
    fn who_has_ended_is_told_from_whom_nobody_can_look_at() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while !ProcessStat::of(child.id()).unwrap().has_ended() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        let gone = ProcessStat::of(u32::MAX).unwrap_err();
        assert!(ProcessStat::says_that_it_ended(&gone));
        let many = io::Error::from_raw_os_error(libc::EMFILE);
        assert!(!ProcessStat::says_that_it_ended(&many));
    }
}
