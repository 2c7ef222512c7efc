//! What Linux lets us do, and doing without some of it.

use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Does something without a power, in a thread of its own, which alone gives it up.
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

/// Whether RLIMIT_RTPRIO permits real time without any power; says that it does.
pub fn limit_permits_real_time() -> bool {
    let limit = getrlimit(Resource::Rtprio).current;
    let permits = limit.is_none_or(|limit| limit > 0);
    if permits {
        println!("skipped: RLIMIT_RTPRIO permits real time");
    }
    permits
}
