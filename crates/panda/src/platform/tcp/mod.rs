//! `tcp`: processes of one host or several, a connection for each two of them.
//!
//! TCP brings every byte once and in order, so nothing is added but lengths. Sockets are bound to the address by which the [meeting](super::meeting) is
//! reached, which is loopback unless hosts were given. A connection begins with the session's secret; strangers are dropped.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use super::meeting::{self, Contact};
use super::waiting::Bell;
use super::{Event, Flow, JoinError, Platform, Rank, Seat};
use crate::message::Message;
use crate::protocol::group::Sequencer;
use crate::protocol::link::Through;
use hello::Hello;
use inbox::TcpInbox;
use peer::Outbox;

mod hello;
mod inbox;
mod peer;
mod reader;

/// How long peers may take to connect once they have entered the meeting.
const CONNECT_WAIT: Duration = Duration::from_secs(30);

/// The sending end.
#[derive(Debug)]
pub struct Tcp {
    shared: Arc<Shared>,
    seat: Seat,
}

#[derive(Debug)]
struct Shared {
    outboxes: RwLock<Vec<Option<Arc<Outbox>>>>,
    bell: Bell,
    /// Something is kept that the inbox does not know of.
    has_kept: AtomicBool,
}

impl Shared {
    fn set(&self, rank: Rank, outbox: Option<Arc<Outbox>>) -> Option<Arc<Outbox>> {
        let mut outboxes = self.outboxes.write();
        let at = rank as usize;
        if outboxes.len() <= at {
            outboxes.resize(at + 1, None);
        }
        std::mem::replace(&mut outboxes[at], outbox)
    }
}

impl Platform for Tcp {
    const NAME: &'static str = "tcp";
    const RELIABLE: bool = true;
    const ORDERED: bool = false;
    const LARGEST: usize = usize::MAX;
    const SURVIVES: bool = true;
    type Links = Through;
    type Order = Sequencer;
    type Inbox = TcpInbox;

    fn join(seat: &Seat) -> Result<(Self, TcpInbox), JoinError> {
        let system = |what: String| {
            move |source| JoinError::System {
                platform: Self::NAME,
                what,
                source,
            }
        };
        let mut listener = None;
        let contacts = meeting::enter(seat, Self::NAME, |ip: IpAddr| {
            let own = TcpListener::bind(SocketAddr::new(ip, 0))?;
            own.set_nonblocking(true)?;
            let address = own.local_addr()?.to_string();
            listener = Some(own);
            Ok(address)
        })?;
        let listener = listener.expect("the meeting was told its address");
        let bell = Bell::new().map_err(system("make an event counter".into()))?;
        let shared = Arc::new(Shared {
            outboxes: RwLock::default(),
            bell,
            has_kept: AtomicBool::new(false),
        });
        let mut inbox = TcpInbox::new(seat, listener, shared.clone())
            .map_err(system("watch the listening socket".into()))?;
        for contact in contacts.iter().filter(|contact| {
            contact.rank != seat.rank && (contact.rank < seat.rank || seat.rank >= seat.size)
        }) {
            let stream = connect(contact, seat).map_err(system(format!(
                "connect to {} at {}",
                contact.name, contact.address
            )))?;
            inbox
                .add(contact.rank, &contact.name, stream)
                .map_err(system(format!("set up the connection to {}", contact.name)))?;
        }
        await_founders(&mut inbox, seat, &contacts)?;
        Ok((
            Self {
                shared,
                seat: seat.clone(),
            },
            inbox,
        ))
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        let outboxes = self.shared.outboxes.read();
        let Some(Some(outbox)) = outboxes.get(to as usize) else {
            return Flow::Free;
        };
        let (is_kept, flow) = outbox.send(frame);
        if is_kept {
            // Whoever holds the inbox must learn that there is something to write.
            self.shared.has_kept.store(true, SeqCst);
            self.shared.bell.ring();
        }
        flow
    }

    fn wake(&self) {
        self.shared.bell.ring();
    }

    fn allot(&self, count: u32) -> Result<Vec<Seat>, JoinError> {
        meeting::allot(&self.seat, Self::NAME, count)
    }
}

impl Drop for Tcp {
    /// What waits goes out first, if the peers take it.
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(2);
        for outbox in self.shared.outboxes.read().iter().flatten() {
            while outbox.wants_to_write() && Instant::now() < until {
                outbox.write();
                std::thread::sleep(Duration::from_micros(200));
            }
            let _ = outbox.stream.shutdown(std::net::Shutdown::Write);
        }
    }
}

fn connect(contact: &Contact, seat: &Seat) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(&contact.address)?;
    Hello::write(&stream, seat)?;
    Ok(stream)
}

/// Founders of higher rank connect to this process; those that were spawned are connected already.
fn await_founders(
    inbox: &mut TcpInbox,
    seat: &Seat,
    contacts: &[Contact],
) -> Result<(), JoinError> {
    let until = Instant::now() + CONNECT_WAIT;
    let wanted = |inbox: &TcpInbox| {
        contacts
            .iter()
            .filter(|c| c.rank < seat.size && c.rank > seat.rank && !inbox.has(c.rank))
            .cloned()
            .collect::<Vec<_>>()
    };
    while seat.rank < seat.size && !wanted(inbox).is_empty() {
        if Instant::now() >= until {
            let missing: Vec<String> = wanted(inbox)
                .into_iter()
                .map(|contact| contact.name)
                .collect();
            return Err(JoinError::Missing {
                platform: Tcp::NAME,
                waited_s: CONNECT_WAIT.as_secs(),
                missing: missing.join(", "),
            });
        }
        let mut events: Vec<Event> = Vec::new();
        inbox.receive_fresh(Some(until), &mut events);
        inbox.keep(events);
    }
    Ok(())
}
