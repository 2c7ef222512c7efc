//! The bootstrap, where processes that know only one address learn each other's. `antiphon launch`
//! holds it while a session runs.
//!
//! A process proves that it knows the session's secret, and gives its rank, its name and its
//! listening address. It gets all processes' contacts when all founders have come. A process may
//! also have ranks allotted for others, and may report contacts that it could not reach. Each
//! question is one connection.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use antiphon_runner::limit_of;
use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use super::acceptor::{self, Acceptor};
use super::handshake::{self, NAME_BYTES, Purpose, short, try_again};
use super::launch_info::Secret;
use super::{JoinError, LaunchInfo, Rank};

/// A process's contact, as others reach it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Its rank.
    pub rank: Rank,
    /// Its name.
    pub name: String,
    /// Its address, as its platform writes it.
    pub address: String,
    /// Its state, by the last report that differs from the one told.
    pub found: Found,
}

/// State of a process, as later processes have found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Found {
    /// It answers, as far as is known.
    #[default]
    There,
    /// It did not answer: the next process need not wait as long.
    Silent,
    /// It has ended.
    Gone,
}

impl Found {
    /// Returns the contact in this state, if it was told otherwise.
    #[must_use]
    pub fn of(self, contact: &Contact) -> Option<Contact> {
        (contact.found != self).then(|| Contact {
            found: self,
            ..contact.clone()
        })
    }
}

/// A process's question to the bootstrap.
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    Enter(Contact),
    Allot(u32),
    Found(Vec<Contact>),
    /// A process has ended; the process that started it says so.
    Ended(Rank),
    /// Asks which processes have ended.
    WhoEnded,
}

/// The bootstrap's answer.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Contacts(Vec<Contact>),
    Allotted(Rank),
    /// No more ranks; this many have been given.
    Full(Rank),
    Missing(Vec<Rank>),
    /// Founders that have ended before they came.
    NeverCame(Vec<Rank>),
    Ended(Vec<Rank>),
    Noted,
    /// The question says what no process of the session may say.
    Refused(String),
}

/// Longest message in bytes between processes that have proven to be of the session. More is not
/// read.
const LONGEST: usize = 1 << 20;
/// Longest question to the bootstrap, in bytes.
const LONGEST_QUESTION: usize = 64 << 10;
/// Contacts that are reported in one question.
const FOUND_AT_ONCE: usize = 128;
/// Time that a process has to send its question.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most ranks of a session.
pub const RANKS: u32 = 1 << 16;
/// Time that founders wait for each other.
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
    /// Founders that ended before they came.
    never_came: Mutex<BTreeSet<Rank>>,
    /// Limit that keeps callers out now, as text.
    shortage: Mutex<Option<String>>,
    changed: Condvar,
    size: u32,
    acceptor: Acceptor,
}

