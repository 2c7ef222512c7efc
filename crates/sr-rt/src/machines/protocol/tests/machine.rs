//! A machine whose processes do things at random: what the C part of the run-time does with blocks
//! and processes, in miniature.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use antiphon_panda::thread::{self, Semaphore};
use antiphon_panda::{PeerEvent, Port, QuiescenceEvent, Session};
use antiphon_panda_sim::Chance;
use bytes::Bytes;
use parking_lot::Mutex;

use super::super::Protocol;
use super::super::fault::Fault;
use super::super::inbox::Event;
use super::super::letters::{Awaits, Base, BlockSent, Blocked, Letter, Origin};
use super::ledger::Ledger;
use super::{MOST_INVOCATIONS, Plan};

/// A process of the machine ends, because the machine does.
pub struct Over;

/// How a wait ends.
#[derive(Debug)]
enum End {
    /// The invocation is done.
    Answered,
    Replied(Letter, Bytes),
    /// An invocation was handed to a process that receives.
    Taken(Invocation),
    Gone(u32),
    /// The machine ends.
    Over,
}

/// A waiting process.
struct Waiter {
    /// The invocation that it waits for.
    invocation: Option<u64>,
    end: Mutex<Option<End>>,
    is_woken: AtomicBool,
    semaphore: Semaphore,
}

/// An invocation at the machine that has it.
#[derive(Debug, Clone, Copy)]
struct Invocation {
    number: u64,
    /// How many more invocations may follow from it.
    depth: u32,
    awaits: Awaits,
}

/// The bell that wakes the serving fiber.
struct Bell(Semaphore);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.v();
    }
}

pub struct Machine {
    own: u32,
    session: Session,
    port: Port,
    protocol: Protocol<Arc<Waiter>>,
    ledger: Arc<Mutex<Ledger>>,
    plan: Plan,
    running: AtomicU32,
    is_over: AtomicBool,
    has_concluded: AtomicBool,
    blocked: Mutex<Vec<Arc<Waiter>>>,
    /// Invocations of its input operation that no process has taken.
    pending: Mutex<VecDeque<Invocation>>,
    /// Processes that wait for one.
    receivers: Mutex<VecDeque<Arc<Waiter>>>,
    spawns: thread::Mutex<()>,
    /// On the first machine: the others that there are.
    live: Mutex<Vec<u32>>,
    left: Mutex<Vec<u32>>,
}

type Done = Result<(), Over>;

impl Machine {
    pub fn join(session: &Session, plan: &Plan, ledger: &Arc<Mutex<Ledger>>) -> Arc<Self> {
        let own = session.rank();
        let quiescence = session.quiescence().expect("the session has begun");
        let fault = Fault {
            mutant: plan.mutant,
        };
        ledger.lock().joined(own);
        let machine = Arc::new(Self {
            own,
            session: session.clone(),
            port: session.port("sr"),
            protocol: Protocol::new(own, quiescence, fault),
            ledger: ledger.clone(),
            plan: plan.clone(),
            running: AtomicU32::new(0),
            is_over: AtomicBool::new(false),
            has_concluded: AtomicBool::new(false),
            blocked: Mutex::default(),
            pending: Mutex::default(),
            receivers: Mutex::default(),
            spawns: thread::Mutex::new(()),
            live: Mutex::default(),
            left: Mutex::default(),
        });
        machine.follow();
        machine
    }

