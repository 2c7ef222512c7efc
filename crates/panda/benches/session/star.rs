//! Collective work by hand: blocking streams between the first process and each of the others.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use crate::process::{answer, time};
use crate::raw::{reported_at, tell_at};
use crate::table::Case;

/// Processes of a star.
const SIZE: u32 = 4;
/// Rank of the sender of ordered messages. The first process orders them.
pub const SENDER: u32 = 1;

/// A stream over either kind of socket.
trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

type Stream = Box<dyn Both>;

/// Sends a number to the centre and back.
pub fn run(case: &Case, over: &str, way: &str) {
    let mut streams = connect(case, over);
    match (way, case.rank) {
        ("ordered", SENDER) => time(case, || exchange(&mut streams[0])),
        ("ordered", 0) => answer(case, || {
            let message = receive(&mut streams[SENDER as usize - 1]);
            spread(&mut streams, message);
        }),
        ("ordered", _) => answer(case, || {
            receive(&mut streams[0]);
        }),
        // All numbers go to the centre, and their sum comes back. A barrier ignores the sum.
        (_, 0) => time(case, || {
            let sum = streams.iter_mut().map(receive).sum();
            spread(&mut streams, sum);
        }),
        _ => answer(case, || exchange(&mut streams[0])),
    }
}

/// Returns the centre's streams to all others by rank, or another process's stream to the centre.
fn connect(case: &Case, over: &str) -> Vec<Stream> {
    let place = Path::new(&case.bootstrap).join("star");
    match (over, case.rank) {
        ("tcp", 0) => {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            tell_at(&place, listener.local_addr().expect("bound"));
            in_order(|| Box::new(without_delay(listener.accept().expect("accepted").0)))
        }
        ("tcp", _) => {
            let stream = TcpStream::connect(reported_at(&place)).expect("connected");
            introduce(case, Box::new(without_delay(stream)))
        }
        (_, 0) => {
            let socket = place.with_extension("socket");
            let listener = UnixListener::bind(&socket).expect("bound");
            tell_at(&place, socket.display());
            in_order(|| Box::new(listener.accept().expect("accepted").0))
        }
        _ => {
            let stream = UnixStream::connect(reported_at(&place)).expect("connected");
            introduce(case, Box::new(stream))
        }
    }
}

fn without_delay(stream: TcpStream) -> TcpStream {
    stream.set_nodelay(true).expect("set");
    stream
}

/// Accepts all other processes, which send their ranks.
fn in_order(mut accept: impl FnMut() -> Stream) -> Vec<Stream> {
    let mut streams: Vec<(u64, Stream)> = (1..SIZE)
        .map(|_| {
            let mut stream = accept();
            (receive(&mut stream), stream)
        })
        .collect();
    streams.sort_by_key(|(rank, _)| *rank);
    streams.into_iter().map(|(_, stream)| stream).collect()
}

fn introduce(case: &Case, mut stream: Stream) -> Vec<Stream> {
    send(&mut stream, case.rank.into());
    vec![stream]
}

fn send(stream: &mut Stream, number: u64) {
    stream.write_all(&number.to_ne_bytes()).expect("sent");
}

fn receive(stream: &mut Stream) -> u64 {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes).expect("received");
    u64::from_ne_bytes(bytes)
}

fn exchange(stream: &mut Stream) {
    send(stream, 1);
    receive(stream);
}

fn spread(streams: &mut [Stream], number: u64) {
    streams.iter_mut().for_each(|stream| send(stream, number));
}
