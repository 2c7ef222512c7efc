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
use super::wire::{self, BOOTSTRAP, Content, Found, Keys, NAME, NOTE_MAX, Note, Place};
use crate::platform::bootstrap::{RANKS, check_scope, towards};
use crate::platform::pool::Pool;
use crate::platform::waiting::Bell;
use crate::platform::{JoinError, LaunchInfo, Platform, Rank};

/// Time for which peers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time for which a later process waits for the bootstrap, and for peers.
const ANSWER: Duration = Duration::from_secs(5);
/// Time for which it waits for a process that did not answer an earlier newcomer.
const DOUBTED_ANSWER: Duration = Duration::from_secs(1);
/// Time between two questions at first; it doubles up to `ASK_LAST`.
const ASK_FIRST: Duration = Duration::from_millis(2);
const ASK_LAST: Duration = Duration::from_millis(100);
/// Time that a datagram to oneself may take.
const SELF_ANSWER: Duration = Duration::from_millis(20);
/// Bytes that the system is asked to keep for this process. Its settings may allow fewer.
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
    let host = Host::new(&socket, info, bootstrap_at)?;
    let mut found = host.meet(birth, &name)?;
    let is_late = info.rank >= info.size;
    if is_late {
        host.knock(birth, &name, &mut found)?;
    }
    let Host { keys, here, .. } = host;
    let Everybody { places, left, .. } = found;
    let peers = places.into_iter().map(|(rank, place)| (rank, place.into()));
    let peers = peers.collect();
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
        keys,
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
    // It starts a thread, which keeps the time.
    let inbox =
        UdpInbox::new(Arc::clone(&shared), weather).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => JoinError::NoThread {
                platform: Udp::NAME,
                source,
            },
            _ => JoinError::system::<Udp>("watch a UDP socket", source),
        })?;
    Ok((shared, inbox))
}

/// Allots ranks for processes that will be started.
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
    Ok((first..).take(count as usize).map(launch_info).collect())
}

/// Allots a rank for this process, which is none of the session's yet.
pub fn allot_one(info: &LaunchInfo) -> Result<Rank, JoinError> {
    let Way { bootstrap_at, .. } = read_bootstrap(info)?;
    let own = info.address.map_or_else(|| towards(bootstrap_at), Ok);
    let own = own.map_err(|e| {
        JoinError::system::<Udp>(format!("reach the bootstrap at {bootstrap_at}"), e)
    })?;
    reserve(info, own, bootstrap_at, 1)
}

/// Allots `count` ranks and returns the first. The request goes out from this host's address.
fn reserve(
    info: &LaunchInfo,
    own: IpAddr,
    bootstrap_at: SocketAddr,
    count: u32,
) -> Result<Rank, JoinError> {
    // The request has a socket of its own: datagrams to the other one belong to an inbox.
    let socket = open(own).map_err(|e| JoinError::system::<Udp>("open a UDP socket", e))?;
    let host = Host::new(&socket, info, bootstrap_at)?;
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
        // A bootstrap that gives more is none of ours.
        Some(Some(first)) if first < RANKS && count <= RANKS - first => Ok(first),
        Some(_) => Err(JoinError::refused::<Udp>(format!(
            "{count} more processes are more than a session can have: begin a new one"
        ))),
        None => Err(JoinError::refused::<Udp>(format!(
            "the bootstrap at {bootstrap_at} does not answer: does `antiphon launch` still run?"
        ))),
    }
}

/// The parsed bootstrap of a launch info.
struct Way {
    bootstrap_at: SocketAddr,
    faults: Option<Faults>,
    /// Whether a frame for several goes out once, if the launch info says so.
    is_multicast: Option<bool>,
}

/// Parses `ADDRESS:PORT` and the words behind it: whether to use multicast, and the network's
/// faults.
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

/// Opens a socket at one address of this host, at any port.
fn open(own: IpAddr) -> io::Result<UdpSocket> {
    let own = SocketAddr::new(own, 0);
    let socket = Socket::new(Domain::for_address(own), Type::DGRAM, None)?;
    // A smaller buffer than asked for is slower and no worse.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    socket.bind(&own.into())?;
    Ok(socket.into())
}

/// Returns the length of the longest datagram that carries a frame. A process with a loopback
/// address reaches no other host.
fn longest_from(own: IpAddr) -> usize {
    match own.is_loopback() {
        true => wire::ON_HOST,
        false => wire::PACKET,
    }
}

