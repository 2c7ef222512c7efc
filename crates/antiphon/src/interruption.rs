//! Ctrl-C ends the work and keeps the measurements so far.

use anyhow::Result;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::mem::MaybeUninit;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a flag that Ctrl-C, SIGTERM or the end of the terminal sets. A second Ctrl-C or SIGTERM
/// ends the program at once.
pub fn interruption() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal finds the flag unset and only sets it.
        register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        register(signal, Arc::clone(&stop))?;
    }
    // A user who starts us by `nohup` wants us to outlive the terminal. When a terminal ends,
    // SIGHUP comes twice, from the system and from the shell. So a second one does not mean
    // impatience.
    if !is_ignored(SIGHUP) {
        register(SIGHUP, Arc::clone(&stop))?;
    }
    Ok(stop)
}

fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call only writes the present one. It is read only if it was
    // written.
    unsafe {
        libc::sigaction(signal, null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
