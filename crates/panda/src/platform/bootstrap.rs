//! Where processes that know only one address learn each other's: `antiphon launch` holds it while a session runs.
//!
//! A process proves to know the session's secret, says its rank, its name and the address that it listens at, and gets everybody's: when all
//! founders have come. A process may also have ranks allotted for others, and says whom of those that it was told of it did not meet. Each question is one connection.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use super::acceptor::{self, Acceptor};
use super::handshake::{self, Purpose};
use super::launch_info::Secret;
use super::{JoinError, LaunchInfo, Rank};

/// A process as others reach it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Its rank.
    pub rank: Rank,
    /// Its name.
    pub name: String,
    /// Its address, as its platform writes it.
    pub address: String,
    /// What has become of it, as the last said that found something else than it was told.
    pub found: Found,
}

/// What those have found that came after a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Found {
    /// It answers, as far as is known.
    #[default]
    There,
    /// It did not answer: the next need not wait as long.
    Silent,
    /// It has ended.
    Gone,
}

impl Found {
    /// The contact with that, if it was not told so.
    #[must_use]
    pub fn of(self, contact: &Contact) -> Option<Contact> {
        (contact.found != self).then(|| Contact {
            found: self,
            ..contact.clone()
        })
    }
}

/// What a process asks.
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    Enter(Contact),
    Allot(u32),
    Found(Vec<Contact>),
    /// The process has ended, as the process says that started it.
    Ended(Rank),
}

/// What it is told.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Contacts(Vec<Contact>),
    Allotted(Rank),
    /// So many ranks have been given.
    Full(Rank),
    Missing(Vec<Rank>),
    Noted,
}

/// Questions and answers are short: whoever announces more is no process of ours.
const LONGEST: usize = 1 << 20;
/// How long a process may take to say its question.
const PATIENCE: Duration = Duration::from_secs(5);
/// Ranks that a session can have.
pub const RANKS: u32 = 1 << 16;
/// How long founders wait for each other.
pub const FOUNDERS_WAIT: Duration = Duration::from_secs(60);

/// A bootstrap; it ends when this is dropped.
#[derive(Debug)]
pub struct Bootstrap {
    address: SocketAddr,
    secret: Secret,
    size: u32,
    table: Arc<Table>,
    is_over: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Table {
    contacts: Mutex<BTreeMap<Rank, Contact>>,
    next: Mutex<Rank>,
    changed: Condvar,
    size: u32,
    acceptor: Acceptor,
}

impl Bootstrap {
    /// Holds a bootstrap for a session that begins with `size` processes, at an address of this host (port 0: any).
    ///
    /// # Errors
    /// The address cannot be listened at, or is of one link.
    pub fn hold(address: SocketAddr, size: u32, secret: Secret) -> io::Result<Self> {
        check_scope(address.ip())?;
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let table = Arc::new(Table {
            contacts: Mutex::default(),
            next: Mutex::new(size),
            changed: Condvar::new(),
            size,
            acceptor: Acceptor::new(secret, Purpose::Bootstrap, size),
        });
        let (over, shared) = (is_over.clone(), table.clone());
        std::thread::Builder::new()
            .name("panda bootstrap".into())
            .spawn(move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                    let (Ok(stream), table) = (stream, shared.clone()) else {
                        acceptor::pause();
                        continue;
                    };
                    let stream = Arc::new(stream);
                    table.acceptor.admit(&stream);
                    // A thread each: founders wait here for the last of them. A stranger, or a process that is gone, ends only its own.
                    let _ = std::thread::Builder::new()
                        .name("panda bootstrap".into())
                        .spawn(move || {
                            if table.acceptor.knows(&stream) {
                                let _ = table.answer(&stream);
                            }
                        });
                }
            })?;
        Ok(Self {
            address,
            secret,
            size,
            table,
            is_over,
        })
    }

    /// Notes that a process has ended, however it did: processes that join later do not call it.
    pub fn ended(&self, rank: Rank) {
        self.table.ended(rank);
    }

    /// The launch info of a founder.
    #[must_use]
    pub fn launch_info(&self, platform: &str, rank: Rank) -> LaunchInfo {
        LaunchInfo {
            platform: platform.into(),
            rank,
            size: self.size,
            name: format!("rank {rank}"),
            bootstrap: self.address.to_string(),
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
        self.is_over.store(true, Ordering::Release);
        drop(TcpStream::connect(self.address));
    }
}

