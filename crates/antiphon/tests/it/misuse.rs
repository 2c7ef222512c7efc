//! Wrong use, and missing things. Each message names the place and the fix, with the documented
//! exit code.

use crate::common::{Place, Ran, SUITE};
use std::fs::{self, File};
use std::process::Stdio;

const MAKE_ONE: &str = "make one with `antiphon measure features --quick`";

#[test]
fn arguments_that_make_no_sense_are_misuse() {
    let place = Place::new();
    for arguments in [
        &["sing"][..],
        &["measure", "--time-budget", "-1"],
        &["measure", "--repetitions", "0"],
        &["measure", "small", "--resume"],
        &["compare", "1"],
        &["compare", "1", "2", "--seconds", "1"],
        &["compare", "1", "2", "--threshold", "-3"],
        &["report", "1", "--pdf", "run.pdf"],
        &["report", "--html", "-", "--csv", "-"],
        &[
            "translate",
            "--scheme",
            "optimised",
            "--selector",
            "none",
            ".",
        ],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}{}", ran.out, ran.err);
        assert!(!ran.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn empty_words_and_numbers_out_of_bounds_are_refused_with_the_mend() {
    let place = Place::new();
    for arguments in [
        &["measure", "small", "--subjects", "plain,"][..],
        &["measure", "small", "--subjects", ",plain"],
        &["measure", "small", "--only", "a,,b"],
        &["compare", "1", "2", "--only", "a, "],
    ] {
        let option = arguments[arguments.len() - 2];
        let says = [option, "is empty", "take out a comma"];
        place.run(arguments).fails(2, &says);
    }
    for seconds in ["1e9", "inf", "NaN", "0"] {
        let ran = place.run(&["measure", "small", "--time-budget", seconds]);
        ran.fails(2, &["above 0, and at most 320000000"]);
    }
}

#[test]
fn unknown_names_get_the_nearest() {
    let place = Place::new();
    place.script("plain", "exit 0");
    let measure = |arguments: &[&str]| place.run(&[&["measure"], arguments].concat());
    measure(&["smal"]).fails(2, &["no suite `smal`", "did you mean `small`?"]);
    measure(&["nope.toml"]).fails(3, &["nope.toml", "name of a suite in `suites/`"]);
    measure(&["small", "--subjects", "plane"]).fails(2, &["did you mean `plain`?"]);
    let variant = ["no variant of `plain` called `w`", "known here: v"];
    measure(&["small", "--subjects", "plain/w"]).fails(2, &variant);
    measure(&["small", "--subjects", "./plain"]).fails(2, &["known here: plain"]);
    measure(&["small", "--resume", "first"]).fails(2, &[]);
    place
        .run(&["compare", "plain", "plain"])
        .fails(2, &["no number of a run", "--live"]);
}

#[test]
fn a_missing_file_has_one_code_for_all_verbs() {
    let place = Place::new();
    for arguments in [
        &["measure", "absent.toml"][..],
        &["list", "absent.toml"],
        &["translate", "absent.adb"],
        &["translate", "absent.gpr"],
        &["sr", "run", "absent.sr"],
        &["sr", "check", "absent.sr"],
        &["orca", "run", "absent.imp"],
        &["orca", "build", "absent.imp"],
        &["load", "http://127.0.0.1:9", "--data", "@absent"],
        &[
            "launch", "-n", "2", "--over", "tcp", "--hosts", "absent", "true",
        ],
        &["launch", "-n", "2", "--over", "shm", "./absent"],
    ] {
        place.run(arguments).fails(3, &["absent"]);
    }
}

#[test]
fn a_missing_folder_of_a_comparison_is_told_as_such() {
    let place = Place::new();
    place.script("plain", "exit 0");
    let says = [
        "`old/c` is no folder with a `subject.toml`",
        "known here: plain",
    ];
    place
        .run(&["compare", "--live", "old/c", "plain"])
        .fails(2, &says);
}

#[test]
fn a_file_in_the_place_of_a_verb_gets_its_verb() {
    let place = Place::new();
    for (given, tip) in [
        (&["dining.sr"][..], "antiphon sr run dining.sr"),
        (&["sr", "dining.sr"], "antiphon sr run dining.sr"),
        (&["buffer.adb"], "antiphon translate buffer.adb"),
        (&["orca", "hello.imp"], "antiphon orca run hello.imp"),
    ] {
        place.run(given).fails(2, &[tip]);
    }
    let other = place.run(&["dining.txt"]);
    assert!(!other.err.contains("takes such a file"), "{}", other.err);
}

#[test]
fn a_program_in_another_language_is_not_translated() {
    let place = Place::new();
    for (file, tip) in [
        ("dining.sr", "in SR by its ending"),
        ("hello.imp", "in Orca by its ending"),
    ] {
        place.write(file, "resource dining()\nend\n");
        place
            .run(&["translate", file])
            .fails(2, &[tip, &format!("run {file}` runs it")]);
    }
}

#[test]
fn servers_are_not_profiled() {
    let place = Place::new();
    let server = "language = 'None'\nversion = ['echo', '1']\nsources = []\nrun = ['x', '{port}']\nserves = 'http'\n\
                  build = [['sh', '-c', 'touch {source}/built']]\n[[variant]]\nname = 'v'\n";
    place.write(
        "subjects/waiter/subject.toml",
        &format!("name = 'waiter'\n{server}"),
    );
    place.script("plain", "exit 0");
    for arguments in [
        &["profile", "waiter", "get"][..],
        &["profile", "plain", "get", "--against", "waiter"],
    ] {
        let says = [
            "waiter/v is a server",
            "antiphon measure SUITE --subjects waiter/v",
        ];
        place.run(arguments).fails(2, &says);
    }
    assert!(!place.path("subjects/waiter/built").exists());
}

#[test]
fn what_fits_nothing_is_refused_before_anything_is_built() {
    let place = Place::new();
    place.write(
        "subjects/slow/subject.toml",
        "name = 'slow'\nlanguage = 'None'\nversion = ['echo', '1']\nsources = []\nrun = ['x']\n\
         build = [['sh', '-c', 'touch {source}/built; exit 1']]\n[[variant]]\nname = 'v'\n",
    );
    let measure = |only| place.run(&["measure", "small", "--subjects", "slow", "--only", only]);
    measure("zzz").fails(2, &["nothing in `small` fits `zzz`", "groups are frames"]);
    measure("sefl.*").fails(2, &["`sefl.*` (did you mean `self.*`?)"]);
    measure("frame").fails(2, &["did you mean `frames`?"]);
    measure("zzz,self.hand").fails(2, &["`zzz`", "did you mean `self.handoff`?"]);
    assert!(!place.path("subjects/slow/built").exists());
    // Only chosen subjects are built.
    measure("zzz,self.*").fails(3, &["slow/v is left out"]);
    assert!(place.path("subjects/slow/built").exists());
}

#[test]
fn a_broken_suite_is_named_by_line_and_key() {
    let place = Place::new();
    place.script("plain", "exit 0");
    place.write("suites/broken.toml", &SUITE.replace("label =", "lable ="));
    let places = ["broken.toml:16:", "`group[1].row[1]", "lable"];
    place.run(&["measure", "broken"]).fails(2, &places);
    place
        .run(&["measure", "broken", "--check"])
        .fails(1, &places);
}

#[test]
fn a_check_says_no_to_a_broken_subject_and_to_one_that_is_not_there() {
    let place = Place::new();
    place
        .run(&["measure", "small", "--check"])
        .fails(1, &["no subject `c`"]);
    place.script("plain", "exit 0");
    let check = ["measure", "small", "--check", "--subjects", "plain/v"];
    assert!(place.run(&check).done().contains("no fault found"));
    place.write("subjects/broken/subject.toml", "name = 3\n");
    place
        .run(&check)
        .fails(1, &["broken/subject.toml:1:", "`name`"]);
}

#[test]
fn without_a_home_it_says_where_one_may_be() {
    let place = Place::new();
    for arguments in [&["measure"][..], &["compare", "--live", "c", "c"]] {
        let mut command = place.command(arguments);
        let ran = Ran::of(command.env("ANTIPHON_HOME", "/nowhere").output().unwrap());
        ran.fails(3, &["/nowhere", "--home"]);
    }
}

#[test]
fn what_only_reads_makes_no_store() {
    let place = Place::new();
    for arguments in [&["runs"][..], &["report"], &["compare", "1", "2"]] {
        place.run(arguments).fails(3, &["runs.db", MAKE_ONE]);
    }
    assert!(!place.path("runs.db").exists());
}

#[test]
fn a_store_that_is_none_is_left_alone() {
    let place = Place::new();
    place.script("plain", "exit 0");
    let garbage = "this is no database, however often it is opened".repeat(20);
    place.write("runs.db", &garbage);
    for arguments in [
        &["runs"][..],
        &["report"],
        &["compare", "1", "2"],
        &["measure", "small"],
    ] {
        place
            .run(arguments)
            .fails(3, &["runs.db", "name another file"]);
    }
    assert_eq!(fs::read_to_string(place.path("runs.db")).unwrap(), garbage);
}

#[test]
fn a_subject_that_is_none_is_named() {
    let place = Place::new();
    place
        .run(&["doctor", "--subject", "nope"])
        .fails(3, &["nope/subject.toml", "docs/reference/subjects.md"]);
    place.script("silent", "exit 0");
    let ran = place.run(&["doctor", "--subject", "subjects/silent"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("FAIL") && ran.out.contains("mend:"),
        "{}",
        ran.out
    );
}

#[test]
fn a_reader_that_leaves_is_no_fault_and_a_full_disk_is() {
    let place = Place::new();
    place.script("plain", "exit 0");
    let check = ["measure", "small", "--check", "--subjects", "plain"];
    for arguments in [&check[..], &["--help"]] {
        let mut command = place.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        Ran::of(child.wait_with_output().unwrap()).done();
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = place.command(&check).stdout(full).output();
    Ran::of(output.unwrap()).fails(3, &["cannot write to standard output"]);
}

#[test]
fn generated_pages_and_completions_name_every_verb() {
    let place = Place::new();
    place.run(&["generate", "man", "man"]).done();
    place.run(&["generate", "completions", "share"]).done();
    for verb in ["doctor", "measure", "report", "compare", "runs"] {
        assert!(
            place.path(&format!("man/antiphon-{verb}.1")).is_file(),
            "{verb}"
        );
        let bash = fs::read_to_string(place.path("share/bash-completion/completions/antiphon"));
        assert!(bash.unwrap().contains(verb), "{verb}");
    }
    place.write("file", "");
    place
        .run(&["generate", "man", "file/man"])
        .fails(3, &["file/man"]);
}
