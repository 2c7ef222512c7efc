//! `tcp`: processes of one host or several, with a connection for each pair.
//!
//! TCP brings every byte once and in order, so only lengths are added. Sockets are bound to the
//! address by which the [`bootstrap`] is reached, which is loopback unless hosts were given.
//!
//! The ends of a connection prove to each other that they know the session's secret; strangers are
//! dropped. A called process confirms when it has entered the caller, which waits for that. So all
//! can send to a process that has joined. Frames are neither sealed nor encrypted.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use super::acceptor;
use super::bootstrap::{self, Contact, Found};
use super::handshake::is_hung_up;
use super::linger::{self, Linger};
use super::waiting::Bell;
use super::{Event, Flow, JoinError, LaunchInfo, Loss, Platform, Rank, Transfer};
use crate::error::Error;
use crate::message::Message;
use crate::protocol::group::Sequencer;
use crate::protocol::link::Through;
use crate::session::Session;
use calls::FOUNDER_WAIT;
pub(super) use inbox::TcpInbox;
use peer::Outbox;

mod calls;
mod head;
mod hello;
mod inbox;
mod peer;
mod progress;
mod reader;
mod retry;

/// The sending end.
#[derive(Debug)]
pub struct Tcp {
    shared: Arc<Shared>,
    info: LaunchInfo,
    has_left: Once,
}

#[derive(Debug)]
struct Shared {
    outboxes: RwLock<Vec<Option<Arc<Outbox>>>>,
    bell: Bell,
    /// Whether something is kept that the inbox does not know of.
    has_kept: AtomicBool,
}

impl Shared {
    /// Allows frames to a peer, after the bytes `first`: no thread sends in between.
    fn enter(&self, rank: Rank, outbox: &Arc<Outbox>, first: &[u8]) -> io::Result<()> {
        let mut outboxes = self.outboxes.write();
        // A new connection has room for these few bytes.
        (&*outbox.stream).write_all(first)?;
        let at = rank as usize;
        if outboxes.len() <= at {
            outboxes.resize(at + 1, None);
        }
        outboxes[at] = Some(outbox.clone());
        Ok(())
    }

    fn remove(&self, rank: Rank) {
        if let Some(outbox) = self.outboxes.write().get_mut(rank as usize) {
            *outbox = None;
        }
    }
}

impl Platform for Tcp {
    const NAME: &'static str = "tcp";
    const RELIABLE: bool = true;
    const ORDERED: bool = false;
    const LARGEST: usize = usize::MAX;
    type Links = Through;
    type Order = Sequencer;
    type Inbox = TcpInbox;

    fn join(info: &LaunchInfo) -> Result<(Self, TcpInbox), JoinError> {
        let system = |what: String| move |source| JoinError::system::<Self>(what, source);
        let (tcp, mut inbox, contacts) = Self::enter(info)?;
        let is_late = info.rank >= info.size;
        let others = contacts
            .iter()
            .filter(|contact| contact.rank != info.rank && (contact.rank < info.rank || is_late));
        let (gone, others): (Vec<_>, Vec<_>) =
            others.partition(|contact| contact.found == Found::Gone);
        for contact in gone {
            Absence::Gone.tell(contact, &mut inbox);
        }
        let mut news = Vec::new();
        for (contact, stream) in calls::call_all(others.into_iter(), info) {
            let stream = match stream {
                Ok(stream) => stream,
                Err(error) => {
                    if let Some(absence) = absence(&error).filter(|_| is_late) {
                        absence.tell(contact, &mut inbox);
                        news.extend(absence.found().of(contact));
                        continue;
                    }
                    let (name, address) = (&contact.name, &contact.address);
                    return Err(system(format!("connect to {name} at {address}"))(error));
                }
            };
            inbox
                .add(contact.rank, &contact.name, stream, &[])
                .map_err(system(format!("set up the connection to {}", contact.name)))?;
            news.extend(Found::There.of(contact));
        }
        if is_late {
            bootstrap::tell(info, &news);
        }
        await_founders(&mut inbox, info, &contacts)?;
        Ok((tcp, inbox))
    }

    fn open(
        self,
        inbox: Self::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Session, Error> {
        Session::with_protocols(self, inbox, info, silence)
    }

    fn untaken(&self, to: Rank) -> usize {
        self.of_outbox(to, Outbox::untaken).unwrap_or(0)
    }

    fn transfer(&self, peer: Rank) -> Transfer {
        self.of_outbox(peer, Outbox::transfer).unwrap_or_default()
    }

    fn cut_off(&self, rank: Rank) {
        // The inbox finds the connection closed, and reports nothing.
        self.of_outbox(rank, Outbox::cut);
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        let outboxes = self.shared.outboxes.read();
        let Some(Some(outbox)) = outboxes.get(to as usize) else {
            return Flow::Free;
        };
        let (is_kept, flow) = outbox.send(frame);
        if is_kept {
            // The holder of the inbox must learn that there is something to write.
            self.shared.has_kept.store(true, SeqCst);
            self.shared.bell.ring();
        }
        flow
    }

    fn has_kept(&self) -> bool {
        self.shared.has_kept.load(SeqCst)
    }

    fn wake(&self) {
        self.shared.bell.ring();
    }

    fn leave(&self, patience: Duration) {
        self.has_left.call_once(|| self.hang_up(patience));
    }

    fn has_ended(&self, rank: Rank) {
        bootstrap::tell_end(&self.info, rank);
    }

    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        bootstrap::allot(&self.info, Self::NAME, count)
    }
}

