//! Joining a session.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::RwLock;
use socket2::{Domain, Socket, Type};

use super::Udp;
use super::bootstrap::{MULTICAST, PLACES, UNICAST};
use super::faults::{Faults, Weather};
use super::inbox::UdpInbox;
use super::multicast::Multicast;
use super::segments::{self, Segments};
use super::shared::Shared;
use super::wire::{self, BOOTSTRAP, Content, Found, NAME, NOTE_MAX, Note, Place};
use crate::platform::bootstrap::{check_scope, towards};
use crate::platform::pool::Pool;
use crate::platform::waiting::Bell;
use crate::platform::{JoinError, LaunchInfo, Platform, Rank};

/// How long peers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the bootstrap is waited for by a process that is already there, and peers by one that comes later.
const ANSWER: Duration = Duration::from_secs(5);
/// How long one is waited for that did not answer another who came later.
const DOUBTED_ANSWER: Duration = Duration::from_secs(1);
/// Between two questions at first; doubles up to the second.
const ASK_FIRST: Duration = Duration::from_millis(2);
const ASK_LAST: Duration = Duration::from_millis(100);
/// How long a datagram to oneself may take.
const SELF_ANSWER: Duration = Duration::from_millis(20);
/// Bytes that the system may keep for us. It keeps fewer if it is set so.
const BUFFER: usize = 4 << 20;

pub fn join(info: &LaunchInfo) -> Result<(Arc<Shared>, UdpInbox), JoinError> {
    let Way {
        bootstrap_at,
        faults,
        is_multicast,
    } = read_bootstrap(info)?;
    let own = info.address.map_or_else(|| towards(bootstrap_at), Ok);
    let own = own.map_err(|e| {
        JoinError::system::<Udp>(format!("reach the bootstrap at {bootstrap_at}"), e)
    })?;
    let socket = check_scope(own)
        .and_then(|()| open(own))
        .map_err(|e| JoinError::system::<Udp>(format!("open a UDP socket at {own}"), e))?;
    let hears_itself = hears_itself(&socket);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let birth = now.unwrap_or_default().as_nanos() as u64;
    let mut name = info.name.clone();
    while name.len() > NAME {
        name.pop();
    }
    let host = Host {
        socket: &socket,
        info,
        bootstrap_at,
    };
    let mut found = host.meet(birth, &name)?;
    let is_late = info.rank >= info.size;
    if is_late {
        host.knock(birth, &name, &mut found)?;
    }
    let Everybody { places, left, .. } = found;
    let peers = places.into_iter().map(|(rank, place)| (rank, place.into()));
    let peers = peers.collect();
    let set_up = |e| JoinError::system::<Udp>("set up a UDP socket", e);
    let here = socket.local_addr().map_err(set_up)?;
    let bell = Bell::new().map_err(|e| JoinError::system::<Udp>("make an event", e))?;
    let multicast = match is_multicast.unwrap_or(!own.is_loopback()) {
        true => Multicast::join(info, own, &socket, BUFFER),
        false => None,
    };
    segments::join_received(&socket);
    let shared = Arc::new(Shared {
        segments: Segments::begin(&socket, longest_from(own)),
        wakes_itself: hears_itself && multicast.is_none(),
        here,
        socket,
        rank: info.rank,
        size: info.size,
        birth,
        secret: info.secret,
        bootstrap: info.bootstrap.clone(),
        bootstrap_at,
        own,
        peers: RwLock::new(peers),
        left: RwLock::new(left),
        multicast,
        bell,
        pool: Pool::default(),
    });
    let weather = faults.map(|faults| Weather::new(faults, info.rank));
    let inbox = UdpInbox::new(Arc::clone(&shared), weather)
        .map_err(|e| JoinError::system::<Udp>("watch a UDP socket", e))?;
    Ok((shared, inbox))
}

/// Ranks for processes that will be started.
pub fn allot(shared: &Shared, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
    let launch_info = |rank| LaunchInfo {
        platform: Udp::NAME.into(),
        rank,
        size: shared.size,
        name: format!("rank {rank}"),
        bootstrap: shared.bootstrap.clone(),
        address: Some(shared.own),
        silence: None,
        parent: None,
        starter: None,
        secret: shared.secret,
    };
    let own = launch_info(shared.rank);
    let first = reserve(&own, shared.own, shared.bootstrap_at, count)?;
    Ok((first..first + count).map(launch_info).collect())
}