impl Bootstrap {
    /// Holds a bootstrap for a session that begins with `size` processes, at an address of this
    /// host (port 0: any).
    ///
    /// # Errors
    /// The address cannot be listened at, or is of one link.
    pub fn hold(address: SocketAddr, size: u32, secret: Secret) -> io::Result<Self> {
        check_scope(address.ip())?;
        check_size(size)?;
        let listener = acceptor::listen(address)?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let table = Arc::new(Table {
            contacts: Mutex::default(),
            next: Mutex::new(size),
            never_came: Mutex::default(),
            shortage: Mutex::default(),
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
                    let table = shared.clone();
                    let stream = match stream {
                        Ok(stream) => Arc::new(stream),
                        Err(error) => {
                            table.note_shortage(&error);
                            acceptor::pause();
                            continue;
                        }
                    };
                    table.acceptor.admit(&stream);
                    // Each connection has a thread, since founders wait here for the last of them.
                    // A stranger, or a process that is gone, ends only its own thread.
                    let serve = move || {
                        if let Some(caller) = table.acceptor.caller(&stream) {
                            let _ = table.answer(&stream, caller);
                        }
                    };
                    let thread = std::thread::Builder::new().name("panda bootstrap".into());
                    match thread.spawn(serve) {
                        Ok(_) => *shared.shortage.lock() = None,
                        Err(error) => shared.note_shortage(&error),
                    }
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

    /// Notes that a process has ended, in whatever way. Processes that join later do not call it.
    /// If it is a founder that had not come, the processes that wait for it are told.
    pub fn ended(&self, rank: Rank) {
        self.table.ended(rank);
    }

    /// Returns the launch info of a founder.
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
    fn answer(&self, mut stream: &TcpStream, caller: Rank) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let answer = match read_at_most(&mut stream, LONGEST_QUESTION)? {
            Question::Enter(contact) => match self.check(&contact, caller) {
                Ok(()) => self.enter(contact),
                Err(why) => Answer::Refused(why),
            },
            Question::Allot(count) => self.allot(count),
            Question::Found(found) => {
                self.learn(found);
                Answer::Noted
            }
            Question::Ended(rank) => {
                self.ended(rank);
                Answer::Noted
            }
            Question::WhoEnded => Answer::Ended(self.who_ended()),
        };
        write(&mut stream, &answer)
    }

    /// Checks a process's statement about itself. The process knows the secret, but may be mistaken
    /// or lie.
    fn check(&self, contact: &Contact, caller: Rank) -> Result<(), String> {
        let Contact {
            rank,
            name,
            address,
            ..
        } = contact;
        let given = *self.next.lock();
        if *rank != caller {
            return Err(format!("rank {caller} enters as rank {rank}"));
        }
        if *rank >= given {
            return Err(format!(
                "rank {rank} was not given: ranks are below {given}"
            ));
        }
        if name.len() > NAME_BYTES {
            let length = name.len();
            return Err(format!(
                "a name of {length} bytes is longer than {NAME_BYTES}"
            ));
        }
        // A founder that has left gives no address.
        let is_address = address.is_empty() || address.parse::<SocketAddr>().is_ok();
        if address.len() > NAME_BYTES || !is_address {
            return Err("what it gives as its address is none".into());
        }
        Ok(())
    }

    /// Allots ranks. A refused request uses no ranks up.
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
            let never_came = self.never_came.lock();
            if !never_came.is_empty() {
                return Answer::NeverCame(never_came.iter().copied().collect());
            }
            drop(never_came);
            if self.changed.wait_until(&mut contacts, until).timed_out() {
                return match self.shortage.lock().clone() {
                    Some(shortage) => Answer::Refused(shortage),
                    None => Answer::Missing(missing(&contacts)),
                };
            }
        }
        Answer::Contacts(contacts.values().cloned().collect())
    }

    /// Notes an error of the system that keeps a caller out, to tell the others if that lasts.
    fn note_shortage(&self, error: &io::Error) {
        let limit = limit_of(error);
        if !limit.is_empty() {
            *self.shortage.lock() =
                Some(format!("it cannot let more processes in: {error}{limit}"));
        }
    }

    fn who_ended(&self) -> Vec<Rank> {
        let contacts = self.contacts.lock();
        let gone = contacts.values().filter(|c| c.found == Found::Gone);
        let gone = gone.map(|contact| contact.rank);
        gone.chain(self.never_came.lock().iter().copied()).collect()
    }

    fn ended(&self, rank: Rank) {
        let mut contacts = self.contacts.lock();
        match contacts.get_mut(&rank) {
            Some(contact) => contact.found = Found::Gone,
            None if rank < self.size => {
                self.never_came.lock().insert(rank);
                self.changed.notify_all();
            }
            None => {}
        }
    }

