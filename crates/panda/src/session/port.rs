//! Message passing through ports: a port has an upcall, or threads receive from it.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::core::Core;
use super::dispatcher::{Arrived, Probed, fits};
use super::engine::{Awaited, Interest, Request, WaitsFor};
use super::{Session, number_of, upcall};
use crate::error::{Error, Named, SameNumber};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::{Content, Envelope, Incoming};

/// A wait for the first fitting message at a port.
struct FirstThatFits<'a> {
    port: u64,
    from: Option<Rank>,
    tag: Option<u32>,
    /// Takes the message if it lies there.
    look: &'a dyn Fn() -> Option<Arrived>,
    /// Returns whether the thread must first learn of other news.
    has_news: &'a dyn Fn() -> bool,
    /// Whether there was news. Another thread may have learned of it since.
    had_news: bool,
    found: Option<Arrived>,
}

impl Awaited for FirstThatFits<'_> {
    fn holds(&mut self) -> bool {
        // `holds` may be called again after it has returned true.
        if self.found.is_none() {
            self.found = (self.look)();
        }
        self.had_news = self.found.is_none() && (self.has_news)();
        self.found.is_some() || self.had_news
    }

    fn what(&self) -> WaitsFor {
        WaitsFor::Message {
            port: self.port,
            from: self.from,
            tag: self.tag,
        }
    }

    fn take(&mut self, incoming: &mut Incoming<'_>) -> bool {
        let Content::Message { port, tag, .. } = incoming.content else {
            return false;
        };
        let (from, wanted) = (incoming.from, (self.from, self.tag));
        let is_it = self.found.is_none() && port == self.port && fits((from, tag), wanted);
        if is_it {
            let payload = incoming.take_payload();
            self.found = Some(Arrived { from, tag, payload });
        }
        is_it
    }
}

/// A look for an unread message, repeated whenever something may have changed.
struct Look<'a, T> {
    waits_for: WaitsFor,
    look: &'a mut dyn FnMut() -> Result<Option<T>, Error>,
    /// Returns whether the thread must first learn of other news.
    has_news: &'a dyn Fn() -> bool,
    /// Whether there was news. Another thread may have learned of it since.
    had_news: bool,
    found: Option<Result<T, Error>>,
}

impl<T> Awaited for Look<'_, T> {
    fn holds(&mut self) -> bool {
        if self.found.is_none() {
            self.found = (self.look)().transpose();
        }
        self.had_news = self.found.is_none() && (self.has_news)();
        self.found.is_some() || self.had_news
    }

    fn what(&self) -> WaitsFor {
        self.waits_for
    }
}

/// A wait for a message, and what it has found.
trait Search: Awaited {
    type Found;

    fn found(&mut self) -> Option<Result<Self::Found, Error>>;

    fn had_news(&self) -> bool;
}

impl Search for FirstThatFits<'_> {
    type Found = Arrived;

    fn found(&mut self) -> Option<Result<Arrived, Error>> {
        self.found.take().map(Ok)
    }

    fn had_news(&self) -> bool {
        self.had_news
    }
}

impl<T> Search for Look<'_, T> {
    type Found = T;

    fn found(&mut self) -> Option<Result<T, Error>> {
        self.found.take()
    }

    fn had_news(&self) -> bool {
        self.had_news
    }
}

/// A named place for messages, one at each process.
#[derive(Clone)]
pub struct Port {
    core: Arc<Core>,
    number: u64,
    refused: Option<SameNumber>,
}

impl Session {
    /// Returns the port of a name. The session keeps messages that come before the program asks for
    /// them.
    ///
    /// If the name cannot be told from that of another port of this process, all operations fail
    /// with [`Error::SameNumber`].
    #[must_use]
    pub fn port(&self, name: &str) -> Port {
        Port {
            core: self.keeper.core.clone(),
            number: number_of(name),
            refused: self.core().dispatcher.names.number(Named::Port, name).err(),
        }
    }
}

