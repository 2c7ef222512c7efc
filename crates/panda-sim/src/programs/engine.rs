//! The session of a simulated process: its protocols over the simulated network, its program's
//! fibers in virtual time.
//!
//! Threads of the program run the protocols when they send, as on real platforms. A separate fiber
//! takes what comes, and lives while there is anything to take or to hand over. Upcalls run on it.
//! While one of them waits for a mutex, its process answers no other.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use antiphon_fiber::Builder as FiberBuilder;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{Command, Fault, INSTANT, Incoming, Machine, NAME, Node, What};
use crate::medium::{START, Timer, Travel};
use antiphon_panda::hook::{
    self, Ask, Awaited, Dispatcher, Engine, Interest, LastUpcalls, Linger, Nobody, Request,
    Runtime as _, Waiting, WaitsFor,
};
use antiphon_panda::platform::{JoinError, LaunchInfo, Rank};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Error, Multicast, Named, Session, Signal};
use antiphon_panda_core::message::Message;
use antiphon_panda_core::protocol::group::{Myself, Order};
use antiphon_panda_core::protocol::link::Links;
use antiphon_panda_core::protocol::requests::RequestId;
use antiphon_panda_core::protocol::{
    self, Action, Content, Delivery, Envelope, GroupId, Stack, Time,
};

/// Opens the session of a simulated process, over these protocols.
pub fn open<L: Links, O: Order>(node: &Arc<Node>, info: &LaunchInfo) -> Session {
    let dispatcher = Arc::new(Dispatcher::of(node.birth));
    // This sets the size. Names are left at their default: thousands of processes that all stored
    // thousands of names would fill the memory.
    let last = node.switch.population().max(info.size) - 1;
    dispatcher.joined(last, dispatcher.name_of(last));
    let myself = Myself {
        rank: info.rank,
        size: info.size,
        // A later process was none of a group's possible first members: it asks the others.
        is_founder: node.birth == 1 && node.command.is_none(),
        birth: node.birth,
        silence: info.silence.unwrap_or(SILENCE),
    };
    let engine = Process::<L, O>::begin(node, myself, dispatcher.clone());
    let session = hook::session::<L>(engine, dispatcher, info);
    node.install_session(session.downgrade());
    session
}

/// A session's engine in a simulation.
pub struct Process<L: Links, O> {
    own: Weak<Self>,
    node: Arc<Node>,
    myself: Myself,
    dispatcher: Arc<Dispatcher>,
    inside: Mutex<Inside<L, O>>,
    waiting: Waiting,
    /// Whether a fiber takes what comes, or will go on with that.
    is_driven: AtomicBool,
    is_over: AtomicBool,
    linger: Mutex<Linger>,
    /// Kinds of pending requests, for reports.
    requests: Mutex<FxHashMap<RequestId, RequestKind>>,
}

struct Inside<L: Links, O> {
    stack: Stack<L, O>,
    timer: Timer,
    incoming: VecDeque<Incoming>,
    /// Deliveries for the program, in order.
    deliveries: VecDeque<Delivery>,
}

/// The kind of a request.
enum RequestKind {
    Peer(Rank, Request),
    Communicator(Arc<[Rank]>),
}

impl<L: Links, O: Order> Inside<L, O> {
    fn new(myself: Myself, largest: usize) -> Self {
        Self {
            stack: Stack::new(myself, largest),
            timer: Timer::default(),
            incoming: VecDeque::new(),
            deliveries: VecDeque::new(),
        }
    }
}

impl<L: Links, O: Order> Process<L, O> {
    /// Begins the session of a process.
    pub fn begin(node: &Arc<Node>, myself: Myself, dispatcher: Arc<Dispatcher>) -> Arc<Self> {
        let largest = node.switch.medium(|medium| medium.network.kind.largest());
        let process = Arc::new_cyclic(|own| Self {
            own: own.clone(),
            node: node.clone(),
            myself,
            dispatcher,
            inside: Mutex::new(Inside::new(myself, largest)),
            waiting: Waiting::default(),
            is_driven: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            linger: Mutex::new(Linger::new(Duration::ZERO, node.now())),
            requests: Mutex::default(),
        });
        node.install(process.clone());
        process
    }

