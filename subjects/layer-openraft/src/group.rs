//! The members of a group, as the timed process sees them.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use antiphon_kit::{ThreadReport, pin_process};

use crate::node::{LEADS, Node, open};
use crate::store::Replica;

/// Another member.
struct Other {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Other {
    fn start(rank: usize, processor: Option<u32>) -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["member", &rank.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(processor) = processor {
            pin_process(process.id(), processor)?;
        }
        let missing = || io::Error::other("a member has no pipe");
        let input = process.stdin.take().ok_or_else(missing)?;
        let output = process.stdout.take().ok_or_else(missing)?;
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    fn tell(&mut self, order: &str) -> io::Result<()> {
        writeln!(self.input, "{order}")?;
        self.input.flush()
    }

    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err(io::Error::other("a member has ended; see what it said")),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A group of members. This process is the first.
pub struct Group {
    pub size: usize,
    pub leader: String,
    /// `None` once it is ended.
    node: Option<Node>,
    others: Vec<Other>,
    /// Context switches of members that have ended.
    ended: Rc<Cell<u64>>,
}

impl Group {
    /// Starts the members, and waits until they have a leader.
    pub fn begin(size: usize, processor: Option<u32>, ended: &Rc<Cell<u64>>) -> io::Result<Self> {
        let (listener, own) = open()?;
        let others = (1..size).map(|rank| Other::start(rank, processor));
        let mut others = others.collect::<io::Result<Vec<_>>>()?;
        let mut addresses = vec![own];
        for other in &mut others {
            addresses.push(other.answer()?);
        }
        for other in &mut others {
            other.tell(&addresses.join(" "))?;
        }
        let node = Node::begin(0, listener, &addresses)?;
        for other in &mut others {
            other.answer()?;
        }
        Ok(Self {
            size,
            leader: addresses.swap_remove(LEADS as usize),
            node: Some(node),
            others,
            ended: ended.clone(),
        })
    }

    /// Returns this process's replica.
    pub fn replica(&self) -> io::Result<Replica> {
        let node = self.node.as_ref().map(|node| node.replica().clone());
        node.ok_or_else(|| io::Error::other("the group has ended"))
    }

    /// Gives the last member an order.
    pub fn tell_last(&mut self, order: &str) -> io::Result<()> {
        self.last()?.tell(order)
    }

    /// Returns the last member's answer.
    pub fn answer_of_last(&mut self) -> io::Result<String> {
        self.last()?.answer()
    }

    fn last(&mut self) -> io::Result<&mut Other> {
        let last = self.others.last_mut();
        last.ok_or_else(|| io::Error::other("a group of one has no other member"))
    }

    /// Asks the other members where they run.
    pub fn report(&mut self) -> io::Result<Vec<ThreadReport>> {
        let ask = |other: &mut Other| {
            other.tell(crate::member::REPORT)?;
            let report = other.answer()?;
            report
                .parse()
                .map_err(|why: antiphon_kit::Failure| io::Error::other(why.0))
        };
        self.others.iter_mut().map(ask).collect()
    }

    /// Returns the context switches of all members so far, and of those that have ended.
    pub fn switches(&self) -> u64 {
        let others = self.others.iter();
        let others = others.map(|other| switches(&other.process.id().to_string()));
        self.ended.get() + switches("self") + others.sum::<u64>()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let own = switches("self");
        self.ended.set(self.switches() - own);
        self.others.clear();
        if let Some(node) = self.node.take() {
            node.end();
        }
    }
}

/// Returns the context switches of a process's living threads. It is 0 if the process has ended.
pub fn switches(process: &str) -> u64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return 0;
    };
    let status = |thread: io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(thread.ok()?.path().join("status")).ok()
    };
    let count = |status: String| {
        let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
        let counts = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        counts.sum::<u64>()
    };
    threads.filter_map(status).map(count).sum()
}