    /// Takes a process's reports. A contact that has come again since, at another address, is left
    /// alone.
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

/// Enters a process, and returns the contacts of the others. Its address is that of the launch
/// info, or else that of the connection on this side.
///
/// # Errors
///
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
    let mut address = Some(address);
    let mut contact = None;
    let answer = try_again(|| {
        let mut stream = connect(info)?;
        if let Some(address) = address.take() {
            let own = stream.local_addr()?.ip();
            let own = info.address.unwrap_or(own);
            check_scope(own)?;
            contact = Some(Contact {
                rank: info.rank,
                name: short(&info.name),
                address: address(own)?,
                found: Found::There,
            });
        }
        // A process without an address of its own has failed before.
        let contact = contact.clone().ok_or(io::ErrorKind::AddrNotAvailable)?;
        write(&mut stream, &Question::Enter(contact))?;
        stream.set_read_timeout(Some(FOUNDERS_WAIT + PATIENCE))?;
        read(&mut stream)
    });
    match answer.map_err(failed)? {
        Answer::Contacts(contacts) => Ok(contacts),
        Answer::Missing(ranks) => Err(JoinError::Missing {
            platform,
            waited_s: FOUNDERS_WAIT.as_secs(),
            missing: names(&ranks),
        }),
        Answer::NeverCame(ranks) => Err(JoinError::NeverCame {
            platform,
            ended: names(&ranks),
        }),
        Answer::Refused(why) => Err(JoinError::Refused {
            platform,
            why: format!(
                "the bootstrap at {} refuses this process: {why}",
                info.bootstrap
            ),
        }),
        Answer::Allotted(_) | Answer::Full(_) | Answer::Ended(_) | Answer::Noted => {
            Err(failed(io::ErrorKind::InvalidData.into()))
        }
    }
}

fn names(ranks: &[Rank]) -> String {
    let names: Vec<String> = ranks.iter().map(|rank| format!("rank {rank}")).collect();
    names.join(", ")
}

/// Sends a question to the bootstrap, again if a flood of strangers has kept it out.
fn ask(info: &LaunchInfo, question: &Question) -> io::Result<Answer> {
    try_again(|| {
        let mut stream = connect(info)?;
        write(&mut stream, question)?;
        read(&mut stream)
    })
}

/// Enters a founder that has left its session, so that no process waits for it.
///
/// # Errors
///
/// The bootstrap cannot be reached.
pub fn excuse(info: &LaunchInfo) -> io::Result<()> {
    let contact = Contact {
        rank: info.rank,
        name: short(&info.name),
        address: String::new(),
        found: Found::Gone,
    };
    write(&mut connect(info)?, &Question::Enter(contact))
}

/// Reports the end of a process that this one had started. If the report is lost, later processes
/// find it out themselves.
pub fn tell_end(info: &LaunchInfo, rank: Rank) {
    let _ = ask(info, &Question::Ended(rank));
}

/// Returns the processes that have ended.
///
/// # Errors
///
/// The bootstrap cannot be reached.
pub fn ended(info: &LaunchInfo) -> io::Result<BTreeSet<Rank>> {
    match ask(info, &Question::WhoEnded)? {
        Answer::Ended(ranks) => Ok(ranks.into_iter().collect()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Reports contacts that are not as they were told, so that later processes need not find it out
/// again. If a report is lost, they do.
pub fn tell(info: &LaunchInfo, found: &[Contact]) {
    for some in found.chunks(FOUND_AT_ONCE) {
        let _ = ask(info, &Question::Found(some.to_vec()));
    }
}

/// Allots ranks for processes to come.
///
/// # Errors
///
/// The bootstrap cannot be reached: it ends with `antiphon launch`. Or the session cannot have that
/// many ranks.
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
    let first = match ask(info, &Question::Allot(count)).map_err(failed)? {
        Answer::Allotted(first) => first,
        Answer::Full(given) => {
            let why = format!(
                "{given} of {RANKS} places have been given, so {count} more processes cannot join: ask for fewer, or begin a new session"
            );
            return Err(JoinError::Refused { platform, why });
        }
        _ => return Err(failed(io::ErrorKind::InvalidData.into())),
    };
    // A bootstrap with that answer is none of ours.
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

/// Returns this host's address on the way to another.
///
/// # Errors
///
/// There is no way, or the address is link-local.
pub fn towards(other: SocketAddr) -> io::Result<IpAddr> {
    check_scope(other.ip())?;
    let any: IpAddr = match other {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Nothing is sent: connecting a datagram socket only looks up the route.
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(other)?;
    Ok(socket.local_addr()?.ip())
}

/// Refuses a session of more processes than it has ranks.
///
/// # Errors
///
/// There are too many.
pub(crate) fn check_size(size: u32) -> io::Result<()> {
    match size <= RANKS {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "a session has at most {RANKS} processes, not {size}: start fewer"
        ))),
    }
}

/// Refuses a link-local address. It is valid only together with a network card, which each host
/// numbers in its own way.
///
/// # Errors
///
/// The address is link-local.
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
    read_at_most(stream, LONGEST)
}

