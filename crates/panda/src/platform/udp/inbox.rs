//! The receiving end of `udp`.
//!
//! If everything comes by one socket, a waiting thread blocks in it. One call both waits and takes,
//! as with a bare socket. The bell is then an empty datagram to oneself, and so is the end of a
//! time, which a [clock](crate::platform::clock) sends. It needs no seal: an unsealed datagram is
//! dropped, and only wakes. A socket without room for it wakes its sleeper anyway. Should a bell
//! still be lost, the socket waits for [`DEAF`] at most.
//!
//! If datagrams also come to a multicast group, or those to oneself do not arrive, the thread waits
//! on an epoll set.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::batch::{Batch, Patient, TURN};
use super::faults::Weather;
use super::shared::Shared;
use super::wire::{self, Content, EVERYBODY, Note, Place};
use crate::platform::clock::Clock;
use crate::platform::spin_policy::{self, Kinds, Looked, SpinPolicy, Waits};
use crate::platform::waiting::Waiting;
use crate::platform::{Event, Inbox, Loss, Rank};

/// A datagram, its sender's address, and the socket that took it.
pub(super) type Datagram = (Vec<u8>, SocketAddr, Way);

/// Tokens of the sockets.
const OWN: u64 = 0;
const GROUP: u64 = 1;
/// Number of turns in a row that look at the group after something came by it. Otherwise one of
/// [`SELDOM`] turns does: a look is a system call.
const ATTENTION: u32 = 64;
const SELDOM: u32 = 16;

/// Number of turns that take all that is there, after a turn that brought several datagrams.
/// Otherwise one of so many turns does, to see whether there are several. One datagram is cheaper
/// to take alone.
const BURST: u32 = 64;
/// Bytes from which a receipt is long, and the number of long ones taken at a time.
const LONG: usize = 8 << 10;
const FEW: usize = 2;
/// Longest sleep if its bell was lost.
const DEAF: Duration = Duration::from_millis(200);

/// The way by which a datagram came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To this process alone.
    Alone,
    /// To the multicast group.
    Group,
}

/// The receiving end of a process's part.
pub struct UdpInbox {
    shared: Arc<Shared>,
    weather: Option<Weather<Datagram>>,
    spin_policy: Kinds,
    batch: Batch,
    sleep: Sleep,
    /// Number of turns left that look at the group.
    attention: u32,
    /// Number of turns left that take all that is there.
    burst: u32,
    /// Number of datagrams that such a turn takes.
    most: usize,
    turns: u32,
    looked: Looked,
    /// Events that were known when this process joined.
    news: Vec<Event>,
}

/// The place where the holder sleeps.
enum Sleep {
    /// In the socket; the clock wakes it in time.
    Socket(Clock),
    Set(Waiting),
}

impl Sleep {
    fn new(shared: &Arc<Shared>) -> io::Result<Self> {
        if shared.wakes_itself {
            shared.socket.set_read_timeout(Some(DEAF))?;
            let woken = Arc::clone(shared);
            return Ok(Self::Socket(Clock::new("udp-clock", move || woken.wake())?));
        }
        let waiting = Waiting::new(&shared.bell)?;
        waiting.add(&shared.socket, OWN)?;
        if let Some(multicast) = &shared.multicast {
            waiting.add(&multicast.socket, GROUP)?;
        }
        Ok(Self::Set(waiting))
    }
}

impl UdpInbox {
    pub(super) fn new(shared: Arc<Shared>, weather: Option<Weather<Datagram>>) -> io::Result<Self> {
        Ok(Self {
            weather,
            spin_policy: Kinds::default(),
            batch: Batch::default(),
            sleep: Sleep::new(&shared)?,
            attention: 0,
            burst: 0,
            most: TURN,
            turns: 0,
            looked: Looked::default(),
            news: before(&shared),
            shared,
        })
    }

    /// Takes what is there. Returns true if there was anything.
    fn turn(&mut self, events: &mut Vec<Event>) -> bool {
        let before = events.len();
        let shared = &self.shared;
        if let Some(weather) = &mut self.weather {
            weather.pass_late(Instant::now(), |(datagram, address, way)| {
                take(shared, &datagram, address, way, events);
            });
        }
        self.turns = self.turns.wrapping_add(1);
        if self.attention > 0 || self.turns.is_multiple_of(SELDOM) {
            self.attention = self.attention.saturating_sub(1);
            self.take_of_group(events);
        }
        self.take_own(Patient::No, events);
        events.len() > before
    }

