//! A member that is not timed. It takes orders from its standard input, a line each, and answers by
//! a line on its standard output.

use std::io::{self, BufRead, Write};
use std::net::TcpStream;

use antiphon_kit::ThreadReport;

use crate::node::{LEADS, Node, open, write};
use crate::store::Replica;

/// The order to write in turn, so many times. The answer follows the last write.
pub const TURNS: &str = "turns";
/// The order to prepare for turns that begin at a value.
pub const PREPARE: &str = "prepare";
/// The order to say where the member's thread runs.
pub const REPORT: &str = "report";

/// Serves the timed process until it has had enough.
pub fn serve(rank: u64) -> io::Result<()> {
    let (listener, address) = open()?;
    say(&address)?;
    let mut orders = io::stdin().lock().lines();
    // The first line has the addresses of all.
    let Some(addresses) = orders.next().transpose()? else {
        return Ok(());
    };
    let addresses: Vec<String> = addresses.split(' ').map(str::to_owned).collect();
    let leader = &addresses[LEADS as usize].clone();
    let node = Node::begin(rank, listener, &addresses)?;
    say("ready")?;
    let mut turns = None;
    for order in orders {
        let order = order?;
        match order.split_once(' ') {
            Some((PREPARE, value)) => {
                let value = value.parse().map_err(io::Error::other)?;
                turns = Some(Turns::new(false, leader, node.replica(), value)?);
                say("done")?;
            }
            Some((TURNS, iterations)) => {
                let iterations = iterations.parse().map_err(io::Error::other)?;
                let unprepared = || io::Error::other("turns were not prepared");
                turns.as_mut().ok_or_else(unprepared)?.run(iterations)?;
                say("done")?;
            }
            None if order == REPORT => say(&ThreadReport::of_this_thread("member").to_string())?,
            _ => return Err(io::Error::other(format!("an order that is none: {order}"))),
        }
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// One of two processes that write in turn, each after its replica has the other's write.
pub struct Turns {
    /// Whether it writes the odd values.
    is_first: bool,
    leader: TcpStream,
    replica: Replica,
    /// The last value that it has seen.
    value: u64,
}

impl Turns {
    /// Prepares for turns that begin at a value, and waits until the replica has it.
    pub fn new(is_first: bool, leader: &str, replica: &Replica, value: u64) -> io::Result<Self> {
        replica.await_at_least(value);
        Ok(Self {
            is_first,
            leader: connect(leader)?,
            replica: replica.clone(),
            value,
        })
    }

    /// Takes part in so many writes, of both together.
    pub fn run(&mut self, iterations: u64) -> io::Result<()> {
        for _ in 0..iterations {
            let next = self.value + 1;
            if (next % 2 == 1) == self.is_first {
                write(&mut self.leader, 1)?;
            }
            let value = self.replica.await_at_least(next);
            if value != next {
                let why = format!("the number is at {value} after write {next}");
                return Err(io::Error::other(why));
            }
            self.value = next;
        }
        Ok(())
    }
}

/// Connects to the leader as a client does.
pub fn connect(leader: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(leader)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
