//! A session over one platform: its parts, and the operations that a program asks of it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use antiphon_fiber::ManyServers;
use parking_lot::Mutex;

use super::driver::Driver;
use super::driver_state::Work;
use super::progress_thread::ProgressThread;
use super::waiting::Waiting;
use super::{Ask, Awaited, Engine, Interest, Request};
use crate::error::Error;
use crate::message::Message;
use crate::platform::spin_policy::{SpinPolicy, YieldPolicy};
use crate::platform::{Event, Flow, JoinError, LaunchInfo, Platform, Rank};
use crate::protocol::group::{Myself, Order};
use crate::protocol::link::Links;
use crate::protocol::requests::RequestId;
use crate::protocol::{Action, Delivery, Envelope, GroupId, Stack, Time};
use crate::session::Multicast;
use crate::session::dispatcher::{Dispatcher, LastUpcalls};
use crate::session::pending_requests;
use crate::session::upcall;

pub(super) type StackOf<P> = Stack<<P as Platform>::Links, <P as Platform>::Order>;

pub struct Node<P: Platform> {
    pub(super) platform: P,
    pub(super) itself: Weak<Self>,
    pub(super) rank: Rank,
    /// Time for which a peer may be silent before it is taken for lost.
    pub(super) silence: Duration,
    /// The receiving end, its driver, and the work noted for the driver.
    pub(super) driver: Driver<End<P::Inbox>>,
    pub(super) stack: Mutex<StackOf<P>>,
    pub(super) dispatcher: Arc<Dispatcher>,
    /// Deliveries for the program besides those that the driver has, in order. A thread that adds
    /// some notes [`Work::DELIVERIES`] afterwards.
    pub(super) deliveries: Mutex<VecDeque<Delivery>>,
    /// Time at which the protocols have something to do, in nanoseconds of [`Node::now`];
    /// `u64::MAX` for never. While it is that, plain frames go past the protocols.
    ///
    /// The word is set with the protocols locked. A thread that does not drive and sets a sooner
    /// time calls [`Driver::note`] afterwards. Either the driver reads that time before it sleeps,
    /// or the thread learns that the driver sleeps and wakes it.
    pub(super) due_ns: AtomicU64,
    pub(super) start: Instant,
    pub(super) waiting: Waiting,
    /// Whether anything was sent since a wait last began. It only hints how long to spin, so its
    /// order does not matter. Each sender sets it; the driver clears it as its wait begins.
    pub(super) has_sent: AtomicBool,
    pub(super) progress_thread: ProgressThread,
    /// Policy for how long fibers look for frames before they park.
    pub(super) spin_policy: Mutex<SpinPolicy>,
    /// Waker that ends the driver's sleep in the inbox.
    pub(super) waker: Waker,
    /// Whether a progress fiber drives while all other fibers wait for something else. The thread
    /// that starts the fiber sets it, and alone publishes anything to it. The fiber clears it as
    /// its run ends.
    pub(super) has_progress_fiber: AtomicBool,
}

/// The receiving end, with room for what it receives.
pub struct End<I> {
    pub(super) inbox: I,
    pub(super) events: Vec<Event>,
    /// Deliveries for the program, in order. Empty unless the holder drives.
    pub(super) deliveries: VecDeque<Delivery>,
    /// Policy for yielding to threads that upcalls wake on the holder's processor.
    pub(super) yields: YieldPolicy,
    pub(super) last_upcalls: LastUpcalls,
}

/// Due time that stands for never, while the protocols must still see every frame: a lost peer may
/// be back.
const FAR: u64 = u64::MAX - 1;

/// Time between the zero of the session's clock and its start, so that there are times before now.
const BEFORE_START: Duration = Duration::from_secs(1);

impl<P: Platform> Node<P> {
    /// Begins a session; the returned engine's progress thread runs until [`Engine::stop`].
    pub fn begin(
        platform: P,
        inbox: P::Inbox,
        myself: Myself,
        dispatcher: Arc<Dispatcher>,
    ) -> std::io::Result<Arc<Self>> {
        let node = Self::new(platform, inbox, myself, dispatcher);
        let own = node.clone();
        let thread = std::thread::Builder::new()
            .name(format!("panda {}", myself.rank))
            .spawn(move || own.drive_always())?;
        node.progress_thread.began(thread);
        node.start_progress_fiber();
        Ok(node)
    }

