//! Bare datagrams one way: as many in flight as the receiver's buffer takes, a few
//! acknowledgements, and no retransmission.
//!
//! The benchmark `bandwidth` of `antiphon-panda` has this file, too.

use std::io;
use std::net::UdpSocket;

/// The longest datagram: as long as those of panda's `udp` between processes of one host.
pub const DATAGRAM: usize = 16 << 10;
/// Most datagrams in flight: they fit into the default buffer of a Linux socket …
pub const WINDOW: u64 = 8;
/// … and this number is acknowledged at a time.
pub const EVERY: u64 = 4;

/// The sending end.
#[derive(Default)]
pub struct Sender {
    sent: u64,
    acknowledged: u64,
}

impl Sender {
    /// Sends a message (of a byte at least), as soon as the window lets it.
    pub fn send(&mut self, socket: &UdpSocket, message: &[u8]) -> io::Result<()> {
        for datagram in message.chunks(DATAGRAM) {
            if self.sent - self.acknowledged >= WINDOW {
                self.hear(socket)?;
            }
            socket.send(datagram)?;
            self.sent += 1;
        }
        Ok(())
    }

    /// Waits until all has arrived; the receiver [confirms](Receiver::confirm) it.
    pub fn confirm(&mut self, socket: &UdpSocket) -> io::Result<()> {
        while self.acknowledged + EVERY <= self.sent {
            self.hear(socket)?;
        }
        self.hear(socket)?;
        *self = Self::default();
        Ok(())
    }

    fn hear(&mut self, socket: &UdpSocket) -> io::Result<()> {
        socket.recv(&mut [0])?;
        self.acknowledged += EVERY;
        Ok(())
    }
}

/// The receiving end.
#[derive(Default)]
pub struct Receiver {
    received: u64,
}

impl Receiver {
    /// Fills the space with a message, which must be as long.
    pub fn receive(&mut self, socket: &UdpSocket, space: &mut [u8]) -> io::Result<()> {
        for datagram in space.chunks_mut(DATAGRAM) {
            let length = socket.recv(datagram)?;
            if length != datagram.len() {
                return Err(io::Error::other("a datagram was lost"));
            }
            self.received += 1;
            if self.received.is_multiple_of(EVERY) {
                socket.send(&[1])?;
            }
        }
        Ok(())
    }

    /// Says that all has arrived.
    pub fn confirm(&mut self, socket: &UdpSocket) -> io::Result<()> {
        socket.send(&[1])?;
        self.received = 0;
        Ok(())
    }
}
