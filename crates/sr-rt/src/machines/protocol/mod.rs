//! The protocol between virtual machines: which machines there are, who waits for which, and when a
//! machine is at rest.
//!
//! It knows letters and panda's detection of quiescence, but no processes and no blocks. So the
//! simulator runs it, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use antiphon_panda::Quiescence;
use parking_lot::Mutex;

use fault::{Fault, Mutant};
use inbox::{Event, Flag, Inbox};
use letters::{Awaits, Base, BlockSent, Letter};
use rest::Rest;
use waits::Waits;

pub mod fault;
pub mod inbox;
pub mod letters;
pub mod rest;
#[cfg(test)]
mod tests;
pub mod waits;

/// A machine's part in the protocol. `W` says what is to be done at the end of a wait.
pub struct Protocol<W> {
    own: u32,
    pub quiescence: Quiescence,
    pub inbox: Inbox,
    /// Set when the machine is at rest no more.
    pub resumes: Flag,
    rest: Rest,
    waits: Mutex<Waits<W>>,
    gone: Mutex<Gone>,
    /// Letters that are counted and not yet handed to panda.
    sending: AtomicU32,
    is_closed: AtomicBool,
    fault: Fault,
}

/// The machines that take no letters any more.
#[derive(Default)]
struct Gone {
    /// Destroyed ones.
    ended: BTreeSet<u32>,
    /// Lost ones, and why.
    lost: BTreeMap<u32, String>,
}

impl<W: Clone> Protocol<W> {
    /// Makes the part of machine `own`.
    pub fn new(own: u32, quiescence: Quiescence, fault: Fault) -> Self {
        Self {
            own,
            quiescence,
            inbox: Inbox::default(),
            resumes: Flag::default(),
            rest: Rest::default(),
            waits: Mutex::default(),
            gone: Mutex::default(),
            sending: AtomicU32::new(0),
            is_closed: AtomicBool::new(false),
            fault,
        }
    }

