//! Pairs of subjects of known truth.

use crate::synthetic_plan::{CLOCK, busy};
use crate::synthetic_subject::{Subject, Truth, run_pair};
use crate::{FrameError, FrameSettings, PairPlan};

#[test]
fn pairs_across_subjects_see_five_percent_and_no_difference() {
    for seed in 0..10 {
        let busy = Truth {
            test_ns: 20.0,
            ..busy()
        };
        for (b_ns, truth) in [(20.0, 0.0), (21.0, 1.05_f64.ln()), (300.0, 15.0_f64.ln())] {
            let mut a = Subject::new(busy.clone(), seed);
            let mut b = Subject::new(
                Truth {
                    test_ns: b_ns,
                    ..busy.clone()
                },
                seed + 100,
            );
            let mut plan = PairPlan::new(CLOCK, CLOCK, FrameSettings::default());
            run_pair(&mut plan, &mut a, &mut b).unwrap();
            let pair = plan.estimate().unwrap();
            assert!(
                (pair.log_ratio.value - truth).abs() < 0.004,
                "{seed} {b_ns}: {:?}",
                pair.log_ratio
            );
            assert!(truth == 0.0 || pair.log_ratio.low > 0.0);
        }
    }
}

#[test]
fn a_dead_side_of_a_pair_is_an_error() {
    let mut plan = PairPlan::new(CLOCK, CLOCK, FrameSettings::default());
    let mut dead = Subject::new(
        Truth {
            dead: true,
            ..Truth::default()
        },
        1,
    );
    let error = run_pair(&mut plan, &mut Subject::new(Truth::default(), 1), &mut dead).unwrap_err();
    assert!(matches!(error, FrameError::DeadCode { .. }));
}
