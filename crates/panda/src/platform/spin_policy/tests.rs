use super::*;

/// Makes a policy whose rows end by waits alone, however long a test takes.
fn learns() -> SpinPolicy {
    SpinPolicy::with(Backoff::none(Duration::from_secs(86_400)))
}

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
    let mut spin_policy = learns();
    let spins = (0..10_000)
        .filter(|_| {
            let spun = spin_policy.spin();
            spin_policy.slept(spun, Duration::from_micros(2));
            spun > Duration::ZERO
        })
        .count();
    assert!((8..20).contains(&spins), "{spins}");
}

/// The waits are those of a root, one of whose children shares its processor.
#[test]
fn where_the_first_wait_should_sleep_later_ones_may_spin() {
    let mut kinds = Kinds {
        after_sending: learns(),
        otherwise: learns(),
        has_sent: false,
    };
    let mut spins = [0; 2];
    for _ in 0..10_000 {
        kinds.begin(true);
        let spun = kinds.of_this_wait().spin();
        kinds.of_this_wait().slept(spun, Duration::from_micros(2));
        spins[0] += u32::from(!spun.is_zero());
        kinds.begin(false);
        spins[1] += u32::from(!kinds.of_this_wait().spin().is_zero());
        kinds.of_this_wait().found();
    }
    assert!((8..20).contains(&spins[0]), "{spins:?}");
    assert_eq!(spins[1], 10_000);
}

#[test]
fn whoever_may_not_spin_never_does_and_does_not_learn_to() {
    let mut spin_policy = SpinPolicy::with(Backoff::for_ever());
    for took in [2, 200, 20].into_iter().cycle().take(10_000) {
        assert!(spin_policy.sleeps_at_once() && !spin_policy.learns());
        assert!(!spin_policy.gives_way());
        assert_eq!(spin_policy.spin(), Duration::ZERO);
        spin_policy.is_in_a_crowd();
        assert!(!spin_policy.gives_way());
        spin_policy.slept(Duration::ZERO, Duration::from_micros(took));
    }
}

#[test]
fn only_who_does_not_spin_for_the_senders_sake_gives_way() {
    let mut spin_policy = learns();
    assert!(spin_policy.spin() > Duration::ZERO && !spin_policy.gives_way());
    spin_policy.slept(SPIN, Duration::from_secs(1));
    assert!(
        spin_policy.spin().is_zero() && !spin_policy.gives_way(),
        "waits are long"
    );
    spin_policy.is_in_a_crowd();
    assert!(spin_policy.gives_way());
    let mut spin_policy = learns();
    spin_policy.without.begin(3);
    assert!(spin_policy.sleeps_at_once() && spin_policy.gives_way());
    assert!(spin_policy.spin().is_zero() && spin_policy.gives_way());
}

/// Time for which others have the processor, and then sleep again.
const AWAY: Duration = Duration::from_micros(20);

/// Returns how many of `waits` waits spin in vain. One in `every` spins is vain; after it others
/// have the processor for `away`, and peers for `peers` of that.
fn vain_spins(waits: u32, every: u32, away: Duration, peers: Duration) -> u32 {
    let mut spin_policy = learns();
    let (mut spins, mut vain) = (0_u32, 0);
    for _ in 0..waits {
        if spin_policy.spin().is_zero() {
            spin_policy.slept(Duration::ZERO, Duration::from_micros(60));
            continue;
        }
        spins += 1;
        if !spins.is_multiple_of(every) {
            spin_policy.found();
            continue;
        }
        vain += 1;
        if spin_policy.asks() {
            spin_policy.gave_way(away, peers);
        }
        if spin_policy.learns() {
            spin_policy.slept(SPIN, Duration::from_micros(60));
        }
    }
    vain
}

#[test]
fn spins_in_anybodys_way_become_rare_though_half_of_them_find_something() {
    let vain = vain_spins(10_000, 2, AWAY, AWAY);
    assert!((8..25).contains(&vain), "{vain}");
}

/// The waits are those of the progress thread, beside one that runs after a handful of served
/// calls.
#[test]
fn spins_go_on_where_those_that_find_something_outweigh_those_in_the_way() {
    assert_eq!(
        vain_spins(10_000, PRICE + 1, AWAY, AWAY),
        10_000 / (PRICE + 1)
    );
}

