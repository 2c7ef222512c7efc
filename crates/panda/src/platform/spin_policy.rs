//! The spin policy: how long to spin before sleeping.
//!
//! A wake of a thread on another processor costs far more than a message. So a short wait is best
//! spun through. On the processor that the sender needs, a spin only delays the message. The policy
//! learns which case it is.
//!
//! A vain spin before a short sleep was in the sender's way, or the sender took that long. One such
//! spin counts as a pause of the sender. After two in a row, a wait without a spin decides. If it
//! is shorter by most of a spin, the spins were in the way, and become rare for long. Otherwise
//! messages take long for now, and that may soon change.
//!
//! If many processes share few processors, all spins blur what each can learn from its waits, and
//! some find what they wait for. So a thread yields after a vain spin, before it sleeps. If another
//! process then had the processor for a moment, the spin was in some process's way.
//!
//! A spin that finds something saves a wake. That is worth about what a spin in the way costs
//! others. So finds earn credit, and spins in the way use it up. Then spins become rare, for as
//! long as `backoff.rs` says.
//!
//! Other threads of this process send nothing to it, so they do not end spins. If peers are
//! threads, a spin was in their way if one of them has taken something meanwhile.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::Event;

mod backoff;
mod kinds;
#[cfg(test)]
mod tests;
mod yield_policy;
mod yielded;

use backoff::Backoff;
pub use kinds::Kinds;
pub use yield_policy::YieldPolicy;
pub use yielded::Yielded;

/// Variable that forbids spins to a process, and its value. It serves machines whose processors
/// others want, and measurements of what spins bring.
const VARIABLE: &str = "ANTIPHON_SPIN";
const NEVER: &str = "never";

/// A wait up to this long is worth a spin: about what a sleep and a wake across processors cost.
const SPIN: Duration = Duration::from_micros(50);
/// Longest sleep that counts as a short wait. After a vain spin a short sleep shows that the spin
/// was in the way. The sender could run only then, and may have spun itself.
const SHORT: Duration = Duration::from_micros(120);
/// Exponent of the longest row of waits without a spin. The row doubles after each spin in the way
/// but the first.
const DOUBLINGS_MAX: u32 = 10;
/// Exponent of the longest such row if spins were vain otherwise. How long messages take may change
/// at once; where processes run mostly does not.
const DOUBLINGS_SLOW: u32 = 3;
/// Number of spins in the way in a row, after which the next spin yields after `EARLY` and not only
/// when it was vain. Across processors, a message and its answer are faster if both ends spin.
const ALL_IN_THE_WAY: u32 = 4;
const EARLY: Duration = Duration::from_micros(10);
/// Time of a yield beyond which work that never sleeps had the processor for its slice. That says
/// nothing about the sender. So the next `UNASKED` vain spins do not yield, and twice as many each
/// time, up to `UNASKED_MAX`.
const SLICE: Duration = Duration::from_micros(500);
const UNASKED: u32 = 4;
const UNASKED_MAX: u32 = 64;
/// Price of a spin in another process's way, in spins that found something.
const PRICE: u32 = 4;
/// Largest credit. It is small because spins may be in the way from one moment to the next, when
/// processes begin to share a processor.
const CREDIT_MAX: u32 = 16;
/// Number of spins that must find something, with none too much in the way, until earlier ones in
/// the way are forgotten.
const FORGOTTEN: u32 = 64;

/// The experience of a receiving end's waits.
#[derive(Debug)]
pub struct SpinPolicy {
    was_short: bool,
    /// Spins in a row that found nothing before a short sleep.
    failed: u32,
    /// Length of the previous vain spin and sleep, if the next wait is to tell why it was vain.
    doubted: Option<Duration>,
    without: Backoff,
    /// Spins that have found something, less the price of those in the way.
    credit: u32,
    /// Number of times that the credit was used up.
    in_the_way: u32,
    /// Spins since then that have found something.
    found: u32,
    /// Number of times that the credit was used up since a spin last found something.
    in_a_row: u32,
    /// Vain spins after which the thread does not yield, and their number after the next lost
    /// slice.
    unasked: u32,
    unasked_next: u32,
    /// Whether the current wait does not spin because the sender may need the processor.
    shares: bool,
    yields: YieldPolicy,
    /// Least time for which a wait yields.
    gives_way_for: Duration,
}

