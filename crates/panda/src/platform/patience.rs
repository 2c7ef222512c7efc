//! How long to spin before sleeping.
//!
//! Waking a thread on another processor costs far more than a message takes, so a wait that will be short is spun through. On the processor that the sender needs,
//! a spin only delays the message. Nobody says which it is, so it is learnt: of a spin that found nothing, after which a short sleep did, either it was in the sender's way,
//! or the sender took that long. One such spin is taken for a pause of the sender's. After two in a row a wait without a spin tells: if it is shorter by most of
//! a spin, the spins were in the way, and become rare for long; else messages take long for now, as long ones do, which may change with the next.
//!
//! Where many share few processors, the spins of all blur what each can learn from its waits, and some find what they wait for. So who has spun in vain gives way before it
//! sleeps: if another process then had the processor for a moment, the spin was in somebody's way, whoever it was. A spin that finds something saves a wake, which is worth about what one
//! in the way costs others. So spins have credit of those that found something, and become rare when those in the way have used it up, for as long as `pause.rs` says. Other threads of this process send it nothing: one that runs now and then
//! does not end spins. Where peers are threads, a spin was in their way if one of them has taken something meanwhile.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::Event;
use super::given::Yielded;
use super::pause::{self, Pause};
use super::yields::{self, Yields};

mod kinds;
#[cfg(test)]
mod tests;

pub use kinds::Kinds;

/// The variable that forbids spins to a process, and its value: for machines whose processors others want, and to see what spins bring.
const VARIABLE: &str = "ANTIPHON_SPIN";
const NEVER: &str = "never";

/// A wait up to this long is worth a spin: about what a sleep and a wake across processors cost.
const SPIN: Duration = Duration::from_micros(50);
/// A sleep up to this long is a short wait. After a spin that found nothing it shows that the spin was in the way: the sender could run only then, and may have spun itself.
const SHORT: Duration = Duration::from_micros(120);
/// Waits without a spin double after each that was in the way but the first, up to 2 to this power …
const DOUBLINGS_MAX: u32 = 10;
/// … and after each that found nothing otherwise up to 2 to this one: what messages take may change at once, where processes run mostly does not.
const DOUBLINGS_SLOW: u32 = 3;
/// Where so many spins in a row were in the way, the next one asks for that after so long, and not only when it has found nothing. Across processors a message and its answer take less where both ends spin.
const ALL_IN_THE_WAY: u32 = 4;
const EARLY: Duration = Duration::from_micros(10);
/// To give way takes longer than this where work that never sleeps has the processor for its slice: that says nothing of who sends, and is not asked for again for so many spins in vain, twice as many each time.
const SLICE: Duration = Duration::from_micros(500);
const UNASKED: u32 = 4;
const UNASKED_MAX: u32 = 64;
/// A spin in somebody's way costs as much as so many that found something have brought …
const PRICE: u32 = 4;
/// … of which so many are kept in mind: where processes begin to share a processor, spins are in the way from one moment to the next.
const CREDIT_MAX: u32 = 16;
/// Spins that must find something, while none is too much in the way, until those that were are forgotten.
const FORGOTTEN: u32 = 64;

/// What waits were like.
#[derive(Debug)]
pub struct Patience {
    was_short: bool,
    /// Spins in a row that found nothing before a short sleep.
    failed: u32,
    /// The wait before, which spun in vain, if the next one is to tell why.
    doubted: Option<Duration>,
    without: Pause,
    /// Spins that have found something, less what those in somebody's way have cost.
    credit: u32,
    /// How often that was used up, as who had the processor after a spin has shown.
    in_the_way: u32,
    /// Spins since then that have found something.
    found: u32,
    /// How often it was used up since a spin has found something.
    in_a_row: u32,
    /// Spins in vain after which nobody is given way to, and how many there are the next time that a slice goes.
    unasked: u32,
    unasked_next: u32,
    /// The wait that has begun does not spin, as the sender may need the processor.
    shares: bool,
    yields: Yields,
    /// A wait that gives way does for so long at least.
    gives_way_for: Duration,
}

impl Default for Patience {
    /// One that learns, unless the environment forbids spins.
    fn default() -> Self {
        static FORBIDS: OnceLock<bool> = OnceLock::new();
        let forbids = || std::env::var_os(VARIABLE).is_some_and(|said| said == NEVER);
        Self::with(if *FORBIDS.get_or_init(forbids) {
            Pause::for_ever()
        } else {
            Pause::none(pause::LONGEST)
        })
    }
}

impl Patience {
    fn with(without: Pause) -> Self {
        Self {
            was_short: true,
            failed: 0,
            doubted: None,
            without,
            credit: 0,
            in_the_way: 0,
            found: 0,
            in_a_row: 0,
            unasked: 0,
            unasked_next: UNASKED,
            shares: false,
            yields: Yields::default(),
            gives_way_for: yields::LONG,
        }
    }