impl Port {
    /// Returns the session's core, if the session goes on.
    #[inline]
    fn core(&self) -> Result<&Core, Error> {
        match &self.refused {
            None => self.core.check().map(|()| &*self.core),
            Some(refused) => Err(refused.clone().into()),
        }
    }

    /// Checks that the port is usable.
    ///
    /// # Errors
    ///
    /// The session is over, or the name cannot be told from another one.
    pub fn check(&self) -> Result<(), Error> {
        self.core().map(drop)
    }

    /// Registers `upcall` to receive this port's messages, including those already queued. The
    /// upcall must not block.
    ///
    /// # Errors
    ///
    /// The session is over, or the name cannot be told from another one.
    #[track_caller]
    pub fn on_message(&self, upcall: impl FnMut(Arrived) + Send + 'static) -> Result<(), Error> {
        let place = Location::caller();
        let core = self.core()?;
        let mailbox = &core.dispatcher.mailbox;
        mailbox.on_message(self.number, place, Box::new(upcall), core.rank);
        mailbox.let_go(&*core.engine);
        // A thread that waits for a message of this port learns that none will come.
        if core.engine.is_awaited() {
            core.engine.nudge();
        }
        core.engine.ensure_progress_fiber();
        Ok(())
    }

    /// Sends a message, and returns when it is on its way.
    ///
    /// The call waits for a slow peer: while much is under way to it, or while 4 MiB lie unread at
    /// its port. A process that itself waits holds no sender up, and a send of an upcall is never
    /// held up. So only memory bounds what such sends leave unread over there. A sender that
    /// exceeds that bound is lost to the receiver ([`Session::limit_unread`]).
    ///
    /// # Errors
    ///
    /// There is no such rank. The message is too long for the platform. The peer was found lost
    /// while this call waited for it. Otherwise a lost peer is no error here: an operation that
    /// needs an answer reports it.
    pub fn send(&self, to: Rank, tag: u32, payload: impl Into<Message>) -> Result<(), Error> {
        let payload = payload.into();
        let core = self.ready(to, &payload)?;
        let envelope = Envelope::Port {
            port: self.number,
            tag,
            receipt: None,
        };
        core.engine.post(to, envelope, payload);
        Ok(())
    }

    /// Returns the session's core when a message may be sent: its length is allowed, and there is
    /// room for it.
    #[inline]
    fn ready(&self, to: Rank, payload: &Message) -> Result<&Core, Error> {
        let core = self.core()?;
        core.check_rank(to)?;
        core.check_length(payload)?;
        core.wait_for_room(to, |flow_control| flow_control.takes_more(to, self.number))?;
        Ok(core)
    }

    /// Returns whether a send to a rank would not wait. An upcall, which never waits, may ask
    /// before it sends much.
    #[must_use]
    pub fn takes_more(&self, to: Rank) -> bool {
        let core = self.core();
        core.is_ok_and(|core| core.dispatcher.flow_control.takes_more(to, self.number))
    }

    /// Sends a message, and waits until it has been handed over there. By then the port's upcall
    /// has returned, or the message waits to be received.
    ///
    /// # Errors
    ///
    /// The peer is lost, or this process is lost to the peer ([`Session::limit_unread`]). The
    /// message is too long for the platform. Or this is an upcall.
    #[track_caller]
    pub fn send_synchronously(
        &self,
        to: Rank,
        tag: u32,
        payload: impl Into<Message>,
    ) -> Result<(), Error> {
        upcall::must_not_wait()?;
        let payload = payload.into();
        let core = self.ready(to, &payload)?;
        let request = Request::Message {
            port: self.number,
            tag,
        };
        match core.ask_peer(to, (request, payload), "", None) {
            Err(Error::NoReply { .. }) => {
                Err(core.lost(to, "does not hear this process any more".into()))
            }
            outcome => outcome.map(drop),
        }
    }

