//! The meeting of protocols, platform and threads: the only part that is generic over the platform.
//!
//! Whoever waits drives: a thread that waits for something takes the receiving end, runs the protocols on what comes, and hands it back when it has what it
//! waited for, so that no thread switches where one waits. While nobody waits the session's own thread does it. Senders run the protocols themselves and give
//! frames to the platform directly.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::desk::Desk;
use crate::message::Message;
use crate::platform::{Event, Flow, Inbox, JoinError, Platform, Rank, Seat};
use crate::protocol::collective::Part;
use crate::protocol::group::{Myself, Order};
use crate::protocol::requests::RequestId;
use crate::protocol::{Action, Answer, Delivery, GroupId, Stack, Time};

/// How long the session's own thread leaves the receiving end to threads that wait, after the last of them had it.
const ASIDE: Duration = Duration::from_millis(1);
/// How long to look for frames before sleeping, where processors are to spare.
const SPIN: Duration = Duration::from_micros(40);
/// How long a session that ends waits for peers to acknowledge what was sent.
const LINGER: Duration = Duration::from_secs(1);

/// What a program asks of the protocols.
pub enum Ask {
    Send {
        to: Rank,
        port: u64,
        tag: u32,
        payload: Message,
    },
    SendSynchronously {
        to: Rank,
        port: u64,
        tag: u32,
        payload: Message,
        deadline: Option<Duration>,
    },
    Call {
        to: Rank,
        service: u64,
        payload: Message,
        deadline: Option<Duration>,
    },
    Reply {
        to: Rank,
        id: RequestId,
        kind: Answer,
        payload: Message,
    },
    Collect(Part),
    Number,
    Join(GroupId),
    Leave(GroupId),
    GroupSend(GroupId, Message),
    Watch(Rank),
    Unwatch(Rank),
}

/// A session over some platform.
pub trait Engine: Send + Sync {
    /// Does it; returns the request's number where there is one, and whether the caller should wait before it sends more.
    fn ask(&self, ask: Ask) -> (RequestId, Flow);
    /// Whether a group takes more messages.
    fn group_is_congested(&self, group: GroupId) -> bool;
    /// Waits, driving the session, until something holds or a time has passed; whether it holds.
    fn wait(&self, is_done: &mut dyn FnMut() -> bool, until: Option<Instant>) -> bool;
    /// Does what there is to do without waiting.
    fn poll(&self);
    /// Seats for more processes.
    fn allot(&self, count: u32) -> Result<Vec<Seat>, JoinError>;
    /// Ends the session's own thread.
    fn stop(&self);
    /// The platform's name.
    fn platform(&self) -> &'static str;
}