    /// How long the next wait should spin; nothing if it should sleep at once.
    pub fn spin(&mut self) -> Duration {
        self.shares = self.without.left() > 0 && self.without.has_end();
        if self.without.left() > 0 {
            self.without.pass();
            return Duration::ZERO;
        }
        if self.was_short { SPIN } else { Duration::ZERO }
    }

    /// There was something already, which a sleep would have found as well.
    fn was_there(&mut self) {
        self.was_short = true;
        self.failed = 0;
    }

    /// A spin found something.
    pub fn found(&mut self) {
        self.was_there();
        self.in_a_row = 0;
        self.credit = (self.credit + 1).min(CREDIT_MAX);
        if self.in_the_way > 0 {
            self.found += 1;
            if self.found >= FORGOTTEN {
                self.in_the_way = 0;
            }
        }
    }

    /// A spin found nothing: whether to give way before the sleep, to see who else wants the processor.
    fn asks(&mut self) -> bool {
        let asks = self.unasked == 0;
        self.unasked = self.unasked.saturating_sub(1);
        asks
    }

    /// Whether to give way amid the spin that begins, too, as the ones before were in the way.
    fn asks_early(&mut self) -> bool {
        self.in_a_row >= ALL_IN_THE_WAY && self.asks()
    }

    /// Others had the processor for so long when they were given way to, and of that for so long those among whom peers may be.
    pub fn gave_way(&mut self, away: Duration, peers: Duration) {
        if away > SLICE {
            self.unasked = self.unasked_next;
            self.unasked_next = (2 * self.unasked).min(UNASKED_MAX);
            return;
        }
        self.unasked_next = UNASKED;
        if !peers.is_zero() {
            self.cost_others();
        }
    }

    /// A spin was in somebody's way.
    fn cost_others(&mut self) {
        match self.credit.checked_sub(PRICE) {
            Some(left) => self.credit = left,
            None => {
                self.credit = 0;
                self.in_a_row = (self.in_a_row + 1).min(ALL_IN_THE_WAY);
                self.in_the_way = (self.in_the_way + 1).min(DOUBLINGS_MAX);
                self.without.begin(1 << self.in_the_way);
                self.found = 0;
                self.doubted = None;
            }
        }
    }

    /// Whether the next wait should sleep at once, and nothing is to be learnt from it: then the clock need not be read for it.
    pub fn sleeps_at_once(&mut self) -> bool {
        let sleeps = self.without.left() > 1;
        self.shares = sleeps && self.without.has_end();
        if sleeps {
            self.without.pass();
        }
        sleeps
    }

    /// The wait that has begun does not spin, as more want the processors than there are.
    fn is_in_a_crowd(&mut self) {
        self.shares = self.without.has_end();
    }

    /// Whether the wait that has begun should give way before it sleeps.
    fn gives_way(&mut self) -> bool {
        self.shares && self.yields.are_due()
    }

    /// Whether there is anything to learn from the next wait. While none may spin, how long they are does not matter.
    pub fn learns(&self) -> bool {
        self.without.left() == 0
    }

    /// A wait ended after this much spinning and sleeping.
    pub fn slept(&mut self, spun: Duration, slept: Duration) {
        self.was_short = slept <= SHORT;
        if let Some(doubted) = self.doubted.take() {
            let was_in_the_way = slept <= SPIN && slept + SPIN / 2 <= doubted;
            if !was_in_the_way {
                self.failed = self.failed.min(DOUBLINGS_SLOW);
            }
            self.without.begin(1 << self.failed);
        } else if spun > Duration::ZERO && self.was_short {
            self.failed = (self.failed + 1).min(DOUBLINGS_MAX);
            if self.failed > 1 {
                self.doubted = Some(spun + slept);
                self.without.begin(1);
            }
        }
    }
}

/// The clock, when it was last read. A time that was over by then is a poll, which needs no look at the clock to be told from a wait.
#[derive(Debug, Default)]
pub struct Looked(Option<Instant>);

impl Looked {
    /// It was read.
    pub fn at(&mut self, now: Instant) {
        self.0 = Some(now);
    }

    /// Whether a time was yet to come. Before the first look nobody knows.
    pub fn is_before(&self, until: Option<Instant>) -> bool {
        let is_later = |looked| until.is_none_or(|until| until > looked);
        self.0.is_some_and(is_later)
    }
}

/// A receiving end that can be spun on and slept on.
pub trait Waits {
    /// Looks before the clock is read again: more than one where a look is cheaper than that.
    const LOOKS: u32;
    /// What its waits were like.
    fn patience(&mut self) -> &mut Patience;
    /// Takes what is there. True if there was anything, or it was woken.
    fn look(&mut self, events: &mut Vec<Event>) -> bool;
    /// What changes while something comes in parts: a spin goes on as long as it does.
    fn progress(&self) -> u64 {
        0
    }
    /// How often peers have taken something so far, where they are threads of this process.
    fn taken_here(&self) -> Option<u32> {
        None
    }
    /// Sleeps until there is something to look for, or the time has come; may take it. It is `now`, or was a moment ago, if that was looked at.
    fn sleep(&mut self, now: Option<Instant>, until: Option<Instant>, events: &mut Vec<Event>);
}

