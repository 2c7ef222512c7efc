//! A peer, and the way to it.
//!
//! To one on this host a frame goes by a socket that is connected to it: the system need not look the way up each time, which would take a twelfth of a round trip. Notes, runs and whatever goes to
//! other hosts, where who is in between may count on one port for each process, go by the socket that receives.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::OnceLock;

use rustix::io::Errno;
use socket2::SockRef;

use super::shared::FLAGS;
use super::wire::Place;

/// Who knows more of them goes without, rather than be short of descriptors.
pub const WAYS_MAX: usize = 64;

/// One that this process knows.
#[derive(Debug)]
pub struct Peer {
    pub place: Place,
    /// Opened when the first frame goes; nothing if it cannot be.
    way: OnceLock<Option<UdpSocket>>,
}

impl From<Place> for Peer {
    fn from(place: Place) -> Self {
        let way = OnceLock::new();
        Self { place, way }
    }
}

impl Peer {
    /// Sends a datagram by a socket of its own, if it is on this host, which has the address `own`. Whether it did.
    pub fn put(&self, datagram: &[u8], own: IpAddr) -> bool {
        let open = || connected(self.place.address, own);
        let Some(way) = self.way.get_or_init(open) else {
            return false;
        };
        let send = || rustix::net::send(way, datagram, FLAGS);
        // What an earlier datagram met with, such as a port that was closed, is told in place of sending this one.
        let sent = send().or_else(|error| match error {
            Errno::CONNREFUSED => send(),
            other => Err(other),
        });
        // What cannot go out now is lost: that is what the platform promises.
        !sent.is_err_and(|error| error != Errno::AGAIN && error != Errno::CONNREFUSED)
    }
}

/// A socket that is connected to an address of this host, and takes in nothing that matters.
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
