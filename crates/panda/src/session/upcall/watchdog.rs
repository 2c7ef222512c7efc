//! The watchdog, which reports upcalls that run for long: in a lock, a system call, or a
//! computation.

use std::collections::BTreeMap;
use std::sync::Once;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Place;

/// Time from which an upcall is reported, since nothing of the session goes on meanwhile.
const LONG: Duration = Duration::from_millis(500);

/// Running upcalls that were not reported, by number: the oldest first.
static RUNNING: Mutex<Running> = Mutex::new(Running {
    last: 0,
    upcalls: BTreeMap::new(),
});
static BEGAN: Condvar = Condvar::new();
static WATCHDOG: Once = Once::new();

struct Running {
    last: u64,
    upcalls: BTreeMap<u64, (Instant, Place)>,
}

/// The watch on an upcall, until it is dropped.
pub struct Watched(u64);

pub fn watch(place: Place) -> Watched {
    WATCHDOG.call_once(|| {
        let thread = std::thread::Builder::new().name("panda watchdog".into());
        // Without the thread, upcalls run as they do in a release build.
        drop(thread.spawn(look_on));
    });
    let mut running = RUNNING.lock();
    running.last += 1;
    let number = running.last;
    running.upcalls.insert(number, (Instant::now(), place));
    if running.upcalls.len() == 1 {
        BEGAN.notify_one();
    }
    Watched(number)
}

impl Drop for Watched {
    fn drop(&mut self) {
        RUNNING.lock().upcalls.remove(&self.0);
    }
}

fn look_on() {
    let mut running = RUNNING.lock();
    loop {
        let Some((&number, &(began, place))) = running.upcalls.first_key_value() else {
            BEGAN.wait(&mut running);
            continue;
        };
        if began.elapsed() >= LONG {
            running.upcalls.remove(&number);
            eprintln!(
                "antiphon: the upcall given at {place} has run for more than {LONG:?}: nothing else of the session goes on meanwhile, and peers may take this process for lost. Start a thread, or answer later"
            );
        } else {
            BEGAN.wait_until(&mut running, began + LONG);
        }
    }
}
