//! Tasks that end, and programs that are started by hand.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_runner::{End, Output};

use crate::support::{PATIENCE, Place, compiled};

/// Returns the process numbers that a program has written.
fn numbers(text: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(text);
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Waits until processes have ended.
fn await_ends(numbers: &[u32]) {
    let until = Instant::now() + PATIENCE;
    // A process that has ended but was not waited for has no command line.
    let runs = |number: &u32| {
        std::fs::read(format!("/proc/{number}/cmdline")).is_ok_and(|line| !line.is_empty())
    };
    while numbers.iter().any(runs) {
        assert!(Instant::now() < until, "of {numbers:?} some run on");
        thread::sleep(Duration::from_millis(20));
    }
}

fn case(place: &Place, which: &str) -> Output {
    place.run("cases", &[which])
}

#[test]
fn a_program_that_is_killed_leaves_no_children() {
    let place = Place::ours();
    let program = compiled(&place.programs(), "cases");
    let mut parent = place.program(program).arg("killed").spawn().unwrap();
    let children: Vec<u32> = (0..3)
        .map(|_| parent.read_line().unwrap().trim().parse().unwrap())
        .collect();
    let parent_number = parent.id();
    parent.signal(libc::SIGKILL);
    await_ends(&[parent_number]);
    await_ends(&children);
}

#[test]
fn children_that_only_wait_end_with_the_last_task_that_could_send() {
    let ended = case(&Place::ours(), "left");
    let children = numbers(&ended.stdout);
    assert_eq!(children.len(), 3);
    await_ends(&children);
    let said = &ended.stderr;
    assert!(
        said.contains("3 tasks wait for messages that nobody is left to send"),
        "{said}"
    );
}

#[test]
fn a_task_that_has_ended_is_told_of_and_never_waited_for() {
    let ended = case(&Place::ours(), "dead");
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    let rest: Vec<&str> = shown.lines().skip(3).collect();
    let wanted = [
        "kill 0",
        "kill 0",
        "kill 0",
        "receive -31",
        "receive -31",
        "send 0",
        "notify 0",
        "told again",
    ];
    assert_eq!(rest, wanted);
}

#[test]
fn a_notice_comes_after_the_last_message_of_the_task_that_has_ended() {
    for over in ["shm", "tcp", "udp"] {
        let ended = case(&Place::ours().over(over), "last");
        let shown = String::from_utf8_lossy(&ended.stdout);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines, ["heard 1000"; 3], "{over}");
    }
}

#[test]
fn a_machine_has_more_than_256_tasks_over_its_life() {
    let ended = case(&Place::ours(), "many");
    let shown = String::from_utf8_lossy(&ended.stdout);
    let wanted = "spawned 100\nspawned 100\nspawned 100\nspawned 3\nheard of all 1\n";
    assert_eq!(shown, wanted);
}

#[test]
fn halting_ends_all_tasks() {
    let place = Place::ours();
    let program = compiled(&place.programs(), "cases");
    let halted = place.program(program).arg("halt").run().unwrap();
    // The signal ends the program itself.
    let end = &halted.end;
    assert!(
        matches!(end, End::Signalled(libc::SIGTERM)),
        "{end}: {}",
        halted.stderr
    );
    await_ends(&numbers(&halted.stdout));
}

#[test]
fn programs_that_are_started_by_hand_meet_in_one_machine() {
    let place = Place::ours();
    let program = compiled(&place.programs(), "cases");
    let shown: Vec<String> = thread::scope(|scope| {
        let meet = |program: &Path| {
            let output = place.program(program).arg("meet").run().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let program = &program;
        let both = [(); 2].map(|()| scope.spawn(move || meet(program)));
        both.map(|one| one.join().unwrap()).into()
    });
    let has = |line: &str| shown.iter().any(|shown| shown.trim() == line);
    assert!(has("greeted with 42"), "{shown:?}");
    assert!(has("has greeted, as one of 2 tasks"), "{shown:?}");
}
