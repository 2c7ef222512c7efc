//! The receiving end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use super::batch::Batch;
use super::faults::Weather;
use super::shared::Shared;
use super::wire::{self, Content, EVERYBODY, Note, Place};
use crate::message::Message;
use crate::platform::patience::{self, Patience, Waits};
use crate::platform::waiting::Waiting;
use crate::platform::{Event, Inbox, Loss, Rank};

/// A datagram, where it came from, and by which socket it was taken.
pub(super) type Datagram = (Vec<u8>, SocketAddr, Way);

/// Sockets, by their tokens among what is waited for.
const OWN: u64 = 0;
const GROUP: u64 = 1;
/// The group is looked at in each turn for so many turns after something came by it, and in one of [`SELDOM`] else: a look is a system call.
const ATTENTION: u32 = 64;
const SELDOM: u32 = 16;

/// How a datagram came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To this process alone.
    Alone,
    /// To the multicast group.
    Group,
}

/// The receiving end of a process's seat.
pub struct UdpInbox {
    shared: Arc<Shared>,
    weather: Option<Weather<Datagram>>,
    patience: Patience,
    batch: Batch,
    waiting: Waiting,
    /// Turns in which the group is looked at.
    attention: u32,
    turns: u32,
}

impl UdpInbox {
    pub(super) fn new(shared: Arc<Shared>, weather: Option<Weather<Datagram>>) -> io::Result<Self> {
        let waiting = Waiting::new(&shared.bell)?;
        waiting.add(&shared.socket, OWN)?;
        if let Some(multicast) = &shared.multicast {
            waiting.add(&multicast.socket, GROUP)?;
        }
        Ok(Self {
            shared,
            weather,
            patience: Patience::default(),
            batch: Batch::default(),
            waiting,
            attention: 0,
            turns: 0,
        })
    }

    /// Takes what is there. True if there was anything.
    fn turn(&mut self, events: &mut Vec<Event>) -> bool {
        let before = events.len();
        let shared = &self.shared;
        if let Some(weather) = &mut self.weather {
            weather.pass_late(Instant::now(), |(datagram, address, way)| {
                take(shared, &datagram, address, way, events);
            });
        }
        self.turns = self.turns.wrapping_add(1);
        if self.attention > 0 || self.turns.is_multiple_of(SELDOM) {
            self.attention = self.attention.saturating_sub(1);
            self.take_from(Way::Group, events);
        }
        self.take_from(Way::Alone, events);
        events.len() > before
    }

    /// Takes what came by one of the sockets.
    fn take_from(&mut self, way: Way, events: &mut Vec<Event>) {
        let shared = &self.shared;
        let multicast = shared.multicast.as_ref().map(|group| &group.socket);
        let socket = match way {
            Way::Alone => Some(&shared.socket),
            Way::Group => multicast,
        };
        let Some(socket) = socket else { return };
        self.batch.receive(socket);
        for (datagram, address) in self.batch.datagrams() {
            if way == Way::Group {
                self.attention = ATTENTION;
            }
            match &mut self.weather {
                None => take(shared, datagram, address, way, events),
                Some(weather) => {
                    let datagram = (datagram.to_vec(), address, way);
                    weather.pass(Instant::now(), datagram, |(datagram, address, way)| {
                        take(shared, &datagram, address, way, events);
                    });
                }
            }
        }
    }
}

impl Waits for UdpInbox {
    const LOOKS: u32 = 1;

    fn patience(&mut self) -> &mut Patience {
        &mut self.patience
    }

    fn look(&mut self, events: &mut Vec<Event>) -> bool {
        self.turn(events) || self.shared.bell.is_rung()
    }

    fn sleep(&mut self, now: Instant, until: Option<Instant>, _events: &mut Vec<Event>) {
        let due = self.weather.as_ref().and_then(Weather::due);
        let multicast = self.shared.multicast.as_ref();
        let probe = multicast.and_then(|multicast| multicast.probing.lock().due());
        let until = [until, due, probe].into_iter().flatten().min();
        let attention = &mut self.attention;
        self.waiting.sleep(&self.shared.bell, now, until, |ready| {
            if ready.token == GROUP {
                *attention = ATTENTION;
            }
        });
    }
}

impl Inbox for UdpInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let (now, before) = (Instant::now(), events.len());
        let mut seen = Some(now);
        self.shared.probe(now);
        if !self.shared.bell.is_rung() && until.is_none_or(|until| now < until) {
            // No look before a sleep: it ends at once if something is there.
            let spin = self.patience.spin();
            seen = patience::wait(self, now, spin, until, events);
        }
        if events.len() == before {
            self.turn(events);
        }
        self.shared.bell.hear();
        seen
    }
}

fn take(shared: &Shared, datagram: &[u8], address: SocketAddr, way: Way, events: &mut Vec<Event>) {
    if way == Way::Group {
        take_of_group(shared, datagram, events);
        return;
    }
    let Some((from, content)) = wire::open(shared.secret, shared.rank, datagram) else {
        return;
    };
    match content {
        Content::Frame(bytes) => {
            // Who is not known yet, or has left, is not heard.
            if shared.places.read().contains_key(&from) {
                events.push(Event::Frame {
                    from,
                    frame: Message::copy_of(bytes),
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
                if let Some(multicast) = &shared.multicast {
                    multicast.probing.lock().left(from);
                }
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
        Content::Note(Note::Hears { birth }) => {
            let is_known = birth == shared.birth && shared.places.read().contains_key(&from);
            let multicast = shared.multicast.as_ref().filter(|_| is_known);
            if multicast.is_some_and(|multicast| multicast.probing.lock().answered(from)) {
                events.push(Event::Hears { rank: from });
            }
        }
        Content::Note(_) => {}
    }
}

/// What was sent to all, this process's own included.
fn take_of_group(shared: &Shared, datagram: &[u8], events: &mut Vec<Event>) {
    let Some((from, content)) = wire::open(shared.secret, EVERYBODY, datagram) else {
        return;
    };
    if from == shared.rank || !shared.places.read().contains_key(&from) {
        return;
    }
    match content {
        Content::Frame(bytes) => events.push(Event::Together {
            from,
            frame: Message::copy_of(bytes),
        }),
        Content::Note(Note::Probe { birth }) => shared.note(from, &Note::Hears { birth }),
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
    if let Some(multicast) = &shared.multicast {
        multicast.probing.lock().came(Instant::now(), rank);
    }
    Some(Event::Joined { rank, name })
}