/// Returns whether a new socket gets what it sends to itself. It does unless this host's own
/// network is down or filtered.
fn hears_itself(socket: &UdpSocket) -> bool {
    let mut datagram = [0; 1];
    let heard = socket
        .set_read_timeout(Some(SELF_ANSWER))
        .and_then(|()| socket.send_to(&[], socket.local_addr()?))
        .and_then(|_| socket.recv_from(&mut datagram));
    heard
        .is_ok_and(|(length, from)| length == 0 && socket.local_addr().is_ok_and(|own| own == from))
}

/// Processes by rank, with their places.
type Places = BTreeMap<Rank, Place>;
/// Births of processes that have left.
type Births = BTreeMap<Rank, u64>;

/// The known facts about the other processes.
#[derive(Default)]
struct Everybody {
    places: Places,
    left: Births,
    /// Processes that did not answer a newcomer.
    doubted: BTreeSet<Rank>,
}

impl Everybody {
    /// Notes a process's place, unless it is known or the process has left.
    fn comes(&mut self, from: Rank, place: Place) {
        let has_left = self
            .left
            .get(&from)
            .is_some_and(|left| *left >= place.birth);
        let is_known = (self.places.get(&from)).is_some_and(|known| known.birth >= place.birth);
        if !has_left && !is_known && place.is_of(from) {
            self.places.insert(from, place);
        }
    }

    /// Notes that a process leaves, which it says once. Returns whether it was there.
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

/// A process that is joining.
struct Host<'a> {
    socket: &'a UdpSocket,
    /// The socket's own address.
    here: SocketAddr,
    keys: Keys,
    info: &'a LaunchInfo,
    bootstrap_at: SocketAddr,
}

impl<'a> Host<'a> {
    fn new(
        socket: &'a UdpSocket,
        info: &'a LaunchInfo,
        bootstrap_at: SocketAddr,
    ) -> Result<Self, JoinError> {
        let set_up = |e| JoinError::system::<Udp>("set up a UDP socket", e);
        Ok(Self {
            socket,
            here: socket.local_addr().map_err(set_up)?,
            keys: Keys::of(info.secret),
            info,
            bootstrap_at,
        })
    }

    /// Makes a note's datagram.
    fn note(&self, to: Rank, note: &Note) -> Vec<u8> {
        wire::note(&self.keys, (self.info.rank, self.here), to, note)
    }

    /// Learns the places of all processes, and the births of those that have left.
    fn meet(&self, birth: u64, name: &str) -> Result<Everybody, JoinError> {
        match self.meet_within(birth, name, PATIENCE)? {
            Ok(found) => Ok(found),
            Err(founders) => {
                // The bootstrap told of founders behind the first missing one only if they were in
                // the same answer.
                let missing = self.missing(birth, name, founders)?;
                Err(JoinError::missing::<Udp>(PATIENCE, missing))
            }
        }
    }

