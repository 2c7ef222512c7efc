//! One thread's connections, driven through epoll: requests are sent when they are due, answers are
//! checked on arrival.
//!
//! Readiness is edge-triggered, and each socket is registered once. A request thus costs one write,
//! one read, and a share of one wait, which sleeps or polls.

use crate::connection::{Connection, State, Written, begin_connect, end_connect};
use crate::error::is_own_lack;
use crate::measured::{Measured, OfConnection, Stopped};
use crate::pace::{Pace, Slots};
use crate::response::{KnownHead, read};
use crate::{Error, Fault, Load, Schedule, cpu};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

mod ending;
mod fate;
mod waiting;

/// Events taken in at a time.
const EVENTS: usize = 512;

/// Pause between two searches for overdue answers, ns. No sleep is longer.
const LOOK_NS: u64 = 20_000_000;

/// Time after the last request at which idle connections are closed while others still wait for
/// answers, ns.
const CLOSE_NS: u64 = 20_000_000;

/// Number of the alarm among those of the connections.
const ALARM: u64 = u64::MAX;

/// Room that is made for each piece that comes, bytes.
const PIECE: usize = 4096;

const READ_EDGES: EventFlags = EventFlags::IN
    .union(EventFlags::RDHUP)
    .union(EventFlags::ET);
const ALL_EDGES: EventFlags = READ_EDGES.union(EventFlags::OUT);

/// The part of a run that one thread does.
pub(crate) struct Part {
    /// Its connections; open ones if they are kept.
    pub(crate) connections: Vec<Connection>,
    /// Its share of the schedule.
    pub(crate) slots: Slots,
    /// Most requests that it may send.
    pub(crate) requests_max: u64,
    /// Number of failures that ends it.
    pub(crate) failures_max: u64,
}

struct Engine<'l> {
    load: &'l Load,
    part: Part,
    request: Vec<u8>,
    epoll: OwnedFd,
    /// Rings when the next request of an open schedule is due: waits for events are counted in ms.
    alarm: OwnedFd,
    /// Next ring of the alarm, ns.
    rings_ns: u64,
    /// Number of sent requests and time, ns, of the last poll that found nothing; `None` after one
    /// that found something.
    waits_since: Option<(u64, u64)>,
    begun: Instant,
    pace: Pace,
    free: VecDeque<usize>,
    busy: usize,
    known: KnownHead,
    sent: u64,
    end_ns: u64,
    /// Refusal of the system in the middle of a request, which is not the server's fault.
    refused: Option<Error>,
    /// Whether the run has no result, because another part of it has ended with an error.
    given_up: &'l AtomicBool,
    /// Flag set from outside to end the run early.
    stop: &'l AtomicBool,
    /// Since when a connection is free, ns, if one is.
    free_since_ns: u64,
    measured: Measured,
}

/// Conditions that end a part early.
pub(crate) struct Ends<'l> {
    /// Another part has ended with an error.
    pub(crate) given_up: &'l AtomicBool,
    /// The result so far is kept, because the user wants it.
    pub(crate) stop: &'l AtomicBool,
}

/// Runs a part, from the moment `begun`.
pub(crate) fn run(
    load: &Load,
    part: Part,
    begun: Instant,
    ends: &Ends<'_>,
) -> Result<(Measured, Vec<Connection>), Error> {
    cpu::wake_in_time();
    let mut engine = Engine::new(load, part, begun, ends)?;
    let (cpu_ns, waited_ns) = (cpu::used_ns(), cpu::waited_ns());
    engine.go()?;
    let used_ns = cpu::used_ns() - cpu_ns;
    let measured = &mut engine.measured;
    measured.polls = load.busy_poll;
    measured.waited_ns = cpu::waited_ns().saturating_sub(waited_ns);
    measured.own_cpu_ns = used_ns;
    // Polls are timed by the clock, and may include other programs' use of the processor.
    measured.empty_polls_ns = measured.empty_polls_ns.min(used_ns);
    Ok(engine.account())
}

