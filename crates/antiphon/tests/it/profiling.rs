//! `antiphon profile`: a change of a program shows in its profiles, and is reported.

use crate::common::{Place, Ran, c_subject, has, has_cc};
use serde_json::Value;
use std::process::Command;

/// A program that fills tables of `SIZE` bytes and takes every value out of them.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static char *table_new(void) { return calloc(1, SIZE); }
__attribute__((noinline)) static long table_reset(volatile char *table)
{
    long sum = 0;
    for (long place = 0; place < SIZE; place++) sum += table[place];
    return sum;
}
int main(int argc, char **argv)
{
    (void)argv;
    long sum = argc;
    for (int time = 0; time < 20; time++) {
        char *table = table_new();
        sum += table_reset(table);
        free(table);
    }
    printf("sum %ld\n@@ run elapsed_ns=1\n", sum);
    return argc > 2 ? 7 : 0;
}
"#;

fn place() -> Option<Place> {
    if !has("valgrind", "valgrind") {
        return None;
    }
    let place = Place::with_c();
    place.write("subjects/tables/tables.c", PROGRAM);
    place.write(
        "subjects/tables/subject.toml",
        "name = 'tables'\nlanguage = 'C'\nversion = ['cc', '--version']\nsources = ['tables.c']\nprograms = ['fill']\nrun = ['{build}/{program}']\n\
         build = [['cc', '-g', '-O1', '{flags}', '{source}/tables.c', '-o', '{build}/fill']]\n\
         [[variant]]\nname = 'large'\nflags = ['-DSIZE=400000L']\n[[variant]]\nname = 'small'\nflags = ['-DSIZE=2000L']\n",
    );
    has_cc().then_some(place)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Returns a count of a function in one of the profiles.
fn count(side: &Value, function: &str, event: usize) -> i64 {
    let functions = side["cache"]["functions"].as_array().unwrap();
    let named = functions.iter().find(|pair| pair[0]["name"] == function);
    named.map_or(0, |pair| pair[1][event].as_i64().unwrap())
}

#[test]
fn what_a_smaller_table_saves_is_told_with_its_functions() {
    let Some(place) = place() else { return };
    let ran = place.run(&[
        "profile",
        "tables/large",
        "fill",
        "--against",
        "tables/small",
    ]);
    // Lines are wrapped for the terminal, and units stand behind a narrow space.
    let out = ran.done().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "The heap's peak falls from",
        "`table_new` allocates: 391 KiB at a time before",
        "Data reads fall from 8",
        "in `table_reset`",
    ] {
        assert!(out.contains(words), "{words:?} is not in:\n{out}");
    }
    let page = std::fs::read_to_string(place.path("antiphon-profile.html")).unwrap();
    assert!(page.contains("Heap over the run") && page.contains("table_reset"));
}

/// The worked example of docs/guide/profile.md: the peak falls by exactly the table of 65 536
/// places.
#[test]
fn the_oversized_symbol_table_is_what_the_profile_blames() {
    let Some(place) = place() else { return };
    if !has("gnatmake", "gnat") {
        return;
    }
    place.link("ada-symbols");
    let of = [
        "profile",
        "ada-symbols/oversized",
        "parse",
        "--against",
        "ada-symbols/fitting",
        "--json",
    ];
    let both = json(place.run(&of).done());
    let peaks = ["before", "after"].map(|side| peak(&both[side]));
    let [(was, held_before), (is, held_after)] = peaks;
    // Places are addresses, and one table has this many more.
    let table = 8 * (65_536 - 1024);
    assert!(held_before - held_after >= table, "{peaks:?}");
    let by_the_table = (held_before - held_after) as f64 / (was - is) as f64;
    assert!((0.99..1.01).contains(&by_the_table), "{peaks:?}");
    let text = place.run(&of[..of.len() - 1]);
    let text = text.done().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "The heap's peak falls from 517 KiB",
        "Most of that is what `symbols__initialize__2` allocates: 512 KiB at a time before",
        "Read misses of the first cache fall",
        "Write misses of the first cache fall",
    ] {
        assert!(text.contains(words), "{words:?} is not in:\n{text}");
    }
}