    /// Takes and returns the first message that fits, if one has come.
    #[must_use]
    pub fn poll(&self, from: Option<Rank>, tag: Option<u32>) -> Option<Arrived> {
        let core = self.core().ok()?;
        core.poll();
        let (dispatcher, engine) = (&core.dispatcher, &*core.engine);
        let found = dispatcher.mailbox.first(self.number, from, tag, engine);
        if found.is_none() {
            dispatcher.mailbox.let_go(engine);
        }
        found
    }

    /// Waits for the first message that fits: from a given sender or any, with a given tag or any.
    ///
    /// # Errors
    ///
    /// The given sender is lost; without one, the last of the other processes is. A process has
    /// left too much unread ([`Session::limit_unread`]). Or this is an upcall.
    #[track_caller]
    pub fn receive(&self, from: Option<Rank>, tag: Option<u32>) -> Result<Arrived, Error> {
        upcall::must_not_wait()?;
        self.receive_until(from, tag, None)
    }

    /// Does the same as [`receive`](Self::receive), for a time at most.
    ///
    /// # Errors
    ///
    /// See [`receive`](Self::receive); or the time has passed.
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
        let core = self.core()?;
        let dispatcher = &core.dispatcher;
        let first = || {
            dispatcher
                .mailbox
                .first(self.number, from, tag, &*core.engine)
        };
        if let Some(arrived) = first() {
            return Ok(arrived);
        }
        let has_news = || from.is_none() && dispatcher.mailbox.has_news();
        let mut first_that_fits = FirstThatFits {
            port: self.number,
            from,
            tag,
            look: &first,
            has_news: &has_news,
            had_news: false,
            found: None,
        };
        self.wait_for_message(core, from, time, &mut first_that_fits)
    }

    /// Takes the first unread message that a predicate accepts; `None` if there is none.
    ///
    /// The predicate is shown the messages in the order of their arrival, each without being taken.
    /// It runs under the rules of upcalls: it may send, and it must not wait.
    ///
    /// # Errors
    /// The port has an upcall, or the session is over.
    #[track_caller]
    pub fn poll_where(
        &self,
        mut accepts: impl FnMut(&Arrived) -> bool,
    ) -> Result<Option<Arrived>, Error> {
        let place = Location::caller();
        let mut accepts = |arrived: &Arrived| upcall::run_predicate(place, || accepts(arrived));
        let core = self.core()?;
        core.poll();
        let engine = &*core.engine;
        let mut next = 0;
        let first =
            (core.dispatcher.mailbox).first_where(self.number, &mut next, &mut accepts, engine);
        self.unless_upcall(core, first)
    }

    /// Waits for the first message that a predicate accepts, and takes it.
    ///
    /// The predicate is shown the unread messages in the order of their arrival, then each that
    /// comes, every message once. A message that it refuses stays. The predicate runs on this
    /// thread, under the rules of upcalls: it may send, and it must not wait. Threads that wait at
    /// one port, each by its own predicate, are each shown every message that nobody took before.
    ///
    /// # Errors
    /// The last of the other processes is lost; one has left too much unread
    /// ([`Session::limit_unread`]); the port has an upcall; or this is an upcall.
    #[track_caller]
    pub fn receive_where(&self, accepts: impl FnMut(&Arrived) -> bool) -> Result<Arrived, Error> {
        upcall::must_not_wait()?;
        self.receive_where_until(accepts, None)
    }

    /// Does the same as [`receive_where`](Self::receive_where), for a time at most.
    ///
    /// # Errors
    /// As [`receive_where`](Self::receive_where), or the time has passed.
    #[track_caller]
    pub fn receive_where_within(
        &self,
        accepts: impl FnMut(&Arrived) -> bool,
        time: Duration,
    ) -> Result<Arrived, Error> {
        upcall::must_not_wait()?;
        self.receive_where_until(accepts, Some(time))
    }

    #[track_caller]
    fn receive_where_until(
        &self,
        mut accepts: impl FnMut(&Arrived) -> bool,
        time: Option<Duration>,
    ) -> Result<Arrived, Error> {
        let place = Location::caller();
        let mut accepts = |arrived: &Arrived| upcall::run_predicate(place, || accepts(arrived));
        let core = self.core()?;
        let mut next = 0;
        let mut look = || {
            let (mailbox, engine) = (&core.dispatcher.mailbox, &*core.engine);
            let first = mailbox.first_where(self.number, &mut next, &mut accepts, engine);
            self.unless_upcall(core, first)
        };
        let waits_for = WaitsFor::Accepted { port: self.number };
        self.look_until(core, None, time, waits_for, &mut look)
    }

    /// Says what the first unread message that fits is, and leaves it there; `None` if there is
    /// none. Another thread may take the message meanwhile.
    ///
    /// # Errors
    /// The port has an upcall, or the session is over.
    pub fn peek(&self, from: Option<Rank>, tag: Option<u32>) -> Result<Option<Probed>, Error> {
        let core = self.core()?;
        core.poll();
        self.unless_upcall(core, core.dispatcher.mailbox.peek(self.number, from, tag))
    }

    /// Says what the first unread message is that a predicate accepts, and leaves it there; `None`
    /// if there is none. The predicate runs as in [`poll_where`](Self::poll_where).
    ///
    /// # Errors
    /// The port has an upcall, or the session is over.
    #[track_caller]
    pub fn peek_where(
        &self,
        mut accepts: impl FnMut(&Arrived) -> bool,
    ) -> Result<Option<Probed>, Error> {
        let place = Location::caller();
        let mut accepts = |arrived: &Arrived| upcall::run_predicate(place, || accepts(arrived));
        let core = self.core()?;
        core.poll();
        self.unless_upcall(
            core,
            core.dispatcher
                .mailbox
                .peek_where(self.number, &mut accepts),
        )
    }

    /// Waits for a message that fits, says what the first one is, and leaves it there. A later
    /// [`receive`](Self::receive) of this sender and tag takes it, unless another thread has.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), or the port has an upcall.
    #[track_caller]
    pub fn probe(&self, from: Option<Rank>, tag: Option<u32>) -> Result<Probed, Error> {
        upcall::must_not_wait()?;
        self.probe_until(from, tag, None)
    }

    /// Does the same as [`probe`](Self::probe), for a time at most.
    ///
    /// # Errors
    /// As [`probe`](Self::probe), or the time has passed.
    #[track_caller]
    pub fn probe_within(
        &self,
        from: Option<Rank>,
        tag: Option<u32>,
        time: Duration,
    ) -> Result<Probed, Error> {
        upcall::must_not_wait()?;
        self.probe_until(from, tag, Some(time))
    }

    fn probe_until(
        &self,
        from: Option<Rank>,
        tag: Option<u32>,
        time: Option<Duration>,
    ) -> Result<Probed, Error> {
        let core = self.core()?;
        let port = self.number;
        let mut look = || self.unless_upcall(core, core.dispatcher.mailbox.peek(port, from, tag));
        let waits_for = WaitsFor::Message { port, from, tag };
        self.look_until(core, from, time, waits_for, &mut look)
    }

    /// Returns what a look has found. If it has found nothing, releases the held senders, since the
    /// wanted message may come after the unread ones.
    ///
    /// # Errors
    ///
    /// The port has an upcall: nothing will ever lie unread.
    fn unless_upcall<T>(&self, core: &Core, found: Option<T>) -> Result<Option<T>, Error> {
        if found.is_none() {
            if core.dispatcher.mailbox.has_upcall(self.number) {
                let name = core.dispatcher.names.of(Named::Port, self.number);
                return Err(Error::HasUpcall(name.unwrap_or_default().to_string()));
            }
            core.dispatcher.mailbox.let_go(&*core.engine);
        }
        Ok(found)
    }

    /// Looks until something is found, a time has passed, or no sender is left.
    fn look_until<T>(
        &self,
        core: &Core,
        from: Option<Rank>,
        time: Option<Duration>,
        waits_for: WaitsFor,
        look: &mut dyn FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        if let Some(found) = look()? {
            return Ok(found);
        }
        let has_news = || from.is_none() && core.dispatcher.mailbox.has_news();
        let mut look = Look {
            waits_for,
            look,
            has_news: &has_news,
            had_news: false,
            found: None,
        };
        self.wait_for_message(core, from, time, &mut look)
    }

    /// Waits for what a search finds, for a time at most.
    fn wait_for_message<S: Search>(
        &self,
        core: &Core,
        from: Option<Rank>,
        time: Option<Duration>,
        search: &mut S,
    ) -> Result<S::Found, Error> {
        let dispatcher = &core.dispatcher;
        // A time beyond the clock's range means for ever.
        let until = time.and_then(|time| core.engine.now().checked_add(time));
        loop {
            let outcome = core.wait_for_sender(from, search, until);
            // The last message may have come together with the loss of its sender.
            if outcome.is_err() {
                search.holds();
            }
            if let Some(found) = search.found() {
                return found;
            }
            let barred = from
                .is_none()
                .then(|| dispatcher.mailbox.take_news())
                .flatten();
            if let Some((rank, why)) =
                barred.and_then(|rank| Some((rank, dispatcher.why_lost(rank)?)))
            {
                return Err(core.lost(rank, why));
            }
            outcome?;
            if until.is_some_and(|until| core.engine.now() >= until) {
                break;
            }
            // Another thread may have taken the news that woke this one.
            if !search.had_news() {
                return Err(Error::Over);
            }
        }
        let peer = from.map_or_else(|| "anybody".to_string(), |rank| dispatcher.name_of(rank));
        Err(Error::TimedOut {
            rank: from,
            peer,
            after: time.unwrap_or_default(),
        })
    }
}