    /// Makes a node without a progress thread.
    pub(super) fn new(
        platform: P,
        inbox: P::Inbox,
        myself: Myself,
        dispatcher: Arc<Dispatcher>,
    ) -> Arc<Self> {
        const {
            assert!(
                P::RELIABLE != <P::Links as Links>::RETRANSMITS,
                "Platform::Links must fit Platform::RELIABLE"
            );
            assert!(
                (P::LARGEST == usize::MAX) || <P::Links as Links>::FRAGMENTS,
                "Platform::Links must fit Platform::LARGEST"
            );
            assert!(
                P::MULTICAST.is_none() || <P::Links as Links>::RETRANSMITS,
                "what a multicast may lose must be sent again: Platform::Links must fit Platform::MULTICAST"
            );
            assert!(
                !P::ORDERED || !<P::Links as Links>::FRAGMENTS,
                "an ordered platform must take frames of any length"
            );
            assert!(
                (P::ORDERED && P::RELIABLE) || !<P::Order as Order>::NEEDS_ORDERED,
                "Platform::Order must fit Platform::ORDERED"
            );
            assert!(
                P::ORDERED == P::BROADCAST.is_some(),
                "an ordered platform broadcasts, and no other does"
            );
        }
        let stack = Stack::new(myself, platform.largest());
        Arc::new_cyclic(|itself| Self {
            platform,
            itself: itself.clone(),
            waker: Waker::from(Arc::new(Wakes(itself.clone()))),
            driver: Driver::new(End {
                inbox,
                events: Vec::new(),
                deliveries: VecDeque::new(),
                yields: YieldPolicy::default(),
                last_upcalls: LastUpcalls::default(),
            }),
            rank: myself.rank,
            silence: myself.silence,
            stack: Mutex::new(stack),
            dispatcher,
            deliveries: Mutex::default(),
            due_ns: AtomicU64::new(u64::MAX),
            start: Instant::now(),
            waiting: Waiting::default(),
            has_sent: AtomicBool::new(false),
            progress_thread: ProgressThread::default(),
            spin_policy: Mutex::default(),
            has_progress_fiber: AtomicBool::new(false),
        })
    }

    pub(super) fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    pub(super) fn time_of(&self, moment: Instant) -> Time {
        moment.duration_since(self.start) + BEFORE_START
    }

    /// Returns the time at which the protocols have something to do.
    pub(super) fn due(&self) -> Option<Instant> {
        let due_ns = self.due_ns.load(Ordering::Acquire);
        let since_start = || Duration::from_nanos(due_ns).saturating_sub(BEFORE_START);
        (due_ns < FAR).then(|| self.start + since_start())
    }

    /// Sets the due time to that of the protocols. Returns whether it is sooner than before.
    pub(super) fn set_due(&self, stack: &StackOf<P>) -> bool {
        let never = || match stack.awaits_return() {
            true => FAR,
            false => u64::MAX,
        };
        let due_ns = stack
            .deadline()
            .map_or_else(never, |at| at.as_nanos() as u64);
        // The protocols' lock orders this load with other stores.
        let before = self.due_ns.load(Ordering::Relaxed);
        if due_ns != before {
            self.due_ns.store(due_ns, Ordering::Release);
        }
        due_ns < before
    }

    /// Gives a frame to the platform.
    fn give(&self, to: Rank, frame: Message) {
        let length = frame.len();
        self.give_by(to, length, || self.platform.send(to, frame));
    }

    /// Gives a plain message to the platform, in two parts if the platform takes them.
    #[inline]
    pub(super) fn give_plain(&self, to: Rank, envelope: &Envelope, mut payload: Message) {
        let length = payload.len();
        let flow = self.give_by(to, length, || {
            let sent = (self.platform).send_parts(to, &envelope.header(), &payload);
            sent.unwrap_or_else(|| {
                envelope.push_onto(&mut payload);
                self.platform.send(to, payload)
            })
        });
        if flow == Flow::Congested && self.dispatcher.flow_control.is_too_much() {
            // Only the protocols may give a peer up.
            self.change(|_, _| ());
        }
    }