    fn follow(self: &Arc<Self>) {
        let it = self.clone();
        let events = self.protocol.quiescence.on_event(move |event| {
            if let QuiescenceEvent::Quiescent(verdict) = event
                && it.own == 0
            {
                it.protocol.verdict(&verdict.lost, |_| String::new());
            }
        });
        events.expect("the session goes on");
        let it = self.clone();
        let messages = self.port.on_message(move |arrived| {
            let (letter, number, body) = Letter::opened(&arrived.payload).expect("a letter");
            let from = arrived.from;
            match letter {
                Letter::Quit => it.protocol.happens(Event::Exit(0)),
                letter => {
                    it.protocol.arrives(from, &letter);
                    it.protocol.inbox.push(Event::Letter {
                        from,
                        letter,
                        number,
                        body,
                    });
                }
            }
        });
        messages.expect("the session goes on");
        let it = self.clone();
        let peers = self.session.on_peer(move |machine, event| match event {
            PeerEvent::Joined => {}
            // A process of the first machine may have been about to destroy this one.
            PeerEvent::Left | PeerEvent::Lost { .. } if machine == 0 => {
                it.protocol.happens(Event::Exit(1));
            }
            PeerEvent::Left => it.left.lock().push(machine),
            PeerEvent::Lost { why } => {
                it.left.lock().push(machine);
                it.protocol.lose(machine, why);
            }
        });
        peers.expect("the session goes on");
    }

    /// Creates the other machines and the processes that begin.
    pub fn begin(self: &Arc<Self>) {
        self.ledger.lock().begun = Some(thread::now());
        let it = self.clone();
        self.start(move || {
            for _ in 0..it.plan.machines {
                it.create();
            }
            for root in 0..it.plan.roots {
                let of = it.clone();
                it.start(move || {
                    let mut chance = Chance::new(of.plan.seed * 1000 + u64::from(root));
                    of.act(&mut chance, of.plan.depth, 5, 10)
                });
            }
            Ok(())
        });
    }

    /// Serves until the machine ends.
    pub fn serve(self: &Arc<Self>) {
        // Without processes the machine is at rest.
        self.goes_on();
        self.pauses();
        while !self.is_over.load(Relaxed) {
            let event = self.next_event();
            let is_valid = self.protocol.begins(&event);
            self.goes_on();
            if is_valid {
                self.handle(event);
            }
            self.protocol.ends();
            self.pauses();
        }
    }

    /// Leaves the session.
    pub fn leave(&self) {
        self.protocol.close();
        while self.protocol.is_sending() {
            thread::sleep(Duration::from_micros(100));
        }
        self.session.end_for_all();
    }