impl Table {
    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let answer = match read(&mut stream)? {
            Question::Enter(contact) => self.enter(contact),
            Question::Allot(count) => self.allot(count),
            Question::Found(found) => {
                self.learn(found);
                Answer::Noted
            }
            Question::Ended(rank) => {
                self.ended(rank);
                Answer::Noted
            }
        };
        write(&mut stream, &answer)
    }

    /// What is refused uses no ranks up.
    fn allot(&self, count: u32) -> Answer {
        let mut next = self.next.lock();
        let end = next.checked_add(count).filter(|&end| end <= RANKS);
        match end {
            Some(end) => Answer::Allotted(std::mem::replace(&mut *next, end)),
            None => Answer::Full(*next),
        }
    }

    fn enter(&self, contact: Contact) -> Answer {
        let mut contacts = self.contacts.lock();
        contacts.insert(contact.rank, contact);
        self.changed.notify_all();
        let until = Instant::now() + FOUNDERS_WAIT;
        let missing = |contacts: &BTreeMap<Rank, Contact>| {
            (0..self.size)
                .filter(|rank| !contacts.contains_key(rank))
                .collect::<Vec<_>>()
        };
        // A later process waits as well: one that joins by hand may come before all founders have.
        while !missing(&contacts).is_empty() {
            if self.changed.wait_until(&mut contacts, until).timed_out() {
                return Answer::Missing(missing(&contacts));
            }
        }
        Answer::Contacts(contacts.values().cloned().collect())
    }

    fn ended(&self, rank: Rank) {
        if let Some(contact) = self.contacts.lock().get_mut(&rank) {
            contact.found = Found::Gone;
        }
    }

    /// Takes what a process has found. Who has come again since is another one.
    fn learn(&self, found: Vec<Contact>) {
        let mut contacts = self.contacts.lock();
        for contact in found {
            let known = contacts.get_mut(&contact.rank);
            if let Some(known) = known.filter(|known| known.address == contact.address) {
                known.found = contact.found;
            }
        }
    }
}

/// Enters a process, and learns who else is there; unless the launch info says where others reach this host, it is at the connection's own address on this side.
///
/// # Errors
/// The bootstrap cannot be reached, or founders are missing.
pub fn enter(
    info: &LaunchInfo,
    platform: &'static str,
    address: impl FnOnce(IpAddr) -> io::Result<String>,
) -> Result<Vec<Contact>, JoinError> {
    let failed = |source| JoinError::System {
        platform,
        what: format!("enter the bootstrap at {}", info.bootstrap),
        source,
    };
    let mut stream = connect(info).map_err(failed)?;
    let address = stream
        .local_addr()
        .map(|own| info.address.unwrap_or(own.ip()))
        .and_then(|own| check_scope(own).and_then(|()| address(own)))
        .map_err(failed)?;
    let contact = Contact {
        rank: info.rank,
        name: info.name.clone(),
        address,
        found: Found::There,
    };
    write(&mut stream, &Question::Enter(contact)).map_err(failed)?;
    stream
        .set_read_timeout(Some(FOUNDERS_WAIT + PATIENCE))
        .map_err(failed)?;
    match read(&mut stream).map_err(failed)? {
        Answer::Contacts(contacts) => Ok(contacts),
        Answer::Missing(ranks) => {
            let missing: Vec<String> = ranks.iter().map(|rank| format!("rank {rank}")).collect();
            Err(JoinError::Missing {
                platform,
                waited_s: FOUNDERS_WAIT.as_secs(),
                missing: missing.join(", "),
            })
        }
        Answer::Allotted(_) | Answer::Full(_) | Answer::Noted => {
            Err(failed(io::ErrorKind::InvalidData.into()))
        }
    }
}