/// Looks for as long as patience says, then sleeps, and learns from it; the time then, if it was read. The wait `began` a moment ago. What is there after a sleep is not
/// looked for. So long it takes in `any_case`, whatever the sender does: a spin lasts for that much longer, and it tells nothing of how long waits are.
pub fn wait<W: Waits>(
    inbox: &mut W,
    began: Instant,
    any_case: Duration,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Option<Instant> {
    let spin = inbox.patience().spin();
    let (spun, now) = match spin.is_zero() {
        true => (Duration::ZERO, began),
        false => match spin_for(inbox, began, any_case, spin, until, events) {
            Spun::Found(now) => return Some(now),
            Spun::InVain(spun, now) => (spun, now),
        },
    };
    let seen = sleep(inbox, Some(now), until, events);
    if !inbox.patience().learns() {
        return seen;
    }
    let woken = Instant::now();
    if until.is_none_or(|until| now < until) {
        let (spun, slept) = beyond(any_case, spun, woken - now);
        inbox.patience().slept(spun, slept);
    }
    Some(woken)
}

/// How a spin ended: the time then, and how long it was if it found nothing.
enum Spun {
    Found(Instant),
    InVain(Duration, Instant),
}

/// Looks for so long and what it takes in any case, and on as long as something comes in parts. Then it asks whether that was in somebody's way, and amid it as well where the ones before were.
fn spin_for<W: Waits>(
    inbox: &mut W,
    mut began: Instant,
    any_case: Duration,
    spin: Duration,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Spun {
    let is_over = |now| until.is_some_and(|until| until <= now);
    let (mut now, mut progress, mut is_first) = (began, inbox.progress(), true);
    let mut asks_early = inbox.patience().asks_early();
    while now < began + any_case + spin && !is_over(now) {
        for _ in 0..W::LOOKS {
            if inbox.look(events) {
                match is_first {
                    true => inbox.patience().was_there(),
                    false => inbox.patience().found(),
                }
                return Spun::Found(now);
            }
            is_first = false;
            std::hint::spin_loop();
        }
        now = Instant::now();
        if std::mem::replace(&mut progress, inbox.progress()) != progress {
            began = now;
        }
        if asks_early && now >= began + any_case + EARLY {
            asks_early = false;
            let spun = now - began;
            now = ask(inbox);
            if !inbox.patience().learns() {
                return Spun::InVain(spun, now);
            }
        }
    }
    let spun = now - began;
    if !is_over(now) && inbox.patience().asks() {
        now = ask(inbox);
    }
    Spun::InVain(spun, now)
}

/// Gives way, to see whether the spin is in somebody's way: then the next waits do without. The time then.
fn ask<W: Waits>(inbox: &mut W) -> Instant {
    let taken = inbox.taken_here();
    let given = Yielded::way();
    let peers = match taken {
        None => given.foreign(),
        Some(_) if inbox.taken_here() == taken => Duration::ZERO,
        Some(_) => given.away,
    };
    inbox.patience().gave_way(given.away, peers);
    given.back
}

/// Sleeps, or gives way in place of it. It is `now`, if that was looked at; the time afterwards, if it was read.
pub fn sleep<W: Waits>(
    inbox: &mut W,
    mut now: Option<Instant>,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Option<Instant> {
    if inbox.patience().gives_way() {
        let began = now.unwrap_or_else(Instant::now);
        if until.is_none_or(|until| began < until) {
            let (is_there, back) = give_way(inbox, began, until, events);
            if is_there {
                return Some(back);
            }
            now = Some(back);
        }
    }
    inbox.sleep(now, until, events);
    None
}

/// Gives way until there is something, a few times or for a while. Whether there is, and the time then.
fn give_way<W: Waits>(
    inbox: &mut W,
    began: Instant,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> (bool, Instant) {
    let (mut now, mut longest) = (began, Duration::ZERO);
    let end = began + inbox.patience().gives_way_for;
    let mut made = 0;
    while made < yields::OF_A_WAIT || now < end {
        std::thread::yield_now();
        made += 1;
        let back = Instant::now();
        longest = longest.max(back - now);
        now = back;
        if inbox.look(events) {
            inbox.patience().yields.learn(true, longest);
            return (true, now);
        }
        if longest > yields::SLOW || until.is_some_and(|until| until <= now) {
            break;
        }
    }
    inbox.patience().yields.learn(false, longest);
    (false, now)
}

/// The same where more want the processors than there are, so that a spin would keep the sender from running: nothing is learnt of spins.
pub fn sleep_in_a_crowd<W: Waits>(
    inbox: &mut W,
    now: Instant,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Option<Instant> {
    inbox.patience().is_in_a_crowd();
    sleep(inbox, Some(now), until, events)
}

/// What is left of a spin and the sleep after it without what they would have taken in any case.
fn beyond(any_case: Duration, spun: Duration, slept: Duration) -> (Duration, Duration) {
    let rest = any_case.saturating_sub(spun);
    (spun.saturating_sub(any_case), slept.saturating_sub(rest))
}