pub struct Node<P: Platform> {
    platform: P,
    inbox: Mutex<P::Inbox>,
    stack: Mutex<Stack<P::Links, P::Order>>,
    desk: Arc<Desk>,
    /// What is to be handed to the program, in order.
    deliveries: Mutex<VecDeque<Delivery>>,
    start: Instant,
    spins: bool,
    /// Threads that want the receiving end.
    wanted: AtomicU32,
    /// Threads that wait while another has it.
    idle: Mutex<()>,
    changed: Condvar,
    idlers: AtomicU32,
    is_over: AtomicBool,
    /// Whether somebody is, or will be, asleep in the inbox.
    sleeps: AtomicBool,
    /// How often a thread that waited has ended waiting.
    rounds: AtomicU32,
    /// Whether the session's own thread has the receiving end.
    is_own_asleep: AtomicBool,
    own: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl<P: Platform> Node<P> {
    /// Begins; the returned engine's own thread runs until [`Engine::stop`].
    pub fn begin(
        platform: P,
        inbox: P::Inbox,
        myself: Myself,
        desk: Arc<Desk>,
    ) -> std::io::Result<Arc<Self>> {
        const {
            assert!(
                P::RELIABLE != <P::Links as crate::protocol::link::Links>::RETRANSMITS,
                "Platform::Links must fit Platform::RELIABLE"
            );
            assert!(
                (P::LARGEST == usize::MAX) || <P::Links as crate::protocol::link::Links>::FRAGMENTS,
                "Platform::Links must fit Platform::LARGEST"
            );
            assert!(
                !P::ORDERED || !<P::Links as crate::protocol::link::Links>::FRAGMENTS,
                "an ordered platform must take frames of any length"
            );
            assert!(
                (P::ORDERED && P::RELIABLE) || !<P::Order as Order>::NEEDS_ORDERED,
                "Platform::Order must fit Platform::ORDERED"
            );
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let node = Arc::new(Self {
            platform,
            inbox: Mutex::new(inbox),
            stack: Mutex::new(Stack::new(myself, P::LARGEST)),
            desk,
            deliveries: Mutex::new(VecDeque::new()),
            start: Instant::now(),
            spins: myself.size as usize <= processors,
            wanted: AtomicU32::new(0),
            idle: Mutex::new(()),
            changed: Condvar::new(),
            idlers: AtomicU32::new(0),
            is_over: AtomicBool::new(false),
            sleeps: AtomicBool::new(false),
            rounds: AtomicU32::new(0),
            is_own_asleep: AtomicBool::new(false),
            own: Mutex::default(),
        });
        let own = node.clone();
        let thread = std::thread::Builder::new()
            .name(format!("panda {}", myself.rank))
            .spawn(move || own.drive_always())?;
        *node.own.lock() = Some(thread);
        Ok(node)
    }

    /// Times are counted from a second before the start, so that there are times before now.
    fn now(&self) -> Time {
        self.start.elapsed() + Duration::from_secs(1)
    }

    fn instant(&self, at: Time) -> Instant {
        self.start + at.saturating_sub(Duration::from_secs(1))
    }

    /// The session's own thread.
    fn drive_always(&self) {
        let mut rounds = 0;
        while !self.is_over.load(Ordering::Acquire) {
            let seen = self.rounds.load(Ordering::Acquire);
            let is_needed = self.wanted.load(Ordering::Acquire) == 0 && seen == rounds;
            rounds = seen;
            if is_needed && let Some(mut inbox) = self.inbox.try_lock() {
                self.is_own_asleep.store(true, Ordering::SeqCst);
                while self.wanted.load(Ordering::SeqCst) == 0
                    && !self.is_over.load(Ordering::Acquire)
                {
                    self.drive(&mut inbox, None, &mut || false);
                }
                self.is_own_asleep.store(false, Ordering::SeqCst);
                drop(inbox);
                self.tell_idlers();
                continue;
            }
            std::thread::sleep(ASIDE);
        }
        self.linger();
    }

    /// Goes on until peers have acknowledged what was sent: whoever ends its session right after a message has sent it all the same.
    fn linger(&self) {
        let end = Instant::now() + LINGER;
        let mut inbox = self.inbox.lock();
        while self.stack.lock().backlog() > 0 && Instant::now() < end {
            let soon = Instant::now() + Duration::from_millis(5);
            self.drive(&mut inbox, Some(soon), &mut || true);
        }
    }

    /// One round with the receiving end: takes what comes, does what is due, hands over.
    fn drive(
        &self,
        inbox: &mut P::Inbox,
        until: Option<Instant>,
        is_done: &mut dyn FnMut() -> bool,
    ) {
        let mut events = Vec::new();
        let due = self.stack.lock().deadline().map(|at| self.instant(at));
        let until = [until, due].into_iter().flatten().min();
        let now = Instant::now();
        if !self.deliveries.lock().is_empty() {
            inbox.receive(Some(now), &mut events);
        } else {
            let spin_until = now + SPIN;
            loop {
                let is_last = !self.spins || Instant::now() >= spin_until;
                if is_last {
                    self.sleeps.store(true, Ordering::SeqCst);
                    let may_sleep = self.deliveries.lock().is_empty();
                    inbox.receive(if may_sleep { until } else { Some(now) }, &mut events);
                    self.sleeps.store(false, Ordering::SeqCst);
                    break;
                }
                inbox.receive(Some(now), &mut events);
                if !events.is_empty()
                    || is_done()
                    || self.wants_out()
                    || !self.deliveries.lock().is_empty()
                {
                    break;
                }
                std::hint::spin_loop();
            }
        }
        self.take(events, due);
        self.hand_over();
    }

    fn wants_out(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Gives the protocols what came.
    fn take(&self, events: Vec<Event>, due: Option<Instant>) {
        let is_due = due.is_some_and(|at| at <= Instant::now());
        if events.is_empty() && !is_due {
            return;
        }
        let mut stack = self.stack.lock();
        let now = self.now();
        for event in events {
            match event {
                Event::Frame { from, frame } => {
                    // What does not decode is dropped: only a faulty peer sends it.
                    // A multicast of an ordered platform is a frame as any other: no link adds to it.
                    let _ = stack.frame(now, from, frame);
                }
                Event::Lost { rank, loss } => stack.lost(now, rank, loss.is_certain, &loss.reason),
                Event::Joined { rank, name } => {
                    stack.joined(rank);
                    self.desk.joined(rank, name);
                }
                Event::Room { to } => self.desk.has_room(to),
            }
        }
        if is_due {
            stack.tick(now);
        }
        stack.flush(now);
        self.perform(&mut stack);
        drop(stack);
        self.tell_idlers();
    }

    /// Does what the protocols want, with their lock held so that frames go out in their order.
    fn perform(&self, stack: &mut Stack<P::Links, P::Order>) -> Flow {
        let mut flow = Flow::Free;
        let actions = stack.actions();
        if actions.is_empty() {
            return flow;
        }
        for action in actions.drain(..) {
            match action {
                Action::Send(to, frame) => {
                    let sent = self.platform.send(to, frame);
                    if sent == Flow::Congested {
                        self.desk.is_full(to);
                    }
                    flow = flow.and(sent);
                }
                Action::Multicast(frame) => flow = flow.and(self.platform.multicast(frame)),
                Action::Deliver(delivery) => self.deliveries.lock().push_back(delivery),
                Action::Complete(id, outcome) => self.desk.completed(id, outcome),
                Action::Collected(id, outcome) => self.desk.collected(id, outcome),
                Action::Lost(rank, why) => self.desk.lost(rank, why),
                Action::Full(rank) => {
                    self.desk.is_full(rank);
                    flow = Flow::Congested;
                }
                Action::Room(rank) => self.desk.has_room(rank),
            }
        }
        flow
    }

    /// Hands over what is there. Only who has the receiving end does this, so upcalls run one at a time.
    fn hand_over(&self) {
        loop {
            let Some(delivery) = self.deliveries.lock().pop_front() else {
                break;
            };
            self.desk.deliver(delivery, self);
        }
        self.tell_idlers();
    }

    fn tell_idlers(&self) {
        if self.idlers.load(Ordering::SeqCst) > 0 {
            drop(self.idle.lock());
            self.changed.notify_all();
        }
    }
}

impl<P: Platform> Engine for Node<P> {
    fn ask(&self, ask: Ask) -> (RequestId, Flow) {
        let mut stack = self.stack.lock();
        let now = self.now();
        let until = |deadline: Option<Duration>| deadline.map(|deadline| now + deadline);
        let mut id = 0;
        match ask {
            Ask::Send {
                to,
                port,
                tag,
                payload,
            } => stack.send(now, to, port, tag, payload),
            Ask::SendSynchronously {
                to,
                port,
                tag,
                payload,
                deadline,
            } => {
                id = stack.send_synchronously(now, to, port, tag, payload, until(deadline));
                self.desk.expect(id);
            }
            Ask::Call {
                to,
                service,
                payload,
                deadline,
            } => {
                id = stack.call(now, to, service, payload, until(deadline));
                self.desk.expect(id);
            }
            Ask::Reply {
                to,
                id,
                kind,
                payload,
            } => stack.reply(now, to, id, kind, payload),
            Ask::Collect(part) => {
                self.desk.expect(part.id);
                stack.collect(now, part);
            }
            Ask::Number => id = stack.request_id(),
            Ask::Join(group) => stack.group(now, group, |group, now, out| group.join(now, out)),
            Ask::Leave(group) => stack.group(now, group, |group, now, out| group.leave(now, out)),
            Ask::GroupSend(group, payload) => {
                stack.group(now, group, |group, now, out| group.send(now, payload, out))
            }
            Ask::Watch(rank) => stack.watch(rank, now),
            Ask::Unwatch(rank) => stack.unwatch(rank),
        }
        let before = stack.deadline();
        stack.flush(now);
        let flow = self.perform(&mut stack);
        let is_sooner = stack.deadline() != before;
        drop(stack);
        let has_work = is_sooner || !self.deliveries.lock().is_empty();
        if has_work && self.sleeps.load(Ordering::SeqCst) {
            self.platform.wake();
        }
        (id, flow)
    }

    fn group_is_congested(&self, group: GroupId) -> bool {
        self.stack
            .lock()
            .group(self.now(), group, |group, _, _| group.is_congested())
    }

    fn wait(&self, is_done: &mut dyn FnMut() -> bool, until: Option<Instant>) -> bool {
        if is_done() {
            return true;
        }
        self.wanted.fetch_add(1, Ordering::SeqCst);
        let is_held = loop {
            if is_done() {
                break true;
            }
            if until.is_some_and(|until| Instant::now() >= until)
                || self.is_over.load(Ordering::Acquire)
            {
                break is_done();
            }
            if let Some(mut inbox) = self.inbox.try_lock() {
                self.drive(&mut inbox, until, is_done);
                continue;
            }
            if self.is_own_asleep.load(Ordering::SeqCst) {
                self.platform.wake();
            }
            self.wait_idly(is_done, until);
        };
        self.rounds.fetch_add(1, Ordering::SeqCst);
        self.wanted.fetch_sub(1, Ordering::SeqCst);
        self.tell_idlers();
        is_held
    }

    fn poll(&self) {
        if let Some(mut inbox) = self.inbox.try_lock() {
            self.drive(&mut inbox, Some(Instant::now()), &mut || true);
        }
    }

    fn allot(&self, count: u32) -> Result<Vec<Seat>, JoinError> {
        self.platform.allot(count)
    }

    fn stop(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.platform.wake();
        self.tell_idlers();
        // The platform takes its leave of the peers when it is dropped, which must be before the process ends.
        let own = self.own.lock().take();
        if let Some(own) = own.filter(|own| own.thread().id() != std::thread::current().id()) {
            let _ = own.join();
        }
    }

    fn platform(&self) -> &'static str {
        P::NAME
    }
}

impl<P: Platform> Node<P> {
    /// Waits while another thread drives: until it tells that something changed, or it lets go.
    fn wait_idly(&self, is_done: &mut dyn FnMut() -> bool, until: Option<Instant>) {
        let mut idle = self.idle.lock();
        self.idlers.fetch_add(1, Ordering::SeqCst);
        // The other may have let go, or done it, before it could see that somebody waits.
        if !is_done() && self.inbox.is_locked() {
            let longest = Instant::now() + ASIDE;
            self.changed
                .wait_until(&mut idle, until.map_or(longest, |until| until.min(longest)));
        }
        self.idlers.fetch_sub(1, Ordering::SeqCst);
    }
}
