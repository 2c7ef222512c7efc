//! The receiving end.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::faults::Weather;
use super::shared::Shared;
use super::wire::{self, Content, DATAGRAM, Note, Place};
use crate::message::Message;
use crate::platform::patience::Patience;
use crate::platform::{Event, Inbox, Loss, Rank};

/// Datagrams that are taken at a time.
const TURN: usize = 32;
/// The longest frame that is copied into the message itself, without allocating.
const WITHIN: usize = 64;

/// A datagram and where it came from.
type Datagram = (Vec<u8>, SocketAddr);

/// The receiving end of a process's seat.
pub struct UdpInbox {
    shared: Arc<Shared>,
    weather: Option<Weather<Datagram>>,
    patience: Patience,
    space: Box<[u8; DATAGRAM]>,
}

impl UdpInbox {
    pub(super) fn new(shared: Arc<Shared>, weather: Option<Weather<Datagram>>) -> Self {
        Self {
            shared,
            weather,
            patience: Patience::default(),
            space: Box::new([0; DATAGRAM]),
        }
    }

    /// Takes what is there. True if there was anything.
    fn turn(&mut self, events: &mut Vec<Event>) -> bool {
        let before = events.len();
        let shared = &self.shared;
        if let Some(weather) = &mut self.weather {
            weather.pass_late(Instant::now(), |(datagram, address)| {
                take(shared, &datagram, address, events);
            });
        }
        for _ in 0..TURN {
            let (length, address) = match shared.socket.recv_from(&mut self.space[..]) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // What an earlier datagram of ours met with, such as a closed port.
                Err(_) => continue,
            };
            let datagram = &self.space[..length];
            match &mut self.weather {
                None => take(shared, datagram, address, events),
                Some(weather) => {
                    let datagram = (datagram.to_vec(), address);
                    weather.pass(Instant::now(), datagram, |(datagram, address)| {
                        take(shared, &datagram, address, events);
                    });
                }
            }
        }
        events.len() > before
    }

    /// Waits until something is there, spinning first where that was worth it before.
    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        let began = Instant::now();
        let spin = self.patience.spin();
        let mut now = began;
        while now < began + spin && until.is_none_or(|until| now < until) {
            if self.turn(events) || self.shared.woken.load(Relaxed) {
                self.patience.found();
                return;
            }
            now = Instant::now();
        }
        self.sleep(until);
        if until.is_none_or(|until| now < until) {
            self.patience.slept(now - began, now.elapsed());
        }
        self.turn(events);
    }

    fn sleep(&mut self, until: Option<Instant>) {
        let due = self.weather.as_ref().and_then(Weather::due);
        let until = [until, due].into_iter().flatten().min();
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let shared = &self.shared;
        shared.asleep.store(true, SeqCst);
        if !shared.woken.load(SeqCst) {
            let mut polled = [
                PollFd::new(&shared.socket, PollFlags::IN),
                PollFd::new(&shared.bell, PollFlags::IN),
            ];
            // An interruption is an early return, which is allowed.
            let _ = poll(&mut polled, timeout.as_ref());
        }
        if !shared.asleep.swap(false, SeqCst) {
            let _ = rustix::io::read(&shared.bell, &mut [0; 8]);
        }
    }
}

impl Inbox for UdpInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        if self.turn(events) {
            return;
        }
        if !self.shared.woken.load(SeqCst) && until.is_none_or(|until| Instant::now() < until) {
            self.wait(until, events);
        }
        self.shared.woken.store(false, SeqCst);
    }
}

fn take(shared: &Shared, datagram: &[u8], address: SocketAddr, events: &mut Vec<Event>) {
    let Some((from, content)) = wire::open(shared.secret, shared.rank, datagram) else {
        return;
    };
    match content {
        Content::Frame(bytes) => {
            // Who is not known yet, or has left, is not heard.
            if shared.places.read().contains_key(&from) {
                events.push(Event::Frame {
                    from,
                    frame: message(bytes),
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
            let mut places = shared.places.write();
            if places.get(&from).is_some_and(|place| place.birth == birth) {
                places.remove(&from);
                shared.left.write().insert(from, birth);
                events.push(Event::Lost {
                    rank: from,
                    loss: Loss {
                        is_certain: true,
                        reason: "left the session".into(),
                    },
                });
            }
        }
        Content::Note(_) => {}
    }
}

/// Somebody knocked: news, unless it is known.
fn meet(shared: &Shared, rank: Rank, place: Place) -> Option<Event> {
    let mut places = shared.places.write();
    let has_left = |birth| shared.left.read().get(&rank).is_some_and(|b| *b >= birth);
    if rank == shared.rank
        || has_left(place.birth)
        || places
            .get(&rank)
            .is_some_and(|known| known.birth >= place.birth)
    {
        return None;
    }
    let name = place.name.clone();
    places.insert(rank, place);
    Some(Event::Joined { rank, name })
}

/// A frame; a short one without allocating.
fn message(bytes: &[u8]) -> Message {
    if bytes.len() > WITHIN {
        return Message::from(bytes.to_vec());
    }
    let mut message = Message::new();
    message.push(bytes);
    message
}