/// Returns the largest snapshot of a profile, and the part of symbol tables in it, in bytes.
fn peak(side: &Value) -> (i64, i64) {
    let bytes = |of: &Value, name: &str| of[name].as_i64().unwrap();
    let snapshots = side["heap"]["snapshots"].as_array().unwrap().iter();
    let all = |of: &&Value| bytes(of, "heap_bytes") + bytes(of, "extra_bytes");
    let most = snapshots.max_by_key(all).expect("snapshots");
    let sites = most["sites"].as_array().unwrap().iter();
    let tables = sites.filter(|site| {
        let place = site["place"].as_str().unwrap();
        place.contains("symbols__initialize")
    });
    (all(&most), tables.map(|site| bytes(site, "bytes")).sum())
}

#[test]
fn a_programs_counts_are_those_of_its_text() {
    let Some(place) = place() else { return };
    let ran = place.run(&["profile", "tables/large", "fill", "--json"]);
    let both = json(ran.done());
    assert_eq!(both["after"], Value::Null);
    let reads = count(&both["before"], "table_reset", 3);
    assert!((8_000_000..8_100_000).contains(&reads), "{reads}");
    let largest = &both["before"]["heap"]["snapshots"]
        .as_array()
        .unwrap()
        .iter();
    let largest = largest
        .clone()
        .map(|snapshot| snapshot["heap_bytes"].as_u64().unwrap())
        .max();
    assert!(
        (400_000..410_000).contains(&largest.unwrap()),
        "{largest:?}"
    );
}

#[test]
fn a_frames_counts_are_those_of_its_iterations_alone() {
    let Some(place) = place() else { return };
    let counted = |iterations: &str| {
        let arguments = [
            "profile",
            "c/O2",
            "call.inter.none",
            "--iterations",
            iterations,
            "--json",
        ];
        let both = json(place.run(&arguments).done());
        both["before"]["cache"]["total"][0].as_i64().unwrap() as f64
    };
    let (some, more) = (counted("20000"), counted("60000"));
    let ratio = more / some;
    assert!((2.9..3.1).contains(&ratio), "{some} {more}");
}

/// The compiler inlines the call, so it does nothing, like its control.
#[test]
fn what_the_control_takes_is_not_counted() {
    let Some(place) = place() else { return };
    let ran = place.run(&["profile", "c/O2", "call.inline.none", "--json"]);
    let both = json(ran.done());
    let instructions = both["before"]["cache"]["total"][0].as_i64().unwrap();
    // A thousand operations take some six instructions each with their loop. Printing the times
    // takes some hundreds more.
    assert!(instructions.abs() < 1500, "{instructions}");
}

/// Writes a subject of whole programs in C, with this source.
fn write_programs(place: &Place, name: &str, run: &str, source: &str) {
    place.write(&format!("subjects/{name}/{name}.c"), source);
    place.write(
        &format!("subjects/{name}/subject.toml"),
        &format!(
            "name = '{name}'\nlanguage = 'C'\nversion = ['cc', '--version']\nsources = ['{name}.c']\nprograms = ['fill']\nrun = [{run}]\n\
             build = [['cc', '-O1', '{{source}}/{name}.c', '-o', '{{build}}/fill']]\n[[variant]]\nname = 'v'\n"
        ),
    );
}

const ONE_PROGRAM: &str = "'{build}/{program}'";

#[test]
fn a_program_that_does_not_do_fixed_work_is_told_and_not_explained() {
    let Some(place) = place() else { return };
    // Its process number differs each time.
    let source = r#"
#include <unistd.h>
int main(void)
{
    volatile long sum = 0;
    for (long at = 0; at < 100000L + 500L * (getpid() % 1000); at++) sum += at;
    return 0;
}
"#;
    write_programs(&place, "chance", ONE_PROGRAM, source);
    let ran = place.run(&["profile", "chance", "fill", "--against", "chance"]);
    let out = ran.done();
    assert!(ran.err.contains("it does not do fixed work"), "{}", ran.err);
    assert!(out.contains("does not do"), "{out}");
    assert!(!out.contains("Instructions rise") && !out.contains("Instructions fall"));
    assert!(!out.contains("half a per cent"), "{out}");
}

