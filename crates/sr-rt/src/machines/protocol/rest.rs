//! Detection of rest: no process of this machine can go on.
//!
//! The run calls its last words each time it is at rest. But with several servers, a letter may be
//! handled between that moment and the start of the process that runs the last words. So rest
//! counts only the second time, if nothing was handled in between.

use parking_lot::Mutex;

#[derive(Default)]
pub struct Rest {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Events handled.
    handled: u64,
    /// Events that had been handled when the run was last found at rest.
    seen: Option<u64>,
    is_resting: bool,
}

impl Rest {
    /// Returns how many events were handled.
    pub fn handled(&self) -> u64 {
        self.state.lock().handled
    }

    /// Notes that an event is handled. Returns whether the machine was at rest until now.
    pub fn ends(&self) -> bool {
        let mut state = self.state.lock();
        state.handled += 1;
        state.seen = None;
        std::mem::take(&mut state.is_resting)
    }

    /// Whether the machine is at rest.
    pub fn lasts(&self) -> bool {
        self.state.lock().is_resting
    }

    /// Notes last words. Returns whether the machine is at rest from now on.
    pub fn begins(&self) -> bool {
        let mut state = self.state.lock();
        let handled = state.handled;
        if state.is_resting || state.seen.replace(handled) != Some(handled) {
            return false;
        }
        state.is_resting = true;
        true
    }
}
