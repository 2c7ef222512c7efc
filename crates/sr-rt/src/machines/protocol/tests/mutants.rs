//! The checks find a protocol that is broken on purpose.

use super::super::fault::Mutant;
use super::{Plan, run};

/// Checks that a fault is found in one of so many seeds.
fn is_found(mutant: Mutant, seeds: u64) {
    let run = |seed| {
        run(Plan {
            mutant: Some(mutant),
            ..Plan::of(seed)
        })
    };
    let found = (0..seeds).find_map(|seed| run(seed).err().map(|fault| (seed, fault)));
    let (seed, fault) =
        found.unwrap_or_else(|| panic!("{mutant:?} went unnoticed in {seeds} seeds"));
    println!("{mutant:?}: seed {seed}: {fault}");
}

macro_rules! mutants {
    ($($name:ident: $mutant:ident in $seeds:literal;)*) => { $(
        #[test]
        fn $name() {
            is_found(Mutant::$mutant, $seeds);
        }
    )* };
}

mutants! {
    an_answer_that_is_lost: LosesAnswer in 100;
    an_answer_that_leaves_its_wait: KeepsWait in 300;
    an_invocation_under_way_that_is_not_counted: CountsNoSending in 100;
    a_forward_that_answers_too: ForwardAnswers in 100;
    a_forward_that_is_not_told: ForwardsUntold in 600;
    old_news_that_is_believed: BelievesOldNews in 600;
    a_move_to_a_machine_that_is_gone: ForgetsTheGone in 600;
    a_loss_that_ends_no_wait: IgnoresLoss in 100;
    a_verdict_that_tells_of_a_loss: TrustsVerdict in 300;
    a_loss_that_is_not_told: TellsNoLoss in 300;
    a_destruction_that_ends_no_wait: IgnoresDestruction in 300;
}