fn read_at_most<V: serde::de::DeserializeOwned>(
    stream: &mut impl Read,
    most: usize,
) -> io::Result<V> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Memory grows as bytes come, not as they are announced.
    let mut bytes = Vec::new();
    let count = stream.take(length as u64).read_to_end(&mut bytes)?;
    if count < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SECRET: Secret = Secret([7; 16]);

    fn hold(size: u32) -> Bootstrap {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Bootstrap::hold(any, size, SECRET).expect("a port")
    }

    fn contact(rank: Rank) -> Contact {
        Contact {
            rank,
            name: format!("rank {rank}"),
            address: "127.0.0.1:9".into(),
            found: Found::There,
        }
    }

    /// Returns the answer to a process that proves one rank and enters as another.
    fn enter_as(bootstrap: &Bootstrap, own: Rank, contact: Contact) -> Answer {
        let info = bootstrap.launch_info("tcp", own);
        ask(&info, &Question::Enter(contact)).expect("an answer")
    }

    #[test]
    fn a_session_has_no_more_processes_than_ranks() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let refused = Bootstrap::hold(any, RANKS + 1, SECRET).unwrap_err();
        let said = refused.to_string();
        assert!(
            said.contains("at most 65536 processes, not 65537"),
            "{said}"
        );
    }

    #[test]
    fn what_no_process_can_say_of_itself_is_refused() {
        let bootstrap = hold(2);
        let lies = [
            ("rank 1 enters as rank 0", 1, contact(0)),
            ("rank 2 was not given", 2, contact(2)),
            ("was not given", Rank::MAX, contact(Rank::MAX)),
            (
                "a name of 241 bytes",
                1,
                Contact {
                    name: "x".repeat(241),
                    ..contact(1)
                },
            ),
            (
                "its address is none",
                1,
                Contact {
                    address: "somewhere".into(),
                    ..contact(1)
                },
            ),
        ];
        for (said, own, lie) in lies {
            let answer = enter_as(&bootstrap, own, lie);
            let Answer::Refused(why) = &answer else {
                panic!("{answer:?}");
            };
            assert!(why.contains(said), "{why}");
        }
        assert!(bootstrap.table.contacts.lock().is_empty(), "nobody came");
    }

    #[test]
    fn a_question_of_a_megabyte_is_not_read() {
        let bootstrap = hold(1);
        let info = bootstrap.launch_info("tcp", 0);
        let mut stream = connect(&info).expect("it listens");
        let long = Contact {
            name: "x".repeat(LONGEST_QUESTION),
            ..contact(0)
        };
        // The other end may have hung up before all is sent.
        let _ = write(&mut stream, &Question::Enter(long));
        assert!(read::<Answer>(&mut stream).is_err());
        assert!(bootstrap.table.contacts.lock().is_empty(), "nobody came");
        let answer = enter_as(&bootstrap, 0, contact(0));
        assert!(matches!(answer, Answer::Contacts(_)), "{answer:?}");
    }

    #[test]
    fn those_that_wait_are_told_of_a_founder_that_ended_before_it_came() {
        let bootstrap = hold(3);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| enter_as(&bootstrap, 0, contact(0)));
            while bootstrap.table.contacts.lock().is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
            bootstrap.ended(2);
            let reported = waits.join().expect("no panic");
            assert!(matches!(&reported, Answer::NeverCame(ranks) if ranks == &[2]));
        });
        // A process that comes later is told too. The process that reports itself as another is
        // refused.
        let info = bootstrap.launch_info("tcp", 1);
        let error = enter(&info, "tcp", |_| Ok("127.0.0.1:9".into())).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("rank 2 ended before"), "{said}");
    }
}