    /// Has the protocols do something, and carries out their actions.
    fn change<R>(&self, act: impl FnOnce(&mut Stack<L, O>, Time) -> R) -> R {
        let result = self.act(&mut self.inside.lock(), act);
        self.drive();
        result
    }

    /// Does the same as [`change`](Self::change), but leaves deliveries where they are.
    fn act<R>(
        &self,
        inside: &mut Inside<L, O>,
        act: impl FnOnce(&mut Stack<L, O>, Time) -> R,
    ) -> R {
        let now = self.node.time();
        let result = act(&mut inside.stack, now);
        inside.stack.flush(now);
        for action in std::mem::take(inside.stack.actions()) {
            if let Action::Complete(id, _) | Action::Collected(id, _) = &action {
                self.requests.lock().remove(id);
            }
            match self.node.perform(action) {
                Some(Action::Deliver(delivery)) => inside.deliveries.push_back(delivery),
                Some(own) => drop(self.dispatcher.learn(own, &self.waiting)),
                None => {}
            }
        }
        if let Some(at) = inside.timer.follow(inside.stack.deadline(), now) {
            self.node.add(at, What::Tick(self.node.clone()));
        }
        result
    }

    /// Starts a fiber that takes what is there, unless one does.
    fn drive(&self) {
        let has_work = {
            let inside = self.inside.lock();
            !(inside.incoming.is_empty() && inside.deliveries.is_empty())
        };
        if has_work && !self.is_driven.swap(true, Ordering::Relaxed) {
            self.go_round();
        }
    }

    /// Starts a fiber that takes what is there once.
    fn go_round(&self) {
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let builder = FiberBuilder {
            priority: Some(0),
            ..FiberBuilder::default()
        };
        let started = self.node.start(builder, move || own.round());
        started.expect("there is memory for a fiber's stack");
    }

    /// Takes what has come and hands over what is there. The next round, a moment later, takes what
    /// upcalls bring about. Otherwise an upcall that sends to its own process would stop time.
    fn round(&self) {
        let batch = {
            let mut inside = self.inside.lock();
            while let Some(incoming) = inside.incoming.pop_front() {
                self.understand(&mut inside, incoming);
            }
            std::mem::take(&mut inside.deliveries)
        };
        for delivery in batch {
            self.node.switch.stirred();
            let last = &mut LastUpcalls::default();
            self.dispatcher.deliver(delivery, self, &mut Nobody, last);
        }
        self.waiting.changed();
        let inside = self.inside.lock();
        match inside.incoming.is_empty() && inside.deliveries.is_empty() {
            true => self.is_driven.store(false, Ordering::Relaxed),
            false => {
                let soon = self.node.time() + INSTANT;
                self.node.add(soon, What::GoOn(self.node.clone()));
            }
        }
    }

    fn understand(&self, inside: &mut Inside<L, O>, incoming: Incoming) {
        match incoming {
            Incoming::Tick => {
                if inside.timer.rings(self.node.time()) {
                    self.act(inside, |stack, now| {
                        stack.tick_with(now, |peer| self.node.transfer(now, peer));
                    });
                }
            }
            Incoming::Travel(Travel::Frame { from, frame, .. })
                if Stack::<L, O>::is_plain_answer(&frame) =>
            {
                inside.stack.heard(self.node.time(), from);
                self.answered(from, frame);
            }
            Incoming::Travel(Travel::Back { rank, .. }) => self.is_back(inside, rank),
            // A message that does not decode is dropped, as by any session.
            Incoming::Travel(travel) => {
                let _ = self.act(inside, |stack, now| travel.reach(stack, now));
            }
        }
    }

    /// Notes that a process joined, perhaps in place of a crashed one.
    fn is_back(&self, inside: &mut Inside<L, O>, rank: Rank) {
        let is_again = self.node.switch.node(rank).birth > 1;
        // Over datagrams no process reported its end before.
        let is_news = L::RETRANSMITS && is_again && !self.dispatcher.is_lost(rank);
        self.act(inside, |stack, now| {
            if is_news {
                stack.lost(now, rank, true, "was started again");
            }
            stack.joined(now, rank);
        });
        self.dispatcher.joined(rank, format!("rank {rank}"));
    }

