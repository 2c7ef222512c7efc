//! Messages between us and a keeper: fixed-size records of numbers, so that neither side allocates.

/// Order of ours to a keeper.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Order {
    /// An [`OrderKind`].
    pub kind: u32,
    /// The signal to send, for `Signal`.
    pub signal: i32,
    /// Deadline of the child, ns of CLOCK_MONOTONIC, for `Deadline`; 0 is never.
    pub at_ns: u64,
    /// Time between SIGTERM and SIGKILL at the deadline, ns; 0 is SIGKILL at once.
    pub grace_ns: u64,
}

/// The kinds of orders.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderKind {
    Deadline = 1,
    Signal = 2,
}

/// Report of a keeper to us, or of the child before its program is loaded.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// A [`Kind`].
    pub kind: u32,
    /// A [`Step`], for `SetupFailed`.
    pub step: u32,
    /// The system's error number, for `SetupFailed`.
    pub errno: i32,
    /// The child's process number, for `Started`; its wait status, for `Ended`.
    pub value: i32,
    /// Whether the deadline ended it, for `Ended`.
    pub timed_out: u32,
    /// Keeps the records free of padding.
    pub reserved: u32,
    /// The moment, ns of CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// `Started`: of the child before its program. `Ended`: the largest of all. Bytes.
    pub peak_rss_bytes: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary: u64,
    pub involuntary: u64,
}

/// The kinds of reports.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Started = 1,
    SetupFailed = 2,
    Ended = 3,
}

/// Step of the child before its program is loaded, for messages about failure.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Keeper = 1,
    KeeperPriority = 2,
    Group = 3,
    Affinity = 4,
    Priority = 5,
    AddressSpace = 6,
    CpuTime = 7,
    OpenFiles = 8,
    CoreSize = 9,
}

impl Step {
    /// Returns the step of a report.
    pub(crate) fn of(report: &Report) -> Option<Self> {
        [
            Self::Keeper,
            Self::KeeperPriority,
            Self::Group,
            Self::Affinity,
            Self::Priority,
            Self::AddressSpace,
            Self::CpuTime,
            Self::OpenFiles,
            Self::CoreSize,
        ]
        .into_iter()
        .find(|step| *step as u32 == report.step)
    }
}

impl Order {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: a repr(C) record of integers without padding (4 + 4 + 8 + 8); every byte is
        // initialised.
        unsafe { std::slice::from_raw_parts((&raw const *self).cast(), size_of::<Self>()) }
    }

    pub(crate) fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and every pattern of bytes is a valid record.
        unsafe { std::slice::from_raw_parts_mut((&raw mut *self).cast(), size_of::<Self>()) }
    }
}

impl Report {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        // SAFETY: a repr(C) record of integers without padding (6 × 4 + 8 × 8); every byte is
        // initialised.
        unsafe { std::slice::from_raw_parts((&raw const *self).cast(), size_of::<Self>()) }
    }

    pub(crate) fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and every pattern of bytes is a valid record.
        unsafe { std::slice::from_raw_parts_mut((&raw mut *self).cast(), size_of::<Self>()) }
    }
}

// No padding: the sizes are the sums of the fields' sizes.
const _: () = assert!(size_of::<Order>() == 24 && size_of::<Report>() == 88);
