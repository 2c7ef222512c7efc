//! How long to spin before sleeping.
//!
//! Waking a thread on another processor costs far more than a message takes, so a wait that will be short is spun through. On the processor that the sender needs,
//! a spin only delays the message. Nobody says which it is, so it is learnt: of a spin that found nothing, after which a short sleep did, either it was in the sender's way,
//! or the sender took that long. One such spin is taken for a pause of the sender's. After two in a row a wait without a spin tells: if it is shorter by most of
//! a spin, the spins were in the way, and become rare for long; else messages take long for now, as long ones do, which may change with the next.
//!
//! Where many share few processors, the spins of all blur what each can learn from its waits, and some find what they wait for. So who has spun in vain gives way before it
//! sleeps: if another process then had the processor for a moment, the spin was in somebody's way, whoever it was. A spin that finds something saves a wake, which is worth about what one
//! in the way costs others. So spins have credit of those that found something, and become rare when those in the way have used it up. Other threads of this process send it nothing: one that runs now and then
//! does not end spins. Where peers are threads, a spin was in their way if one of them has taken something meanwhile.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::Event;
use super::given::Given;
use super::yields::Yields;

/// The variable that forbids spins to a process, and its value: for machines whose processors others want, and to see what spins bring.
const VARIABLE: &str = "ANTIPHON_SPIN";
const NEVER: &str = "never";
/// As many waits without a spin as there will ever be.
const ALL: u32 = u32::MAX;

/// A wait up to this long is worth a spin: about what a sleep and a wake across processors cost.
const SPIN: Duration = Duration::from_micros(50);
/// A sleep up to this long is a short wait. After a spin that found nothing it shows that the spin was in the way: the sender could run only then, and may have spun itself.
const SHORT: Duration = Duration::from_micros(120);
/// Waits without a spin double after each that was in the way but the first, up to 2 to this power …
const DOUBLINGS_MAX: u32 = 10;
/// … and after each that found nothing otherwise up to 2 to this one: what messages take may change at once, where processes run mostly does not.
const DOUBLINGS_SLOW: u32 = 3;
/// To give way takes longer than this where work that never sleeps has the processor for its slice: that says nothing of who sends, and is not asked for again for so many spins in vain.
const SLICE: Duration = Duration::from_micros(500);
const UNASKED: u32 = 64;
/// A spin in somebody's way costs as much as so many that found something have brought …
const PRICE: u32 = 3;
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
    waits_without: u32,
    /// Spins that have found something, less what those in somebody's way have cost.
    credit: u32,
    /// How often that was used up, as who had the processor after a spin has shown.
    in_the_way: u32,
    /// Spins since then that have found something.
    found: u32,
    /// Spins in vain after which nobody is given way to.
    unasked: u32,
    /// The wait that has begun does not spin, as the sender may need the processor.
    shares: bool,
    yields: Yields,
}

impl Default for Patience {
    /// One that learns, unless the environment forbids spins.
    fn default() -> Self {
        static FORBIDS: OnceLock<bool> = OnceLock::new();
        let forbids = || std::env::var_os(VARIABLE).is_some_and(|said| said == NEVER);
        Self::with(if *FORBIDS.get_or_init(forbids) {
            ALL
        } else {
            0
        })
    }
}

impl Patience {
    fn with(waits_without: u32) -> Self {
        Self {
            was_short: true,
            failed: 0,
            doubted: None,
            waits_without,
            credit: 0,
            in_the_way: 0,
            found: 0,
            unasked: 0,
            shares: false,
            yields: Yields::default(),
        }
    }

    /// How long the next wait should spin; nothing if it should sleep at once.
    pub fn spin(&mut self) -> Duration {
        self.shares = self.waits_without > 0 && self.waits_without < ALL;
        if self.waits_without > 0 {
            self.waits_without -= u32::from(self.shares);
            return Duration::ZERO;
        }
        if self.was_short { SPIN } else { Duration::ZERO }
    }

