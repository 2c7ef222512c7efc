//! Where the processes of a session learn of each other: a thread that answers datagrams.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::faults::Faults;
use super::wire::{self, BOOTSTRAP, Content, Found, NAME, NOTE_MAX, Note, Place};
use crate::platform::bootstrap::check_scope;
use crate::platform::{LaunchInfo, Rank, Secret};

/// Places that a datagram holds, whatever their names.
pub const PLACES: u32 = 12;
/// Words in a launch info's bootstrap: multicast wherever it works, or not at all.
pub const MULTICAST: &str = "multicast";
pub const UNICAST: &str = "unicast";
/// Ranks that a session can have.
const RANKS: u32 = 1 << 16;

/// The bootstrap of a session over UDP. Whoever starts the processes makes it and holds it while they run.
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
    /// A bootstrap of `size` processes to begin with, all on this host.
    ///
    /// # Errors
    /// No port or thread is left.
    pub fn new(size: u32, secret: Secret) -> io::Result<Self> {
        Self::at((Ipv4Addr::LOCALHOST, 0).into(), size, secret)
    }

    /// The same at an address of this host that the others reach.
    ///
    /// # Errors
    /// The address is not this host's or is of one link, or no port or thread is left.
    pub fn at(address: SocketAddr, size: u32, secret: Secret) -> io::Result<Self> {
        check_scope(address.ip())?;
        let socket = UdpSocket::bind(address)?;
        let address = socket.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let register = Arc::new(Mutex::new(Register {
            secret,
            given: size,
            places: BTreeMap::new(),
            left: BTreeMap::new(),
            doubted: BTreeMap::new(),
            answers: HashMap::new(),
        }));
        let (over, shared) = (Arc::clone(&is_over), Arc::clone(&register));
        let thread = std::thread::Builder::new()
            .name("udp-bootstrap".into())
            .spawn(move || {
                let mut space = [0; NOTE_MAX];
                while !over.load(SeqCst) {
                    // An error is one of an earlier answer, whose asker is gone.
                    if let Ok((length, from)) = socket.recv_from(&mut space)
                        && let Some((to, answer)) = shared.lock().answer(&space[..length], from)
                    {
                        let answer = wire::note(secret, BOOTSTRAP, to, &answer);
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

    /// The same over a network that loses, doubles and delays datagrams between the processes.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = Some(faults);
        self
    }

    /// The same with IP multicast wherever it works, or without it: then what is for several processes goes to each alone. If nothing is said it is with, but on a host's
    /// loopback, where there is no wire to save.
    #[must_use]
    pub fn multicast(mut self, is_used: bool) -> Self {
        self.multicast = Some(is_used);
        self
    }

    /// Notes that a process has ended, however it did: processes that join later do not knock at it.
    pub fn ended(&self, rank: Rank) {
        let mut register = self.register.lock();
        let birth = register.places.get(&rank).map(|place| place.birth);
        if let Some(birth) = birth {
            register.ended(rank, birth);
        }
    }

    /// The launch info of one of the processes.
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

/// Who is where.
#[derive(Debug)]
struct Register {
    secret: Secret,
    given: u32,
    places: BTreeMap<Rank, Place>,
    /// Births of those that have left.
    left: BTreeMap<Rank, u64>,
    /// Births of those that did not answer one that came later: the next need not wait as long.
    doubted: BTreeMap<Rank, u64>,
    /// Ranks that were given, by question: an answer may be lost and asked for again.
    answers: HashMap<u64, Option<Rank>>,
}

impl Register {
    fn answer(&mut self, datagram: &[u8], address: SocketAddr) -> Option<(Rank, Note)> {
        let (from, content) = wire::open(self.secret, BOOTSTRAP, datagram)?;
        let answer = match content {
            Content::Note(Note::Here { birth, name, next }) => {
                let is_new = self.places.get(&from).is_none_or(|p| p.birth < birth)
                    && self.left.get(&from).is_none_or(|left| *left < birth);
                if is_new && from < self.given && name.len() <= NAME {
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
                match has_answered {
                    false => drop(self.doubted.insert(rank, birth)),
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

    /// A process is there no more; a later one of its rank may be.
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
            (None, None) => Found::Nobody,
        }
    }

    fn allot(&mut self, question: u64, count: u32) -> Option<Rank> {
        let given = &mut self.given;
        *self.answers.entry(question).or_insert_with(|| {
            let end = given.checked_add(count).filter(|&end| end <= RANKS)?;
            Some(std::mem::replace(given, end))
        })
    }
}
