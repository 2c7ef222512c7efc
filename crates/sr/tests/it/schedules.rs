//! Seeded schedules.

use antiphon_runner::End;
use antiphon_sr::build::{Executable, Linking};

use crate::support::{linked, ran_again, source};

fn scheduled(name: &str, text: &str) -> Executable {
    let linking = Linking {
        has_loop_checks: true,
        has_points: true,
        ..Linking::default()
    };
    linked(&[source(name, text)], linking).unwrap_or_else(|message| panic!("{message}"))
}

fn run(program: &Executable, seed: u32) -> antiphon_runner::Output {
    ran_again(program, &format!("model=sliced,schedule=seed:{seed}"))
}

#[test]
fn the_same_seed_gives_the_same_run_with_its_random_numbers() {
    let text = "resource main()\n  process p(i := 1 to 5)\n    write(i, int(random(1000000)), age())\n    \
                seed(0.0)\n    nap(int(random(20)))\n    write(i, int(random(1000000)), age())\n  end\nend\n";
    let program = scheduled("same.sr", text);
    let first = run(&program, 3).stdout;
    assert_eq!(run(&program, 3).stdout, first);
    assert_ne!(run(&program, 4).stdout, first);
}

#[test]
fn some_seeds_find_a_deadlock() {
    let text = "resource main()\n  const N := 4\n  sem fork[N] := ([N] 1)\n  process phil(i := 1 to N)\n    \
                fa k := 1 to 3 ->\n      P(fork[i]); P(fork[i mod N + 1])\n      V(fork[i]); V(fork[i mod N + 1])\n    \
                af\n  end\nend\n";
    let program = scheduled("deadlocks.sr", text);
    let ends: Vec<End> = (1..=40).map(|seed| run(&program, seed).end).collect();
    assert!(ends.contains(&End::Exited(0)), "{ends:?}");
    assert!(ends.contains(&End::Exited(1)), "{ends:?}");
}

#[test]
fn busy_waiting_lets_virtual_time_pass() {
    for waiting in ["skip", "nap(0)"] {
        let text = format!(
            "resource main()\n  var done := false\n  process a\n    nap(10); done := true\n  end\n  \
             process b\n    do not done -> {waiting} od\n    write(\"ok\")\n  end\nend\n"
        );
        let program = scheduled("busy.sr", &text);
        assert_eq!(run(&program, 1).stdout, b"ok\n", "{waiting}");
    }
}

#[test]
fn a_hundred_thousand_ready_processes_take_their_turns() {
    let text = "resource main()\n  var n := 0\n  process p(i := 1 to 100000)\n    nap(0); n++\n  end\n  \
                final\n    write(n)\n  end\nend\n";
    let program = scheduled("crowd.sr", text);
    let output = ran_again(&program, "model=sliced,schedule=seed:1,stack=16384");
    assert_eq!(output.stdout, b"100000\n", "{}", output.stderr);
}

#[test]
fn a_program_without_points_refuses_a_schedule() {
    let file = source("pointless.sr", "resource main()\n  write(1)\nend\n");
    let program = linked(&[file], Linking::default()).unwrap();
    let output = run(&program, 1);
    assert_eq!(output.end, End::Exited(2));
    assert!(output.stderr.contains("--schedule"), "{}", output.stderr);
}
