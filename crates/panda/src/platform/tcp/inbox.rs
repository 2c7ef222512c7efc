//! The receiving end of `tcp`: one wait for all connections, the listener and the bell.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use antiphon_panda_core::Chance;
use smallvec::SmallVec;
use socket2::SockRef;

use super::Shared;
use super::calls::WELCOME;
use super::hello::{Caller, Hello};
use super::peer::Outbox;
use super::reader::{Left, READ, Reader};
use super::retry::retry_often;
use crate::platform::acceptor::{self, lot};
use crate::platform::bootstrap::RANKS;
use crate::platform::pool::Pool;
use crate::platform::spin_policy::{self, Kinds, Looked, SpinPolicy, Waits};
use crate::platform::waiting::{Ready, Waiting};
use crate::platform::{Event, Inbox, LaunchInfo, Loss, Rank};

/// Number of unproven connections besides those of founders. One of them, by lot, makes room for
/// the newest. So strangers neither use up descriptors nor keep others out.
const GREETINGS_MAX: usize = 64;
/// Connections that are accepted at a time.
const ACCEPTED_MAX: usize = 16;
/// Token of the listener and of unproven connections; the tokens of peers are their ranks.
const STRANGERS: u64 = 1 << 32;
/// Bytes that the system is asked to hold for a peer on this host. It counts its overhead with
/// them, and doubles this.
///
/// Sent bytes lie in memory until they are received, so more of them only fall out of the caches.
/// With fewer than a long frame, its receiver copies the beginning while the rest goes in. For a
/// remote host the system knows better.
const NEAR: usize = 512 << 10;

/// The receiving end of `tcp`.
#[derive(Debug)]
pub struct TcpInbox {
    info: LaunchInfo,
    listener: TcpListener,
    shared: Arc<Shared>,
    peers: BTreeMap<Rank, Peer>,
    greetings: Vec<Hello>,
    lot: Chance,
    /// Error of the last accept, if the system had nothing left for it. Then the set does not watch
    /// the listener, which would be ready all the time.
    shortage: Option<io::Error>,
    /// Peers that may have more to read, which the set does not report again.
    unread: Vec<Ready>,
    kept: VecDeque<Event>,
    spin_policy: Kinds,
    waiting: Waiting,
    looked: Looked,
    /// Shared buffer for reads.
    space: Box<[u8]>,
    /// Space of long frames of all senders.
    pool: Pool,
}

#[derive(Debug)]
struct Peer {
    outbox: Arc<Outbox>,
    reader: Reader,
    /// Whether the set was told so.
    wants_to_write: bool,
}

impl TcpInbox {
    pub(super) fn new(
        info: &LaunchInfo,
        listener: TcpListener,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let waiting = Waiting::new(&shared.bell)?;
        waiting.add(&listener, STRANGERS)?;
        Ok(Self {
            info: info.clone(),
            listener,
            shared,
            peers: BTreeMap::new(),
            greetings: Vec::new(),
            lot: lot(info.secret),
            shortage: None,
            unread: Vec::new(),
            kept: VecDeque::new(),
            spin_policy: Kinds::default(),
            waiting,
            looked: Looked::default(),
            space: vec![0; READ].into(),
            pool: Pool::default(),
        })
    }

    fn has(&self, rank: Rank) -> bool {
        self.peers.contains_key(&rank)
    }

    /// Returns whether a peer is there, or has been and its events are kept.
    pub(super) fn has_met(&self, rank: Rank) -> bool {
        let is_its = |event: &Event| matches!(event, Event::Joined { rank: r, .. } if *r == rank);
        self.has(rank) || self.kept.iter().any(is_its)
    }

    /// Keeps events for the next [`receive`](Inbox::receive).
    pub(super) fn keep(&mut self, events: Vec<Event>) {
        self.kept.extend(events);
    }

