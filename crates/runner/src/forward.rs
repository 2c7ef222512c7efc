//! A child whose output is handed on as it comes.

use crate::keeper::{self, Order, OrderKind};
use crate::pump::Pump;
use crate::{End, Error, Program, Usage, start};
use std::os::fd::OwnedFd;

/// A running child whose output [`to_end`](Self::to_end) passes on. A drop kills the child and all
/// its descendants.
pub struct Forwarding {
    pump: Pump,
}

/// One of a child's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Sends signals to a child from any thread. It does not keep the child alive.
#[derive(Debug)]
pub struct Signaller {
    /// None if the child had ended before.
    socket: Option<OwnedFd>,
}

pub(crate) fn start(program: &Program) -> Result<Forwarding, Error> {
    let mut pump = Pump::new(program, start::start(program)?)?;
    pump.stderr_received = Some(Vec::new());
    Ok(Forwarding { pump })
}

impl Forwarding {
    /// Returns the child's process number, which is also that of its process group.
    pub fn id(&self) -> u32 {
        self.pump.id()
    }

    /// Returns a handle for signals to the child.
    ///
    /// # Errors
    /// No file descriptor is left.
    pub fn signaller(&self) -> Result<Signaller, Error> {
        let socket = self
            .pump
            .socket
            .as_ref()
            .map(OwnedFd::try_clone)
            .transpose();
        let socket = socket.map_err(|e| self.pump.io_error("opening a way to signal it", e))?;
        Ok(Signaller { socket })
    }

    /// Passes its output on until it ends. While `output` does not return, the child waits as soon
    /// as its pipe is full.
    ///
    /// # Errors
    /// The system failed at waiting.
    pub fn to_end(mut self, mut output: impl FnMut(Stream, &[u8])) -> Result<(End, Usage), Error> {
        while !self.pump.has_ended() {
            self.pump.turn(usize::MAX)?;
            self.hand_on(&mut output);
        }
        // The rest includes its last output, and that of escaped processes within a moment.
        while self.pump.take_rest(usize::MAX)? {
            self.hand_on(&mut output);
        }
        let end = self.pump.end().unwrap_or(End::Signalled(libc::SIGKILL));
        Ok((end, self.pump.usage()))
    }

    fn hand_on(&mut self, output: &mut impl FnMut(Stream, &[u8])) {
        let errors = self.pump.stderr_received.as_mut();
        let received = [
            (Stream::Output, Some(&mut self.pump.received)),
            (Stream::Error, errors),
        ];
        for (stream, received) in received {
            if let Some(received) = received.filter(|received| !received.is_empty()) {
                output(stream, received);
                received.clear();
            }
        }
    }
}

impl Signaller {
    /// Sends a signal to the child's process group; nothing happens if it has ended.
    pub fn signal(&self, number: i32) {
        let order = Order {
            kind: OrderKind::Signal as u32,
            signal: number,
            ..Order::default()
        };
        if let Some(socket) = &self.socket {
            keeper::order(socket, order);
        }
    }
}