impl Default for SpinPolicy {
    /// Makes a policy that learns, unless the environment forbids spins.
    fn default() -> Self {
        static FORBIDS: OnceLock<bool> = OnceLock::new();
        let forbids = || std::env::var_os(VARIABLE).is_some_and(|said| said == NEVER);
        Self::with(if *FORBIDS.get_or_init(forbids) {
            Backoff::for_ever()
        } else {
            Backoff::none(backoff::LONGEST)
        })
    }
}

impl SpinPolicy {
    fn with(without: Backoff) -> Self {
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
            yields: YieldPolicy::default(),
            gives_way_for: yield_policy::LONG,
        }
    }

    /// Returns how long the next wait should spin; zero if it should sleep at once.
    pub fn spin(&mut self) -> Duration {
        self.shares = self.without.left() > 0 && self.without.has_end();
        if self.without.left() > 0 {
            self.without.pass();
            return Duration::ZERO;
        }
        if self.was_short { SPIN } else { Duration::ZERO }
    }

    /// Notes that something was there already, which a sleep would have found as well.
    fn was_there(&mut self) {
        self.was_short = true;
        self.failed = 0;
    }

    /// Notes that a spin found something.
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

    /// Returns whether to yield after a vain spin, to see whether another process wants the
    /// processor.
    fn asks(&mut self) -> bool {
        let asks = self.unasked == 0;
        self.unasked = self.unasked.saturating_sub(1);
        asks
    }

    /// Returns whether to yield amid the coming spin too, as the earlier ones were in the way.
    fn asks_early(&mut self) -> bool {
        self.in_a_row >= ALL_IN_THE_WAY && self.asks()
    }

    /// Notes that others had the processor for `away` during a yield. For `peers` of that they were
    /// threads that may be peers.
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

    /// Notes that a spin was in another process's way.
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

    /// Returns whether the next wait should sleep at once, with nothing to learn. Then it need not
    /// read the clock.
    pub fn sleeps_at_once(&mut self) -> bool {
        let sleeps = self.without.left() > 1;
        self.shares = sleeps && self.without.has_end();
        if sleeps {
            self.without.pass();
        }
        sleeps
    }

    /// Notes that the current wait does not spin, as there are more runnable threads than
    /// processors.
    fn is_in_a_crowd(&mut self) {
        self.shares = self.without.has_end();
    }

    /// Returns whether the current wait should yield before it sleeps.
    fn gives_way(&mut self) -> bool {
        self.shares && self.yields.are_due()
    }

    /// Returns whether there is anything to learn from the next wait. While none may spin, their
    /// lengths do not matter.
    pub fn learns(&self) -> bool {
        self.without.left() == 0
    }

    /// Notes that a wait ended after this much spinning and sleeping.
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

/// The last reading of the clock. A wait until a time before it is a poll, which needs no new
/// reading.
#[derive(Debug, Default)]
pub struct Looked(Option<Instant>);

impl Looked {
    /// Notes a reading.
    pub fn at(&mut self, now: Instant) {
        self.0 = Some(now);
    }

    /// Returns whether a time was still to come at the last reading; false before the first
    /// reading.
    pub fn is_before(&self, until: Option<Instant>) -> bool {
        let is_later = |looked| until.is_none_or(|until| until > looked);
        self.0.is_some_and(is_later)
    }
}

/// A receiving end that can be spun on and slept on.
pub trait Waits {
    /// Number of looks between readings of the clock: more than one if a look is cheaper.
    const LOOKS: u32;
    /// Returns the policy of this wait.
    fn spin_policy(&mut self) -> &mut SpinPolicy;
    /// Takes what is there. Returns true if there was anything, or it was woken.
    fn look(&mut self, events: &mut Vec<Event>) -> bool;
    /// Returns a number that changes while something comes in parts. A spin goes on while it
    /// changes.
    fn progress(&self) -> u64 {
        0
    }
    /// Returns how often peers have taken something so far, if they are threads of this process.
    fn taken_here(&self) -> Option<u32> {
        None
    }
    /// Sleeps until there is something to look for, or `until`; may take it. `now` is a recent
    /// reading of the clock, if there is one.
    fn sleep(&mut self, now: Option<Instant>, until: Option<Instant>, events: &mut Vec<Event>);
}

