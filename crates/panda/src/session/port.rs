//! Message passing: ports that have an upcall, or that are received from.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::desk::Arrived;
use super::engine::Ask;
use super::{Session, WeakSession, number_of, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::{Flow, Rank};

/// How long to wait for a peer before it is asked for signs of life: what comes sooner does without.
const UNWATCHED: Duration = Duration::from_millis(1);

/// A named place that messages come to, one at each process.
#[derive(Clone)]
pub struct Port {
    session: WeakSession,
    number: u64,
}

impl Session {
    /// The port of a name. Messages that come before anybody asks for them are kept.
    #[must_use]
    pub fn port(&self, name: &str) -> Port {
        Port {
            session: self.downgrade(),
            number: number_of(name),
        }
    }
}

impl Session {
    /// Waits until something holds that a peer brings about, or the peer is found lost.
    fn wait_watching(
        &self,
        peer: Rank,
        is_done: impl FnMut() -> bool,
        until: Option<Instant>,
    ) -> bool {
        self.ask(Ask::Watch(peer));
        let is_held = self.wait(is_done, until);
        self.ask(Ask::Unwatch(peer));
        is_held
    }
}

impl Port {
    /// Has an upcall take the messages, those that have come included. It must not wait.
    #[track_caller]
    pub fn on_message(&self, upcall: impl FnMut(Arrived) + Send + 'static) {
        let place = Location::caller();
        if let Ok(session) = self.session.upgrade() {
            (session.desk()).on_port(self.number, place, Box::new(upcall));
        }
    }

    /// Sends and goes on: returns when the message is on its way, and waits only for a peer that is slow.
    ///
    /// # Errors
    /// There is no such rank. A peer that is lost is not an error here: watch for it by what needs an answer.
    pub fn send(&self, to: Rank, tag: u32, payload: impl Into<Message>) -> Result<(), Error> {
        let session = self.session.upgrade()?;
        session.check_rank(to)?;
        let (_, flow) = session.ask(Ask::Send {
            to,
            port: self.number,
            tag,
            payload: payload.into(),
        });
        if flow == Flow::Congested {
            session.wait_for_room(to);
        }
        Ok(())
    }

    /// Sends and waits until the message has been handed over there.
    ///
    /// # Errors
    /// The peer is lost, or this is an upcall.
    #[track_caller]
    pub fn send_synchronously(
        &self,
        to: Rank,
        tag: u32,
        payload: impl Into<Message>,
    ) -> Result<(), Error> {
        upcall::must_not_wait()?;
        let session = self.session.upgrade()?;
        session.check_rank(to)?;
        let (id, _) = session.ask(Ask::SendSynchronously {
            to,
            port: self.number,
            tag,
            payload: payload.into(),
            deadline: None,
        });
        session.reply_of(id, "", None).map(drop)
    }

    /// The first message that fits, if one has come.
    #[must_use]
    pub fn poll(&self, from: Option<Rank>, tag: Option<u32>) -> Option<Arrived> {
        let session = self.session.upgrade().ok()?;
        session.poll();
        session.desk().first(self.number, from, tag)
    }

    /// Waits for the first message that fits: of a sender and with a tag, or of any.
    ///
    /// # Errors
    /// The sender that was asked for is lost, or this is an upcall.
    #[track_caller]
    pub fn receive(&self, from: Option<Rank>, tag: Option<u32>) -> Result<Arrived, Error> {
        upcall::must_not_wait()?;
        self.receive_until(from, tag, None)
    }

    /// The same, for a time at most.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), or the time has passed.
    #[track_caller]
    pub fn receive_within(
        &self,
        from: Option<Rank>,
        tag: Option<u32>,
        time: Duration,
    ) -> Result<Arrived, Error> {
        upcall::must_not_wait()?;
        self.receive_until(from, tag, Some(time))
    }

    fn receive_until(
        &self,
        from: Option<Rank>,
        tag: Option<u32>,
        time: Option<Duration>,
    ) -> Result<Arrived, Error> {
        let session = self.session.upgrade()?;
        let desk = session.desk();
        if let Some(arrived) = desk.first(self.number, from, tag) {
            return Ok(arrived);
        }
        let others = from.filter(|from| *from != session.rank());
        if let Some(from) = others {
            session.check_rank(from)?;
        }
        let losses = |rank: Rank| desk.losses(rank).0;
        let before = others.map(losses);
        let mut found = None;
        let until = time.map(|time| Instant::now() + time);
        let mut is_done = || {
            // It may be asked again after it has held.
            found = found.take().or_else(|| desk.first(self.number, from, tag));
            found.is_some() || others.map(losses) != before
        };
        let is_held = match others {
            None => session.wait(is_done, until),
            Some(from) => {
                let soon = Instant::now() + UNWATCHED;
                let first = until.map_or(soon, |until| until.min(soon));
                session.wait(&mut is_done, Some(first))
                    || session.wait_watching(from, is_done, until)
            }
        };
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        match (found, from) {
            (Some(arrived), _) => Ok(arrived),
            (None, Some(rank)) if is_held => Err(Error::Lost {
                rank,
                peer: session.name_of(rank),
                why: desk.losses(rank).1,
            }),
            (None, _) if !is_late => Err(Error::Over),
            (None, from) => {
                let peer = from.map_or_else(|| "anybody".to_string(), |rank| session.name_of(rank));
                Err(Error::TimedOut {
                    rank: from.unwrap_or(session.rank()),
                    peer,
                    after: time.unwrap_or_default(),
                })
            }
        }
    }
}