    fn give_by(&self, to: Rank, length: usize, send: impl FnOnce() -> Flow) -> Flow {
        let found = self.dispatcher.flow_control.found();
        let flow = send();
        self.note_sent();
        if flow == Flow::Congested {
            let before = self.platform.untaken(to).saturating_sub(length);
            self.dispatcher.flow_control.found_full(to, found, before);
        }
        if self.platform.has_kept() {
            self.see_to_the_rest();
        }
        flow
    }

    /// Notes a send: a wait that begins now probably waits for its effect.
    fn note_sent(&self) {
        self.has_sent.store(true, Ordering::Relaxed);
    }

    /// Has the rest of a long message sent.
    ///
    /// It must not wait until the progress thread looks, since its sender may not come back for
    /// long. A driver sends it while it drives, and calls the progress thread when it stops.
    pub(super) fn see_to_the_rest(&self) {
        if !self.driver.leave_to_driver(Work::REST) {
            self.progress_thread.call();
        }
    }

    /// Carries out the protocols' actions, and gives up peers for which too much waits. Returns
    /// whether a request has ended. The protocols are locked meanwhile, so that frames go out in
    /// order.
    pub(super) fn perform(
        &self,
        stack: &mut StackOf<P>,
        now: Time,
        mut deliver: impl FnMut(Delivery),
    ) -> bool {
        let mut has_ended = self.perform_all(stack, &mut deliver);
        while self.dispatcher.flow_control.is_too_much() && self.give_up(stack, now) {
            has_ended |= self.perform_all(stack, &mut deliver);
        }
        has_ended
    }

    /// Gives up the peer for which most waits, if too much waits for all together.
    ///
    /// Where links can begin anew, the peer may hear of this process later. The loss is also
    /// printed, since the program may not wait for that peer.
    #[cold]
    fn give_up(&self, stack: &mut StackOf<P>, now: Time) -> bool {
        let begins_anew = <P::Links as Links>::RETRANSMITS;
        let untaken = |rank| match begins_anew {
            true => stack.untaken(rank),
            false => self.platform.untaken(rank),
        };
        let Some(untaken) = self.dispatcher.flow_control.foremost(untaken) else {
            return false;
        };
        let (rank, why) = (untaken.to, untaken.why());
        eprintln!(
            "antiphon: {} is lost: it {why}",
            self.dispatcher.name_of(rank)
        );
        match begins_anew {
            true => stack.lost(now, rank, false, &why),
            false => {
                self.platform.cut_off(rank);
                stack.cut_off(now, rank, &why);
            }
        }
        true
    }

    fn perform_all(&self, stack: &mut StackOf<P>, deliver: &mut impl FnMut(Delivery)) -> bool {
        let mut has_ended = false;
        for action in stack.actions().drain(..) {
            match action {
                Action::Send(to, frame) => self.give(to, frame),
                Action::SendRun(to, frames) => {
                    let length = frames.iter().map(Message::len).sum();
                    self.give_by(to, length, || self.platform.send_run(to, frames));
                }
                // The protocols ask only for what the platform has: see `new`.
                Action::Broadcast(frame) => {
                    if let Some(broadcast) = P::BROADCAST {
                        self.note_sent();
                        broadcast(&self.platform, frame);
                    }
                }
                Action::Multicast(frame) => {
                    if let Some(multicast) = P::MULTICAST {
                        self.note_sent();
                        (multicast.send)(&self.platform, frame);
                    }
                }
                Action::Deaf(rank) => {
                    if let Some(multicast) = P::MULTICAST {
                        (multicast.is_deaf)(&self.platform, rank);
                    }
                }
                Action::Deliver(delivery) => deliver(delivery),
                own => {
                    if let Action::Lost(rank, _) = own {
                        self.platform.gave_up(rank);
                    }
                    has_ended |= self.dispatcher.learn(own, &self.waiting);
                }
            }
        }
        has_ended
    }

    /// Has the protocols do something, and then carries out their actions.
    fn change<R>(&self, act: impl FnOnce(&mut StackOf<P>, Time) -> R) -> R {
        let mut stack = self.stack.lock();
        let now = self.now();
        let result = act(&mut stack, now);
        stack.flush(now);
        let mut work = Work::NONE;
        let has_ended = self.perform(&mut stack, now, |delivery| {
            self.deliveries.lock().push_back(delivery);
            work |= Work::DELIVERIES;
        });
        if has_ended {
            work |= Work::ENDS;
        }
        let is_sooner = self.set_due(&stack);
        // The work is noted with the protocols locked. So the next driver that locks them takes
        // these deliveries first.
        let wakes = (is_sooner || work != Work::NONE) && self.driver.note(work).is_asleep();
        let has_kept = stack.has_kept();
        drop(stack);
        if has_kept {
            self.see_to_the_rest();
        }
        if wakes {
            self.platform.wake();
        }
        result
    }