impl Tcp {
    /// Takes a founder's place for later processes only: founders have another way to each other.
    /// Waits until all of them have entered the bootstrap.
    ///
    /// # Errors
    ///
    /// The bootstrap cannot be reached, or founders are missing.
    pub(super) fn beside(info: &LaunchInfo) -> Result<(Self, TcpInbox), JoinError> {
        let (tcp, inbox, _founders) = Self::enter(info)?;
        Ok((tcp, inbox))
    }

    /// Listens, and enters the bootstrap. Returns the others' contacts, too.
    fn enter(info: &LaunchInfo) -> Result<(Self, TcpInbox, Vec<Contact>), JoinError> {
        let system = |what: String| move |source| JoinError::system::<Self>(what, source);
        let mut listener = None;
        let contacts = bootstrap::enter(info, Self::NAME, |ip: IpAddr| {
            let own = acceptor::listen(SocketAddr::new(ip, 0))?;
            own.set_nonblocking(true)?;
            let address = own.local_addr()?.to_string();
            listener = Some(own);
            Ok(address)
        })?;
        let listener = listener.expect("the bootstrap was told its address");
        let bell = Bell::new().map_err(system("make an event counter".into()))?;
        let shared = Arc::new(Shared {
            outboxes: RwLock::default(),
            bell,
            has_kept: AtomicBool::new(false),
        });
        let inbox = TcpInbox::new(info, listener, shared.clone())
            .map_err(system("watch the listening socket".into()))?;
        let tcp = Self {
            shared,
            info: info.clone(),
            has_left: Once::new(),
        };
        Ok((tcp, inbox, contacts))
    }

    /// Runs `act` on a peer's outbox; returns `None` if the peer is gone.
    fn of_outbox<R>(&self, rank: Rank, act: impl FnOnce(&Outbox) -> R) -> Option<R> {
        let outboxes = self.shared.outboxes.read();
        let outbox = outboxes.get(rank as usize)?.as_ref()?;
        Some(act(outbox))
    }

    /// Hangs up on all peers. What waits goes out first, to all in turns.
    fn hang_up(&self, patience: Duration) {
        let outboxes = self.shared.outboxes.read();
        let mut waiting: Vec<_> = outboxes.iter().flatten().collect();
        let mut linger = Linger::new(patience, Instant::now());
        loop {
            let mut left = 0;
            waiting.retain(|outbox| {
                let bytes = outbox.write_last();
                left += bytes;
                bytes > 0
            });
            if !linger.waits(left, Instant::now()) {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        for outbox in waiting {
            let _ = outbox.stream.shutdown(std::net::Shutdown::Write);
        }
    }
}

impl Drop for Tcp {
    fn drop(&mut self) {
        self.leave(linger::PATIENCE);
    }
}

/// The state of a process that had entered the bootstrap and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// It had ended, whatever process has its port now.
    Gone,
    /// It was stopped, or is cut off.
    Silent,
    /// Its host cannot be reached.
    Unreachable,
}

/// Returns what a failed call says about the called process; `None` if it says nothing about it.
fn absence(error: &io::Error) -> Option<Absence> {
    use io::ErrorKind::{
        ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable, PermissionDenied,
        TimedOut, WouldBlock,
    };
    match error.kind() {
        _ if is_hung_up(error) => Some(Absence::Gone),
        ConnectionRefused => Some(Absence::Gone),
        // A `PermissionDenied` of the system itself means that this host lets nothing through to
        // there.
        PermissionDenied if error.raw_os_error().is_none() => Some(Absence::Gone),
        TimedOut | WouldBlock => Some(Absence::Silent),
        HostUnreachable | NetworkUnreachable | NetworkDown | PermissionDenied => {
            Some(Absence::Unreachable)
        }
        _ => None,
    }
}

impl Absence {
    /// Returns the state that later processes are told.
    fn found(self) -> Found {
        match self {
            Self::Gone => Found::Gone,
            Self::Silent | Self::Unreachable => Found::Silent,
        }
    }