    /// Takes the datagrams for this process alone.
    fn take_own(&mut self, patient: Patient, events: &mut Vec<Event>) {
        let shared = &self.shared;
        let mut pass = |received: &[u8], address| {
            for datagram in wire::apart(received) {
                pass(
                    shared,
                    &mut self.weather,
                    datagram,
                    address,
                    Way::Alone,
                    events,
                );
            }
        };
        if self.burst == 0 && !self.turns.is_multiple_of(BURST) {
            let one = self.batch.receive_one(&shared.socket, patient);
            if let Some((received, address)) = one {
                pass(received, address);
            }
            return;
        }
        let count = self.batch.receive(&shared.socket, patient, self.most);
        self.burst = match count {
            0 | 1 => self.burst.saturating_sub(1),
            _ => BURST,
        };
        let mut bytes = 0;
        for (received, address) in self.batch.received() {
            bytes += received.len();
            pass(received, address);
        }
        // Long ones are taken a few at a time: a sender whose window is full goes on when it hears
        // of them.
        self.most = match bytes > count * LONG {
            true => FEW,
            false => TURN,
        };
    }

    /// Takes the datagrams for the multicast group.
    fn take_of_group(&mut self, events: &mut Vec<Event>) {
        let shared = &self.shared;
        let Some(multicast) = &shared.multicast else {
            return;
        };
        if self.batch.receive(&multicast.socket, Patient::No, TURN) > 0 {
            self.attention = ATTENTION;
        }
        for (datagram, address) in self.batch.received() {
            pass(
                shared,
                &mut self.weather,
                datagram,
                address,
                Way::Group,
                events,
            );
        }
    }

    /// Blocks in the socket until something comes, and takes it.
    fn block(&mut self, events: &mut Vec<Event>) {
        let shared = Arc::clone(&self.shared);
        self.turns = self.turns.wrapping_add(1);
        if shared.bell.lie_down() {
            self.take_own(Patient::Yes, events);
        }
        shared.bell.get_up();
    }
}

impl Waits for UdpInbox {
    const LOOKS: u32 = 1;

    fn spin_policy(&mut self) -> &mut SpinPolicy {
        self.spin_policy.of_this_wait()
    }

    fn look(&mut self, events: &mut Vec<Event>) -> bool {
        self.turn(events) || self.shared.bell.is_rung()
    }

    fn sleep(&mut self, now: Option<Instant>, until: Option<Instant>, events: &mut Vec<Event>) {
        let due = self.weather.as_ref().and_then(Weather::due);
        let multicast = self.shared.multicast.as_ref();
        let probe = multicast.and_then(|multicast| multicast.probing.lock().due());
        let until = [until, due, probe].into_iter().flatten().min();
        let until = self.shared.pool.tidy(now, until);
        match &mut self.sleep {
            Sleep::Set(waiting) => {
                let attention = &mut self.attention;
                waiting.sleep(&self.shared.bell, now, until, |ready| {
                    if ready.token == GROUP {
                        *attention = ATTENTION;
                    }
                });
                self.turn(events);
            }
            Sleep::Socket(_) if until.zip(now).is_some_and(|(until, now)| until <= now) => {
                self.turn(events);
            }
            Sleep::Socket(clock) => {
                until.inspect(|until| clock.wake_at(*until));
                self.block(events);
                if let Sleep::Socket(clock) = &self.sleep {
                    clock.is_awake();
                }
            }
        }
    }
}

impl UdpInbox {
    /// Returns whether a wait may sleep without a look at the clock.
    fn sleeps_at_once(&mut self, until: Option<Instant>) -> bool {
        self.looked.is_before(until)
            && self.shared.multicast.is_none()
            && self.weather.is_none()
            && self.spin_policy.of_this_wait().sleeps_at_once()
    }
}

impl Inbox for UdpInbox {
    fn begin_wait(&mut self, has_sent: bool) {
        self.spin_policy.begin(has_sent);
    }

    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let mut seen = None;
        if !self.news.is_empty() {
            events.append(&mut self.news);
            return None;
        }
        if self.shared.bell.is_rung() {
            self.turn(events);
        } else if self.sleeps_at_once(until) {
            // No look comes before the sleep, which ends at once if something is there.
            seen = spin_policy::sleep(self, None, until, events);
        } else {
            let now = Instant::now();
            seen = Some(now);
            self.shared.probe(now);
            if until.is_none_or(|until| now < until) {
                seen = spin_policy::wait(self, now, Duration::ZERO, until, events);
            } else {
                self.turn(events);
            }
            self.looked.at(seen.unwrap_or(now));
        }
        self.shared.bell.hear();
        seen
    }
}

