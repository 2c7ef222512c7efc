//! How often TCP sends again what is not acknowledged.

use std::net::TcpStream;

use crate::platform::option;

/// `TCP_RTO_MAX_MS` of `linux/tcp.h`, since Linux 6.15: the most that TCP waits before it sends again.
const TCP_RTO_MAX_MS: libc::c_int = 44;
/// The least that it may be.
const RETRY_MS: libc::c_int = 1000;
/// After which it gives a connection up: about as long as it does by itself, which is after 15 times.
const GIVE_UP_MS: libc::c_int = 15 * 60 * 1000;

/// Has TCP send again each second what is not acknowledged. By itself it waits twice as long each time, up to two minutes: a network that was split for 20 s
/// is whole again up to 20 s before all its connections are, and who hears nothing by one of them meanwhile has reason to go on without the other. Older systems
/// stay with that.
pub fn retry_often(stream: &TcpStream) {
    let set = |option, value| option::set(stream, libc::IPPROTO_TCP, option, value);
    // First, as it would give up the sooner the more often it tries.
    if set(libc::TCP_USER_TIMEOUT, GIVE_UP_MS).is_ok() {
        let _ = set(TCP_RTO_MAX_MS, RETRY_MS);
    }
}
