//! Blocking sockets without a platform.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::{answer, time};
use crate::table::Case;

const BYTES: usize = 8;

/// Measures round trips over a stream.
fn stream(case: &Case, mut stream: impl Read + Write) {
    let (payload, mut space) = ([7; BYTES], [0; BYTES]);
    let give = |stream: &mut dyn Write| stream.write_all(&payload).expect("sent");
    if case.rank.is_multiple_of(2) {
        time(case, || {
            give(&mut stream);
            stream.read_exact(&mut space).expect("received");
        });
    } else {
        answer(case, || {
            stream.read_exact(&mut space).expect("received");
            give(&mut stream);
        });
    }
}

/// Returns the file in which the pair's first process writes its listening address.
fn place(case: &Case) -> PathBuf {
    PathBuf::from(&case.bootstrap).join(format!("pair-{}", case.rank / 2))
}

/// Waits until the file is complete, and returns its text.
pub fn reported_at(place: &Path) -> String {
    loop {
        match std::fs::read_to_string(place) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Returns the text that the pair's first process wrote.
fn reported(case: &Case) -> String {
    reported_at(&place(case))
}

fn tell(case: &Case, text: impl std::fmt::Display) {
    tell_at(&place(case), text);
}

pub fn tell_at(place: &Path, text: impl std::fmt::Display) {
    std::fs::write(place, format!("{text}\n")).expect("written");
}

pub fn tcp(case: &Case) {
    let connected = if case.rank.is_multiple_of(2) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        tell(case, listener.local_addr().expect("bound"));
        listener.accept().expect("accepted").0
    } else {
        TcpStream::connect(reported(case)).expect("connected")
    };
    connected.set_nodelay(true).expect("set");
    stream(case, connected);
}

pub fn unix(case: &Case) {
    let path = place(case).with_extension("socket");
    if case.rank.is_multiple_of(2) {
        let listener = UnixListener::bind(&path).expect("bound");
        tell(case, path.display());
        stream(case, listener.accept().expect("accepted").0);
    } else {
        stream(
            case,
            UnixStream::connect(reported(case)).expect("connected"),
        );
    }
}

/// A connected datagram socket, used as a stream.
struct Datagrams(UdpSocket);

impl Read for Datagrams {
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        self.0.recv(space)
    }
}

impl Write for Datagrams {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn udp(case: &Case) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    if case.rank.is_multiple_of(2) {
        tell(case, socket.local_addr().expect("bound"));
        let (_, other) = socket.recv_from(&mut [0; 1]).expect("a first word");
        socket.connect(other).expect("connected");
    } else {
        socket.connect(reported(case)).expect("connected");
        socket.send(&[0]).expect("sent");
    }
    stream(case, Datagrams(socket));
}
