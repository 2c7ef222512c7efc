//! The receiving end: one poll over all connections, the listener and the wake counter.

use std::collections::VecDeque;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Shared;
use super::hello::{Hello, Progress};
use super::peer::{Outbox, Reader};
use crate::message::Message;
use crate::platform::{Event, Inbox, Loss, Rank, Seat};

/// Connections that have not said who they are: the oldest makes room for the newest, so strangers neither use up descriptors nor keep others out.
const GREETINGS_MAX: usize = 64;
/// Connections that are accepted at a time.
const ACCEPTED_MAX: usize = 16;
/// Ranks are believed up to this one.
const RANK_MAX: Rank = 1 << 16;

/// The receiving end of `tcp`.
#[derive(Debug)]
pub struct TcpInbox {
    seat: Seat,
    listener: TcpListener,
    shared: Arc<Shared>,
    peers: Vec<Peer>,
    greetings: Vec<Hello>,
    kept: VecDeque<Event>,
}

#[derive(Debug)]
struct Peer {
    rank: Rank,
    outbox: Arc<Outbox>,
    reader: Reader,
}

impl TcpInbox {
    pub(super) fn new(seat: &Seat, listener: TcpListener, shared: Arc<Shared>) -> Self {
        Self {
            seat: seat.clone(),
            listener,
            shared,
            peers: Vec::new(),
            greetings: Vec::new(),
            kept: VecDeque::new(),
        }
    }

    pub(super) fn has(&self, rank: Rank) -> bool {
        self.peers.iter().any(|peer| peer.rank == rank)
    }

    /// Keeps events for the next [`receive`](Inbox::receive).
    pub(super) fn keep(&mut self, events: Vec<Event>) {
        self.kept.extend(events);
    }

    /// Takes a connection whose other end is known.
    pub(super) fn add(&mut self, rank: Rank, name: &str, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let outbox = Arc::new(Outbox::new(Arc::new(stream)));
        self.shared.set(rank, Some(outbox.clone()));
        self.peers.push(Peer {
            rank,
            outbox,
            reader: Reader::default(),
        });
        self.kept.push_back(Event::Joined {
            rank,
            name: name.to_string(),
        });
        Ok(())
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED_MAX {
            let Ok((stream, _)) = self.listener.accept() else {
                return;
            };
            if self.greetings.len() >= GREETINGS_MAX {
                self.greetings.remove(0);
            }
            if stream.set_nonblocking(true).is_ok() {
                self.greetings.push(Hello::of(stream));
            }
        }
    }

    fn greet(&mut self) {
        for mut hello in std::mem::take(&mut self.greetings) {
            match hello.read(self.seat.secret) {
                Progress::Waits => self.greetings.push(hello),
                Progress::Refused => {}
                Progress::Known(rank, name) => {
                    if rank <= RANK_MAX && rank != self.seat.rank && !self.has(rank) {
                        // A connection that cannot be set up is as one that never came.
                        let _ = self.add(rank, &name, hello.stream);
                    }
                }
            }
        }
    }

    fn lose(&mut self, at: usize, events: &mut Vec<Event>) {
        let peer = self.peers.swap_remove(at);
        peer.outbox.close();
        self.shared.set(peer.rank, None);
        let loss = Loss {
            is_certain: true,
            reason: "closed its connection".into(),
        };
        events.push(Event::Lost {
            rank: peer.rank,
            loss,
        });
    }

    /// What is ready: of the counter, the listener, and each peer.
    fn poll(&self, until: Option<Instant>) -> (bool, bool, Vec<PollFlags>) {
        let mut fds = Vec::with_capacity(2 + self.peers.len() + self.greetings.len());
        fds.push(PollFd::new(&self.shared.wake, PollFlags::IN));
        fds.push(PollFd::new(&self.listener, PollFlags::IN));
        for peer in &self.peers {
            let writes = if peer.outbox.wants_to_write() {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            fds.push(PollFd::from_borrowed_fd(
                peer.outbox.stream.as_fd(),
                PollFlags::IN | writes,
            ));
        }
        fds.extend(
            self.greetings
                .iter()
                .map(|hello| PollFd::new(&hello.stream, PollFlags::IN)),
        );
        // Strangers that say nothing are looked at now and then.
        let greets = (!self.greetings.is_empty()).then(|| Instant::now() + Duration::from_secs(1));
        let until = [until, greets].into_iter().flatten().min();
        let time = until.map(|until| until.saturating_duration_since(Instant::now()));
        let time = time.map(|time| Timespec {
            tv_sec: time.as_secs() as i64,
            tv_nsec: i64::from(time.subsec_nanos()),
        });
        if poll(&mut fds, time.as_ref()).is_err() {
            return (false, false, Vec::new());
        }
        let is_any = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let peers = fds[2..2 + self.peers.len()]
            .iter()
            .map(PollFd::revents)
            .collect();
        (
            is_any(&fds[0]),
            is_any(&fds[1])
                || fds[2 + self.peers.len()..].iter().any(is_any)
                || !self.greetings.is_empty(),
            peers,
        )
    }

    fn read(&mut self, ready: &[PollFlags], events: &mut Vec<Event>) {
        for at in (0..ready.len()).rev() {
            let peer = &mut self.peers[at];
            if ready[at].contains(PollFlags::OUT) && peer.outbox.write() {
                events.push(Event::Room { to: peer.rank });
            }
            if !ready[at].intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                continue;
            }
            let mut frames = Vec::new();
            let goes_on = peer.reader.read(&peer.outbox.stream, &mut frames);
            let from = peer.rank;
            events.extend(frames.into_iter().map(|frame| Event::Frame {
                from,
                frame: Message::from(frame),
            }));
            if !goes_on {
                self.lose(at, events);
            }
        }
    }
}

impl TcpInbox {
    /// What comes in besides what was kept.
    pub(super) fn receive_fresh(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        let (is_woken, is_news, ready) = self.poll(until);
        if is_woken {
            self.shared.wake.clear();
        }
        self.read(&ready, events);
        if is_news {
            self.accept();
            self.greet();
        }
    }
}

impl Inbox for TcpInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        if self.kept.is_empty() {
            self.receive_fresh(until, events);
        }
        events.extend(self.kept.drain(..));
    }
}