    fn asks_plainly(&self, to: Rank) -> bool {
        to != self.rank && self.dispatcher.asks_plainly::<P::Links>(to)
    }
}

/// Waker of the thread that sleeps in a session's inbox.
struct Wakes<P: Platform>(Weak<Node<P>>);

impl<P: Platform> Wake for Wakes<P> {
    fn wake(self: Arc<Self>) {
        if let Some(node) = self.0.upgrade() {
            node.platform.wake();
        }
    }
}

impl<P: Platform> Engine for Node<P> {
    fn post(&self, to: Rank, envelope: Envelope, payload: Message) {
        if <P::Links as Links>::ADDS_NOTHING && to != self.rank {
            // No protocol keeps state of this message, and its order beside other threads' messages
            // is free.
            return self.give_plain(to, &envelope, payload);
        }
        self.change(|stack, now| stack.post(now, to, &envelope, payload));
    }

    fn request(
        &self,
        to: Rank,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
    ) -> RequestId {
        if self.asks_plainly(to) {
            let id = self.dispatcher.pending.begin(to);
            self.give_plain(to, &request.envelope(id), payload);
            return id;
        }
        self.change(|stack, now| request.put(stack, now, to, payload, deadline))
    }

    fn request_for(
        &self,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
        end: &mut pending_requests::End<'_>,
    ) {
        // A fiber yields to others while it waits.
        let gives_way = || ManyServers::is_caller() && ManyServers::has_others();
        match self.asks_plainly(end.peer) && !gives_way() {
            true => self.request_and_drive(request, payload, deadline, end),
            false => end.begins(self.request(end.peer, request, payload, deadline)),
        }
    }

    fn ask(&self, ask: Ask) {
        self.change(|stack, now| ask.put(stack, now));
    }

    fn number(&self) -> RequestId {
        self.change(|stack, _| stack.request_id())
    }

    fn group_is_congested(&self, group: GroupId) -> bool {
        self.stack
            .lock()
            .group(self.now(), group, |group, _, _| group.is_congested())
    }

    fn wait(&self, interest: Interest, awaited: &mut dyn Awaited, until: Option<Instant>) -> bool {
        self.wait_for(interest, awaited, until)
    }

    fn ensure_progress_fiber(&self) {
        self.start_progress_fiber();
    }

    fn is_awaited(&self) -> bool {
        self.driver.state().is_wanted() || !self.waiting.is_empty()
    }

    fn poll(&self) {
        self.look();
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn clock(&self) -> Duration {
        self.now()
    }

    fn nudge(&self) {
        self.waiting.wake_all();
        self.platform.wake();
    }

    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        let mut infos = self.platform.allot(count)?;
        for info in &mut infos {
            info.parent = Some(self.rank);
        }
        Ok(infos)
    }

    fn spawn(
        &self,
        program: &OsStr,
        args: &[OsString],
        count: u32,
    ) -> Option<Result<Vec<Rank>, Error>> {
        let allot = || {
            let mut infos = self.allot(count)?;
            for info in &mut infos {
                info.silence = Some(self.silence);
            }
            Ok(infos)
        };
        self.platform.start(program, args, &allot)
    }

    fn has_ended(&self, rank: Rank) {
        self.platform.has_ended(rank);
    }

    fn take_back(&self, spawned: &[Rank]) {
        self.platform.take_back(spawned);
    }

    fn stop(&self) {
        self.driver.stop();
        self.nudge();
        self.progress_thread.call();
        // The progress thread takes leave of the peers at last, which must happen before the
        // process ends. In an upcall this cannot wait: it is done after the driver has returned
        // from it.
        if !upcall::is_running() {
            self.progress_thread.join();
        }
    }

    fn rank(&self) -> Rank {
        self.rank
    }

    fn platform(&self) -> &'static str {
        P::NAME
    }

    fn multicast(&self) -> Multicast {
        let (to, frames) = self.stack.lock().hearers();
        Multicast { to, frames }
    }
}