    /// Reports a process that was not met to this process.
    fn tell(self, contact: &Contact, inbox: &mut TcpInbox) {
        let reason = match self {
            Self::Gone => "had ended before",
            Self::Silent => "did not answer",
            Self::Unreachable => "could not be reached",
        };
        let loss = Loss {
            is_certain: self == Self::Gone,
            has_left: false,
            reason: reason.into(),
        };
        let (rank, name) = (contact.rank, contact.name.clone());
        inbox.keep(vec![
            Event::Joined { rank, name },
            Event::Lost { rank, loss },
        ]);
    }
}

/// Time after which a waiting founder asks again which founders have ended.
const ASK_OF_ENDS: Duration = Duration::from_secs(1);

/// Waits for founders of higher rank to connect to this process. Spawned processes are connected
/// already.
fn await_founders(
    inbox: &mut TcpInbox,
    info: &LaunchInfo,
    contacts: &[Contact],
) -> Result<(), JoinError> {
    let until = Instant::now() + FOUNDER_WAIT;
    let wanted = |inbox: &TcpInbox| {
        contacts
            .iter()
            .filter(|c| c.rank < info.size && c.rank > info.rank && c.found != Found::Gone)
            .filter(|c| !inbox.has_met(c.rank))
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut asks_at = Instant::now() + ASK_OF_ENDS;
    while info.rank < info.size && !wanted(inbox).is_empty() {
        let now = Instant::now();
        if now >= until {
            let names = wanted(inbox).into_iter().map(|contact| contact.name);
            return Err(JoinError::missing::<Tcp>(FOUNDER_WAIT, names));
        }
        if now >= asks_at {
            let ended = bootstrap::ended(info).unwrap_or_default();
            let mut lost = wanted(inbox);
            lost.retain(|contact| ended.contains(&contact.rank));
            if !lost.is_empty() {
                let names = lost.into_iter().map(|contact| contact.name);
                return Err(JoinError::never_came::<Tcp>(names));
            }
            if let Some(error) = inbox.accept_again() {
                return Err(JoinError::system::<Tcp>(
                    "accept connections of the others",
                    error,
                ));
            }
            asks_at = Instant::now() + ASK_OF_ENDS;
        }
        let mut events: Vec<Event> = Vec::new();
        inbox.receive_fresh(Some(until.min(asks_at)), &mut events);
        inbox.keep(events);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_cannot_be_reached_keeps_nobody_out() {
        use io::ErrorKind::{AddrInUse, ConnectionRefused, InvalidData, TimedOut, UnexpectedEof};
        let system = |number| absence(&io::Error::from_raw_os_error(number));
        for number in [
            libc::EHOSTUNREACH,
            libc::ENETUNREACH,
            libc::ENETDOWN,
            libc::EACCES,
        ] {
            assert_eq!(system(number), Some(Absence::Unreachable), "{number}");
        }
        assert_eq!(system(libc::ETIMEDOUT), Some(Absence::Silent));
        assert_eq!(system(libc::EMFILE), None);
        let kind = |kind: io::ErrorKind| absence(&kind.into());
        assert_eq!(kind(TimedOut), Some(Absence::Silent));
        for gone in [
            ConnectionRefused,
            UnexpectedEof,
            io::ErrorKind::PermissionDenied,
        ] {
            assert_eq!(kind(gone), Some(Absence::Gone), "{gone}");
        }
        for own in [AddrInUse, InvalidData] {
            assert_eq!(kind(own), None, "{own}");
        }
    }

    fn hold(size: u32) -> super::super::Bootstrap {
        let any = "127.0.0.1:0".parse().unwrap();
        super::super::Bootstrap::hold(any, size, super::super::Secret([7; 16])).expect("a port")
    }

    #[test]
    fn a_founder_that_ends_before_it_connects_is_waited_for_no_longer() {
        let bootstrap = hold(2);
        let info = bootstrap.launch_info("tcp", 0);
        let joining = std::thread::spawn(move || Tcp::join(&info).map(drop));
        let other = bootstrap.launch_info("tcp", 1);
        bootstrap::enter(&other, "tcp", |_| Ok("127.0.0.1:9".into())).expect("both have come");
        bootstrap.ended(1);
        let why = joining.join().unwrap().unwrap_err().to_string();
        assert!(why.contains("rank 1 ended before joining"), "{why}");
    }

    /// The second founder has connected, and its end was seen, while the third one was still waited
    /// for.
    #[test]
    fn a_founder_that_was_met_and_has_left_is_not_waited_for() {
        let bootstrap = hold(3);
        let info = bootstrap.launch_info("tcp", 0);
        let joining = std::thread::spawn(move || Tcp::join(&info).map(|(_, inbox)| inbox));
        let infos = [1, 2].map(|rank| bootstrap.launch_info("tcp", rank));
        let entering = infos.clone().map(|info| {
            let enter = move || bootstrap::enter(&info, "tcp", |_| Ok("127.0.0.1:9".into()));
            std::thread::spawn(enter)
        });
        let contacts = entering.map(|one| one.join().unwrap().expect("all have come"));
        for (info, contacts) in infos.iter().zip(&contacts) {
            let called = calls::call_all(contacts[..1].iter(), info);
            assert!(called[0].1.is_ok(), "{called:?}");
            drop(called);
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut inbox = joining.join().unwrap().expect("nobody is waited for");
        let mut lost = Vec::new();
        while lost.len() < 2 {
            let mut events = Vec::new();
            super::super::Inbox::receive(&mut inbox, None, &mut events);
            lost.extend(events.iter().filter_map(|event| match event {
                Event::Lost { rank, .. } => Some(*rank),
                _ => None,
            }));
        }
        lost.sort_unstable();
        assert_eq!(lost, [1, 2]);
    }
}