/// Makes the event of a process that has left.
fn left(rank: Rank) -> Event {
    let loss = Loss {
        is_certain: true,
        has_left: true,
        reason: "left the session".into(),
    };
    Event::Lost { rank, loss }
}

/// Returns events from before this process joined: later processes that are there, and founders
/// that have left. This process counts on the founders, and would wait for their messages.
fn before(shared: &Shared) -> Vec<Event> {
    let mut events: Vec<Event> = (shared.peers.read().iter())
        .filter(|(rank, _)| **rank >= shared.size)
        .map(|(rank, peer)| Event::Joined {
            rank: *rank,
            name: peer.place.name.clone(),
        })
        .collect();
    let first = |rank: &&Rank| **rank < shared.size;
    let gone = shared.left.read();
    events.extend(gone.keys().filter(first).map(|rank| left(*rank)));
    events
}

/// Passes a datagram through the weather, if there is any, and takes what that lets through.
fn pass(
    shared: &Shared,
    weather: &mut Option<Weather<Datagram>>,
    datagram: &[u8],
    address: SocketAddr,
    way: Way,
    events: &mut Vec<Event>,
) {
    let Some(weather) = weather else {
        return take(shared, datagram, address, way, events);
    };
    let datagram = (datagram.to_vec(), address, way);
    weather.pass(Instant::now(), datagram, |(datagram, address, way)| {
        take(shared, &datagram, address, way, events);
    });
}

fn take(shared: &Shared, datagram: &[u8], address: SocketAddr, way: Way, events: &mut Vec<Event>) {
    if way == Way::Group {
        take_of_group(shared, (datagram, address), events);
        return;
    }
    let Some((from, content)) = wire::open(&shared.keys, shared.rank, (datagram, address)) else {
        return;
    };
    match content {
        Content::Frame(bytes) => {
            // A process that is not known yet, or has left, is not heard.
            if shared.peers.read().contains_key(&from) {
                events.push(Event::Frame {
                    from,
                    frame: shared.pool.copy_of(bytes),
                });
            }
        }
        Content::Note(Note::Knock { birth, name }) => {
            let place = Place {
                address,
                birth,
                name,
            };
            events.extend(meet(shared, from, place));
            shared.note(from, &Note::Welcome);
        }
        Content::Note(Note::Leaving { birth }) => {
            let mut peers = shared.peers.write();
            if (peers.get(&from)).is_some_and(|peer| peer.place.birth == birth) {
                peers.remove(&from);
                if let Some(multicast) = &shared.multicast {
                    multicast.probing.lock().left(from);
                }
                shared.left.write().insert(from, birth);
                events.push(left(from));
            }
        }
        Content::Note(Note::Hears { birth }) => {
            let is_known = birth == shared.birth && shared.peers.read().contains_key(&from);
            let multicast = shared.multicast.as_ref().filter(|_| is_known);
            if multicast.is_some_and(|multicast| multicast.probing.lock().answered(from)) {
                events.push(Event::Hears { rank: from });
            }
        }
        Content::Note(_) => {}
    }
}

/// Takes a datagram that was sent to all, this process's own included.
fn take_of_group(shared: &Shared, datagram: (&[u8], SocketAddr), events: &mut Vec<Event>) {
    let Some((from, content)) = wire::open(&shared.keys, EVERYBODY, datagram) else {
        return;
    };
    if from == shared.rank || !shared.peers.read().contains_key(&from) {
        return;
    }
    match content {
        Content::Frame(bytes) => events.push(Event::Multicast {
            from,
            frame: shared.pool.copy_of(bytes),
        }),
        Content::Note(Note::Probe { birth }) => shared.note(from, &Note::Hears { birth }),
        Content::Note(_) => {}
    }
}

/// Handles a knock: returns an event unless the process is known.
fn meet(shared: &Shared, rank: Rank, place: Place) -> Option<Event> {
    let mut peers = shared.peers.write();
    let has_left = |birth| shared.left.read().get(&rank).is_some_and(|b| *b >= birth);
    if rank == shared.rank
        || !place.is_of(rank)
        || has_left(place.birth)
        || peers
            .get(&rank)
            .is_some_and(|known| known.place.birth >= place.birth)
    {
        return None;
    }
    let name = place.name.clone();
    peers.insert(rank, place.into());
    if let Some(multicast) = &shared.multicast {
        multicast.probing.lock().came(Instant::now(), rank);
    }
    Some(Event::Joined { rank, name })
}