/// A rank for this process, which is none of the session's yet.
pub fn allot_one(info: &LaunchInfo) -> Result<Rank, JoinError> {
    let Way { bootstrap_at, .. } = read_bootstrap(info)?;
    let own = info.address.map_or_else(|| towards(bootstrap_at), Ok);
    let own = own.map_err(|e| {
        JoinError::system::<Udp>(format!("reach the bootstrap at {bootstrap_at}"), e)
    })?;
    reserve(info, own, bootstrap_at, 1)
}

/// The first of so many ranks that nobody has, asked for from this host's address.
fn reserve(
    info: &LaunchInfo,
    own: IpAddr,
    bootstrap_at: SocketAddr,
    count: u32,
) -> Result<Rank, JoinError> {
    // A socket of its own: another one's datagrams are an inbox's.
    let socket = open(own).map_err(|e| JoinError::system::<Udp>("open a UDP socket", e))?;
    let host = Host {
        socket: &socket,
        info,
        bootstrap_at,
    };
    let mut question = [0; 8];
    getrandom::fill(&mut question).map_err(|e| {
        JoinError::system::<Udp>("draw a random number", io::Error::other(e.to_string()))
    })?;
    let question = u64::from_le_bytes(question);
    let ask = Note::Allot { question, count };
    let answer = host.ask(
        ANSWER,
        || vec![(BOOTSTRAP, bootstrap_at, ask.clone())],
        |from, note, _| match note {
            Note::Allotted { question: q, first } if from == BOOTSTRAP && q == question => {
                Some(first)
            }
            _ => None,
        },
    )?;
    match answer {
        Some(Some(first)) => Ok(first),
        Some(None) => Err(JoinError::refused::<Udp>(format!(
            "{count} more processes are more than a session can have: begin a new one"
        ))),
        None => Err(JoinError::refused::<Udp>(format!(
            "the bootstrap at {bootstrap_at} does not answer: does `antiphon launch` still run?"
        ))),
    }
}

/// How a session is met.
struct Way {
    bootstrap_at: SocketAddr,
    faults: Option<Faults>,
    /// Whether what is for several goes out once, if that is said.
    is_multicast: Option<bool>,
}

/// `ADDRESS:PORT`, and behind spaces whether to use multicast, and what the network does.
fn read_bootstrap(info: &LaunchInfo) -> Result<Way, JoinError> {
    let mut words = info.bootstrap.split(' ');
    let address = words.next().unwrap_or_default();
    let (mut faults, mut is_multicast) = (None, None);
    for word in words {
        match word {
            UNICAST => is_multicast = Some(false),
            MULTICAST => is_multicast = Some(true),
            _ => {
                let read = word.parse();
                faults = Some(read.map_err(|e| JoinError::refused::<Udp>(format!("{e}")))?);
            }
        }
    }
    let bootstrap_at = address.parse().map_err(|_| {
        JoinError::refused::<Udp>(format!(
            "`{address}` is no address of a bootstrap: `antiphon launch` gives ADDRESS:PORT"
        ))
    })?;
    Ok(Way {
        bootstrap_at,
        faults,
        is_multicast,
    })
}

/// A socket at one address of this host, at any port.
fn open(own: IpAddr) -> io::Result<UdpSocket> {
    let own = SocketAddr::new(own, 0);
    let socket = Socket::new(Domain::for_address(own), Type::DGRAM, None)?;
    // As much as the system gives; less is slower and no worse.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    socket.bind(&own.into())?;
    Ok(socket.into())
}

/// Bytes of the longest datagram that carries a frame: who has a loopback address reaches none on another host.
fn longest_from(own: IpAddr) -> usize {
    match own.is_loopback() {
        true => wire::ON_HOST,
        false => wire::PACKET,
    }
}

/// Whether a socket that nobody knows of yet gets what it sends to itself, as it does unless this host's own network is down or filtered.
fn hears_itself(socket: &UdpSocket) -> bool {
    let mut datagram = [0; 1];
    let heard = socket
        .set_read_timeout(Some(SELF_ANSWER))
        .and_then(|()| socket.send_to(&[], socket.local_addr()?))
        .and_then(|_| socket.recv_from(&mut datagram));
    heard
        .is_ok_and(|(length, from)| length == 0 && socket.local_addr().is_ok_and(|own| own == from))
}

/// Who is where.
type Places = BTreeMap<Rank, Place>;
/// The births of those that have left.
type Births = BTreeMap<Rank, u64>;

/// What is known of the others.
#[derive(Default)]
struct Everybody {
    places: Places,
    left: Births,
    /// Those that did not answer one that came later.
    doubted: BTreeSet<Rank>,
}

