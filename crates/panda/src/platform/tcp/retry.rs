//! How often TCP sends again what is not acknowledged.

use std::net::TcpStream;

use crate::platform::option;

/// `TCP_RTO_MAX_MS` of `linux/tcp.h`, since Linux 6.15: the longest time that TCP waits before it
/// sends again.
const TCP_RTO_MAX_MS: libc::c_int = 44;
/// Least value that the option allows, in milliseconds.
const RETRY_MS: libc::c_int = 1000;
/// Time after which TCP gives a connection up, in milliseconds. It is about that of its default 15
/// retries.
const GIVE_UP_MS: libc::c_int = 15 * 60 * 1000;

/// Makes TCP send again each second what is not acknowledged.
///
/// By default TCP doubles its wait each time, up to two minutes. After a network split of 20 s,
/// connections may stay silent for another 20 s. Processes that hear nothing meanwhile go on
/// without each other. Older systems keep the default.
pub fn retry_often(stream: &TcpStream) {
    let set = |option, value| option::set(stream, libc::IPPROTO_TCP, option, value);
    // This comes first, as TCP would otherwise give up the sooner the more often it tries.
    if set(libc::TCP_USER_TIMEOUT, GIVE_UP_MS).is_ok() {
        let _ = set(TCP_RTO_MAX_MS, RETRY_MS);
    }
}