/// Enters a founder that has left its session, so that nobody waits for it.
///
/// # Errors
/// The bootstrap cannot be reached.
pub fn excuse(info: &LaunchInfo) -> io::Result<()> {
    let contact = Contact {
        rank: info.rank,
        name: info.name.clone(),
        address: String::new(),
        found: Found::Gone,
    };
    write(&mut connect(info)?, &Question::Enter(contact))
}

/// Says that a process has ended that this one had started. If the bootstrap does not hear it, later
/// processes find it out themselves.
pub fn tell_end(info: &LaunchInfo, rank: Rank) {
    if let Ok(mut stream) = connect(info) {
        let told = write(&mut stream, &Question::Ended(rank));
        drop(told.and_then(|()| read::<Answer>(&mut stream)));
    }
}

/// Says what was found of contacts that is not what was told of them, so that who comes later need not find it out again. Where the bootstrap does not hear it, that one does.
pub fn tell(info: &LaunchInfo, found: Vec<Contact>) {
    if !found.is_empty()
        && let Ok(mut stream) = connect(info)
    {
        let told = write(&mut stream, &Question::Found(found));
        drop(told.and_then(|()| read::<Answer>(&mut stream)));
    }
}

/// Allots ranks for processes to come.
///
/// # Errors
/// The bootstrap cannot be reached: it ends with `antiphon launch`. Or those are more than a session can have.
pub fn allot(
    info: &LaunchInfo,
    platform: &'static str,
    count: u32,
) -> Result<Vec<LaunchInfo>, JoinError> {
    let failed = |source| JoinError::System {
        platform,
        what: format!("ask the bootstrap at {} for ranks", info.bootstrap),
        source,
    };
    let mut stream = connect(info).map_err(failed)?;
    write(&mut stream, &Question::Allot(count)).map_err(failed)?;
    let first = match read(&mut stream).map_err(failed)? {
        Answer::Allotted(first) => first,
        Answer::Full(given) => {
            let why = format!(
                "{given} of {RANKS} places have been given, so {count} more processes cannot join: ask for fewer, or begin a new session"
            );
            return Err(JoinError::Refused { platform, why });
        }
        _ => return Err(failed(io::ErrorKind::InvalidData.into())),
    };
    // A bootstrap that says so is none of ours.
    let end = first.checked_add(count).filter(|end| *end <= RANKS);
    let end = end.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    Ok((first..end)
        .map(|rank| LaunchInfo {
            rank,
            name: format!("rank {rank}"),
            ..info.clone()
        })
        .collect())
}

/// This host's address on the way to another.
///
/// # Errors
/// There is no way, or the address is of one link.
pub fn towards(other: SocketAddr) -> io::Result<IpAddr> {
    check_scope(other.ip())?;
    let any: IpAddr = match other {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Nothing is sent: connecting a datagram socket asks for the way only.
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(other)?;
    Ok(socket.local_addr()?.ip())
}

/// Refuses an address of one link: it means something only together with a network card, which each host numbers in its own way.
///
/// # Errors
/// It is one.
pub fn check_scope(address: IpAddr) -> io::Result<()> {
    match address {
        IpAddr::V6(v6) if v6.is_unicast_link_local() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "{address} is an address of one link: use one of a wider scope, such as those in fd00::/8"
            ),
        )),
        _ => Ok(()),
    }
}

fn connect(info: &LaunchInfo) -> io::Result<TcpStream> {
    let (at, purpose) = (&info.bootstrap, Purpose::Bootstrap);
    let stream = handshake::connect(at, info.secret, purpose, info.rank, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

pub(crate) fn write<V: Serialize>(stream: &mut impl Write, value: &V) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    if bytes.len() > LONGEST {
        let (length, most) = (bytes.len(), LONGEST);
        let why = format!("{length} bytes are more than the {most} that are read there");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut whole = (bytes.len() as u32).to_le_bytes().to_vec();
    whole.extend(bytes);
    stream.write_all(&whole)
}

pub(crate) fn read<V: serde::de::DeserializeOwned>(stream: &mut impl Read) -> io::Result<V> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}
