//! Resource limits of a child.

use std::time::Duration;

/// Limits of each process of a child; `None` keeps the limit of this process. Core dumps are always
/// off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Address space, bytes (`RLIMIT_AS`): beyond it the system refuses storage.
    pub address_space_bytes: Option<u64>,
    /// Processor time (`RLIMIT_CPU`, in whole seconds, rounded up): beyond it the child gets
    /// SIGXCPU, a second later SIGKILL.
    pub cpu_time: Option<Duration>,
    /// Open files (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
}