    /// Checks that a machine takes letters.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self, machine: u32) -> Result<(), String> {
        let gone = self.gone.lock();
        let number = machine + 1;
        if gone.ended.contains(&machine) {
            return Err(format!("virtual machine {number} was destroyed"));
        }
        match gone.lost.get(&machine) {
            Some(why) => Err(format!("virtual machine {number} has died: it {why}")),
            None => Ok(()),
        }
    }

    /// Returns whether a machine is lost.
    pub fn is_lost(&self, machine: u32) -> bool {
        self.gone.lock().lost.contains_key(&machine)
    }

    /// Returns the lost machines, each with the reason. Destroyed machines are left out.
    pub fn lost(&self) -> BTreeMap<u32, String> {
        let gone = self.gone.lock();
        let mut lost = gone.lost.clone();
        lost.retain(|machine, _| !gone.ended.contains(machine));
        lost
    }

    /// Returns the letters that tell a new machine which others are gone.
    pub fn obituaries(&self) -> Vec<Letter> {
        let gone = self.gone.lock();
        let ended = gone.ended.iter();
        let ended = ended.map(|machine| Letter::Ended { machine: *machine });
        let lost = gone.lost.iter().map(|(machine, why)| Letter::Lost {
            machine: *machine,
            why: why.clone(),
        });
        lost.chain(ended).collect()
    }

    /// Returns the letter that tells others of the loss of a machine. The first machine sends it,
    /// since a machine that joined later does not notice the loss itself.
    pub fn obituary(&self, machine: u32) -> Option<Letter> {
        let is_silent = self.own != 0 || self.fault.is(Mutant::TellsNoLoss);
        let why = self.gone.lock().lost.get(&machine).cloned();
        let why = why.filter(|_| !is_silent)?;
        Some(Letter::Lost { machine, why })
    }

    /// Notes the loss of a machine, from any thread. Its waits end when the event is handled.
    pub fn lose(&self, machine: u32, why: String) {
        self.gone.lock().lost.entry(machine).or_insert(why);
        self.happens(Event::Lost { machine });
    }

    /// Takes the claim that all machines are at rest, and which were lost until then. If one of these
    /// losses is news, its waits end first, and the claim is void.
    pub fn verdict(&self, lost: &[u32], why: impl Fn(u32) -> String) {
        let is_news = |machine: &&u32| self.check(**machine).is_ok();
        let news: Vec<u32> = lost.iter().filter(is_news).copied().collect();
        if news.is_empty() || self.fault.is(Mutant::TrustsVerdict) {
            let handled = self.rest.handled();
            return self.happens(Event::Verdict { handled });
        }
        for machine in news {
            self.lose(machine, why(machine));
        }
    }

    /// Notes that a machine was destroyed, and ends the waits for it.
    #[must_use]
    pub fn end(&self, machine: u32) -> Vec<W> {
        self.gone.lock().ended.insert(machine);
        match self.fault.is(Mutant::IgnoresDestruction) {
            true => Vec::new(),
            false => self.waits.lock().fail(machine),
        }
    }

    /// Ends the waits for a machine that is gone.
    #[must_use]
    pub fn fail(&self, machine: u32) -> Vec<W> {
        match self.fault.is(Mutant::IgnoresLoss) {
            true => Vec::new(),
            false => self.waits.lock().fail(machine),
        }
    }

    /// Counts a letter that is about to be sent. [`sent`](Self::sent) follows.
    ///
    /// # Errors
    /// Why its machine takes no letters, or this one sends none.
    pub fn sends(&self, to: u32, letter: &Letter) -> Result<(), String> {
        self.sending.fetch_add(1, Ordering::SeqCst);
        let checked = match self.is_closed.load(Ordering::SeqCst) {
            true => Err("this virtual machine ends".into()),
            false => self.check(to),
        };
        match checked {
            Err(_) => self.sent(),
            Ok(()) if self.counts(letter) => drop(self.quiescence.sent(to)),
            Ok(()) => {}
        }
        checked
    }

    /// Notes that a letter was handed to panda.
    pub fn sent(&self) {
        self.sending.fetch_sub(1, Ordering::SeqCst);
    }

    /// Sends no more letters. The machine leaves its session when [`is_sending`](Self::is_sending)
    /// no longer holds. Otherwise others would wait for letters that it has counted.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Returns whether letters are counted that panda has not got yet.
    pub fn is_sending(&self) -> bool {
        self.sending.load(Ordering::SeqCst) > 0
    }

    /// Begins the activity of a letter of work that has come, and counts it.
    pub fn arrives(&self, from: u32, letter: &Letter) {
        self.quiescence.active();
        if self.counts(letter) {
            let _ = self.quiescence.received(from);
        }
    }

    fn counts(&self, letter: &Letter) -> bool {
        let is_forgotten = self.fault.is(Mutant::CountsNoSending);
        letter.is_work() && !(is_forgotten && matches!(letter, Letter::Invoke { .. }))
    }

    /// Begins the activity of an event, and passes it to the serving process.
    pub fn happens(&self, event: Event) {
        self.quiescence.active();
        self.inbox.push(event);
    }

    /// Begins to handle an event. If the machine was at rest, it goes on. Returns whether the event
    /// is to be handled: a verdict is void if the machine has gone on since.
    #[must_use]
    pub fn begins(&self, event: &Event) -> bool {
        let handled_before = self.rest.handled();
        let was_resting = self.rest.ends();
        if was_resting {
            self.quiescence.active();
            self.resumes.set();
        }
        match event {
            Event::Verdict { handled } => {
                let holds = was_resting && *handled == handled_before;
                holds || self.fault.is(Mutant::TrustsVerdict)
            }
            _ => true,
        }
    }

    /// Ends the activity of an event that was handled.
    pub fn ends(&self) {
        self.quiescence.passive();
    }

    /// Notes that no process of this machine can go on. Returns whether the machine is at rest from
    /// now on.
    pub fn rests(&self) -> bool {
        let begins = self.rest.begins();
        if begins {
            self.quiescence.passive();
        }
        begins
    }

    /// Returns whether this machine is at rest.
    pub fn is_resting(&self) -> bool {
        self.rest.lasts()
    }

    /// Returns a number for a question that is no wait of a process.
    pub fn number(&self) -> u64 {
        self.waits.lock().number()
    }

    /// Begins a wait for a machine, and returns its number.
    pub fn begin_wait(&self, machine: u32, waiter: W) -> u64 {
        self.waits.lock().begin(machine, waiter)
    }

    /// Ends a wait, as its answer has come. Returns `None` if it has ended before.
    pub fn end_wait(&self, number: u64) -> Option<W> {
        let mut waits = self.waits.lock();
        match () {
            () if self.fault.is(Mutant::LosesAnswer) && number % 8 == 7 => None,
            () if self.fault.is(Mutant::KeepsWait) => waits.get(number).cloned(),
            () => waits.end(number),
        }
    }

    /// Passes an invocation on to a machine. Returns how it is sent, and the letter that tells its
    /// caller's machine.
    #[must_use]
    pub fn passes_on(&self, invocation: Awaits, to: u32) -> (Awaits, Option<(u32, Letter)>) {
        let Awaits::Process { home, token, hops } = invocation else {
            return (invocation, None);
        };
        let hops = hops + 1;
        let letter = match () {
            () if self.fault.is(Mutant::ForwardsUntold) => None,
            () if self.fault.is(Mutant::ForwardAnswers) => {
                let (base, address, size) = (Base(0), 0, 0);
                let block = BlockSent {
                    base,
                    address,
                    size,
                };
                Some((home, Letter::Answer { token, block }))
            }
            () => self.moves(home, token, (to, Some(self.own)), hops),
        };
        (Awaits::Process { home, token, hops }, letter)
    }

    /// Takes an invocation that may have been passed on. Returns the letter that tells its caller's
    /// machine.
    #[must_use]
    pub fn comes(&self, invocation: Awaits) -> Option<(u32, Letter)> {
        match invocation {
            Awaits::Process { home, token, hops } if hops > 0 => {
                self.moves(home, token, (self.own, None), hops)
            }
            _ => None,
        }
    }

    fn moves(
        &self,
        home: u32,
        token: u64,
        (to, sender): (u32, Option<u32>),
        hops: u32,
    ) -> Option<(u32, Letter)> {
        if home == self.own {
            self.moved(token, (to, sender), hops);
            return None;
        }
        let letter = Letter::Moved {
            token,
            to,
            sender,
            hops,
        };
        Some((home, letter))
    }

    /// Notes where an invocation is that one of this machine's processes waits for.
    pub fn moved(&self, token: u64, (to, sender): (u32, Option<u32>), hops: u32) {
        let hops = match self.fault.is(Mutant::BelievesOldNews) {
            true => u32::MAX,
            false => hops,
        };
        self.waits.lock().moved(token, to, sender, hops);
        if self.fault.is(Mutant::ForgetsTheGone) {
            return;
        }
        // The end of that machine may have been handled before.
        for machine in [Some(to), sender].into_iter().flatten() {
            if self.check(machine).is_err() {
                self.happens(Event::Lost { machine });
            }
        }
    }
}