/// The waits are those beside the laboratory's thread, which has the processor after every other
/// call.
#[test]
fn spins_go_on_where_threads_that_send_nothing_have_the_processor() {
    assert_eq!(vain_spins(10_000, 2, AWAY, Duration::ZERO), 5000);
}

#[test]
fn what_spins_brought_long_ago_does_not_count_against_those_in_the_way() {
    let mut spin_policy = learns();
    (0..100_000).for_each(|_| spin_policy.found());
    let borne = (0..).take_while(|_| {
        spin_policy.gave_way(AWAY, AWAY);
        spin_policy.learns()
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
    let mut spin_policy = learns();
    let asked = (0..1000).filter(|_| {
        let asks = spin_policy.asks();
        if asks {
            spin_policy.gave_way(SLICE * 6, SLICE * 6);
        }
        asks
    });
    let asked = asked.count();
    assert!(asked < 10 + 1000 / UNASKED_MAX as usize, "{asked}");
}

/// The slice is that of processes that all start.
#[test]
fn one_slice_does_not_hide_for_long_who_wants_the_processor() {
    let mut spin_policy = learns();
    for _ in 0..100 {
        assert!(spin_policy.asks());
        spin_policy.gave_way(SLICE * 6, SLICE * 6);
        (0..UNASKED).for_each(|_| assert!(!spin_policy.asks()));
        assert!(spin_policy.asks());
        spin_policy.gave_way(AWAY, Duration::ZERO);
    }
}

#[test]
fn who_is_always_in_the_way_asks_before_a_spin_is_over() {
    let mut spin_policy = learns();
    for _ in 0..ALL_IN_THE_WAY {
        assert!(!spin_policy.asks_early());
        spin_policy.gave_way(AWAY, AWAY);
    }
    assert!(spin_policy.asks_early());
    spin_policy.found();
    assert!(!spin_policy.asks_early());
}

#[test]
fn spins_that_were_in_the_way_are_forgotten_when_many_have_found_something() {
    let mut spin_policy = learns();
    for _ in 0..4 {
        spin_policy.gave_way(AWAY, AWAY);
    }
    assert_eq!(spin_policy.without.left(), 1 << 4);
    (0..FORGOTTEN).for_each(|_| spin_policy.found());
    spin_policy.without.begin(0);
    while spin_policy.learns() {
        spin_policy.gave_way(AWAY, AWAY);
    }
    assert_eq!(spin_policy.without.left(), 1 << 1);
}

#[test]
fn two_that_spin_in_each_others_way_both_find_out() {
    let mut spin_policy = [learns(), learns()];
    let mut spins = 0;
    let mut slept = Duration::ZERO;
    for turn in 0..10_000 {
        let one = &mut spin_policy[turn % 2];
        let spun = one.spin();
        spins += u32::from(spun > Duration::ZERO);
        one.slept(spun, slept + Duration::from_micros(3));
        // The other process slept while this one spun.
        slept = spun;
    }
    assert!(spins < 50, "{spins}");
}

#[test]
fn a_pause_of_the_sender_is_not_held_against_the_spins_after_it() {
    let mut spin_policy = learns();
    for _ in 0..100 {
        assert_eq!(spin_policy.spin(), SPIN);
        spin_policy.slept(SPIN, SHORT);
        for _ in 0..10 {
            assert_eq!(spin_policy.spin(), SPIN);
            spin_policy.found();
        }
    }
}

#[test]
fn messages_that_take_longer_than_a_spin_are_soon_forgotten() {
    let mut spin_policy = learns();
    for _ in 0..1000 {
        // Some messages are there after most of a spin, others after two.
        for took in [80, 95, 70, 110] {
            let took = Duration::from_micros(took);
            let spun = spin_policy.spin();
            spin_policy.slept(spun, took - spun);
        }
    }
    let without = (0..).take_while(|_| {
        let spins = spin_policy.spin() > Duration::ZERO;
        if !spins {
            spin_policy.slept(Duration::ZERO, Duration::from_micros(20));
        }
        !spins
    });
    assert!(without.count() <= 1 << DOUBLINGS_SLOW);
}

#[test]
fn what_takes_long_in_any_case_is_no_long_wait() {
    let mut spin_policy = learns();
    spin_policy.slept(SPIN, Duration::from_secs(1));
    assert_eq!(
        spin_policy.spin(),
        Duration::ZERO,
        "long waits sleep at once"
    );
    let (reading, took) = (Duration::from_micros(250), Duration::from_micros(180));
    let (spun, slept) = beyond(reading, Duration::ZERO, took);
    spin_policy.slept(spun, slept);
    assert_eq!(spin_policy.spin(), SPIN, "the sender was not slow");
    let (spun, slept) = beyond(reading, reading + SPIN, Duration::from_secs(1));
    assert_eq!((spun, slept), (SPIN, Duration::from_secs(1)));
}

#[test]
fn spins_go_on_while_they_find_something_and_after_one_long_wait() {
    let mut spin_policy = learns();
    for _ in 0..100 {
        assert_eq!(spin_policy.spin(), SPIN);
        spin_policy.found();
    }
    spin_policy.slept(SPIN, Duration::from_secs(1));
    assert_eq!(
        spin_policy.spin(),
        Duration::ZERO,
        "long waits sleep at once"
    );
    spin_policy.slept(Duration::ZERO, Duration::from_micros(60));
    assert_eq!(spin_policy.spin(), SPIN, "short ones spin again");
}

/// A receiving end with something at one of its looks and all later ones.
struct Later {
    looks: u32,
    at: u32,
    slept: bool,
    spin_policy: SpinPolicy,
}

impl Later {
    fn at(look: u32) -> Self {
        Self {
            looks: 0,
            at: look,
            slept: false,
            spin_policy: learns(),
        }
    }
}

impl Waits for Later {
    const LOOKS: u32 = 1;

    fn spin_policy(&mut self) -> &mut SpinPolicy {
        &mut self.spin_policy
    }

    fn look(&mut self, _: &mut Vec<Event>) -> bool {
        self.looks += 1;
        self.looks >= self.at
    }

    fn sleep(&mut self, _: Option<Instant>, _: Option<Instant>, _: &mut Vec<Event>) {
        self.slept = true;
    }
}

#[test]
fn what_is_there_at_the_first_look_is_no_merit_of_a_spin() {
    let mut inbox = Later::at(2);
    let mut brought = || {
        let events = &mut Vec::new();
        wait(
            &mut inbox,
            Instant::now(),
            Duration::from_secs(60),
            None,
            events,
        );
        assert!(!inbox.slept);
        inbox.spin_policy.credit
    };
    assert_eq!(brought(), 1, "the second look");
    assert_eq!(brought(), 1, "the first one");
}

/// Returns how often a receiver that shares its processor looks, and whether it sleeps. Something
/// is there at look `at`.
fn shares(gives_way_for: Duration, at: u32, until: Option<Instant>) -> (u32, bool) {
    let mut inbox = Later::at(at);
    inbox.spin_policy.gives_way_for = gives_way_for;
    // Others want the processor.
    inbox.spin_policy.is_in_a_crowd();
    sleep(&mut inbox, None, until, &mut Vec::new());
    (inbox.looks, inbox.slept)
}

#[test]
fn who_waits_for_an_answer_gives_way_for_longer() {
    let long = |at, until| shares(Duration::from_secs(86_400), at, until);
    // The loop repeats if another process's work ran, or the time was over.
    let began = Instant::now();
    while long(20, None) != (20, false) {
        assert!(began.elapsed() < Duration::from_secs(100));
    }
    let soon = Instant::now() + Duration::from_micros(100);
    assert!(long(u32::MAX, Some(soon)).1);
}

#[test]
fn who_shares_gives_way_a_few_times_before_it_sleeps() {
    let slept = |at, until| shares(Duration::ZERO, at, until);
    let most = yield_policy::OF_A_WAIT;
    assert_eq!(slept(1, None), (1, false));
    assert!(slept(most + 1, None).1);
    assert_eq!(
        slept(1, Some(Instant::now())),
        (0, true),
        "its time is over"
    );
    // There is a look after each yield, unless another process's work ran.
    let at_last = |at, found| {
        let began = Instant::now();
        while slept(at, None) != found {
            assert!(began.elapsed() < Duration::from_secs(100), "{found:?}");
        }
    };
    at_last(most, (most, false));
    at_last(most + 1, (most, true));
}
