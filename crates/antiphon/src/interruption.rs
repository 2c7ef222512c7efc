//! Ctrl-C ends what is under way and keeps what was measured.

use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Set by Ctrl-C or SIGTERM. A second one ends the program at once.
pub fn interruption() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order: the first signal finds the flag unset and only sets it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