    /// A spin found something.
    pub fn found(&mut self) {
        self.was_short = true;
        self.failed = 0;
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

    /// Others had the processor for so long when they were given way to, and of that for so long those among whom peers may be.
    pub fn gave_way(&mut self, away: Duration, peers: Duration) {
        if away > SLICE {
            self.unasked = UNASKED;
        } else if !peers.is_zero() {
            self.cost_others();
        }
    }

    /// A spin was in somebody's way.
    fn cost_others(&mut self) {
        match self.credit.checked_sub(PRICE) {
            Some(left) => self.credit = left,
            None => {
                self.credit = 0;
                self.in_the_way = (self.in_the_way + 1).min(DOUBLINGS_MAX);
                self.waits_without = 1 << self.in_the_way;
                self.found = 0;
                self.doubted = None;
            }
        }
    }

    /// Whether the next wait should sleep at once, and nothing is to be learnt from it: then the clock need not be read for it.
    pub fn sleeps_at_once(&mut self) -> bool {
        let sleeps = self.waits_without > 1;
        self.shares = sleeps && self.waits_without < ALL;
        self.waits_without -= u32::from(self.shares);
        sleeps
    }

    /// The wait that has begun does not spin, as more want the processors than there are.
    fn is_in_a_crowd(&mut self) {
        self.shares = self.waits_without < ALL;
    }

    /// Whether the wait that has begun should give way before it sleeps.
    fn gives_way(&mut self) -> bool {
        self.shares && self.yields.are_due()
    }

    /// Whether there is anything to learn from the next wait. While none may spin, how long they are does not matter.
    pub fn learns(&self) -> bool {
        self.waits_without == 0
    }

    /// A wait ended after this much spinning and sleeping.
    pub fn slept(&mut self, spun: Duration, slept: Duration) {
        self.was_short = slept <= SHORT;
        if let Some(doubted) = self.doubted.take() {
            let was_in_the_way = slept <= SPIN && slept + SPIN / 2 <= doubted;
            if !was_in_the_way {
                self.failed = self.failed.min(DOUBLINGS_SLOW);
            }
            self.waits_without = 1 << self.failed;
        } else if spun > Duration::ZERO && self.was_short {
            self.failed = (self.failed + 1).min(DOUBLINGS_MAX);
            if self.failed > 1 {
                self.doubted = Some(spun + slept);
                self.waits_without = 1;
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
    let mut spin = inbox.patience().spin();
    if !spin.is_zero() {
        spin += any_case;
    }
    let (mut began, mut now, mut progress) = (began, began, inbox.progress());
    while now < began + spin && until.is_none_or(|until| now < until) {
        for _ in 0..W::LOOKS {
            if inbox.look(events) {
                inbox.patience().found();
                return Some(now);
            }
            std::hint::spin_loop();
        }
        now = Instant::now();
        if std::mem::replace(&mut progress, inbox.progress()) != progress {
            began = now;
        }
    }
    let spun = now - began;
    if !spin.is_zero() && until.is_none_or(|until| now < until) && inbox.patience().asks() {
        let taken = inbox.taken_here();
        let given = Given::way();
        let peers = match taken {
            None => given.foreign(),
            Some(_) if inbox.taken_here() == taken => Duration::ZERO,
            Some(_) => given.away,
        };
        inbox.patience().gave_way(given.away, peers);
        now = given.back;
    }
    sleep(inbox, Some(now), until, events);
    if !inbox.patience().learns() {
        return None;
    }
    let woken = Instant::now();
    if until.is_none_or(|until| now < until) {
        let (spun, slept) = beyond(any_case, spun, woken - now);
        inbox.patience().slept(spun, slept);
    }
    Some(woken)
}

/// Sleeps, or gives way in place of it. It is `now`, if that was looked at.
pub fn sleep<W: Waits>(
    inbox: &mut W,
    mut now: Option<Instant>,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) {
    if inbox.patience().gives_way() {
        let began = now.unwrap_or_else(Instant::now);
        if until.is_none_or(|until| began < until) {
            std::thread::yield_now();
            let given = Instant::now();
            let is_there = inbox.look(events);
            inbox.patience().yields.learn(is_there, given - began);
            if is_there {
                return;
            }
            now = Some(given);
        }
    }
    inbox.sleep(now, until, events);
}

/// The same where more want the processors than there are, so that a spin would keep the sender from running: nothing is learnt of spins.
pub fn sleep_in_a_crowd<W: Waits>(
    inbox: &mut W,
    now: Instant,
    until: Option<Instant>,
    events: &mut Vec<Event>,
) {
    inbox.patience().is_in_a_crowd();
    sleep(inbox, Some(now), until, events);
}

/// What is left of a spin and the sleep after it without what they would have taken in any case.
fn beyond(any_case: Duration, spun: Duration, slept: Duration) -> (Duration, Duration) {
    let rest = any_case.saturating_sub(spun);
    (spun.saturating_sub(any_case), slept.saturating_sub(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_the_first_look_is_not_taken_for_one_to_come() {
        let (mut looked, start) = (Looked::default(), Instant::now());
        assert!(!looked.is_before(Some(start)) && !looked.is_before(None));
        looked.at(start + SPIN);
        assert!(!looked.is_before(Some(start)) && !looked.is_before(Some(start + SPIN)));
        assert!(looked.is_before(Some(start + 2 * SPIN)) && looked.is_before(None));
    }

    #[test]
    fn spins_that_are_in_the_way_become_rare() {
        let mut patience = Patience::with(0);
        let spins = (0..10_000)
            .filter(|_| {
                let spun = patience.spin();
                patience.slept(spun, Duration::from_micros(2));
                spun > Duration::ZERO
            })
            .count();
        assert!((8..20).contains(&spins), "{spins}");
    }

    #[test]
    fn whoever_may_not_spin_never_does_and_does_not_learn_to() {
        let mut patience = Patience::with(ALL);
        for took in [2, 200, 20].into_iter().cycle().take(10_000) {
            assert!(patience.sleeps_at_once() && !patience.learns());
            assert!(!patience.gives_way());
            assert_eq!(patience.spin(), Duration::ZERO);
            patience.is_in_a_crowd();
            assert!(!patience.gives_way());
            patience.slept(Duration::ZERO, Duration::from_micros(took));
        }
    }

    #[test]
    fn only_who_does_not_spin_for_the_senders_sake_gives_way() {
        let mut patience = Patience::with(0);
        assert!(patience.spin() > Duration::ZERO && !patience.gives_way());
        patience.slept(SPIN, Duration::from_secs(1));
        assert!(
            patience.spin().is_zero() && !patience.gives_way(),
            "waits are long"
        );
        patience.is_in_a_crowd();
        assert!(patience.gives_way());
        let mut patience = Patience::with(3);
        assert!(patience.sleeps_at_once() && patience.gives_way());
        assert!(patience.spin().is_zero() && patience.gives_way());
    }

    /// For so long others have the processor, who sleep again.
    const AWAY: Duration = Duration::from_micros(20);

    /// How many of so many waits spin in vain, if one in `every` spins does and others, and peers among them, then have the processor for so long.
    fn vain_spins(waits: u32, every: u32, away: Duration, peers: Duration) -> u32 {
        let mut patience = Patience::with(0);
        let (mut spins, mut vain) = (0_u32, 0);
        for _ in 0..waits {
            if patience.spin().is_zero() {
                patience.slept(Duration::ZERO, Duration::from_micros(60));
                continue;
            }
            spins += 1;
            if !spins.is_multiple_of(every) {
                patience.found();
                continue;
            }
            vain += 1;
            if patience.asks() {
                patience.gave_way(away, peers);
            }
            if patience.learns() {
                patience.slept(SPIN, Duration::from_micros(60));
            }
        }
        vain
    }

    #[test]
    fn spins_in_anybodys_way_become_rare_though_half_of_them_find_something() {
        let vain = vain_spins(10_000, 2, AWAY, AWAY);
        assert!((8..25).contains(&vain), "{vain}");
    }

    /// As those of the session's own thread, beside one that runs when a handful of calls have been served.
    #[test]
    fn spins_go_on_where_those_that_find_something_outweigh_those_in_the_way() {
        assert_eq!(vain_spins(10_000, 4, AWAY, AWAY), 2500);
    }

    /// As where the laboratory's thread has the processor after every other call.
    #[test]
    fn spins_go_on_where_threads_that_send_nothing_have_the_processor() {
        assert_eq!(vain_spins(10_000, 2, AWAY, Duration::ZERO), 5000);
    }

    #[test]
    fn what_spins_brought_long_ago_does_not_count_against_those_in_the_way() {
        let mut patience = Patience::with(0);
        (0..100_000).for_each(|_| patience.found());
        let borne = (0..).take_while(|_| {
            patience.gave_way(AWAY, AWAY);
            patience.waits_without == 0
        });
        assert_eq!(borne.count() as u32, CREDIT_MAX / PRICE);
    }

    #[test]
    fn spins_go_on_where_nobody_else_wants_the_processor_and_beside_work_that_never_sleeps() {
        assert_eq!(vain_spins(10_000, 4, Duration::ZERO, Duration::ZERO), 2500);
        assert_eq!(vain_spins(10_000, 4, SLICE * 6, SLICE * 6), 2500);
    }

    #[test]
    fn work_that_never_sleeps_is_seldom_given_way_to() {
        let mut patience = Patience::with(0);
        let asked = (0..1000).filter(|_| {
            let asks = patience.asks();
            if asks {
                patience.gave_way(SLICE * 6, SLICE * 6);
            }
            asks
        });
        assert_eq!(asked.count(), 1000_usize.div_ceil(UNASKED as usize + 1));
    }

    #[test]
    fn spins_that_were_in_the_way_are_forgotten_when_many_have_found_something() {
        let mut patience = Patience::with(0);
        for _ in 0..4 {
            patience.gave_way(AWAY, AWAY);
        }
        assert_eq!(patience.waits_without, 1 << 4);
        (0..FORGOTTEN).for_each(|_| patience.found());
        patience.waits_without = 0;
        while patience.waits_without == 0 {
            patience.gave_way(AWAY, AWAY);
        }
        assert_eq!(patience.waits_without, 1 << 1);
    }

    #[test]
    fn two_that_spin_in_each_others_way_both_find_out() {
        let mut patience = [Patience::with(0), Patience::with(0)];
        let mut spins = 0;
        let mut slept = Duration::ZERO;
        for turn in 0..10_000 {
            let one = &mut patience[turn % 2];
            let spun = one.spin();
            spins += u32::from(spun > Duration::ZERO);
            one.slept(spun, slept + Duration::from_micros(3));
            // The other slept while this one spun.
            slept = spun;
        }
        assert!(spins < 50, "{spins}");
    }

    #[test]
    fn a_pause_of_the_sender_is_not_held_against_the_spins_after_it() {
        let mut patience = Patience::with(0);
        for _ in 0..100 {
            assert_eq!(patience.spin(), SPIN);
            patience.slept(SPIN, SHORT);
            for _ in 0..10 {
                assert_eq!(patience.spin(), SPIN);
                patience.found();
            }
        }
    }

    #[test]
    fn messages_that_take_longer_than_a_spin_are_soon_forgotten() {
        let mut patience = Patience::with(0);
        for _ in 0..1000 {
            // Some are there after most of a spin, others after two.
            for took in [80, 95, 70, 110] {
                let took = Duration::from_micros(took);
                let spun = patience.spin();
                patience.slept(spun, took - spun);
            }
        }
        let without = (0..).take_while(|_| {
            let spins = patience.spin() > Duration::ZERO;
            if !spins {
                patience.slept(Duration::ZERO, Duration::from_micros(20));
            }
            !spins
        });
        assert!(without.count() <= 1 << DOUBLINGS_SLOW);
    }

    #[test]
    fn what_takes_long_in_any_case_is_no_long_wait() {
        let mut patience = Patience::with(0);
        patience.slept(SPIN, Duration::from_secs(1));
        assert_eq!(patience.spin(), Duration::ZERO, "long waits sleep at once");
        let (reading, took) = (Duration::from_micros(250), Duration::from_micros(180));
        let (spun, slept) = beyond(reading, Duration::ZERO, took);
        patience.slept(spun, slept);
        assert_eq!(patience.spin(), SPIN, "the sender was not slow");
        let (spun, slept) = beyond(reading, reading + SPIN, Duration::from_secs(1));
        assert_eq!((spun, slept), (SPIN, Duration::from_secs(1)));
    }

    #[test]
    fn spins_go_on_while_they_find_something_and_after_one_long_wait() {
        let mut patience = Patience::with(0);
        for _ in 0..100 {
            assert_eq!(patience.spin(), SPIN);
            patience.found();
        }
        patience.slept(SPIN, Duration::from_secs(1));
        assert_eq!(patience.spin(), Duration::ZERO, "long waits sleep at once");
        patience.slept(Duration::ZERO, Duration::from_micros(60));
        assert_eq!(patience.spin(), SPIN, "short ones spin again");
    }
}
