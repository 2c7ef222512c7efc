//! Attacks by another user of the machine, or by the author of a file: foreign folders, files
//! without an end, and text that controls a terminal.

use crate::common::{Place, Ran, has_cc};
use antiphon_lab::Machine;
use antiphon_lab::store::{NewRun, Store};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

/// Sequences that clear a screen, ring, set a title, and reverse the following text.
const STEERING: &str = "\u{1b}[2J\u{7}\u{9b}1m\u{202e}";

fn is_harmless(ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(steers), "{text:?}");
    }
}

fn mode(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns a home whose `version` command leaves a mark.
fn trap() -> Place {
    let place = Place::new();
    place.write(
        "subjects/trap/subject.toml",
        "name = 'trap'\nlanguage = 'Shell'\nversion = ['sh', '-c', 'echo 1; touch ../../ran']\n\
         sources = []\nbuild = []\nrun = ['true']\n[[variant]]\nname = 'v'\n",
    );
    place
}

#[test]
fn a_strangers_folder_runs_nothing_unless_it_is_named() {
    let place = trap();
    let doctor = || {
        let mut command = place.command(&["doctor"]);
        command.env_remove("ANTIPHON_HOME");
        command
    };
    mode(&place.path("subjects"), 0o777);
    let refused = Ran::of(doctor().output().unwrap());
    assert!(!place.path("ran").exists(), "{}", refused.err);
    refused.fails(3, &["may be written by other users", "--home"]);
    let named = place.command(&["doctor"]).output().unwrap();
    assert_eq!(Ran::of(named).code, Some(0));
    assert!(place.path("ran").exists(), "it is named");
    mode(&place.path("subjects"), 0o755);
    fs::remove_file(place.path("ran")).unwrap();
    assert_eq!(Ran::of(doctor().output().unwrap()).code, Some(0));
    assert!(place.path("ran").exists(), "it is the user's own");
}

#[test]
fn executables_that_others_could_have_planted_are_not_run() {
    if !has_cc() {
        return;
    }
    let place = Place::new();
    place.write("one.sr", "resource main()\n  write(1)\nend\n");
    let without_home = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env_remove("HOME").env_remove("ANTIPHON_CACHE");
        command.env_remove("XDG_CACHE_HOME");
        command.env("TMPDIR", place.path("tmp"));
        Ran::of(command.output().unwrap())
    };
    fs::create_dir(place.path("tmp")).unwrap();
    mode(&place.path("tmp"), 0o1777);
    assert_eq!(without_home(&["sr", "run", "one.sr"]).done(), "1\n");
    let entries = fs::read_dir(place.path("tmp")).unwrap().flatten();
    let caches: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("antiphon-cache"))
        .collect();
    let [cache] = &caches[..] else {
        panic!("{caches:?}")
    };
    let made = fs::metadata(cache).unwrap().permissions().mode();
    assert_eq!(made & 0o777, 0o700);
    // A folder that was open to others is not trusted, nor is a link to a folder.
    mode(&cache.join("sr"), 0o777);
    let refused = without_home(&["sr", "run", "one.sr"]);
    refused.fails(3, &["may be written by other users", "ANTIPHON_CACHE"]);
    mode(&cache.join("sr"), 0o700);
    fs::rename(cache, place.path("elsewhere")).unwrap();
    symlink(place.path("elsewhere"), cache).unwrap();
    let refused = without_home(&["sr", "run", "one.sr"]);
    refused.fails(3, &["is a link", "ANTIPHON_CACHE"]);
}

#[test]
fn a_suite_or_subject_without_an_end_is_refused_at_once() {
    let place = Place::new();
    let fifo = place.path("suites/fifo.toml");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for suite in ["fifo", "./suites/fifo.toml"] {
        let refused = place.run(&["measure", suite, "--check"]);
        refused.fails(1, &["no regular file"]);
    }
    symlink("/dev/zero", place.path("suites/zero.toml")).unwrap();
    place
        .run(&["measure", "zero", "--check"])
        .fails(1, &["no regular file"]);
    fs::create_dir(place.path("subjects/long")).unwrap();
    let long = "#".repeat(5 << 20);
    place.write("subjects/long/subject.toml", &long);
    let refused = place.run(&["doctor", "--subject", "subjects/long"]);
    refused.fails(3, &["longer than"]);
}

#[test]
fn nothing_of_others_steers_the_terminal() {
    let place = Place::new();
    // A subject's own words, and its answers.
    place.script(
        "loud",
        "printf \"said \\033[2J\\007\\n\"; while read line; do printf \"@@ \\033[2J\\342\\200\\256\\n\"; done",
    );
    for arguments in [
        &["doctor", "--subject", "subjects/loud"][..],
        &["doctor", "--subject", "subjects/loud", "--json"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        is_harmless(&ran);
    }
    // The name and the text of a program.
    let name = format!("a{STEERING}.sr");
    place.write(
        &name,
        &format!("resource main()\n  write(x{STEERING})\nend\n"),
    );
    for arguments in [
        &["sr", "check", &name][..],
        &["sr", "check", "--json", &name],
        &["sr", "run", &name],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        is_harmless(&ran);
    }
    // A path in an error.
    let ran = place.run(&["--store", &format!("{STEERING}.db"), "runs"]);
    assert_eq!(ran.code, Some(3));
    is_harmless(&ran);
    // A store written by another user.
    let mut store = Store::open(&place.path("runs.db")).unwrap();
    let suite = format!("small{STEERING}");
    let run = NewRun {
        suite: &suite,
        suite_toml: &suite,
        quick: true,
        machine: &Machine::collect(),
        options: "{}",
    };
    let number = store.begin(&run).unwrap();
    store.warn(number, STEERING).unwrap();
    store.finish(number).unwrap();
    drop(store);
    for arguments in [
        &["runs"][..],
        &["runs", "--json"],
        &["report", "--csv", "-"],
        &["report", "--json", "-"],
        &["report", "--markdown", "-"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        is_harmless(&ran);
    }
}

/// A reader may have the page open while the disk is full.
#[test]
fn a_report_without_room_leaves_the_old_one_whole() {
    let place = Place::new();
    let mut store = Store::open(&place.path("runs.db")).unwrap();
    let run = NewRun {
        suite: "small",
        suite_toml: crate::common::SUITE,
        quick: true,
        machine: &Machine::collect(),
        options: "{}",
    };
    let number = store.begin(&run).unwrap();
    store.finish(number).unwrap();
    drop(store);
    for (format, name) in [
        ("--html", "page.html"),
        ("--csv", "a.csv"),
        ("--json", "a.json"),
        ("--markdown", "a.md"),
        ("--xlsx", "a.xlsx"),
    ] {
        place.write(name, "the old one");
        let limited = "ulimit -f 0; trap '' XFSZ; exec \"$0\" \"$@\"";
        let command = place.command(&["report", format, name]);
        let mut shell = Command::new("sh");
        shell.args(["-c", limited]).arg(command.get_program());
        shell.args(command.get_args()).current_dir(place.path(""));
        shell.env("ANTIPHON_STORE", place.path("runs.db"));
        let ran = Ran::of(shell.output().unwrap());
        ran.fails(3, &["cannot write"]);
        assert_eq!(fs::read_to_string(place.path(name)).unwrap(), "the old one");
    }
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.command(&["report", "--csv", "-"]);
    let ran = Ran::of(command.stdout(Stdio::from(full)).output().unwrap());
    ran.fails(3, &["cannot write to standard output"]);
}