    fn next_event(&self) -> Event {
        let bell = Arc::new(Bell(Semaphore::new(0)));
        let waker = Waker::from(bell.clone());
        let mut next = pin!(self.protocol.inbox.next());
        loop {
            match next.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(event) => return event,
                Poll::Pending => bell.0.p(),
            }
        }
    }

    // Processes.

    fn start(self: &Arc<Self>, body: impl FnOnce() -> Done + Send + 'static) {
        self.goes_on();
        let it = self.clone();
        let started = thread::spawn(move || {
            let _ = body();
            it.pauses();
        });
        started.expect("a fiber");
    }

    /// Notes that a process can go on.
    fn goes_on(&self) {
        self.running.fetch_add(1, Relaxed);
        self.ledger.lock().goes_on(self.own);
    }

    /// Notes that a process can go on no more.
    fn pauses(&self) {
        self.ledger.lock().pauses(self.own);
        if self.running.fetch_sub(1, Relaxed) == 1 && !self.is_over.load(Relaxed) {
            // The run-time calls it until nothing was handled between two calls.
            let _ = self.protocol.rests() || self.protocol.rests();
        }
    }

    fn waiter(&self, invocation: Option<u64>) -> Arc<Waiter> {
        Arc::new(Waiter {
            invocation,
            end: Mutex::default(),
            is_woken: AtomicBool::new(false),
            semaphore: Semaphore::new(0),
        })
    }

    fn wait(&self, waiter: &Arc<Waiter>) -> Result<End, Over> {
        if self.is_over.load(Relaxed) {
            return Err(Over);
        }
        self.blocked.lock().push(waiter.clone());
        self.pauses();
        waiter.semaphore.p();
        match waiter.end.lock().take() {
            None | Some(End::Over) => Err(Over),
            Some(end) => Ok(end),
        }
    }

    fn wake(&self, waiter: &Arc<Waiter>, end: End) {
        if waiter.is_woken.swap(true, Relaxed) {
            if !self.is_over.load(Relaxed) {
                self.ledger
                    .lock()
                    .fault(format!("a wait ends twice: {end:?}"));
            }
            return;
        }
        *waiter.end.lock() = Some(end);
        self.goes_on();
        waiter.semaphore.v();
    }

    // What processes do.

    /// Does some things at random.
    fn act(self: &Arc<Self>, chance: &mut Chance, depth: u32, least: u64, most: u64) -> Done {
        for _ in 0..chance.between(least, most) {
            if self.is_over.load(Relaxed) {
                return Err(Over);
            }
            match chance.below(12) {
                0..=2 => thread::sleep(Duration::from_micros(chance.below(3000))),
                3..=7 => self.call(chance, depth)?,
                8 => self.send(chance, depth),
                9 => self.receive_at_random(chance, depth)?,
                10 if self.own == 0 => self.create(),
                11 if self.own == 0 && chance.below(2) == 0 => self.destroy(chance)?,
                _ => thread::yield_now(),
            }
        }
        Ok(())
    }

    /// Returns another machine that there is or was.
    fn another(&self, chance: &mut Chance) -> Option<u32> {
        let machines = self.ledger.lock().machines.clone();
        let others: Vec<u32> = machines.into_iter().filter(|it| *it != self.own).collect();
        let count = others.len() as u64;
        (count > 0).then(|| others[chance.below(count) as usize])
    }

    fn has_room(&self, depth: u32) -> bool {
        depth > 0 && self.ledger.lock().invocations.len() < MOST_INVOCATIONS
    }

    fn call(self: &Arc<Self>, chance: &mut Chance, depth: u32) -> Done {
        let to = self.another(chance).filter(|_| self.has_room(depth));
        let Some(to) = to.filter(|to| self.protocol.check(*to).is_ok()) else {
            return Ok(());
        };
        let number = self.ledger.lock().invoked(Some(self.own), to);
        let waiter = self.waiter(Some(number));
        let token = self.protocol.begin_wait(to, waiter.clone());
        let awaits = Awaits::Process {
            home: self.own,
            token,
            hops: 0,
        };
        if !self.invoke(to, number, depth - 1, awaits) {
            let _ = self.protocol.end_wait(token);
            self.ledger.lock().failed(number, to);
            return Ok(());
        }
        match self.wait(&waiter)? {
            End::Answered => self.ledger.lock().answered(number),
            End::Gone(machine) => self.ledger.lock().failed(number, machine),
            other => self
                .ledger
                .lock()
                .fault(format!("a call ends by {other:?}")),
        }
        Ok(())
    }

    fn send(&self, chance: &mut Chance, depth: u32) {
        let to = self.another(chance).filter(|_| self.has_room(depth));
        if let Some(to) = to.filter(|to| self.protocol.check(*to).is_ok()) {
            let number = self.ledger.lock().invoked(None, to);
            self.invoke(to, number, depth - 1, Awaits::Nobody);
        }
    }

    fn invoke(&self, to: u32, number: u64, depth: u32, awaits: Awaits) -> bool {
        let origin = Origin {
            base: Base(0),
            at: 0,
            priority: 0,
        };
        let letter = Letter::Invoke {
            origin,
            awaits,
            block: block(),
        };
        self.post(to, &letter, &(number, depth))
    }

    /// Takes an invocation of the input operation of some machine, and serves it.
    fn receive_at_random(self: &Arc<Self>, chance: &mut Chance, depth: u32) -> Done {
        let taken = match self.another(chance).filter(|_| chance.below(2) == 0) {
            None => self.take()?,
            Some(from) => {
                let Some(taken) = self.receive(from)? else {
                    return Ok(());
                };
                taken
            }
        };
        let depth = taken.depth.min(depth);
        self.run(Invocation { depth, ..taken })
    }

    /// Takes an invocation of another machine's input operation.
    fn receive(&self, from: u32) -> Result<Option<Invocation>, Over> {
        let origin = Origin {
            base: Base(0),
            at: 0,
            priority: 0,
        };
        let cap = super::super::letters::CapSent {
            op: 0,
            serial: 0,
            machine: from,
        };
        let asked = self.ask(from, |token| Letter::Receive {
            origin,
            token,
            cap,
            has_else: false,
        })?;
        let Some((Letter::Received { taken, .. }, body)) = asked else {
            return Ok(None);
        };
        let (awaits, _) = taken.expect("without else there is one");
        let (number, depth) = opened(&body);
        self.comes(number, awaits);
        Ok(Some(Invocation {
            number,
            depth,
            awaits,
        }))
    }

    /// Takes an invocation of this machine's input operation.
    fn take(&self) -> Result<Invocation, Over> {
        if let Some(taken) = self.pending.lock().pop_front() {
            return Ok(taken);
        }
        let waiter = self.waiter(None);
        self.receivers.lock().push_back(waiter.clone());
        match self.wait(&waiter)? {
            End::Taken(taken) => Ok(taken),
            other => {
                self.ledger
                    .lock()
                    .fault(format!("a receive ends by {other:?}"));
                Err(Over)
            }
        }
    }

    /// Gives an invocation to the input operation.
    fn deliver(&self, invocation: Invocation) {
        let receiver = self.receivers.lock().pop_front();
        match receiver {
            Some(receiver) => self.wake(&receiver, End::Taken(invocation)),
            None => self.pending.lock().push_back(invocation),
        }
    }

    /// Serves an invocation.
    fn run(self: &Arc<Self>, invocation: Invocation) -> Done {
        let Invocation {
            number,
            depth,
            awaits,
        } = invocation;
        let mut chance = Chance::new(self.plan.seed * 7919 + number * 31 + u64::from(self.own));
        self.act(&mut chance, depth, 0, 2)?;
        match chance.below(10) {
            0..=2 if depth > 0 => return self.forward(&mut chance, invocation),
            // It waits for ever, and its caller, too.
            3 if self.plan.blocks => {
                let waiter = self.waiter(None);
                self.wait(&waiter)?;
            }
            // An early reply: the process goes on.
            4 => {
                self.answer(number, awaits);
                return self.act(&mut chance, depth, 0, 2);
            }
            _ => {}
        }
        self.answer(number, awaits);
        Ok(())
    }

    fn forward(self: &Arc<Self>, chance: &mut Chance, invocation: Invocation) -> Done {
        let Invocation {
            number,
            depth,
            awaits,
        } = invocation;
        let to = self.another(chance);
        let Some(to) = to.filter(|to| self.protocol.check(*to).is_ok()) else {
            self.answer(number, awaits);
            return Ok(());
        };
        self.ledger.lock().passed(number, to);
        let (awaits, told) = self.protocol.passes_on(awaits, to);
        self.tell(told);
        self.invoke(to, number, depth - 1, awaits);
        Ok(())
    }

    fn answer(&self, number: u64, awaits: Awaits) {
        let Awaits::Process { home, token, .. } = awaits else {
            return;
        };
        self.ledger.lock().served(number, self.own);
        if home == self.own {
            return self.answered(token);
        }
        let letter = Letter::Answer {
            token,
            block: block(),
        };
        self.post(home, &letter, &(number, 0));
    }

    fn answered(&self, token: u64) {
        if let Some(waiter) = self.protocol.end_wait(token) {
            self.wake(&waiter, End::Answered);
        }
    }

    // Machines.

    fn create(self: &Arc<Self>) {
        if self.ledger.lock().machines.len() > 8 {
            return;
        }
        // One after the other, as the run-time does it.
        let spawns = self.spawns.lock();
        let Ok(ranks) = self.session.spawn("vm", [""; 0], 1) else {
            return;
        };
        drop(spawns);
        for machine in ranks {
            self.live.lock().push(machine);
            for letter in self.protocol.obituaries() {
                self.post(machine, &letter, &(0, 0));
            }
            self.ledger.lock().machines.push(machine);
        }
    }

    fn destroy(&self, chance: &mut Chance) -> Done {
        let machine = {
            let mut live = self.live.lock();
            if live.is_empty() {
                return Ok(());
            }
            let place = chance.below(live.len() as u64) as usize;
            live.remove(place)
        };
        if self.protocol.check(machine).is_err() {
            return Ok(());
        }
        let finals = |token| Letter::Finals { token, all: true };
        if self.ask(machine, finals)?.is_none() {
            return Ok(());
        }
        self.ledger.lock().destroyed.insert(machine);
        self.quit(machine);
        for waiter in self.protocol.end(machine) {
            self.wake(&waiter, End::Gone(machine));
        }
        let live = self.live.lock().clone();
        for other in live {
            self.post(other, &Letter::Ended { machine }, &(0, 0));
        }
        Ok(())
    }

    fn quit(&self, machine: u32) {
        let _ = self
            .port
            .send(machine, 0, Letter::Quit.sealed(0, Vec::new()));
    }

    /// Acts on the claim that nothing can go on.
    fn conclude(self: &Arc<Self>) -> Done {
        if self.has_concluded.swap(true, Relaxed) {
            return Ok(());
        }
        let live = self.live.lock().clone();
        for machine in &live {
            let asked = self.ask(*machine, |token| Letter::Report { token })?;
            if asked.is_none() && !self.ledger.lock().is_gone(*machine) {
                self.ledger
                    .lock()
                    .fault(format!("living machine {machine} reports nothing"));
            }
        }
        live.iter().for_each(|machine| self.quit(*machine));
        let have_left = || {
            let left = self.left.lock();
            live.iter().all(|machine| left.contains(machine))
        };
        // A machine that has sent something to a lost one may take its time.
        let until = thread::now() + Duration::from_secs(10);
        let is_left = self.session.wait_until(have_left, Some(until));
        let mut ledger = self.ledger.lock();
        if !matches!(is_left, Ok(true)) && ledger.crashes.is_empty() {
            let left = self.left.lock().clone();
            ledger.fault(format!("of machines {live:?} only {left:?} leave"));
        }
        drop(ledger);
        self.over();
        Ok(())
    }

    /// Ends the machine and its processes.
    fn over(&self) {
        self.is_over.store(true, Relaxed);
        let blocked = std::mem::take(&mut *self.blocked.lock());
        for waiter in blocked {
            self.wake(&waiter, End::Over);
        }
        // Wakes the serving fiber.
        self.protocol.happens(Event::Exit(0));
    }

    // Letters.

    /// Asks a machine. Returns `None` if it is gone.
    fn ask(
        &self,
        to: u32,
        letter: impl FnOnce(u64) -> Letter,
    ) -> Result<Option<(Letter, Bytes)>, Over> {
        let waiter = self.waiter(None);
        let token = self.protocol.begin_wait(to, waiter.clone());
        if !self.post(to, &letter(token), &(0, 0)) {
            let _ = self.protocol.end_wait(token);
            return Ok(None);
        }
        Ok(match self.wait(&waiter)? {
            End::Replied(letter, body) => Some((letter, body)),
            _ => None,
        })
    }

    fn tell(&self, told: Option<(u32, Letter)>) {
        if let Some((to, letter)) = told {
            self.post(to, &letter, &(0, 0));
        }
    }

    /// Sends a letter of work. Returns whether its machine takes letters.
    fn post(&self, to: u32, letter: &Letter, about: &(u64, u32)) -> bool {
        if self.protocol.sends(to, letter).is_err() {
            return false;
        }
        let number = self.ledger.lock().sent(self.own, to);
        let body = [about.0.to_le_bytes().as_slice(), &about.1.to_le_bytes()].concat();
        let sent = self.port.send(to, 0, letter.sealed(number as u32, body));
        self.protocol.sent();
        if sent.is_err() {
            self.ledger.lock().handled(number);
        }
        sent.is_ok()
    }

    /// Notes that an invocation has come.
    fn comes(&self, number: u64, awaits: Awaits) {
        self.ledger.lock().came(number, self.own);
        let told = self.protocol.comes(awaits);
        self.tell(told);
    }

    fn handle(self: &Arc<Self>, event: Event) {
        match event {
            Event::Letter {
                from,
                letter,
                number,
                body,
            } => {
                self.ledger.lock().handled(number.into());
                self.read(from, letter, body);
            }
            Event::Lost { machine } => {
                for waiter in self.protocol.fail(machine) {
                    self.wake(&waiter, End::Gone(machine));
                }
                let live = self.live.lock().clone();
                if let Some(letter) = self.protocol.obituary(machine) {
                    for other in live {
                        self.post(other, &letter, &(0, 0));
                    }
                }
            }
            Event::Verdict { .. } => {
                if !self.has_concluded.load(Relaxed) {
                    self.check_verdict();
                }
                let it = self.clone();
                self.start(move || it.conclude());
            }
            Event::Exit(_) => self.over(),
            Event::Signal => {}
        }
    }

    /// Checks a verdict, except for the activity of handling it.
    fn check_verdict(&self) {
        let mut ledger = self.ledger.lock();
        ledger.pauses(0);
        ledger.check_verdict();
        ledger.goes_on(0);
    }

    fn read(self: &Arc<Self>, from: u32, letter: Letter, body: Bytes) {
        match letter {
            Letter::Invoke { awaits, .. } => {
                let (number, depth) = opened(&body);
                self.comes(number, awaits);
                let invocation = Invocation {
                    number,
                    depth,
                    awaits,
                };
                let it = self.clone();
                match number % 8 {
                    7 => self.deliver(invocation),
                    _ => self.start(move || it.run(invocation)),
                }
            }
            Letter::Answer { token, .. } => self.answered(token),
            Letter::Moved {
                token,
                to,
                sender,
                hops,
            } => self.protocol.moved(token, (to, sender), hops),
            Letter::Receive { token, .. } => {
                let it = self.clone();
                self.start(move || {
                    let taken = it.take()?;
                    it.give(from, token, taken);
                    Ok(())
                });
            }
            Letter::Ended { machine } => {
                for waiter in self.protocol.end(machine) {
                    self.wake(&waiter, End::Gone(machine));
                }
            }
            Letter::Lost { machine, why } => self.protocol.lose(machine, why),
            Letter::Finals { token, .. } => {
                self.post(from, &Letter::Done { token }, &(0, 0));
            }
            Letter::Report { token } => {
                let blocked = Blocked::default();
                self.post(from, &Letter::Reported { token, blocked }, &(0, 0));
            }
            Letter::Received { token, .. }
            | Letter::Reported { token, .. }
            | Letter::Done { token } => {
                if let Some(waiter) = self.protocol.end_wait(token) {
                    self.wake(&waiter, End::Replied(letter, body));
                }
            }
            other => self.ledger.lock().fault(format!("nobody sends {other:?}")),
        }
    }

    /// Gives an invocation to the process of another machine that receives it. If that machine is
    /// gone the invocation stays here.
    fn give(&self, to: u32, token: u64, taken: Invocation) {
        if self.protocol.check(to).is_err() {
            return self.deliver(taken);
        }
        self.ledger.lock().passed(taken.number, to);
        let (awaits, told) = self.protocol.passes_on(taken.awaits, to);
        self.tell(told);
        let letter = Letter::Received {
            token,
            taken: Some((awaits, block())),
        };
        self.post(to, &letter, &(taken.number, taken.depth));
    }
}

fn block() -> BlockSent {
    BlockSent {
        base: Base(0),
        address: 0,
        size: 0,
    }
}

/// Returns the invocation that a letter is about, and its depth.
fn opened(body: &[u8]) -> (u64, u32) {
    let number = body[..8].try_into().expect("eight bytes");
    let depth = body[8..12].try_into().expect("four bytes");
    (u64::from_le_bytes(number), u32::from_le_bytes(depth))
}
