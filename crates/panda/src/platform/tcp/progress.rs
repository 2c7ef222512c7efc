//! The progress of bytes to and from a peer, as the system counts it. So sends and reads need no
//! counters.

use std::net::TcpStream;

use crate::platform::{Transfer, option};

/// Offsets of `tcpi_bytes_acked` and `tcpi_bytes_received` in `struct tcp_info` of `linux/tcp.h`,
/// since Linux 4.1.
const ACKED: usize = 120;
const RECEIVED: usize = 128;
const END: usize = RECEIVED + size_of::<u64>();

/// Returns how far a connection's bytes have come, without those that wait before it; `None` if the
/// system is too old.
pub fn of(stream: &TcpStream) -> Option<Transfer> {
    let (info, length) = option::get::<END>(stream, libc::IPPROTO_TCP, libc::TCP_INFO).ok()?;
    let number = |at: usize| {
        let bytes = info[at..].first_chunk();
        u64::from_ne_bytes(*bytes.expect("it is as long"))
    };
    (length >= END).then(|| Transfer {
        came: number(RECEIVED),
        taken: number(ACKED),
        waiting: option::unacknowledged(stream).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn bytes_are_counted_that_came_and_that_were_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut to = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut from = listener.accept().unwrap().0;
        let before = [&to, &from].map(|stream| of(stream).expect("the system tells"));
        to.write_all(&[7; 1000]).unwrap();
        from.read_exact(&mut [0; 1000]).unwrap();
        let counted = |stream, before: Transfer| {
            let now = of(stream).expect("as before");
            (now.came - before.came, now.taken - before.taken)
        };
        assert_eq!(counted(&from, before[1]), (1000, 0));
        // The acknowledgement may be on its way.
        while of(&to).expect("as before").waiting > 0 {
            std::thread::yield_now();
        }
        assert_eq!(counted(&to, before[0]), (0, 1000));
    }
}