    /// Takes an answer to a request that the protocols do not know.
    fn answered(&self, from: Rank, mut frame: Message) {
        if let Some(mut answer) = protocol::Incoming::in_frame(from, &mut frame)
            && let Content::Answer { id, .. } = answer.content
            && self.dispatcher.pending.answered(&mut answer, &mut Nobody)
        {
            self.requests.lock().remove(&id);
            self.waiting.ended(id);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn note(&self, id: RequestId, kind: RequestKind) -> RequestId {
        self.requests.lock().insert(id, kind);
        id
    }

    fn port_name(&self, port: u64) -> String {
        let name = self.dispatcher.names.of(Named::Port, port);
        name.map_or_else(|| format!("{port:x}"), |name| format!("{name:?}"))
    }

    fn refused(why: &str) -> JoinError {
        JoinError::Refused {
            platform: NAME,
            why: why.into(),
        }
    }
}

impl<L: Links, O: Order> Engine for Process<L, O> {
    fn post(&self, to: Rank, envelope: Envelope, payload: Message) {
        self.change(|stack, now| stack.post(now, to, &envelope, payload));
    }

    fn request(
        &self,
        to: Rank,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
    ) -> RequestId {
        let is_plain = to != self.myself.rank && self.dispatcher.asks_plainly::<L>(to);
        let id = match is_plain {
            true => {
                let id = self.dispatcher.pending.begin(to);
                self.post(to, request.envelope(id), payload);
                id
            }
            false => self.change(|stack, now| request.put(stack, now, to, payload, deadline)),
        };
        self.note(id, RequestKind::Peer(to, request))
    }

    fn ask(&self, ask: Ask) {
        if let Ask::Collect(part) = &ask {
            self.note(part.id, RequestKind::Communicator(part.ranks.clone()));
        }
        self.change(|stack, now| ask.put(stack, now));
    }

    fn number(&self) -> RequestId {
        self.change(|stack, _| stack.request_id())
    }

    fn group_is_congested(&self, group: GroupId) -> bool {
        let mut inside = self.inside.lock();
        let now = self.node.time();
        (inside.stack).group(now, group, |group, _, _| group.is_congested())
    }

    fn wait(&self, interest: Interest, awaited: &mut dyn Awaited, until: Option<Instant>) -> bool {
        assert!(
            Node::of_caller().is_some(),
            "a thread of the system's waits by a simulated session: start threads by antiphon_panda::thread::spawn"
        );
        let is_held = loop {
            let stay = self.waiting.enter(interest);
            self.dispatcher.mailbox.let_go(self);
            if awaited.holds() {
                break true;
            }
            if self.is_over() || until.is_some_and(|until| self.now() >= until) {
                break awaited.holds();
            }
            stay.sleep_for(awaited.what(), until);
        };
        self.node.switch.stirred();
        is_held
    }

    fn nudge(&self) {
        self.waiting.wake_all();
    }

    fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn poll(&self) {
        self.node.yield_now();
    }

    fn now(&self) -> Instant {
        self.node.now()
    }

    fn clock(&self) -> Duration {
        self.node.clock()
    }

    fn spawn(
        &self,
        program: &OsStr,
        args: &[OsString],
        count: u32,
    ) -> Option<Result<Vec<Rank>, Error>> {
        let switch = &self.node.switch;
        if !switch.knows(program) {
            return Some(Err(Error::NotSpawned {
                program: program.to_string_lossy().into_owned(),
                rank: switch.population(),
                why: "the simulation has no program of that name: give it by Simulation::program"
                    .into(),
            }));
        }
        let command = Command {
            program: program.to_owned(),
            args: args.to_vec(),
            parent: self.myself.rank,
        };
        let spawned = switch.spawn(&self.node, command, count);
        Some(Ok(spawned.iter().map(|node| node.rank).collect()))
    }

    fn has_failed(&self, spawned: &[Rank]) -> Option<Rank> {
        let has_failed = |rank: &&Rank| {
            !self.dispatcher.has_joined(**rank) && !self.node.switch.node(**rank).is_there()
        };
        spawned.iter().find(has_failed).copied()
    }

    fn signal(&self, rank: Rank, signal: Signal) -> Option<Result<(), String>> {
        let fault = match signal {
            Signal::KILL => Fault::Crash(rank),
            Signal::STOP => Fault::Stop(rank),
            Signal::CONT => Fault::Continue(rank),
            _ => {
                let why = "a simulated process has no handlers of signals: send it KILL, STOP, CONT, or a message";
                return Some(Err(why.into()));
            }
        };
        if !self.node.switch.node(rank).is_there() {
            return Some(Err("it has ended".into()));
        }
        self.node.switch.plan(self.node.time() - START, fault);
        Some(Ok(()))
    }

    fn take_back(&self, spawned: &[Rank]) {
        let switch = &self.node.switch;
        (spawned.iter()).for_each(|rank| switch.crash(&switch.node(*rank)));
    }

    fn allot(&self, _count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        Err(Self::refused(
            "a program that is started with launch info of its own would be outside of the simulation: give the program by Simulation::program, and start it by Session::spawn",
        ))
    }

    fn stop(&self) {
        if self.is_over.swap(true, Ordering::Relaxed) || !self.node.is_there() {
            return;
        }
        let now = self.node.time();
        let patience = Linger::patience_of(self.myself.silence);
        *self.linger.lock() = Linger::new(patience, self.node.now());
        self.nudge();
        self.node.add(now, What::Linger(self.node.clone()));
    }

    fn rank(&self) -> Rank {
        self.myself.rank
    }

    fn platform(&self) -> &'static str {
        NAME
    }

    fn multicast(&self) -> Multicast {
        let (to, frames) = self.inside.lock().stack.hearers();
        Multicast { to, frames }
    }
}

impl<L: Links, O: Order> Machine for Process<L, O> {
    fn take(&self, incoming: Incoming) {
        self.inside.lock().incoming.push_back(incoming);
        self.drive();
    }