impl Everybody {
    /// A process says where it is, unless that is known or it has left.
    fn comes(&mut self, from: Rank, place: Place) {
        let has_left = self
            .left
            .get(&from)
            .is_some_and(|left| *left >= place.birth);
        let is_known = (self.places.get(&from)).is_some_and(|known| known.birth >= place.birth);
        if !has_left && !is_known {
            self.places.insert(from, place);
        }
    }

    /// A process says that it leaves, which it does not say again: whether it was there.
    fn leaves(&mut self, from: Rank, birth: u64) -> bool {
        let place = self.places.get(&from);
        let was_there = place.is_some_and(|place| place.birth == birth);
        if was_there {
            self.places.remove(&from);
            self.left.insert(from, birth);
        }
        was_there
    }
}

/// A process that asks its way in.
struct Host<'a> {
    socket: &'a UdpSocket,
    info: &'a LaunchInfo,
    bootstrap_at: SocketAddr,
}

impl Host<'_> {
    /// Learns where everybody is, and the births of those that have left already.
    fn meet(&self, birth: u64, name: &str) -> Result<Everybody, JoinError> {
        let LaunchInfo { rank, size, .. } = *self.info;
        let mut found = Everybody::default();
        let next = std::cell::Cell::new(0);
        let here = || Note::Here {
            birth,
            name: name.to_owned(),
            next: next.get(),
        };
        let learn = |from, note, address| {
            let (first, given, some) = match note {
                Note::Knock { birth, name } => {
                    self.let_in(
                        &mut found,
                        from,
                        Place {
                            address,
                            birth,
                            name,
                        },
                    );
                    return None;
                }
                Note::Known {
                    next,
                    given,
                    places,
                } => (next, given, places),
                Note::Leaving { birth } => {
                    found.leaves(from, birth);
                    return None;
                }
                _ => return None,
            };
            if from != BOOTSTRAP || first != next.get() {
                return None;
            }
            let mut at = first;
            for one in some {
                match one {
                    Found::There(place) => drop(found.places.insert(at, place)),
                    Found::Doubted(place) => {
                        found.places.insert(at, place);
                        found.doubted.insert(at);
                    }
                    Found::Left { birth } => drop(found.left.insert(at, birth)),
                    Found::Nobody if at < size => break, // ask again from here on
                    Found::Nobody => {}
                }
                at += 1;
            }
            let is_progress = at > first;
            next.set(at);
            if at >= given {
                return Some(());
            }
            if is_progress {
                let ask = wire::note(self.info.secret, rank, BOOTSTRAP, &here());
                let _ = self.socket.send_to(&ask, address);
            }
            None
        };
        let all = self.ask(
            PATIENCE,
            || vec![(BOOTSTRAP, self.bootstrap_at, here())],
            learn,
        )?;
        if all.is_none() {
            let has_come =
                |rank: &Rank| found.places.contains_key(rank) || found.left.contains_key(rank);
            let missing = (0..size).filter(|rank| !has_come(rank));
            let names = missing.map(|rank| format!("rank {rank}"));
            return Err(JoinError::missing::<Udp>(PATIENCE, names));
        }
        found.places.remove(&rank);
        found.left.remove(&rank);
        found.doubted.remove(&rank);
        Ok(found)
    }

    /// Tells those that are there that it has come. Who does not answer is left to be found lost, and those that come later do not wait for it as long.
    fn knock(&self, birth: u64, name: &str, found: &mut Everybody) -> Result<(), JoinError> {
        let mut silent: BTreeSet<Rank> = found.places.keys().copied().collect();
        let doubted = std::mem::take(&mut found.doubted);
        let all = BTreeSet::new();
        self.knock_until((birth, name), &mut silent, &all, found, DOUBTED_ANSWER)?;
        let rest = ANSWER - DOUBTED_ANSWER;
        self.knock_until((birth, name), &mut silent, &doubted, found, rest)?;
        let met = |rank: Rank| {
            let birth = found.places.get(&rank)?.birth;
            let has_answered = !silent.contains(&rank);
            Some(Note::Met {
                rank,
                birth,
                has_answered,
            })
        };
        for note in silent.union(&doubted).filter_map(|&rank| met(rank)) {
            let note = wire::note(self.info.secret, self.info.rank, BOOTSTRAP, &note);
            // One that is lost is said again by the next.
            let _ = self.socket.send_to(&note, self.bootstrap_at);
        }
        Ok(())
    }

    /// Questions whether processes have left since the bootstrap was asked where they are: those do not
    /// answer. Each answer tells of several ranks.
    fn questions_about(
        &self,
        silent: &BTreeSet<Rank>,
        birth: u64,
        name: &str,
    ) -> Vec<(Rank, SocketAddr, Note)> {
        let (mut questions, mut known) = (Vec::new(), 0);
        for &next in silent {
            if next >= known {
                let name = name.to_owned();
                let here = Note::Here { birth, name, next };
                questions.push((BOOTSTRAP, self.bootstrap_at, here));
                known = next.saturating_add(PLACES);
            }
        }
        questions
    }

    /// Answers a process that joins at the same time, and notes where it is. If two that join waited
    /// until the other one has joined, neither would be answered.
    fn let_in(&self, found: &mut Everybody, from: Rank, place: Place) {
        let address = place.address;
        found.comes(from, place);
        let welcome = wire::note(self.info.secret, self.info.rank, from, &Note::Welcome);
        // One that is lost is asked for again.
        let _ = self.socket.send_to(&welcome, address);
    }

    /// Knocks until none of the silent is left but such as need not be waited for, or the time is over.
    fn knock_until(
        &self,
        (birth, name): (u64, &str),
        silent: &mut BTreeSet<Rank>,
        besides: &BTreeSet<Rank>,
        found: &mut Everybody,
        patience: Duration,
    ) -> Result<(), JoinError> {
        if silent.is_subset(besides) {
            return Ok(());
        }
        let places = found.places.iter();
        let at: BTreeMap<Rank, SocketAddr> = places.map(|(r, p)| (*r, p.address)).collect();
        let silent = std::cell::RefCell::new(silent);
        let knocks = || {
            let knock = Note::Knock {
                birth,
                name: name.to_owned(),
            };
            let silent = silent.borrow();
            let to = silent.iter().map(|rank| (*rank, at[rank], knock.clone()));
            to.chain(self.questions_about(&silent, birth, name))
                .collect()
        };
        self.ask(patience, knocks, |from, note, address| {
            let mut silent = silent.borrow_mut();
            let has_answered = match note {
                Note::Known { next, places, .. } if from == BOOTSTRAP => {
                    for (rank, one) in (next..).zip(places) {
                        if let Found::Left { birth } = one
                            && found.leaves(rank, birth)
                        {
                            silent.remove(&rank);
                        }
                    }
                    return silent.is_subset(besides).then_some(());
                }
                Note::Welcome => true,
                Note::Leaving { birth } => found.leaves(from, birth),
                // A process that knocks knows where this one is: it need not be told again.
                Note::Knock { birth, name } => {
                    self.let_in(
                        found,
                        from,
                        Place {
                            address,
                            birth,
                            name,
                        },
                    );
                    true
                }
                _ => false,
            };
            (has_answered && silent.remove(&from) && silent.is_subset(besides)).then_some(())
        })?;
        Ok(())
    }

    /// Asks until there is an answer, or too much time has passed.
    fn ask<T>(
        &self,
        patience: Duration,
        questions: impl Fn() -> Vec<(Rank, SocketAddr, Note)>,
        mut answer: impl FnMut(Rank, Note, SocketAddr) -> Option<T>,
    ) -> Result<Option<T>, JoinError> {
        let failed = |e| JoinError::system::<Udp>("ask the session's bootstrap", e);
        let end = Instant::now() + patience;
        let mut pause = ASK_FIRST;
        let mut space = [0; NOTE_MAX];
        while Instant::now() < end {
            for (to, at, note) in questions() {
                let datagram = wire::note(self.info.secret, self.info.rank, to, &note);
                // What cannot be sent now is asked again.
                let _ = self.socket.send_to(&datagram, at);
            }
            let until = Instant::now() + pause;
            pause = (pause * 2).min(ASK_LAST);
            loop {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                self.socket.set_read_timeout(Some(left)).map_err(failed)?;
                let Ok((length, from)) = self.socket.recv_from(&mut space) else {
                    continue; // the time is over, or an earlier question met a closed port
                };
                let opened = wire::open(self.info.secret, self.info.rank, &space[..length]);
                if let Some((rank, Content::Note(note))) = opened
                    && let Some(answer) = answer(rank, note, from)
                {
                    return Ok(Some(answer));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_on_the_host_is_longer_than_a_packet() {
        let longest = |own: &str| longest_from(own.parse().expect("an address"));
        for own in ["127.0.0.1", "127.3.2.1", "::1"] {
            assert_eq!(longest(own), wire::ON_HOST, "{own}");
        }
        for own in ["10.0.0.7", "192.168.1.1", "fe80::1", "::"] {
            assert_eq!(longest(own), wire::PACKET, "{own}");
        }
    }
}
