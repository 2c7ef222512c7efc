//! A peer, and the way to it.
//!
//! A frame to a peer on this host goes by a socket that is connected to it. Then the system need
//! not look up the route each time, which would take a twelfth of a round trip. Notes, runs and
//! frames to other hosts go by the receiving socket. A middlebox may count on one port for each
//! process.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::OnceLock;

use rustix::io::Errno;
use socket2::SockRef;

use super::shared::FLAGS;
use super::wire::Place;

/// Most connected sockets. A process that knows more peers goes without, lest it run out of
/// descriptors.
pub const WAYS_MAX: usize = 64;

/// A peer that this process knows.
#[derive(Debug)]
pub struct Peer {
    pub place: Place,
    /// Connected socket, opened for the first frame; `None` if it cannot be.
    way: OnceLock<Option<UdpSocket>>,
}

impl From<Place> for Peer {
    fn from(place: Place) -> Self {
        let way = OnceLock::new();
        Self { place, way }
    }
}

impl Peer {
    /// Sends a datagram by a connected socket, if the peer is on this host, whose address is `own`.
    /// Returns whether it did.
    pub fn put(&self, datagram: &[u8], own: IpAddr) -> bool {
        let open = || connected(self.place.address, own);
        let Some(way) = self.way.get_or_init(open) else {
            return false;
        };
        let send = || rustix::net::send(way, datagram, FLAGS);
        // An error of an earlier datagram, such as a closed port, comes in place of this send.
        let sent = send().or_else(|error| match error {
            Errno::CONNREFUSED => send(),
            other => Err(other),
        });
        // A datagram that cannot go out now is lost, as the platform allows.
        !sent.is_err_and(|error| error != Errno::AGAIN && error != Errno::CONNREFUSED)
    }
}

/// Opens a socket that is connected to an address of this host, and receives nothing that matters.
fn connected(to: SocketAddr, own: IpAddr) -> Option<UdpSocket> {
    let is_near = to.ip().is_loopback() || to.ip() == own;
    let socket = is_near.then(|| UdpSocket::bind((to.ip(), 0)))?.ok()?;
    let _ = SockRef::from(&socket).set_recv_buffer_size(0);
    socket.connect(to).ok()?;
    Some(socket)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn at(address: SocketAddr) -> Peer {
        Peer::from(Place {
            address,
            birth: 1,
            name: "peer".into(),
        })
    }

    fn open(address: SocketAddr) -> UdpSocket {
        let socket = UdpSocket::bind(address).expect("a port");
        let limit = Some(Duration::from_secs(60));
        socket.set_read_timeout(limit).expect("set");
        socket
    }

    fn next(socket: &UdpSocket) -> Vec<u8> {
        let mut space = [0; 64];
        let length = socket.recv(&mut space).expect("it has come");
        space[..length].to_vec()
    }

    #[test]
    fn what_earlier_datagrams_met_with_keeps_no_later_one_back() {
        let first = open((HERE, 0).into());
        let address = first.local_addr().expect("bound");
        let peer = at(address);
        assert!(peer.put(b"one", HERE));
        assert_eq!(next(&first), b"one");
        drop(first);
        assert!(peer.put(b"nobody takes it", HERE));
        let second = open(address);
        assert!(peer.put(b"two", HERE));
        assert_eq!(next(&second), b"two");
    }

    #[test]
    fn a_peer_on_another_host_has_no_socket_of_its_own() {
        let far = at("192.0.2.1:9".parse().expect("an address"));
        assert!(!far.put(b"one", HERE));
    }
}