    fn go_on(&self) {
        self.go_round();
    }

    fn exit(&self) {
        self.stop();
        self.dispatcher.drop_upcalls();
    }

    fn has_lingered(&self) -> bool {
        let held = self
            .node
            .switch
            .medium(|medium| medium.network.holds(self.myself.rank));
        let left = self.inside.lock().stack.backlog() + usize::from(held);
        !self.linger.lock().waits(left, self.node.now())
    }

    fn forget(&self) {
        let largest = self
            .node
            .switch
            .medium(|medium| medium.network.kind.largest());
        let empty = Inside::new(self.myself, largest);
        let before = std::mem::replace(&mut *self.inside.lock(), empty);
        drop(before);
    }

    fn describe(&self, what: WaitsFor) -> String {
        match what {
            WaitsFor::Message { port, from, tag } => {
                let port = self.port_name(port);
                let from = from.map_or("anybody".into(), |rank| self.dispatcher.name_of(rank));
                let tag = tag.map_or(String::new(), |tag| format!(", with tag {tag}"));
                format!("a message from {from} at port {port}{tag}")
            }
            WaitsFor::Accepted { port } => {
                let port = self.port_name(port);
                format!("a message at port {port} that its predicate accepts")
            }
            WaitsFor::Request(id) => match self.requests.lock().get(&id) {
                Some(RequestKind::Peer(to, Request::Call { .. })) => {
                    format!("the reply of {} to a call", self.dispatcher.name_of(*to))
                }
                Some(RequestKind::Peer(to, Request::Message { port, .. })) => {
                    let port = self.port_name(*port);
                    let to = self.dispatcher.name_of(*to);
                    format!("{to} to take what was sent synchronously to port {port}")
                }
                Some(RequestKind::Communicator(ranks)) => {
                    format!("a collective operation of ranks {ranks:?}")
                }
                None => "the end of a request".into(),
            },
            WaitsFor::Change(words) => words.into(),
            WaitsFor::Thread(wait) => format!("{} at {}", wait.on, wait.at),
            WaitsFor::Time => "a time to pass".into(),
        }
    }
}