impl Core {
    /// Waits until a given sender, or any sender, makes something hold.
    fn wait_for_sender(
        &self,
        from: Option<Rank>,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> Result<(), Error> {
        match from {
            Some(from) if from != self.rank => {
                self.check_rank(from)?;
                self.wait_for_peer(from, awaited, until)
            }
            None if self.dispatcher.size() > 1 => self.wait_for_anybody(awaited, until),
            _ => {
                self.engine.wait(Interest::Change, awaited, until);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_takes_the_first_that_fits_and_no_other() {
        let content = |port, tag| Content::Message {
            port,
            tag,
            receipt: None,
        };
        let mut wanted = FirstThatFits {
            port: 7,
            from: Some(1),
            tag: Some(2),
            look: &|| None,
            has_news: &|| false,
            had_news: false,
            found: None,
        };
        assert!(!wanted.holds());
        for (port, from, tag) in [(8, 1, 2), (7, 3, 2), (7, 1, 4)] {
            let mut payload = Message::copy_of(b"other");
            let mut other = Incoming::with(from, content(port, tag), &mut payload);
            assert!(!wanted.take(&mut other));
            assert_eq!(payload.to_bytes(), b"other".as_slice());
        }
        assert!(!wanted.holds());
        let mut short = Message::copy_of(b"short");
        assert!(wanted.take(&mut Incoming::with(1, content(7, 2), &mut short)));
        assert!(wanted.holds());
        let mut later = Message::copy_of(b"later");
        let mut second = Incoming::with(1, content(7, 2), &mut later);
        assert!(!wanted.take(&mut second), "it has one");
        let found = wanted.found.expect("it was taken");
        assert_eq!(found.payload.to_bytes(), b"short".as_slice());
    }
}