#[test]
fn what_valgrind_does_not_follow_is_refused_in_words() {
    let Some(place) = place() else { return };
    let nothing = "int main(void) { return 0; }";
    write_programs(
        &place,
        "shim",
        "'sh', '-c', 'exec {build}/{program}'",
        nothing,
    );
    place
        .run(&["profile", "shim", "fill"])
        .fails(3, &["`sh` starts another program by exec"]);
    // It is refused before it is built, so it may lack anything that it needs.
    place.write(
        "subjects/machine/subject.toml",
        "name = 'machine'\nlanguage = 'Java'\nversion = ['false']\nsources = []\nbuild = []\nrun = ['false']\nwarms = true\n[[variant]]\nname = 'v'\n",
    );
    place
        .run(&["profile", "machine", "self.same"])
        .fails(2, &["a compiler of its own", "StartFlightRecording"]);
}

#[test]
fn an_end_by_a_signal_may_be_valgrinds_doing() {
    let Some(place) = place() else { return };
    let source = "#include <stdlib.h>\nint main(void) { abort(); }";
    write_programs(&place, "aborts", ONE_PROGRAM, source);
    let says = ["`fill` was ended by", "does it run without?"];
    place.run(&["profile", "aborts", "fill"]).fails(3, &says);
}

#[test]
fn every_machine_simulates_the_same_caches() {
    let Some(place) = place() else { return };
    let ran = place.run(&["profile", "tables/small", "fill", "--json"]);
    let both = json(ran.done());
    let caches = both["before"]["cache"]["caches"].to_string();
    assert!(
        caches.contains("LL cache: 8388608 B, 64 B, 16-way"),
        "{caches}"
    );
    assert_eq!(both["before"]["repeats"], true);
}

/// Massif sees memory that Python's own allocator would hide.
#[test]
fn pythons_small_objects_are_in_its_heap() {
    let Some(place) = place() else { return };
    let executable = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    let Ok(executable) = executable else {
        eprintln!("skipped: `python3` is needed (apt-get install python3)");
        return;
    };
    let python = String::from_utf8(executable.stdout).unwrap();
    let python = python.trim();
    place.write(
        "subjects/kept/fill.py",
        "kept = [[number] for number in range(40000)]\n",
    );
    place.write(
        "subjects/kept/subject.toml",
        &format!(
            "name = 'kept'\nlanguage = 'Python'\nversion = ['{python}', '-VV']\nsources = ['fill.py']\nprograms = ['fill']\nbuild = []\n\
             run = ['{python}', '-S', '{{source}}/{{program}}.py']\n[[variant]]\nname = 'v'\n"
        ),
    );
    let both = json(place.run(&["profile", "kept", "fill", "--json"]).done());
    // A list of one number takes some 90 bytes besides its place in the large list.
    let (all, _) = peak(&both["before"]);
    assert!(all > 40_000 * 80, "{all}");
}

#[test]
fn what_cannot_be_profiled_is_named() {
    let Some(place) = place() else { return };
    let fails = |arguments: &[&str], code, says: &[&str]| {
        place
            .run(&[&["profile"], arguments].concat())
            .fails(code, says);
    };
    fails(
        &["tables/large", "spill"],
        2,
        &["has no program `spill`", "it has fill"],
    );
    fails(&["tables/large", "fill", "--arg", "3"], 2, &["after `--`"]);
    fails(&["c", "self.same", "--", "x"], 2, &["--arg"]);
    fails(&["tabels", "fill"], 2, &["did you mean `tables`?"]);
    fails(
        &["c", "no.such.test"],
        3,
        &["c/O2 has no test `no.such.test`", "self.handoff"],
    );
    fails(&["c", "self.sane"], 3, &["did you mean `self.same`?"]);
    fails(
        &["tables/small", "fill", "--", "a", "b"],
        3,
        &["massif", "`fill` ended with exit code 7"],
    );
}

