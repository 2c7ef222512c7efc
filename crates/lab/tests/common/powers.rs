//! Powers of this process on Linux, and work without some of them.

use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Acts without a power, in a separate thread, which alone gives it up.
pub fn without<T: Send>(power: CapabilitySet, act: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let acting = scope.spawn(|| {
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(power);
            set_capabilities(None, sets).unwrap();
            act()
        });
        acting.join().unwrap()
    })
}

/// Checks whether RLIMIT_RTPRIO permits real time without any power, and prints that the test is
/// skipped.
pub fn limit_permits_real_time() -> bool {
    let limit = getrlimit(Resource::Rtprio).current;
    let permits = limit.is_none_or(|limit| limit > 0);
    if permits {
        println!("skipped: RLIMIT_RTPRIO permits real time");
    }
    permits
}
