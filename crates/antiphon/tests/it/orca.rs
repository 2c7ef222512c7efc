//! `antiphon orca`: diagnostics of programs, and programs that run.

use crate::common::{Place, has_cc};

const MAIN: &str = "\
MODULE IMPLEMENTATION hello;
IMPORT IntObject;
PROCESS OrcaMain();
  sum: IntObject;
BEGIN
  sum$add(1);
END;
END;
";

fn place() -> Place {
    let place = Place::new();
    place.write("hello.spf", "MODULE SPECIFICATION hello;\nEND;\n");
    place.write("hello.imp", MAIN);
    place
}

#[test]
fn sound_programs_are_found_by_file_and_by_folder() {
    let place = place();
    for name in ["hello.imp", "hello.spf", "."] {
        let check = place.run(&["orca", "check", name]);
        assert_eq!(
            (check.code, check.out.as_str()),
            (Some(0), ""),
            "{}",
            check.err
        );
    }
}

#[test]
fn mistakes_are_told_as_text_and_in_json() {
    let place = place();
    place.write("hello.imp", &MAIN.replace("add(1)", "ad(1)"));
    let check = place.run(&["orca", "check", "hello.imp"]);
    check.fails(
        1,
        &[
            "hello.imp:6:7: error: \"ad\" is no operation of IntObject",
            "1 error",
        ],
    );
    let check = place.run(&["orca", "check", "--json", "hello.imp"]);
    assert_eq!(check.code, Some(1));
    let found: serde_json::Value = serde_json::from_str(&check.out).unwrap();
    assert_eq!(found["schema"], "antiphon.orca-check");
    assert_eq!(found["findings"][0]["line"], 6);
    assert_eq!(found["findings"][0]["mend"], "did you mean add?");
}

#[test]
fn programs_that_are_not_there_are_told_so() {
    let place = place();
    place
        .run(&["orca", "check", "none.imp"])
        .fails(3, &["none.imp"]);
    place.write("empty/unit.spf", "MODULE SPECIFICATION unit;\nEND;\n");
    place
        .run(&["orca", "check", "empty"])
        .fails(2, &["no implementation defines OrcaMain"]);
}

/// A process on each machine adds to an object, and the first one waits for all.
const ADDERS: &str = "\
MODULE IMPLEMENTATION adders;
IMPORT IntObject;
PROCESS adder(sum: SHARED IntObject);
BEGIN
  FOR i IN 1..10 DO sum$inc(); OD;
END;
PROCESS OrcaMain();
  sum: IntObject;
BEGIN
  FOR i IN 0..NCPUS() - 1 DO FORK adder(sum) ON i; OD;
  sum$AwaitValue(NCPUS() * 10);
  WriteLine(sum$value(), \" on \", NCPUS());
END;
END;
";

fn adders() -> Place {
    let place = Place::new();
    place.write("adders.spf", "MODULE SPECIFICATION adders;\nEND;\n");
    place.write("adders.imp", ADDERS);
    place
}

#[test]
fn programs_run_on_machines_of_one_process_and_of_several() {
    if !has_cc() {
        return;
    }
    let place = adders();
    let run = |more: &[&str]| place.run(&[&["orca", "run", "adders.imp"], more].concat());
    assert_eq!(run(&[]).done(), "10 on 1\n");
    assert_eq!(run(&["-n", "3"]).done(), "30 on 3\n");
    for over in ["shm", "tcp", "udp"] {
        assert_eq!(
            run(&["-n", "3", "--over", over]).done(),
            "30 on 3\n",
            "{over}"
        );
    }
}

#[test]
fn a_program_is_built_and_takes_its_machines_from_the_environment() {
    if !has_cc() {
        return;
    }
    let place = adders();
    place
        .run(&["orca", "build", "adders.imp", "-o", "adders"])
        .done();
    let built = std::process::Command::new(place.path("adders"))
        .env("ANTIPHON_ORCA", "machines=2")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&built.stdout), "20 on 2\n");
    assert!(built.status.success(), "{built:?}");
    let text = place.run(&["orca", "build", "adders.imp", "--emit-c"]);
    assert!(text.done().contains("#include"), "{}", text.out);
}

#[test]
fn a_deadlock_ends_a_program_with_a_report_and_one() {
    if !has_cc() {
        return;
    }
    let place = adders();
    place.write("adders.imp", &ADDERS.replace("NCPUS() * 10", "11"));
    place
        .run(&["orca", "run", "adders.imp"])
        .fails(1, &["deadlock", "AwaitValue of IntObject"]);
}
