//! The bootstrap of `udp`, where processes learn of each other: a thread that answers datagrams.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::faults::Faults;
use super::wire::{self, BOOTSTRAP, Content, Found, Keys, NAME, NOTE_MAX, Note, Place};
use crate::platform::bootstrap::{RANKS, check_scope, check_size};
use crate::platform::{LaunchInfo, Rank, Secret};

/// Number of places that fit into a datagram, whatever their names.
pub const PLACES: u32 = 12;
/// Words in a launch info's bootstrap: multicast wherever it works, or not at all.
pub const MULTICAST: &str = "multicast";
pub const UNICAST: &str = "unicast";

/// The bootstrap of a session over UDP. The launcher makes it and holds it while the processes run.
#[derive(Debug)]
pub struct Bootstrap {
    address: SocketAddr,
    size: u32,
    secret: Secret,
    faults: Option<Faults>,
    multicast: Option<bool>,
    register: Arc<Mutex<Register>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bootstrap {
    /// Makes a bootstrap for `size` founders, all on this host.
    ///
    /// # Errors
    ///
    /// No port or thread is left.
    pub fn new(size: u32, secret: Secret) -> io::Result<Self> {
        Self::at((Ipv4Addr::LOCALHOST, 0).into(), size, secret)
    }

    /// Makes a bootstrap at an address of this host that the others reach.
    ///
    /// # Errors
    ///
    /// The address is not this host's or is link-local, or no port or thread is left.
    pub fn at(address: SocketAddr, size: u32, secret: Secret) -> io::Result<Self> {
        check_scope(address.ip())?;
        check_size(size)?;
        let socket = UdpSocket::bind(address)?;
        let address = socket.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let register = Arc::new(Mutex::new(Register {
            keys: Keys::of(secret),
            given: size,
            places: BTreeMap::new(),
            left: BTreeMap::new(),
            doubted: BTreeMap::new(),
            never_came: BTreeSet::new(),
            answers: HashMap::new(),
        }));
        let (over, shared) = (Arc::clone(&is_over), Arc::clone(&register));
        let keys = Keys::of(secret);
        let thread = std::thread::Builder::new()
            .name("udp-bootstrap".into())
            .spawn(move || {
                let mut space = [0; NOTE_MAX];
                while !over.load(SeqCst) {
                    // An error belongs to an earlier answer, whose asker is gone.
                    if let Ok((length, from)) = socket.recv_from(&mut space)
                        && let Some((to, answer)) = shared.lock().answer(&space[..length], from)
                    {
                        let answer = wire::note(&keys, (BOOTSTRAP, address), to, &answer);
                        let _ = socket.send_to(&answer, from);
                    }
                }
            })?;
        Ok(Self {
            address,
            size,
            secret,
            faults: None,
            multicast: None,
            register,
            is_over,
            thread: Some(thread),
        })
    }

    /// Makes the network between the processes lose, double and delay datagrams.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = Some(faults);
        self
    }

    /// Sets whether IP multicast is used wherever it works. Without it, a frame for several
    /// processes goes to each alone. The default is with it, except on a host's loopback, where
    /// there is no wire to save.
    #[must_use]
    pub fn multicast(mut self, is_used: bool) -> Self {
        self.multicast = Some(is_used);
        self
    }

    /// Notes that a process has ended, in whatever way. Later processes do not knock at it. If it
    /// is a founder that had not come, the processes that wait for it are told.
    pub fn ended(&self, rank: Rank) {
        let mut register = self.register.lock();
        let birth = register.places.get(&rank).map(|place| place.birth);
        match birth {
            Some(birth) => register.ended(rank, birth),
            None if rank < self.size && !register.left.contains_key(&rank) => {
                register.never_came.insert(rank);
            }
            None => {}
        }
    }