#[test]
fn what_is_not_passed_on_is_told_by_profiles_and_live_comparisons() {
    let Some(place) = place() else { return };
    let page = place.path("page.html");
    let page = page.to_str().unwrap();
    for arguments in [
        &["profile", "c/O2", "self.same", "--html", page][..],
        &[
            "compare",
            "--live",
            "c",
            "c",
            "--only",
            "self.same",
            "--seconds",
            "0.5",
        ],
    ] {
        let mut command = place.command(arguments);
        let ran = command.env("MALLOC_PERTURB_", "7").output().unwrap();
        let reported = "warning: not passed on to subjects and their builds: MALLOC_PERTURB_ of";
        let ran = Ran::of(ran);
        // A busy machine may not tell a build from itself in so little time.
        let cannot_tell = arguments[0] == "compare" && ran.code == Some(4);
        ran.fails(if cannot_tell { 4 } else { 0 }, &[reported]);
    }
}

/// Runs the laboratory with all temporary folders in memory. Returns `None` where that is not
/// possible.
fn in_memory(place: &Place, arguments: &[&str]) -> Option<Ran> {
    let within = "mount -t tmpfs none /var/tmp && exec \"$0\" \"$@\"";
    let there = |command: &mut Command| {
        command.args(["--map-root-user", "--mount", "sh", "-c", within]);
        command.env("TMPDIR", "/dev/shm");
    };
    let mut tried = Command::new("unshare");
    there(&mut tried);
    let tried = tried.args(["sh", "-c", "test -d /dev/shm"]).status();
    if !tried.is_ok_and(|status| status.success()) {
        eprintln!(
            "skipped: file systems may not be mounted here (unshare --map-root-user --mount)"
        );
        return None;
    }
    let own = place.command(arguments);
    let mut command = Command::new("unshare");
    there(&mut command);
    command.arg(own.get_program()).args(own.get_args());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(own.get_current_dir().expect("it is the place's"));
    Some(Ran::of(command.output().expect("it was tried")))
}

#[test]
fn databases_in_memory_are_told_by_profiles_and_live_comparisons() {
    let Some(place) = place() else {
        return;
    };
    let copied = Command::new("cp")
        .args(["-R"])
        .arg(c_subject())
        .arg(place.path("subjects/kept"))
        .status();
    assert!(copied.is_ok_and(|status| status.success()));
    let file = place.path("subjects/kept/subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("name = \"c\"", "name = \"kept\"");
    let text = text.replace("name = \"O2\"", "name = \"O2\"\nservice = \"sqlite\"");
    assert!(
        text.contains("service"),
        "the subject's file is written otherwise: mend this test"
    );
    std::fs::write(&file, text).unwrap();
    let warning = "warning: the databases' files are in memory (tmpfs)";
    // A comparison of a few starts may be undecided (4), which does not matter here.
    let reported = |ran: &Ran| {
        assert!(matches!(ran.code, Some(0 | 4)), "{}{}", ran.out, ran.err);
        ran.err.matches(warning).count()
    };
    let page = place.path("page.html");
    let page = page.to_str().unwrap();
    let profile = [
        "profile",
        "kept/O2",
        "self.same",
        "--against",
        "kept/O2",
        "--html",
        page,
    ];
    let Some(ran) = in_memory(&place, &profile) else {
        return;
    };
    assert_eq!(reported(&ran), 1, "{}", ran.err);
    assert!(
        std::fs::read_to_string(page)
            .unwrap()
            .contains("are in memory (tmpfs)")
    );
    let live = [
        "compare",
        "--live",
        "kept/O2",
        "kept/O2",
        "--only",
        "self.same",
        "--seconds",
        "1",
    ];
    let ran = in_memory(&place, &live).expect("it could be had before");
    assert_eq!(reported(&ran), 1, "{}", ran.err);
    // On other file systems there is no warning: the other variant has no database.
    let ran = place.run(&[
        "compare",
        "--live",
        "kept/O0",
        "kept/O0",
        "--only",
        "self.same",
        "--seconds",
        "1",
    ]);
    assert_eq!(reported(&ran), 0, "{}", ran.err);
}
