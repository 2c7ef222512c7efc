//! Context switches so far, as the system counts them.

/// Owner of the counts.
#[derive(Clone, Copy)]
pub enum Whose {
    /// All threads of this process.
    Process,
    /// The calling thread's.
    Thread,
}

/// Returns voluntary and involuntary switches together.
pub fn switches(whose: Whose) -> u64 {
    let whose = match whose {
        Whose::Process => libc::RUSAGE_SELF,
        Whose::Thread => libc::RUSAGE_THREAD,
    };
    // SAFETY: all zeros is a value of this struct of numbers, and it is ours to write.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whose, &mut usage);
        usage
    };
    (usage.ru_nvcsw + usage.ru_nivcsw) as u64
}
