//! Task ids: integers that name a host and a task on it.
//!
//! ```text
//!   bit  31      30      29 … 18     17 … 0
//!        daemon  group   host        task of the host, from 1
//! ```
//!
//! The task part is its rank in the session plus one, so ids and ranks convert to each other.

use std::ffi::c_int;
use std::fmt;

use antiphon_panda::Rank;
use serde::{Deserialize, Serialize};

const HOST_SHIFT: u32 = 18;
const LOCAL: c_int = (1 << HOST_SHIFT) - 1;
const HOST: c_int = 0x3ffc_0000;

/// Hosts that a machine can have.
pub const HOSTS_MAX: u32 = 4095;

/// The id of a task, a host or the machine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Tid(pub c_int);

impl Tid {
    /// The sender of the machine's own messages.
    pub const MACHINE: Self = Self(c_int::MIN);

    /// Returns the id of a rank's task, on a host counted from 1.
    #[must_use]
    pub fn of(host: u32, rank: Rank) -> Self {
        Self(((host << HOST_SHIFT) | ((rank + 1) & LOCAL as u32)) as c_int)
    }

    /// Returns the id of a host, counted from 1.
    #[must_use]
    pub fn of_host(host: u32) -> Self {
        Self((host << HOST_SHIFT) as c_int)
    }

    /// Returns its task's rank, or `None` if it is no task.
    #[must_use]
    pub fn rank(self) -> Option<Rank> {
        let is_task = self.0 > 0 && self.0 & !(HOST | LOCAL) == 0;
        let local = (self.0 & LOCAL) as u32;
        (is_task && self.0 & HOST != 0 && local > 0).then(|| local - 1)
    }

    /// Returns its host's number, from 1.
    #[must_use]
    pub fn host_number(self) -> u32 {
        (self.host().0 >> HOST_SHIFT) as u32
    }

    /// Returns its host part.
    #[must_use]
    pub fn host(self) -> Self {
        Self(self.0 & HOST)
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{:x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_ranks_name_each_other() {
        for (host, rank) in [(1, 0), (1, 1), (7, 200), (HOSTS_MAX, LOCAL as u32 - 1)] {
            let tid = Tid::of(host, rank);
            assert!(tid.0 > 0, "{tid}");
            assert_eq!(tid.rank(), Some(rank));
            assert_eq!(tid.host(), Tid::of_host(host));
        }
        assert_eq!(Tid::of(1, 0).to_string(), "t40001");
    }

    #[test]
    fn what_is_no_task_has_no_rank() {
        for number in [0, -1, 1, 0x4_0000, 0x4004_0001, c_int::MIN, c_int::MAX] {
            assert_eq!(Tid(number).rank(), None, "{number:x}");
        }
    }
}
