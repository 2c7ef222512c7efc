//! `tcp`: processes of one host or several, a connection for each two of them.
//!
//! TCP brings every byte once and in order, so nothing is added but lengths. Sockets are bound to the address by which the [meeting](super::meeting) is
//! reached, which is loopback unless hosts were given. The ends of a connection prove to each other that they know the session's secret; strangers are dropped. Who was called says
//! when it has entered the caller, which waits for that: a process that has joined can be sent to by all. Frames are neither sealed nor encrypted.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use super::farewell::{self, Farewell};
use super::handshake::is_hung_up;
use super::meeting::{self, Contact};
use super::waiting::Bell;
use super::{Event, Flow, JoinError, Loss, Platform, Rank, Seat, Transfer};
use crate::message::Message;
use crate::protocol::group::Sequencer;
use crate::protocol::link::Through;
use calls::FOUNDER_WAIT;
use inbox::TcpInbox;
use peer::Outbox;

mod calls;
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
    seat: Seat,
    has_left: Once,
}

#[derive(Debug)]
struct Shared {
    outboxes: RwLock<Vec<Option<Arc<Outbox>>>>,
    bell: Bell,
    /// Something is kept that the inbox does not know of.
    has_kept: AtomicBool,
}

impl Shared {
    /// Lets frames be sent to a peer, after something that is said first: nobody sends between the two.
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

    fn join(seat: &Seat) -> Result<(Self, TcpInbox), JoinError> {
        let system = |what: String| move |source| JoinError::system::<Self>(what, source);
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
        let others = contacts.iter().filter(|contact| {
            contact.rank != seat.rank && (contact.rank < seat.rank || seat.rank >= seat.size)
        });
        for (contact, stream) in calls::call_all(others, seat) {
            let stream = match stream {
                Ok(stream) => stream,
                Err(error) if seat.rank >= seat.size && never_met(contact, &error, &mut inbox) => {
                    continue;
                }
                Err(error) => {
                    let (name, address) = (&contact.name, &contact.address);
                    return Err(system(format!("connect to {name} at {address}"))(error));
                }
            };
            inbox
                .add(contact.rank, &contact.name, stream, &[])
                .map_err(system(format!("set up the connection to {}", contact.name)))?;
        }
        await_founders(&mut inbox, seat, &contacts)?;
        Ok((
            Self {
                shared,
                seat: seat.clone(),
                has_left: Once::new(),
            },
            inbox,
        ))
    }

    fn untaken(&self, to: Rank) -> usize {
        self.of_outbox(to, Outbox::untaken).unwrap_or(0)
    }

    fn transfer(&self, peer: Rank) -> Transfer {
        self.of_outbox(peer, Outbox::transfer).unwrap_or_default()
    }

    fn cut_off(&self, rank: Rank) {
        // The inbox finds the connection closed, and says nothing.
        self.of_outbox(rank, Outbox::cut);
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

    fn leave(&self, patience: Duration) {
        self.has_left.call_once(|| self.hang_up(patience));
    }

    fn allot(&self, count: u32) -> Result<Vec<Seat>, JoinError> {
        meeting::allot(&self.seat, Self::NAME, count)
    }
}

impl Tcp {
    /// Nothing of a peer that is gone.
    fn of_outbox<R>(&self, rank: Rank, act: impl FnOnce(&Outbox) -> R) -> Option<R> {
        let outboxes = self.shared.outboxes.read();
        let outbox = outboxes.get(rank as usize)?.as_ref()?;
        Some(act(outbox))
    }

    /// What waits goes out first, to all in turns.
    fn hang_up(&self, patience: Duration) {
        let outboxes = self.shared.outboxes.read();
        let mut waiting: Vec<_> = outboxes.iter().flatten().collect();
        let mut farewell = Farewell::new(patience, Instant::now());
        loop {
            let mut left = 0;
            waiting.retain(|outbox| {
                let bytes = outbox.write_last();
                left += bytes;
                bytes > 0
            });
            if !farewell.waits(left, Instant::now()) {
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
        self.leave(farewell::PATIENCE);
    }
}

/// Tells of a process that had entered the meeting and did not answer a later one: it had ended, whoever has its port now, or it was stopped. Whether it was so.
fn never_met(contact: &Contact, error: &io::Error, inbox: &mut TcpInbox) -> bool {
    use io::ErrorKind::{ConnectionRefused, PermissionDenied, TimedOut, WouldBlock};
    let is_anothers = [ConnectionRefused, PermissionDenied].contains(&error.kind());
    let is_certain = is_anothers || is_hung_up(error);
    let is_silent = [TimedOut, WouldBlock].contains(&error.kind());
    let reason = match is_certain {
        true => "had ended before",
        false => "did not answer",
    };
    let loss = Loss {
        is_certain,
        reason: reason.into(),
    };
    if is_certain || is_silent {
        let (rank, name) = (contact.rank, contact.name.clone());
        inbox.keep(vec![
            Event::Joined { rank, name },
            Event::Lost { rank, loss },
        ]);
    }
    is_certain || is_silent
}

/// Founders of higher rank connect to this process; those that were spawned are connected already.
fn await_founders(
    inbox: &mut TcpInbox,
    seat: &Seat,
    contacts: &[Contact],
) -> Result<(), JoinError> {
    let until = Instant::now() + FOUNDER_WAIT;
    let wanted = |inbox: &TcpInbox| {
        contacts
            .iter()
            .filter(|c| c.rank < seat.size && c.rank > seat.rank && !inbox.has(c.rank))
            .cloned()
            .collect::<Vec<_>>()
    };
    while seat.rank < seat.size && !wanted(inbox).is_empty() {
        if Instant::now() >= until {
            let names = wanted(inbox).into_iter().map(|contact| contact.name);
            return Err(JoinError::missing::<Tcp>(FOUNDER_WAIT, names));
        }
        let mut events: Vec<Event> = Vec::new();
        inbox.receive_fresh(Some(until), &mut events);
        inbox.keep(events);
    }
    Ok(())
}
