//! Two sockets that block.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

use super::window::{Receiver, Sender};
use super::{PATIENCE, exchange_ports};
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

/// The longest payload of a datagram over IPv4.
const DATAGRAM: usize = 65_507;
const HOST: &str = "127.0.0.1";

/// A message on a socket.
trait Carries {
    fn send_whole(&mut self, message: &[u8]) -> std::io::Result<()>;
    fn receive_whole(&mut self, space: &mut [u8]) -> std::io::Result<()>;
}

impl Carries for TcpStream {
    fn send_whole(&mut self, message: &[u8]) -> std::io::Result<()> {
        self.write_all(message)
    }

    fn receive_whole(&mut self, space: &mut [u8]) -> std::io::Result<()> {
        self.read_exact(space)
    }
}

impl Carries for UdpSocket {
    fn send_whole(&mut self, message: &[u8]) -> std::io::Result<()> {
        self.send(message).map(drop)
    }

    fn receive_whole(&mut self, space: &mut [u8]) -> std::io::Result<()> {
        self.recv(space).map(drop)
    }
}

struct Roundtrip<S> {
    socket: S,
    is_leader: bool,
    payload: Vec<u8>,
    space: Vec<u8>,
}

impl<S: Carries> Part for Roundtrip<S> {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for _ in 0..iterations {
            if self.is_leader {
                self.socket.send_whole(&self.payload)?;
                self.socket.receive_whole(&mut self.space)?;
            } else {
                self.socket.receive_whole(&mut self.space)?;
                self.socket.send_whole(&self.payload)?;
            }
        }
        Ok(iterations * (self.space.len() as u64 + 1))
    }
}

impl<S: Carries> Roundtrip<S> {
    fn new(socket: S, member_state: &MemberState, bytes: usize) -> Self {
        let length = bytes.max(1);
        Self {
            socket,
            is_leader: member_state.rank == 0,
            payload: vec![7; length],
            space: vec![0; length],
        }
    }
}

fn connection(member_state: &MemberState) -> Result<TcpStream, Failed> {
    let listener = TcpListener::bind((HOST, 0))?;
    let port = exchange_ports(member_state, listener.local_addr()?.port())?;
    let stream = match member_state.rank {
        0 => TcpStream::connect((HOST, port))?,
        _ => listener.accept()?.0,
    };
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Prepares a round trip with `TCP_NODELAY`.
pub fn tcp_roundtrip(
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Roundtrip::new(
        connection(member_state)?,
        member_state,
        bytes,
    )))
}

struct Stream(Roundtrip<TcpStream>);

impl Part for Stream {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let trip = &mut self.0;
        for _ in 0..iterations {
            match trip.is_leader {
                true => trip.socket.send_whole(&trip.payload)?,
                false => trip.socket.receive_whole(&mut trip.space)?,
            }
        }
        Ok(iterations * (trip.space.len() as u64 + 1))
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        let trip = &mut self.0;
        match trip.is_leader {
            true => trip.socket.receive_whole(&mut [0])?,
            false => trip.socket.send_whole(&[0])?,
        }
        Ok(())
    }
}

/// Prepares a stream one way; the receiver confirms the last message.
pub fn tcp_stream(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let trip = Roundtrip::new(connection(member_state)?, member_state, bytes);
    Ok(Box::new(Stream(trip)))
}

fn datagrams(member_state: &MemberState) -> Result<UdpSocket, Failed> {
    let socket = UdpSocket::bind((HOST, 0))?;
    let port = exchange_ports(member_state, socket.local_addr()?.port())?;
    socket.connect((HOST, port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Prepares a round trip of one datagram each way.
pub fn udp_roundtrip(
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    if bytes > DATAGRAM {
        let why = format!("a datagram holds {DATAGRAM} bytes");
        return Err(Failed(why));
    }
    Ok(Box::new(Roundtrip::new(
        datagrams(member_state)?,
        member_state,
        bytes,
    )))
}

struct Windowed {
    trip: Roundtrip<UdpSocket>,
    sender: Sender,
    receiver: Receiver,
}

impl Part for Windowed {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let trip = &mut self.trip;
        for _ in 0..iterations {
            match trip.is_leader {
                true => self.sender.send(&trip.socket, &trip.payload)?,
                false => self.receiver.receive(&trip.socket, &mut trip.space)?,
            }
        }
        Ok(iterations * (trip.space.len() as u64 + 1))
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        match self.trip.is_leader {
            true => self.sender.confirm(&self.trip.socket)?,
            false => self.receiver.confirm(&self.trip.socket)?,
        }
        Ok(())
    }
}

/// Prepares a stream one way, with as many datagrams a message as it needs.
pub fn udp_stream(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Windowed {
        trip: Roundtrip::new(datagrams(member_state)?, member_state, bytes),
        sender: Sender::default(),
        receiver: Receiver::default(),
    }))
}
