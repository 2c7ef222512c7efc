//! Servers that hold more memory after each round are named, except those whose heaps settle or
//! grow to a limit.

use super::{notes, run};
use crate::sample;
use antiphon_lab::{LoadRound, Outcome, RunRecord};
use antiphon_report::compose;

#[test]
fn a_server_that_holds_more_after_each_round_is_named() {
    let with = |held: [u64; 4], change: &dyn Fn(&mut RunRecord)| {
        let mut run = run();
        for result in &mut run.results {
            let Outcome::Load(load) = &mut result.outcome else {
                panic!("no load in {result:?}");
            };
            let round = |(number, mib): (u32, u64)| LoadRound {
                round: number,
                answered: 1 << 19,
                pss_bytes: mib << 20,
                ..load.rounds[0].clone()
            };
            if result.identity.subject == "java/grizzly" {
                load.rounds = (0..).zip(held).map(round).collect();
            }
        }
        change(&mut run);
        notes(&compose(&run), "load-memory")
    };
    let grown = |held| with(held, &|_| {});
    // A heap that settles, one that is swept, and one that hardly grows.
    for held in [
        [100, 150, 160, 165],
        [100, 110, 105, 115],
        [1000, 1001, 1002, 1003],
    ] {
        assert_eq!(grown(held).len(), 0, "{held:?}");
    }
    let leaks = grown([100, 104, 108, 112]);
    assert_eq!(leaks.len(), 1);
    assert!(leaks[0].about.contains("java/grizzly"), "{leaks:?}");
    // 12 MiB in three rounds of two loads with half a mebi of requests each.
    assert!(
        leaks[0].text.contains("4.00\u{202f}B a request"),
        "{leaks:?}"
    );
    // The same process served the other placement, too: one note, and all its requests.
    let placed = with([100, 104, 108, 112], &|run| {
        run.results[3].identity.placement = "same".into();
    });
    assert_eq!(placed, leaks);
    // A virtual machine's heap grows to its limit before anything is thrown away.
    let java = with([100, 104, 108, 112], &|run| {
        run.subjects = sample::many_subjects();
        run.subjects.truncate(1);
        run.subjects[0].id = "java/grizzly".into();
        run.subjects[0].language = "Java".into();
    });
    assert_eq!(java.len(), 0, "{java:?}");
}
