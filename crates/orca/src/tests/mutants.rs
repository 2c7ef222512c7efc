//! The checks find a run-time with an injected fault.

use super::history::{self, Plan};
use super::scenarios::{self, Scenario};
use crate::fault::Mutant;

/// How to look for a fault.
#[derive(Clone, Copy)]
enum By {
    /// Histories without faults.
    Calm,
    /// Histories with crashes and joiners.
    Wild,
    /// A situation.
    Situation(Scenario),
    /// The situation that ends in a deadlock.
    Deadlock,
}

/// Checks that a fault is found, in one of so many seeds.
fn is_found(mutant: Mutant, by: By, seeds: u64) {
    let run = |seed| match by {
        By::Calm => history::run(Plan::calm(seed), Some(mutant)).map(drop),
        By::Wild => history::run(Plan::of(seed), Some(mutant)).map(drop),
        By::Situation(scenario) => scenarios::run(scenario, seed, Some(mutant)),
        By::Deadlock => scenarios::run_deadlock(seed, Some(mutant)),
    };
    let found = (0..seeds).find_map(|seed| run(seed).err().map(|fault| (seed, fault)));
    let (seed, fault) =
        found.unwrap_or_else(|| panic!("{mutant:?} went unnoticed in {seeds} seeds"));
    let first = fault.lines().next().unwrap_or_default();
    println!("{mutant:?}: seed {seed}: {first}");
}

macro_rules! mutants {
    ($($name:ident: $mutant:ident by $by:expr, $seeds:literal;)*) => { $(
        #[test]
        fn $name() {
            is_found(Mutant::$mutant, $by, $seeds);
        }
    )* };
}

mutants! {
    a_request_without_its_place: RequestWithoutPlace by By::Situation(scenarios::MIXED_AT_OWNER), 200;
    an_owner_that_does_not_wait: RequestDoesNotWait by By::Situation(scenarios::MIXED_AT_OWNER), 200;
    a_reply_without_its_place: ReplyWithoutPlace by By::Situation(scenarios::MIXED), 200;
    a_caller_that_does_not_wait: ReplyDoesNotWait by By::Situation(scenarios::MIXED), 200;
    a_read_that_overtakes_its_own_write: ReadOvertakesOwnWrite by By::Calm, 100;
    a_wake_up_that_is_dropped: DropsWakeUp by By::Situation(scenarios::MOVE_OF_BLOCKED), 20;
    a_wake_up_of_the_first_alone: WakesFirstOnly by By::Situation(scenarios::FIRST_COME), 20;
    a_wake_up_of_the_last_first: WakesLastFirst by By::Situation(scenarios::FIRST_COME), 20;
    a_partial_write_that_is_kept: KeepsPartialWrite by By::Situation(scenarios::NESTED), 20;
    a_search_that_ends_where_one_blocks: EndsSearchWhereBlocked by By::Situation(scenarios::NESTED), 20;
    a_write_before_its_place: AppliesBeforePlace by By::Calm, 100;
    an_object_that_is_written_while_it_moves: DoesNotFreeze by By::Calm, 300;
    a_late_write_that_is_dropped: DropsLateWrite by By::Situation(scenarios::MOVES), 100;
    a_stale_state_that_is_installed: InstallsStaleState by By::Situation(scenarios::MOVES), 1000;
    a_move_that_forgets_who_waits: KeepsBlockedAtMove by By::Situation(scenarios::MOVE_OF_BLOCKED), 20;
    a_move_that_forgets_the_turns: ForgetsTurns by By::Situation(scenarios::MOVE_IN_TURN), 60;
    a_fork_that_counts_no_sharer: ForgetsGrant by By::Situation(scenarios::LIFETIMES), 20;
    an_object_that_never_ends: NeverDeletes by By::Situation(scenarios::LIFETIMES), 20;
    a_loss_that_is_ignored: IgnoresLoss by By::Situation(scenarios::DEAD_OWNER), 20;
    an_operation_of_the_dead: ExecutesForTheLost by By::Situation(scenarios::DEAD_WAITER), 20;
    a_snapshot_without_who_waits: ForgetsBlockedInSnapshot by By::Situation(scenarios::JOINER), 20;
    a_joiner_that_miscounts_work: MiscountsAtJoin by By::Situation(scenarios::JOINER), 100;
    a_blocked_process_that_counts_as_active: CountsBlockedAsActive by By::Deadlock, 5;
    a_process_that_goes_on_unseen: ForgetsActivity by By::Calm, 20;
    a_copy_that_skips_writes: SkipsWrite by By::Calm, 50;
    an_operation_that_runs_twice: ExecutesTwice by By::Calm, 50;
}

/// A failing plan is shrunk to fewer machines and operations.
#[test]
fn a_failing_history_is_shrunk() {
    let mutant = Some(Mutant::ReadOvertakesOwnWrite);
    let failing = (0..100).find_map(|seed| {
        let plan = Plan::calm(seed);
        history::run(plan, mutant).err().map(|fault| (plan, fault))
    });
    let (before, fault) = failing.expect("one fails");
    let (after, fault) = history::shrink(before, fault, mutant);
    assert!(after.operations <= before.operations && after.machines <= before.machines);
    assert!(history::run(after, mutant).is_err(), "{fault}");
}

/// Without an injected fault the same seeds are right.
#[test]
fn what_finds_them_finds_nothing_else() {
    for seed in 0..10 {
        for plan in [Plan::calm(seed), Plan::of(seed)] {
            history::holds(plan);
        }
    }
    let _ = By::Wild;
}