    /// Returns the launch info of a process.
    #[must_use]
    pub fn launch_info(&self, rank: Rank) -> LaunchInfo {
        let mut bootstrap = self.address.to_string();
        if let Some(is_used) = self.multicast {
            bootstrap = format!("{bootstrap} {}", if is_used { MULTICAST } else { UNICAST });
        }
        if let Some(faults) = self.faults {
            bootstrap = format!("{bootstrap} {faults}");
        }
        LaunchInfo {
            platform: "udp".into(),
            rank,
            size: self.size,
            name: format!("rank {rank}"),
            bootstrap,
            address: None,
            silence: None,
            parent: None,
            starter: None,
            secret: self.secret,
        }
    }
}

impl Drop for Bootstrap {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        let woken = UdpSocket::bind((self.address.ip(), 0))
            .and_then(|socket| socket.send_to(&[], self.address));
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

/// The places of all processes.
#[derive(Debug)]
struct Register {
    keys: Keys,
    given: u32,
    places: BTreeMap<Rank, Place>,
    /// Births of processes that have left.
    left: BTreeMap<Rank, u64>,
    /// Births of processes that did not answer a newcomer: the next one need not wait as long.
    doubted: BTreeMap<Rank, u64>,
    /// Founders that ended before they came.
    never_came: BTreeSet<Rank>,
    /// Ranks that were given, by question: an answer may be lost and asked for again.
    answers: HashMap<u64, Rank>,
}

impl Register {
    fn answer(&mut self, datagram: &[u8], address: SocketAddr) -> Option<(Rank, Note)> {
        let (from, content) = wire::open(&self.keys, BOOTSTRAP, (datagram, address))?;
        let answer = match content {
            Content::Note(Note::Here { birth, name, next }) => {
                if from >= self.given || name.len() > NAME {
                    return None;
                }
                let is_new = self.places.get(&from).is_none_or(|p| p.birth < birth)
                    && self.left.get(&from).is_none_or(|left| *left < birth);
                if is_new {
                    let place = Place {
                        address,
                        birth,
                        name,
                    };
                    self.places.insert(from, place);
                }
                let end = self.given.min(next.saturating_add(PLACES));
                Note::Known {
                    next,
                    given: self.given,
                    places: (next..end).map(|rank| self.find(rank)).collect(),
                }
            }
            Content::Note(Note::Allot { question, count }) => Note::Allotted {
                question,
                first: self.allot(question, count),
            },
            Content::Note(Note::Met {
                rank,
                birth,
                has_answered,
            }) => {
                let place = self.places.get(&rank);
                let is_there = place.is_some_and(|place| place.birth == birth);
                match has_answered {
                    false if is_there => drop(self.doubted.insert(rank, birth)),
                    false => {}
                    true => drop(self.doubted.remove(&rank)),
                }
                return None;
            }
            Content::Note(Note::Leaving { birth }) => {
                self.ended(from, birth);
                return None;
            }
            Content::Note(Note::Ended { rank, birth }) => {
                self.ended(rank, birth);
                return None;
            }
            _ => return None,
        };
        Some((from, answer))
    }

    /// Notes that a process is no longer there; a later one of its rank may be.
    fn ended(&mut self, rank: Rank, birth: u64) {
        if self
            .places
            .get(&rank)
            .is_some_and(|place| place.birth == birth)
        {
            self.places.remove(&rank);
            self.left.insert(rank, birth);
        }
    }

    fn find(&self, rank: Rank) -> Found {
        let left = self.left.get(&rank);
        match (self.places.get(&rank), left) {
            (Some(place), _) if self.doubted.get(&rank) == Some(&place.birth) => {
                Found::Doubted(place.clone())
            }
            (Some(place), _) => Found::There(place.clone()),
            (None, Some(&birth)) => Found::Left { birth },
            (None, None) if self.never_came.contains(&rank) => Found::NeverCame,
            (None, None) => Found::Nobody,
        }
    }

    fn allot(&mut self, question: u64, count: u32) -> Option<Rank> {
        if let Some(first) = self.answers.get(&question) {
            return Some(*first);
        }
        let end = self.given.checked_add(count);
        // A request for no ranks is not noted, so there are no more answers than ranks.
        let end = end.filter(|&end| end > self.given && end <= RANKS)?;
        let first = std::mem::replace(&mut self.given, end);
        self.answers.insert(question, first);
        Some(first)
    }
}