    /// Does the same as [`meet`](Self::meet) within a time. If it is over before all have come,
    /// returns the founders that were not seen.
    fn meet_within(
        &self,
        birth: u64,
        name: &str,
        patience: Duration,
    ) -> Result<Result<Everybody, Vec<Rank>>, JoinError> {
        let LaunchInfo { rank, size, .. } = *self.info;
        let mut found = Everybody::default();
        let mut never_came = BTreeSet::new();
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
            // No more entries count than there are ranks: a bootstrap that gives more is none of
            // ours.
            for one in some
                .into_iter()
                .take((RANKS.saturating_sub(first)) as usize)
            {
                match one {
                    Found::There(place) => drop(found.places.insert(at, place)),
                    Found::Doubted(place) => {
                        found.places.insert(at, place);
                        found.doubted.insert(at);
                    }
                    Found::Left { birth } => drop(found.left.insert(at, birth)),
                    Found::NeverCame => {
                        never_came.insert(at);
                    }
                    Found::Nobody if at < size => break, // ask again from here on
                    Found::Nobody => {}
                }
                at += 1;
            }
            let is_progress = at > first;
            next.set(at);
            if !never_came.is_empty() || at >= given {
                return Some(());
            }
            if is_progress {
                let ask = self.note(BOOTSTRAP, &here());
                let _ = self.socket.send_to(&ask, address);
            }
            None
        };
        let all = self.ask(
            patience,
            || vec![(BOOTSTRAP, self.bootstrap_at, here())],
            learn,
        )?;
        if !never_came.is_empty() {
            let names = never_came.iter().map(|rank| format!("rank {rank}"));
            return Err(JoinError::never_came::<Udp>(names));
        }
        if all.is_none() {
            let has_come =
                |rank: &Rank| found.places.contains_key(rank) || found.left.contains_key(rank);
            return Ok(Err((0..size).filter(|rank| !has_come(rank)).collect()));
        }
        found.places.remove(&rank);
        found.left.remove(&rank);
        found.doubted.remove(&rank);
        Ok(Ok(found))
    }

    /// Returns the names of those founders that the bootstrap does not know either.
    fn missing(
        &self,
        birth: u64,
        name: &str,
        founders: Vec<Rank>,
    ) -> Result<Vec<String>, JoinError> {
        let unknown = std::cell::RefCell::new(founders.into_iter().collect::<BTreeSet<Rank>>());
        let asked = std::cell::RefCell::new(unknown.borrow().clone());
        let mut missing = Vec::new();
        let all = self.ask(
            ANSWER,
            || self.questions_about(&asked.borrow(), birth, name),
            |from, note, _| {
                let Note::Known { next, places, .. } = note else {
                    return None;
                };
                if from != BOOTSTRAP {
                    return None;
                }
                for (rank, one) in (next..).zip(places) {
                    if asked.borrow_mut().remove(&rank) && one != Found::Nobody {
                        unknown.borrow_mut().remove(&rank);
                    }
                }
                asked.borrow().is_empty().then_some(())
            },
        )?;
        if all.is_none() {
            return Err(JoinError::refused::<Udp>(format!(
                "the bootstrap at {} does not answer: does `antiphon launch` still run?",
                self.bootstrap_at
            )));
        }
        missing.extend(unknown.take().iter().map(|rank| format!("rank {rank}")));
        Ok(missing)
    }

    /// Tells the processes that are there that this one has come. A process that does not answer
    /// may be found lost later, and later processes wait less for it.
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
            let note = self.note(BOOTSTRAP, &note);
            // If this note is lost, the next newcomer sends it again.
            let _ = self.socket.send_to(&note, self.bootstrap_at);
        }
        Ok(())
    }

    /// Asks whether silent processes have left since the bootstrap gave their places. Each answer
    /// tells of several ranks.
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

    /// Answers a process that joins at the same time, and notes its place. If two joining processes
    /// waited until the other has joined, neither would get an answer.
    fn let_in(&self, found: &mut Everybody, from: Rank, place: Place) {
        let address = place.address;
        found.comes(from, place);
        let welcome = self.note(from, &Note::Welcome);
        // If this answer is lost, it is asked for again.
        let _ = self.socket.send_to(&welcome, address);
    }

    /// Knocks until all silent processes have answered but those that need not be waited for, or
    /// the time is over.
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
                // A process that knocks knows this one's place, and need not be told again.
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
                let datagram = self.note(to, &note);
                // A question that cannot be sent now is asked again.
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
                let opened = wire::open(&self.keys, self.info.rank, (&space[..length], from));
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

    #[test]
    fn founders_that_are_there_are_not_named_with_those_that_are_missing() {
        let size = 3 * PLACES;
        let secret = crate::platform::Secret([7; 16]);
        let bootstrap = super::super::Bootstrap::new(size, secret).expect("a port");
        let at = bootstrap
            .launch_info(0)
            .bootstrap
            .parse()
            .expect("an address");
        let missing = [3, 2 * PLACES + 1];
        let asks = |rank, patience| {
            let info = bootstrap.launch_info(rank);
            let socket = open(std::net::Ipv4Addr::LOCALHOST.into()).expect("a port");
            let host = Host::new(&socket, &info, at).expect("it is bound");
            let founders = host.meet_within(1, "name", patience)?.err();
            let founders = founders.expect("not all have come");
            host.missing(1, "name", founders)
        };
        for rank in (1..size).filter(|rank| !missing.contains(rank)) {
            asks(rank, Duration::from_millis(5)).expect("none has ended");
        }
        let named = asks(0, Duration::from_millis(50)).expect("none has ended");
        assert_eq!(named, missing.map(|rank| format!("rank {rank}")));
        bootstrap.ended(missing[1]);
        let info = bootstrap.launch_info(missing[0]);
        let why = super::super::Udp::join(&info)
            .err()
            .expect("one is missing");
        let why = why.to_string();
        assert!(why.contains("rank 25 ended before joining"), "{why}");
    }
}
