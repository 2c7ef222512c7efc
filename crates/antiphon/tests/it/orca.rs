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
    place.write_orca("hello", MAIN);
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
    place.write_orca("adders", ADDERS);
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
fn data_parallel_programs_print_the_same_on_every_platform() {
    if !has_cc() {
        return;
    }
    let place = Place::new();
    for (name, text) in [
        (
            "Grid.spf",
            include_str!("../../../orca-lang/tests/programs/grids/Grid.spf"),
        ),
        (
            "Grid.imp",
            include_str!("../../../orca-lang/tests/programs/grids/Grid.imp"),
        ),
        (
            "grids.spf",
            include_str!("../../../orca-lang/tests/programs/grids/grids.spf"),
        ),
        (
            "grids.imp",
            include_str!("../../../orca-lang/tests/programs/grids/grids.imp"),
        ),
    ] {
        place.write(name, text);
    }
    let run = |more: &[&str]| place.run(&[&["orca", "run", "grids.imp"], more].concat());
    let alone = run(&[]).done().to_owned();
    assert!(alone.ends_with("\n0 elements differ\n"), "{alone}");
    for over in ["local", "shm", "tcp", "udp"] {
        assert_eq!(run(&["-n", "3", "--over", over]).done(), alone, "{over}");
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

/// Writes as many numbers as it has arguments, and flushes if an argument is `flush`.
const WRITER: &str = "\
MODULE IMPLEMENTATION adders;
IMPORT args, conversions, InOut;
PROCESS OrcaMain();
  eaten: integer;
BEGIN
  FOR i IN 1..conversions.StringToInt(args.Argv(1), eaten) DO WriteLine(i); OD;
  IF args.Argc() > 2 THEN InOut.Flush(); FI;
END;
END;
";

#[test]
fn output_that_is_lost_is_a_run_time_error() {
    if !has_cc() {
        return;
    }
    let place = adders();
    place.write("adders.imp", WRITER);
    place
        .run(&["orca", "build", "adders.imp", "-o", "writer"])
        .done();
    // A few numbers are lost at the end or at a flush, many of them before.
    for arguments in [&["3"][..], &["3", "flush"], &["100000"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let ended = std::process::Command::new(place.path("writer"))
            .args(arguments)
            .stdout(full.unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(134), "{arguments:?}: {said}");
        let wanted = "System error on CPU 0: output is lost: No space left on device";
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}

/// Runs the adders on three machines with a copy each. Returns their counts and timeline.
fn observed(over: &str) -> (serde_json::Value, serde_json::Value) {
    let place = adders();
    let replicated = "BEGIN\n  Strategy(sum, 1, 0);\n  FOR i IN 0..NCPUS()";
    place.write(
        "adders.imp",
        &ADDERS.replace("BEGIN\n  FOR i IN 0..NCPUS()", replicated),
    );
    let run = ["orca", "run", "adders.imp", "-n", "3", "--over", over];
    let ended = place.run(&[&run[..], &["--stats=json", "--trace", "line.json"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(ended.out, "30 on 3\n");
    let counts = serde_json::from_str(&ended.err).expect(&ended.err);
    let line = std::fs::read_to_string(place.path("line.json")).unwrap();
    (counts, serde_json::from_str(&line).unwrap())
}

#[test]
fn counts_and_a_timeline_are_those_of_all_machines() {
    if !has_cc() {
        return;
    }
    for over in ["local", "shm", "tcp"] {
        let (counts, line) = observed(over);
        let of = &counts["types"][0];
        assert_eq!(of["object"], "IntObject", "{counts}");
        assert_eq!(of["ordered_writes"], 30, "{counts}");
        // The wait and the last look.
        assert_eq!(of["local_reads"], 2, "{counts}");
        assert_eq!(of["moves"], 1, "{counts}");
        let why = counts["moves"][0].as_str().unwrap();
        assert!(why.ends_with("replicated: as the program says"), "{counts}");
        assert_eq!(counts["machines"].as_array().unwrap().len(), 3);
        let events = line["traceEvents"].as_array().unwrap();
        let count = |phase: &str, kind: &str| {
            let is_one = |it: &&serde_json::Value| it["ph"] == phase && it["cat"] == kind;
            events.iter().filter(is_one).count()
        };
        // An arrow from each write to each copy.
        let found = ["X", "s", "f"].map(|phase| count(phase, "write"));
        assert_eq!(found, [30, 90, 90], "{over}");
        assert_eq!((count("X", "execution"), count("X", "process")), (90, 4));
        for end in events.iter().filter(|it| it["ph"] == "f") {
            let is_start = |it: &&serde_json::Value| it["ph"] == "s" && it["id"] == end["id"];
            let start = events.iter().find(is_start).unwrap();
            let at = |it: &serde_json::Value| it["ts"].as_f64().unwrap();
            // Clocks agree within far less than a second.
            assert!((at(end) - at(start)).abs() < 1e6, "{start} {end}");
        }
    }
}

#[test]
fn an_error_leaves_the_counts_and_the_timeline_of_all_machines() {
    if !has_cc() {
        return;
    }
    let place = adders();
    let failing = ADDERS.replace(
        "  WriteLine(sum",
        "  ASSERT(sum$value() = 0);\n  WriteLine(sum",
    );
    let stuck = ADDERS.replace("  WriteLine(sum", "  sum$AwaitValue(0);\n  WriteLine(sum");
    for (text, code) in [(failing, 134), (stuck, 1)] {
        place.write("adders.imp", &text);
        for over in ["local", "shm", "tcp"] {
            let run = ["orca", "run", "adders.imp", "-n", "3", "--over", over];
            let ended = place.run(&[&run[..], &["--stats=json", "--trace", "line.json"]].concat());
            assert_eq!(ended.code, Some(code), "{over}: {}", ended.err);
            let counts = ended
                .err
                .lines()
                .find(|it| it.starts_with('{'))
                .expect(&ended.err);
            let counts: serde_json::Value = serde_json::from_str(counts).unwrap();
            assert_eq!(counts["machines"].as_array().unwrap().len(), 3, "{counts}");
            let line = std::fs::read_to_string(place.path("line.json")).unwrap();
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            let events = line["traceEvents"].as_array().unwrap();
            let has = |machine: u32| {
                events
                    .iter()
                    .any(|it| it["pid"] == machine && it["ph"] == "X")
            };
            assert!((1..=3).all(has), "{over}: {line}");
        }
    }
}

#[test]
fn processes_may_be_fibers() {
    if !has_cc() {
        return;
    }
    let place = adders();
    let run = |more: &[&str]| {
        let run = ["orca", "run", "adders.imp", "-n", "3", "--model"];
        place.run(&[&run[..], more].concat())
    };
    assert_eq!(run(&["cooperative"]).done(), "30 on 3\n");
    assert_eq!(run(&["cooperative", "--servers", "2"]).done(), "30 on 3\n");
    let over = run(&["cooperative", "--servers", "2", "--over", "tcp"]);
    assert_eq!(over.done(), "30 on 3\n");
    run(&["threads", "--servers", "2"]).fails(2, &["threads use all processors"]);
    run(&["sliced"]).fails(2, &["the system slices threads by itself"]);
    run(&["counted=5"]).fails(2, &["a fiber cannot give way within an operation"]);
}

/// A function changes the object that it gets IN.
const BUMPS: &str = "\
MODULE IMPLEMENTATION bumps;
IMPORT IntObject;
FUNCTION bump(c: IntObject);
BEGIN
  c$inc();
END;
PROCESS OrcaMain();
  c: IntObject;
BEGIN
  bump(c);
  WriteLine(c$value());
END;
END;
";

#[test]
fn an_option_passes_local_objects_by_reference() {
    if !has_cc() {
        return;
    }
    let place = Place::new();
    place.write_orca("bumps", BUMPS);
    let option = "--objects-by-reference";
    // Both executables are in the cache.
    for _ in 0..2 {
        let copied = place.run(&["orca", "run", "bumps.imp"]);
        assert_eq!(copied.out, "0\n");
        assert!(copied.err.contains(option), "{}", copied.err);
        let referred = place.run(&["orca", "run", "bumps.imp", option]);
        assert_eq!((referred.done(), referred.err.as_str()), ("1\n", ""));
    }
    assert_eq!(place.run(&["orca", "check", "bumps.imp", option]).err, "");
}

/// Each machine writes and reads a file of its own, while the other has one, too.
const FILES: &str = "\
MODULE IMPLEMENTATION files;
IMPORT IntObject;
FROM InOut IMPORT OpenOutputFile, CloseOutput, OpenInputFile, CloseInput, ReadInt;
FUNCTION name(): string;
BEGIN
  IF MYCPU() = 0 THEN RETURN \"zero\"; FI;
  RETURN \"one\";
END;
PROCESS writer(open, read: SHARED IntObject);
  own: integer;
BEGIN
  ASSERT(OpenOutputFile(name()));
  open$inc();
  open$AwaitValue(2);
  Write(MYCPU() + 40);
  CloseOutput();
  ASSERT(OpenInputFile(name()));
  read$inc();
  read$AwaitValue(2);
  ReadInt(own);
  CloseInput();
  WriteLine(own);
END;
PROCESS OrcaMain();
  open, read: IntObject;
BEGIN
  FORK writer(open, read) ON 1;
  FORK writer(open, read) ON 0;
END;
END;
";

#[test]
fn each_machine_has_files_of_its_own() {
    if !has_cc() {
        return;
    }
    let place = Place::new();
    place.write_orca("files", FILES);
    for over in ["local", "shm"] {
        let run = place.run(&["orca", "run", "files.imp", "-n", "2", "--over", over]);
        let mut lines: Vec<_> = run.done().lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["40", "41"], "{over}");
    }
}