impl<'l> Engine<'l> {
    fn new(
        load: &'l Load,
        mut part: Part,
        begun: Instant,
        ends: &Ends<'l>,
    ) -> Result<Engine<'l>, Error> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(Error::system("opening an epoll"))?;
        for (index, connection) in part.connections.iter_mut().enumerate() {
            connection.had = OfConnection::default();
            if let Some(socket) = &connection.socket {
                register(&epoll, socket, index, READ_EDGES)
                    .map_err(Error::system("watching a connection"))?;
            }
        }
        let alarm = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )
        .map_err(Error::system("making a timer"))?;
        epoll::add(
            &epoll,
            &alarm,
            EventData::new_u64(ALARM),
            EventFlags::IN | EventFlags::ET,
        )
        .map_err(Error::system("watching a timer"))?;
        let end_ns = load.duration.as_nanos() as u64;
        Ok(Engine {
            request: load.target.request(load.keep_alive),
            pace: Pace::new(load.schedule, part.slots, end_ns),
            free: (0..part.connections.len()).collect(),
            load,
            part,
            epoll,
            alarm,
            rings_ns: 0,
            waits_since: None,
            begun,
            busy: 0,
            known: KnownHead::of(&load.target),
            sent: 0,
            end_ns,
            refused: None,
            given_up: ends.given_up,
            stop: ends.stop,
            free_since_ns: 0,
            measured: Measured::nothing(),
        })
    }

    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn go(&mut self) -> Result<(), Error> {
        let drained_ns = self.end_ns + self.load.drain.min(self.load.time_limit).as_nanos() as u64;
        let mut events = vec![
            Event {
                flags: EventFlags::empty(),
                data: EventData::new_u64(0),
            };
            EVENTS
        ];
        let mut looked_ns = 0;
        loop {
            let now_ns = self.now_ns();
            self.send_due(now_ns);
            if let Some(error) = self.refused.take() {
                return Err(error);
            }
            if self.is_over(now_ns, drained_ns) {
                return Ok(());
            }
            let count = match self.load.busy_poll {
                true => self.poll(&mut events)?,
                false => self.sleep(&mut events, now_ns)?,
            };
            for event in &events[..count] {
                let (name, flags) = (event.data.u64(), event.flags);
                if name != ALARM {
                    self.take_in(name as usize, flags);
                }
            }
            let now_ns = self.now_ns();
            if now_ns - looked_ns > LOOK_NS {
                looked_ns = now_ns;
                self.give_up_late(now_ns);
                if now_ns >= self.end_ns + CLOSE_NS {
                    self.close_free();
                }
            }
        }
    }

    /// Checks whether nothing more is to be done, and notes the reason.
    fn is_over(&mut self, now_ns: u64, drained_ns: u64) -> bool {
        let all_sent = self.sent >= self.part.requests_max;
        if self.measured.failed() >= self.part.failures_max {
            self.measured.stopped = Stopped::Failures;
            self.end_ns = self.end_ns.min(now_ns);
            return true;
        }
        if all_sent && self.busy == 0 {
            self.measured.stopped = Stopped::Requests;
            self.end_ns = self.end_ns.min(now_ns);
            return true;
        }
        if self.stop.load(Ordering::Relaxed) {
            self.measured.stopped = Stopped::Interrupted;
            self.end_ns = self.end_ns.min(now_ns);
            return true;
        }
        if self.given_up.load(Ordering::Relaxed) {
            // The results of this part are not used, nor is its number of unsent requests.
            self.measured.stopped = Stopped::Failures;
            return true;
        }
        let owes = !all_sent && self.pace.next_ns().is_some();
        now_ns >= self.end_ns && (now_ns >= drained_ns || (self.busy == 0 && !owes))
    }

    /// Sends due requests while a connection is free.
    fn send_due(&mut self, now_ns: u64) {
        while !self.free.is_empty()
            && self.sent < self.part.requests_max
            && self.measured.failed() < self.part.failures_max
            && self.refused.is_none()
        {
            let Some(due_ns) = self.pace.take(now_ns) else {
                return;
            };
            if let Some(index) = self.free.pop_front() {
                self.begin(index, due_ns, now_ns);
            }
        }
    }

    fn begin(&mut self, index: usize, due_ns: u64, now_ns: u64) {
        self.sent += 1;
        self.busy += 1;
        // In the closed loop nothing is due before it is sent.
        if let Schedule::Open { .. } = self.load.schedule {
            self.measured.lag.record(now_ns.saturating_sub(due_ns));
            let could_ns = due_ns.max(self.free_since_ns);
            let own_ns = now_ns.saturating_sub(could_ns);
            self.measured.own_lag.record(own_ns);
        }
        let connection = &mut self.part.connections[index];
        connection.take_up(due_ns, now_ns);
        if connection.socket.is_some() {
            return self.write(index);
        }
        if self.load.keep_alive {
            self.measured.reconnects += 1;
        }
        match begin_connect(self.load.target.address()) {
            Err(why) if is_own_lack(why) => self.refuse("opening a connection", why),
            Err(why) => self.failed(index, self.no_connection(why)),
            Ok((socket, connected)) => {
                let edges = if connected { READ_EDGES } else { ALL_EDGES };
                let watched = register(&self.epoll, &socket, index, edges);
                connection.socket = Some(socket);
                connection.state = State::Connecting;
                match watched {
                    Err(why) => self.refuse("watching a connection", why),
                    Ok(()) if connected => self.write(index),
                    Ok(()) => {}
                }
            }
        }
    }

    fn no_connection(&self, why: Errno) -> Fault {
        Fault::NoConnection {
            address: self.load.target.address(),
            why: why.to_string(),
        }
    }

    /// Ends the run: the system refuses the generator a resource.
    fn refuse(&mut self, doing: &'static str, why: Errno) {
        self.refused
            .get_or_insert_with(|| Error::system(doing)(why));
    }

    fn write(&mut self, index: usize) {
        let connection = &mut self.part.connections[index];
        match connection.write(&self.request) {
            Ok(Written::Whole) => {}
            Ok(Written::Part) => {
                let socket = connection.socket.as_ref();
                let watched = socket.map(|socket| {
                    epoll::modify(
                        &self.epoll,
                        socket,
                        EventData::new_u64(index as u64),
                        ALL_EDGES,
                    )
                });
                if let Some(Err(why)) = watched {
                    self.refuse("watching a connection", why);
                }
            }
            // The server closed it before it took the request. Bytes sent earlier are no answer to
            // it.
            Err(Errno::PIPE | Errno::CONNRESET) => self.failed(index, Fault::NoAnswer),
            Err(why) => self.failed(index, broken(why)),
        }
    }

    /// Goes on with a connection of which something is known.
    fn take_in(&mut self, index: usize, flags: EventFlags) {
        match self.part.connections[index].state {
            State::Connecting
                if flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) =>
            {
                let connection = &self.part.connections[index];
                let ended = connection
                    .socket
                    .as_ref()
                    .map_or(Err(Errno::NOTCONN), end_connect);
                match ended {
                    Ok(()) => self.write(index),
                    Err(why) => self.failed(index, self.no_connection(why)),
                }
            }
            State::Connecting => {}
            State::Sending => {
                if flags.contains(EventFlags::OUT) {
                    self.write(index);
                }
                if flags.intersects(
                    EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR,
                ) {
                    self.read(index, flags);
                }
            }
            State::Receiving | State::Free => self.read(index, flags),
        }
    }

    /// Reads received bytes, until the answer is whole or no more are there.
    fn read(&mut self, index: usize, flags: EventFlags) {
        loop {
            let connection = &mut self.part.connections[index];
            let Some(socket) = &connection.socket else {
                return;
            };
            connection.buffer.reserve(PIECE);
            let size = match rustix::io::read(socket, spare_capacity(&mut connection.buffer)) {
                Ok(size) => size,
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(why) => return self.lost(index, why),
            };
            if connection.state == State::Free {
                return self.came_unasked(index, size);
            }
            let has_ended = size == 0;
            match read(&connection.buffer, has_ended, &mut self.known) {
                Ok(None) => {}
                Err(fault) => return self.failed(index, fault),
                Ok(Some(answer)) => {
                    let unasked = connection.buffer.len() - answer.size;
                    let right = answer.check(
                        &connection.buffer,
                        &self.load.expected,
                        self.load.check_body,
                    );
                    let right = right.and(match unasked {
                        0 => Ok(()),
                        bytes => Err(Fault::Unasked { bytes }),
                    });
                    let hung_up =
                        has_ended || flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
                    let stays = answer.head.stays() && self.load.keep_alive && !hung_up;
                    return match right {
                        Ok(()) => self.answered(index, stays),
                        Err(fault) => self.failed(index, fault),
                    };
                }
            }
        }
    }
}

fn register(
    epoll: &OwnedFd,
    socket: &OwnedFd,
    index: usize,
    edges: EventFlags,
) -> Result<(), Errno> {
    epoll::add(epoll, socket, EventData::new_u64(index as u64), edges)
}

fn broken(why: Errno) -> Fault {
    Fault::Broken {
        why: why.to_string(),
    }
}
