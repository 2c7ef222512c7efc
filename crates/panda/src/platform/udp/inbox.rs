//! The receiving end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use super::batch::Batch;
use super::faults::Weather;
use super::shared::Shared;
use super::wire::{self, Content, Note, Place};
use crate::message::Message;
use crate::platform::patience::{self, Patience, Waits};
use crate::platform::waiting::Waiting;
use crate::platform::{Event, Inbox, Loss, Rank};

/// A datagram and where it came from.
type Datagram = (Vec<u8>, SocketAddr);

/// The receiving end of a process's seat.
pub struct UdpInbox {
    shared: Arc<Shared>,
    weather: Option<Weather<Datagram>>,
    patience: Patience,
    batch: Batch,
    waiting: Waiting,
}

impl UdpInbox {
    pub(super) fn new(shared: Arc<Shared>, weather: Option<Weather<Datagram>>) -> io::Result<Self> {
        let waiting = Waiting::new(&shared.bell)?;
        waiting.add(&shared.socket, 0)?;
        Ok(Self {
            shared,
            weather,
            patience: Patience::default(),
            batch: Batch::default(),
            waiting,
        })
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
        self.batch.receive(&shared.socket);
        for (datagram, address) in self.batch.datagrams() {
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
        let until = [until, due].into_iter().flatten().min();
        self.waiting.sleep(&self.shared.bell, now, until, |_| ());
    }
}

impl Inbox for UdpInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let (mut now, before) = (Instant::now(), events.len());
        if !self.shared.bell.is_rung() && until.is_none_or(|until| now < until) {
            // No look before a sleep: it ends at once if something is there.
            let spin = self.patience.spin();
            now = patience::wait(self, now, spin, until, events);
        }
        if events.len() == before {
            self.turn(events);
        }
        self.shared.bell.hear();
        Some(now)
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
