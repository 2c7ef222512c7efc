//! A generator that polls.

use crate::common::{gives_up_who_never_answers, load, server};
use antiphon_load::{Load, Schedule, run};

#[test]
fn who_polls_differs_in_how_it_waits_alone() {
    has_the_same_answers_and_tells_what_it_polled_for();
    gives_up_who_never_answers(true);
}

fn has_the_same_answers_and_tells_what_it_polled_for() {
    let server = server("well");
    for schedule in [Schedule::Closed, Schedule::Open { per_second: 1000.0 }] {
        let slept = Load {
            schedule,
            ..load(&server)
        };
        let polled = Load {
            busy_poll: true,
            ..slept.clone()
        };
        let (slept, polled) = (run(&slept).unwrap(), run(&polled).unwrap());
        assert_eq!(slept.empty_polls_ns, 0);
        assert_eq!((slept.answered, polled.answered), (400, 400));
        assert_eq!(polled.lag.count(), slept.lag.count());
        assert!(polled.empty_polls_ns <= polled.own_cpu_ns);
        if schedule == Schedule::Closed {
            continue; // Each poll may have found an answer.
        }
        assert!(polled.empty_polls_ns > 0, "nothing comes between requests");
        // Empty polls are no work that limits the rate.
        let all = polled.own_cpu_ns as f64 / polled.wall_ns as f64;
        assert!(polled.own_share() < all, "{polled:?}");
    }
}
