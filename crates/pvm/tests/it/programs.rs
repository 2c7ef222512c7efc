//! The same programs with this library and, where it is installed, with PVM's own.

use std::fs;
use std::process::Command;

use antiphon_runner::End;

use crate::support::{Place, compiled, libraries, root, run, without_ids};

/// Returns a program's output, which must be the same with this library and with PVM's own.
fn same(name: &str, args: &[&str]) -> String {
    same_over("shm", name, args)
}

/// The same over a given platform.
fn same_over(over: &'static str, name: &str, args: &[&str]) -> String {
    let ours = Place::ours().over(over).run(name, args);
    let shown = String::from_utf8_lossy(&ours.stdout).into_owned();
    if let Some(debians) = Place::debians() {
        let theirs = debians.run(name, args);
        assert_same(&shown, &String::from_utf8_lossy(&theirs.stdout));
        assert_same(&in_any_order(&ours.stderr), &in_any_order(&theirs.stderr));
    }
    shown
}

/// Returns the tasks' lines sorted and without ids, because their order depends on the run.
fn in_any_order(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(without_ids).collect();
    lines.sort();
    lines.join("\n")
}

/// Fails with the first lines that differ.
fn assert_same(ours: &str, theirs: &str) {
    let lines = ours.lines().zip(theirs.lines()).enumerate();
    for (number, (our, their)) in lines {
        assert_eq!(
            our,
            their,
            "line {}:\n{}",
            number + 1,
            context(ours, number)
        );
    }
    assert_eq!(
        ours.lines().count(),
        theirs.lines().count(),
        "{ours}\n---\n{theirs}"
    );
}

/// Returns the lines before a line.
fn context(text: &str, number: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[number.saturating_sub(15)..=number].join("\n")
}

#[test]
fn functions_return_what_pvms_own_return() {
    let shown = same("codes", &[]);
    assert!(shown.contains("pvm_freebuf(999) = -16"), "{shown}");
}

#[test]
fn a_family_of_tasks_works_and_hears_of_ends() {
    let shown = same("family", &[]);
    for line in [
        "spawned 3",
        "reduce 0: 4 31",
        "gather 0: 47",
        "last results 315",
        "gone 7",
        "exit 0",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line} is not in {shown}"
        );
    }
}

#[test]
fn a_family_works_over_connections_and_datagrams() {
    for over in ["tcp", "udp"] {
        let place = Place::ours();
        let program = compiled(&place.programs(), "family");
        let output = place
            .program(program)
            .env("ANTIPHON_PVM_OVER", over)
            .run()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            shown.ends_with("exit 0\n"),
            "{over}: {shown}{}",
            output.stderr
        );
    }
}

#[test]
fn children_are_spawned_and_sent_to_before_they_call_the_library() {
    for over in ["shm", "tcp", "udp"] {
        // Each place has a folder of its own, in which the file appears.
        let shown = same_over(over, "cases", &["early", "gate"]);
        let heard = shown.lines().filter(|line| *line == "last heard 20");
        assert_eq!(heard.count(), 3, "{over}: {shown}");
        assert!(shown.ends_with("told of the last: 1\n"), "{over}: {shown}");
    }
}

/// Returns the output of siblings that send to each other at once. One of them begins late or
/// never.
fn said_by_siblings(over: &str, late: &str, how: &str) -> Vec<String> {
    let place = Place::ours();
    let program = compiled(&place.programs(), "cases");
    let output = place
        .program(program)
        .args(["siblings", late, how])
        .env("ANTIPHON_PVM_OVER", over)
        .run()
        .unwrap();
    let (end, errors) = (&output.end, &output.stderr);
    assert!(matches!(end, End::Exited(0)), "{over} {end}: {errors}");
    let shown = String::from_utf8_lossy(&output.stdout);
    shown.lines().map(str::to_owned).collect()
}

#[test]
fn siblings_wait_for_one_that_begins_late() {
    for over in ["shm", "tcp", "udp"] {
        for late in ["0", "3"] {
            let said = said_by_siblings(over, late, "late");
            assert_eq!(said, ["heard of 3, told of 0 ends"; 4], "{over} {late}");
        }
    }
}

#[test]
fn siblings_are_told_of_one_that_ends_before_it_begins() {
    for over in ["shm", "tcp", "udp"] {
        for late in ["0", "3"] {
            let said = said_by_siblings(over, late, "never");
            assert_eq!(said, ["heard of 2, told of 1 ends"; 3], "{over} {late}");
        }
    }
}

#[test]
fn a_handler_takes_messages_until_it_is_taken_out() {
    let output = Place::ours().run("cases", &["handle"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = shown.lines().collect();
    let wanted = [
        "1 calls",
        "2 calls",
        "deleted 0, again -32",
        "2 calls",
        "received 1",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn random_sequences_of_packing_give_what_pvms_own_gives() {
    /// Sequences of one run. Their output stays below the limit of what is kept.
    const RUN: usize = 10_000;
    let count = std::env::var("PVM_SEQUENCES").unwrap_or_else(|_| "300".into());
    let count: usize = count.parse().expect("PVM_SEQUENCES is a number");
    for first in (1..=count).step_by(RUN) {
        let sequences = RUN.min(count + 1 - first);
        let shown = same("sequence", &[&first.to_string(), &sequences.to_string()]);
        let unpacked = shown.lines().filter(|line| line.starts_with("unpack"));
        assert!(unpacked.count() >= sequences);
        let last = format!("sequence {}", first + sequences - 1);
        assert!(shown.lines().any(|line| line == last), "no {last}");
    }
}

#[test]
fn a_program_in_fortran_packs_spawns_and_reduces() {
    if Command::new("gfortran").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "gfortran is missing");
        return;
    }
    let place = Place::ours();
    let program = place.programs().join("parts");
    run(Command::new("gfortran")
        .args(["-std=legacy", "-o"])
        .arg(&program)
        .arg(root().join("tests/fortran/parts.f"))
        .arg("-I")
        .arg(root().join("include"))
        .arg("-L")
        .arg(libraries())
        .args(["-lfpvm3", "-lgpvm3", "-lpvm3"]));
    let output = place.program(program).run().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> = shown.split_whitespace().collect();
    let wanted = "started 2 2 1.50 [hello ] 2 22 4 2.50 [hello ] 2 22 size 3 sum 21";
    assert_eq!(words.join(" "), wanted, "{}", output.stderr);
}

#[test]
fn a_program_that_only_path_has_is_named_once() {
    let place = Place::ours();
    let program = compiled(place.folder.path(), "cases");
    let folders = ["of-spawner", "of-path"].map(|name| place.folder.path().join(name));
    folders
        .iter()
        .for_each(|folder| fs::create_dir(folder).unwrap());
    let [spawner, child] = [folders[0].join("first"), folders[1].join("cases")];
    fs::copy(&program, &spawner).unwrap();
    fs::rename(&program, &child).unwrap();
    let output = place.program(spawner).arg("last").env("PATH", &folders[1]);
    let output = output.run().unwrap();
    let (end, errors) = (&output.end, &output.stderr);
    assert!(matches!(end, End::Exited(0)), "{end}: {errors}");
    let hint = format!(
        "cases is not beside this program, so {} of PATH is started",
        child.display()
    );
    assert_eq!(errors.matches(&hint).count(), 1, "{errors}");
}