    /// Adds a connection whose other end is known. `first` is sent before any frame, and when
    /// frames can be sent.
    pub(super) fn add(
        &mut self,
        rank: Rank,
        name: &str,
        stream: TcpStream,
        first: &[u8],
    ) -> io::Result<()> {
        stream.set_nodelay(true)?;
        retry_often(&stream);
        if is_near(&stream) {
            // It also works if the system refuses.
            let _ = SockRef::from(&stream).set_send_buffer_size(NEAR);
        }
        stream.set_nonblocking(true)?;
        self.waiting.add_changes(&stream, rank.into())?;
        let outbox = Arc::new(Outbox::new(Arc::new(stream)));
        self.shared.enter(rank, &outbox, first)?;
        let peer = Peer {
            outbox,
            reader: Reader::new(self.pool.clone()),
            wants_to_write: false,
        };
        self.peers.insert(rank, peer);
        self.kept.push_back(Event::Joined {
            rank,
            name: name.to_string(),
        });
        Ok(())
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED_MAX {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => return self.cannot_accept(error),
            };
            self.can_accept();
            let count = self.greetings.len();
            if count >= GREETINGS_MAX + self.info.size as usize {
                let at = self.lot.below(count as u64) as usize;
                self.greetings.swap_remove(at);
            }
            if stream.set_nonblocking(true).is_ok() && self.waiting.add(&stream, STRANGERS).is_ok()
            {
                self.greetings.push(Hello::of(stream, &self.info));
            }
        }
    }

    /// Notes that a connection was not accepted. Only a lack of something says more than that
    /// nobody calls, or that a caller has gone.
    fn cannot_accept(&mut self, error: io::Error) {
        if acceptor::is_shortage(&error) && self.shortage.replace(error).is_none() {
            self.waiting.remove(&self.listener);
        }
    }

    fn can_accept(&mut self) {
        if self.shortage.is_some() && self.waiting.add(&self.listener, STRANGERS).is_ok() {
            self.shortage = None;
        }
    }

    /// Returns why callers cannot be accepted, if that lasts.
    pub(super) fn accept_again(&mut self) -> Option<io::Error> {
        self.shortage.as_ref()?;
        self.accept();
        self.greet();
        let number = self.shortage.as_ref()?.raw_os_error()?;
        Some(io::Error::from_raw_os_error(number))
    }

    fn greet(&mut self) {
        for mut hello in std::mem::take(&mut self.greetings) {
            match hello.read() {
                Caller::Unknown => self.greetings.push(hello),
                Caller::Refused => {}
                Caller::Known(rank, name) => {
                    if rank < RANKS && rank != self.info.rank && !self.has(rank) {
                        self.waiting.remove(&hello.stream);
                        // A connection that cannot be set up counts as one that never came.
                        let _ = self.add(rank, &name, hello.stream, &[WELCOME]);
                    }
                }
            }
        }
    }

    fn lose(&mut self, rank: Rank, loss: Loss, events: &mut Vec<Event>) {
        let Some(peer) = self.peers.remove(&rank) else {
            return;
        };
        self.waiting.remove(&*peer.outbox.stream);
        peer.outbox.close();
        self.shared.remove(rank);
        if peer.outbox.is_cut() {
            return;
        }
        events.push(Event::Lost { rank, loss });
    }

    /// Takes what is ready, and goes on with peers that had more.
    fn take(&mut self, ready: &[Ready], events: &mut Vec<Event>) {
        if !self.unread.is_empty() {
            for unread in std::mem::take(&mut self.unread) {
                self.serve(unread, events);
            }
        }
        for ready in ready.iter().filter(|ready| ready.token != STRANGERS) {
            self.serve(*ready, events);
        }
        let is_news = ready.iter().any(|ready| ready.token == STRANGERS);
        if is_news || !self.greetings.is_empty() || self.shortage.is_some() {
            self.accept();
            self.greet();
        }
    }

    /// Reads from a peer that is ready, and writes to it.
    fn serve(&mut self, ready: Ready, events: &mut Vec<Event>) {
        let rank = ready.token as Rank;
        let Some(peer) = self.peers.get_mut(&rank) else {
            return;
        };
        if ready.writes {
            if peer.outbox.write() {
                events.push(Event::Room { to: rank });
            }
            self.waiting.note(rank, peer);
        }
        if !ready.reads {
            return;
        }
        let stream = &peer.outbox.stream;
        let mut read = || {
            (peer.reader).read(stream, &mut self.space, |frame| {
                events.push(Event::Frame { from: rank, frame });
            })
        };
        let mut left = read();
        if left == Left::Dry && ready.ends {
            // The end comes behind the remaining data.
            left = read();
        }
        match left {
            Left::More => self.unread.push(ready),
            Left::Dry => {}
            Left::Over => {
                let loss = Loss {
                    is_certain: true,
                    has_left: peer.reader.has_left(),
                    reason: "closed its connection".into(),
                };
                self.lose(rank, loss, events);
            }
            // The loss is not certain: the peer may live.
            Left::Refused => {
                let loss = Loss {
                    is_certain: false,
                    has_left: false,
                    reason: "sent what is no frame, or more than there is memory for".into(),
                };
                self.lose(rank, loss, events);
            }
        }
    }

    /// Watches connections for which another thread has kept something to write.
    fn watch_outboxes(&mut self) {
        // The thread sets `has_kept` before it rings the bell.
        if self.shared.has_kept.load(SeqCst) && self.shared.has_kept.swap(false, SeqCst) {
            for (rank, peer) in &mut self.peers {
                self.waiting.note(*rank, peer);
            }
        }
    }

    /// Takes what is there without waiting. For callers that also wait for something else; `sleeps`
    /// is the time if they are about to sleep.
    pub(in crate::platform) fn poll(&mut self, sleeps: Option<Instant>, events: &mut Vec<Event>) {
        if self.kept.is_empty() {
            self.look(events);
            self.shared.bell.hear();
        }
        events.extend(self.kept.drain(..));
        if sleeps.is_some() {
            self.pool.tidy(sleeps, None);
        }
    }

    /// Receives new events, without the kept ones. Returns the time if it was read.
    pub(super) fn receive_fresh(
        &mut self,
        until: Option<Instant>,
        events: &mut Vec<Event>,
    ) -> Option<Instant> {
        let mut seen = None;
        if self.shared.bell.is_rung() {
            self.look(events);
        } else if self.sleeps_at_once(until) {
            // No look comes before the sleep, which ends at once if something is there.
            seen = spin_policy::sleep(self, None, until, events);
        } else {
            let now = Instant::now();
            seen = Some(now);
            if until.is_none_or(|until| now < until) {
                seen = spin_policy::wait(self, now, Duration::ZERO, until, events);
            } else {
                self.look(events);
            }
            self.looked.at(seen.unwrap_or(now));
        }
        self.shared.bell.hear();
        seen
    }

    /// Returns whether a wait may sleep without a look at the clock.
    fn sleeps_at_once(&mut self, until: Option<Instant>) -> bool {
        self.looked.is_before(until) && self.spin_policy.of_this_wait().sleeps_at_once()
    }
}