/// Spins as the policy says, then sleeps, and learns from both. Returns the time then, if it was
/// read.
///
/// The wait `began` a moment ago. What is there after a sleep is not looked for. A wait takes
/// `any_case` whatever the sender does. A spin lasts longer by that time, which says nothing about
/// how long waits are.
pub fn wait<W: Waits>(
    inbox: &mut W,
    began: Instant,
    any_case: Duration,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Option<Instant> {
    let spin = inbox.spin_policy().spin();
    let (spun, now) = match spin.is_zero() {
        true => (Duration::ZERO, began),
        false => match spin_for(inbox, began, any_case, spin, until, events) {
            Spun::Found(now) => return Some(now),
            Spun::InVain(spun, now) => (spun, now),
        },
    };
    let seen = sleep(inbox, Some(now), until, events);
    if !inbox.spin_policy().learns() {
        return seen;
    }
    let woken = Instant::now();
    if until.is_none_or(|until| now < until) {
        let (spun, slept) = beyond(any_case, spun, woken - now);
        inbox.spin_policy().slept(spun, slept);
    }
    Some(woken)
}

/// The end of a spin: the time then, and its length if it was vain.
enum Spun {
    Found(Instant),
    InVain(Duration, Instant),
}

/// Spins for `spin` and `any_case`, and on while something comes in parts. Then it yields to see
/// whether the spin was in the way. It yields amid the spin too if the earlier ones were.
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
    let mut asks_early = inbox.spin_policy().asks_early();
    while now < began + any_case + spin && !is_over(now) {
        for _ in 0..W::LOOKS {
            if inbox.look(events) {
                match is_first {
                    true => inbox.spin_policy().was_there(),
                    false => inbox.spin_policy().found(),
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
            if !inbox.spin_policy().learns() {
                return Spun::InVain(spun, now);
            }
        }
    }
    let spun = now - began;
    if !is_over(now) && inbox.spin_policy().asks() {
        now = ask(inbox);
    }
    Spun::InVain(spun, now)
}

/// Yields to see whether the spin is in another process's way; then the next waits do without.
/// Returns the time then.
fn ask<W: Waits>(inbox: &mut W) -> Instant {
    let taken = inbox.taken_here();
    let given = Yielded::way();
    let peers = match taken {
        None => given.foreign(),
        Some(_) if inbox.taken_here() == taken => Duration::ZERO,
        Some(_) => given.away,
    };
    inbox.spin_policy().gave_way(given.away, peers);
    given.back
}

/// Sleeps, or yields instead. `now` is a recent reading of the clock, if there is one. Returns the
/// time afterwards, if it was read.
pub fn sleep<W: Waits>(
    inbox: &mut W,
    mut now: Option<Instant>,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Option<Instant> {
    if inbox.spin_policy().gives_way() {
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

/// Yields until there is something, a few times or for a while. Returns whether there is, and the
/// time then.
fn give_way<W: Waits>(
    inbox: &mut W,
    began: Instant,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> (bool, Instant) {
    let (mut now, mut longest) = (began, Duration::ZERO);
    let end = began + inbox.spin_policy().gives_way_for;
    let mut made = 0;
    while made < yield_policy::OF_A_WAIT || now < end {
        std::thread::yield_now();
        made += 1;
        let back = Instant::now();
        longest = longest.max(back - now);
        now = back;
        if inbox.look(events) {
            inbox.spin_policy().yields.learn(true, longest);
            return (true, now);
        }
        if longest > yield_policy::SLOW || until.is_some_and(|until| until <= now) {
            break;
        }
    }
    inbox.spin_policy().yields.learn(false, longest);
    (false, now)
}

/// Does the same as [`sleep`], when there are more runnable threads than processors. A spin would
/// keep the sender from running. The policy learns nothing about spins.
pub fn sleep_in_a_crowd<W: Waits>(
    inbox: &mut W,
    now: Instant,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) -> Option<Instant> {
    inbox.spin_policy().is_in_a_crowd();
    sleep(inbox, Some(now), until, events)
}

/// Returns the spin and the sleep without the time that they take in any case.
fn beyond(any_case: Duration, spun: Duration, slept: Duration) -> (Duration, Duration) {
    let rest = any_case.saturating_sub(spun);
    (spun.saturating_sub(any_case), slept.saturating_sub(rest))
}