/// Returns whether both ends are on this host.
fn is_near(stream: &TcpStream) -> bool {
    let ends = stream.local_addr().ok().zip(stream.peer_addr().ok());
    ends.is_some_and(|(own, other)| own.ip() == other.ip() || other.ip().is_loopback())
}

impl Waiting {
    /// Waits for room to write to a peer while there is something to write.
    fn note(&self, rank: Rank, peer: &mut Peer) {
        let wants = peer.outbox.wants_to_write();
        if std::mem::replace(&mut peer.wants_to_write, wants) != wants {
            self.wants_to_write(&*peer.outbox.stream, rank.into(), wants);
        }
    }
}

impl Waits for TcpInbox {
    const LOOKS: u32 = 1;

    fn spin_policy(&mut self) -> &mut SpinPolicy {
        self.spin_policy.of_this_wait()
    }

    fn look(&mut self, events: &mut Vec<Event>) -> bool {
        let before = events.len() + self.kept.len();
        self.watch_outboxes();
        let mut ready = SmallVec::<[Ready; 8]>::new();
        self.waiting.look(|one| ready.push(one));
        self.take(&ready, events);
        events.len() + self.kept.len() > before || self.shared.bell.is_rung()
    }

    fn sleep(&mut self, now: Option<Instant>, until: Option<Instant>, events: &mut Vec<Event>) {
        self.watch_outboxes();
        let mut until = self.pool.tidy(now, until);
        let is_short = self.shortage.is_some();
        if is_short || !self.greetings.is_empty() || !self.unread.is_empty() {
            let now = now.unwrap_or_else(Instant::now);
            // Silent strangers are looked at now and then, and so are callers not accepted yet.
            let soon = match self.unread.is_empty() {
                true => now + Duration::from_secs(1),
                false => now,
            };
            until = Some(until.map_or(soon, |until| until.min(soon)));
        }
        let mut ready = SmallVec::<[Ready; 8]>::new();
        self.waiting
            .sleep(&self.shared.bell, now, until, |one| ready.push(one));
        self.take(&ready, events);
    }
}

impl Inbox for TcpInbox {
    fn begin_wait(&mut self, has_sent: bool) {
        self.spin_policy.begin(has_sent);
    }

    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let is_none_kept = self.kept.is_empty();
        let seen = is_none_kept.then(|| self.receive_fresh(until, events));
        events.extend(self.kept.drain(..));
        seen.flatten()
    }
}
