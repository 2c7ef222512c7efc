//! Measuring, reporting and comparing with the project's C subject, and beside it subjects that misbehave.

use crate::common::{Place, Ran, SUITE, c_subject, has_cc};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const QUICK: [&str; 3] = ["measure", "small", "--quick"];

#[test]
fn a_run_is_measured_listed_and_reported() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let ran = place.run(&QUICK);
    let out = ran.done();
    assert!(
        out.contains("dearer") && out.contains("antiphon report 1"),
        "{out}"
    );
    assert!(ran.err.contains("run 1: 3 figures"), "{}", ran.err);
    assert!(place.run(&["runs"]).done().contains("3 of 3"));
    let runs: serde_json::Value =
        serde_json::from_str(place.run(&["runs", "--json"]).done()).unwrap();
    assert_eq!(runs[0]["suite"], "small");

    for (format, holds) in [
        ("--html", "<!DOCTYPE html>"),
        ("--csv", "self.dearer"),
        ("--json", "\"self.dearer\""),
        ("--markdown", "# Small"),
    ] {
        let ran = place.run(&["report", format, "-"]);
        assert!(ran.done().contains(holds), "{format}: {}", ran.out);
        place.run(&["report", "1", format, "out"]).done();
        assert_eq!(
            fs::read_to_string(place.path("out")).unwrap(),
            ran.out,
            "{format}"
        );
    }
    place.run(&["report", "--xlsx", "run.xlsx"]).done();
    assert!(fs::read(place.path("run.xlsx")).unwrap().starts_with(b"PK"));
    place.run(&["report"]).done();
    assert!(place.path("antiphon-report.html").is_file());
    place
        .run(&["report", "9"])
        .fails(2, &["no run 9", "1 to 1"]);
    let both = place.run(&["report", "small", "1", "--markdown", "-"]);
    assert!(both.done().contains("# Small · Small"), "{}", both.out);
    place
        .run(&["report", "smal"])
        .fails(2, &["`smal` is neither", "antiphon runs"]);
    place
        .run(&["report", "--html", "no/such/page.html"])
        .fails(3, &["no/such/page.html"]);
    place
        .run(&["measure", "--resume"])
        .fails(3, &["no run", "unfinished"]);

    place.run(&QUICK).done();
    let compared = place.run(&["compare", "1", "2", "--threshold", "1000", "--json"]);
    serde_json::from_str::<serde_json::Value>(compared.done()).unwrap();
    place
        .run(&["compare", "1", "2", "--only", "nobody.*"])
        .fails(3, &[]);
}

#[test]
fn two_suites_are_measured_in_turn_and_shown_on_one_page() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let other = SUITE
        .replace("\"small\"", "\"other\"")
        .replace("\"Small\"", "\"Other\"");
    place.write("suites/other.toml", &other);
    let ran = place.run(&["measure", "small", "other", "--quick"]);
    assert!(ran.done().contains("antiphon report 1 2"), "{}", ran.out);
    let page = place.run(&["report", "1", "2", "--markdown", "-"]);
    assert!(page.done().contains("# Small · Other"), "{}", page.out);
    let last = place.run(&["report", "other", "--markdown", "-"]);
    assert!(last.done().contains("# Other"), "{}", last.out);
}

#[test]
fn a_run_as_json_is_one_document_on_standard_output() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let ran = place.run(&[&QUICK[..], &["--only", "self.same", "--json"]].concat());
    let run: serde_json::Value = serde_json::from_str(ran.done()).unwrap();
    assert!(run.is_object());
}

#[test]
fn subjects_that_misbehave_are_named_and_the_others_go_on() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    place.script("crashing", "echo the valve is stuck >&2; kill -ABRT $$");
    place.script("rubbish", "read -r line; echo '@@ blah'; sleep 100");
    place.script("leaving", "echo enough for today >&2; exit 0");
    place.write(
        "subjects/needy/subject.toml",
        "name = 'needy'\nlanguage = 'None'\nversion = ['no-such-compiler']\nsources = []\nbuild = []\nrun = ['x']\n\
         needs = [{ command = 'no-such-compiler', package = 'no-such-package' }]\n[[variant]]\nname = 'v'\n",
    );
    place.write(
        "subjects/faulty/subject.toml",
        "name = 'faulty'\nlanguage = 'None'\nversion = ['echo', '1']\nsources = []\nrun = ['x']\n\
         build = [['sh', '-c', 'echo faulty.c:3: no semicolon >&2; exit 1']]\n[[variant]]\nname = 'v'\n",
    );
    let names = "crashing,rubbish,leaving,needy,faulty,c";
    let ran = place.run(&[&QUICK[..], &["--subjects", names]].concat());
    ran.done();
    ran.fails(
        0,
        &[
            "crashing/v is left out",
            "SIGABRT",
            "the valve is stuck",
            "rubbish/v is left out",
            "@@ blah",
            "leaving/v is left out",
            "enough for today",
            "no-such-package",
            "faulty/v is left out",
            "faulty.c:3: no semicolon",
            "dearer c/O2 other.same",
        ],
    );
    let report = place.run(&["report", "--markdown", "-"]);
    for words in [
        "the valve is stuck",
        "enough for today",
        "no semicolon",
        "no-such-package",
    ] {
        assert!(report.done().contains(words), "{words}: {}", report.out);
    }
}

/// What the environment holds would tune one language alone, and stay in the cache's builds.
#[test]
fn subjects_and_their_builds_do_not_get_what_would_tune_them() {
    let place = Place::new();
    place.write(
        "subjects/noting/subject.toml",
        "name = 'noting'\nlanguage = 'Shell'\nversion = ['echo', '1']\nsources = []\n\
         build = [['sh', '-c', 'env > {source}/building']]\nrun = ['sh', '-c', 'env > {source}/running; exit 1']\n\
         [[variant]]\nname = 'v'\nenvironment = { GOGC = '50' }\n",
    );
    let mut command = place.command(&[&QUICK[..], &["--subjects", "noting"]].concat());
    // What an earlier test built would not be built again.
    command.env("ANTIPHON_CACHE", place.path("cache"));
    let set = ["RUSTFLAGS", "PGSSLMODE", "GOGC", "NOTED"];
    command.envs(set.map(|name| (name, "set")));
    let ran = Ran::of(command.output().unwrap());
    let told = "not passed on to subjects and their builds: ";
    ran.fails(3, &[told, "GOGC", "PGSSLMODE", "RUSTFLAGS"]);
    let report = place.run(&["report", "--markdown", "-"]);
    assert!(report.done().contains(told), "{}", report.out);

    let noted = |file: &str| {
        let text = fs::read_to_string(place.path("subjects/noting").join(file)).unwrap();
        let lines = text
            .lines()
            .filter(|line| set.iter().any(|name| line.starts_with(name)));
        let mut lines: Vec<_> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        noted("building"),
        ["GOGC=set", "NOTED=set", "PGSSLMODE=set"]
    );
    assert_eq!(noted("running"), ["GOGC=50", "NOTED=set", "RUSTFLAGS=set"]);
}

#[test]
fn without_any_subject_that_runs_the_exit_code_tells() {
    let place = Place::new();
    place.script("crashing", "echo the valve is stuck >&2; exit 7");
    let ran = place.run(&[&QUICK[..], &["--subjects", "crashing"]].concat());
    ran.fails(
        3,
        &[
            "crashing/v is left out",
            "exit code 7",
            "the valve is stuck",
        ],
    );
}

#[test]
fn without_a_compiler_it_says_what_to_install() {
    let place = Place::with_c();
    let mut command = place.command(&QUICK);
    let ran = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
    ran.fails(3, &["c/O2 is left out", "`cc`", "apt install gcc"]);
    let mut command = place.command(&["doctor"]);
    let ran = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.contains("apt-get install gcc make"), "{}", ran.out);
}

/// Starts a run whose build takes long, with SIGHUP ignored or as it comes, and waits until it is being built.
fn begin_building(place: &Place, hang_up: libc::sighandler_t) -> Child {
    place.write(
        "subjects/slow/subject.toml",
        "name = 'slow'\nlanguage = 'None'\nversion = ['echo', '1']\nsources = []\nrun = ['x']\n\
         build = [['sh', '-c', 'touch {source}/begun; sleep 1000 & wait']]\n[[variant]]\nname = 'v'\n",
    );
    let mut command = place.command(&["measure", "small", "--subjects", "slow"]);
    command.env("ANTIPHON_CACHE", place.path("cache"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGHUP, hang_up);
            Ok(())
        });
    }
    let child = command.spawn().unwrap();
    while !place.path("subjects/slow/begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[test]
fn a_build_that_is_interrupted_ends_at_once_and_leaves_nothing() {
    // A terminal that is closed sends SIGHUP twice.
    for signals in [&["-INT"][..], &["-TERM"], &["-HUP", "-HUP"]] {
        let place = Place::new();
        let child = begin_building(&place, libc::SIG_DFL);
        for name in signals {
            signal(&child, name);
        }
        let ran = Ran::of(child.wait_with_output().unwrap());
        ran.fails(130, &["interrupted before measuring began"]);
        let left = fs::read_dir(place.path("cache/builds/slow")).unwrap();
        let folders = left.filter(|entry| entry.as_ref().unwrap().path().is_dir());
        assert_eq!(folders.count(), 0);
        place.run(&["runs"]).fails(0, &["holds no run yet"]);
    }
}

#[test]
fn a_hang_up_that_was_ignored_is_still_ignored() {
    let place = Place::new();
    let child = begin_building(&place, libc::SIG_IGN);
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    signal(&child, "-HUP");
    signal(&child, "-INT");
    Ran::of(child.wait_with_output().unwrap()).fails(130, &["interrupted before"]);
    assert_eq!(ignored & 1 << (libc::SIGHUP - 1), 1);
}

/// Starts a long run and waits until its first figure is told.
fn begin(place: &Place) -> Child {
    let mut command = place.command(&["measure", "small", "--repetitions", "500"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("same c/O2")));
    // From here on nobody reads what it says.
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .arg(name)
        .arg(child.id().to_string())
        .status();
    assert!(sent.unwrap().success());
}

#[test]
fn an_interrupted_run_keeps_what_was_measured_and_can_go_on() {
    if !has_cc() {
        return;
    }
    for (name, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let place = Place::with_c();
        let mut child = begin(&place);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), code, "{name}");
        let runs = place.run(&["runs"]);
        let expected = "of 3, not finished: ";
        assert!(runs.done().contains(expected), "{}", runs.out);
        assert!(runs.out.contains("of 1500 measurements"), "{}", runs.out);
        assert!(
            place
                .run(&["report", "--csv", "-"])
                .done()
                .contains("self.same")
        );
        let mut again = place.command(&["measure", "--resume"]);
        let mut again = again
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(again.stderr.take().unwrap()).lines();
        let planned = lines.find_map(|line| {
            line.ok()
                .filter(|line| line.starts_with("run 1: 3 figures (1500 measurements: "))
        });
        assert!(planned.is_some(), "{name}");
        let id = again.id();
        let held = format!("being measured by process {id} since");
        place.run(&["measure", "--resume"]).fails(3, &[&held]);
        assert!(place.run(&["runs"]).done().contains(&held));
        signal(&again, "-INT");
        assert_eq!(again.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn a_live_comparison_tells_five_per_cent_from_nothing() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let copied = Command::new("cp")
        .arg("-R")
        .arg(c_subject())
        .arg(place.path("dearer"))
        .status();
    assert!(copied.unwrap().success());
    let kit = place.path("dearer/kit/self.c");
    let source = fs::read_to_string(&kit).unwrap();
    let dearer = source.replace(".test = twenty_again", ".test = twenty_one");
    assert_ne!(
        dearer, source,
        "self.same is written otherwise: mend this test"
    );
    fs::write(&kit, dearer).unwrap();

    let live = |a, b, seconds| {
        place.run(&[
            "compare",
            "--live",
            a,
            b,
            "--only",
            "self.same",
            "--seconds",
            seconds,
        ])
    };
    let same = live("c", "c", "2");
    assert!(same.done().contains("self.same"), "{}", same.out);
    let mut found = live("c", "dearer", "2");
    // Beside other programs it takes longer to be certain.
    for seconds in ["8", "30"] {
        if found.code != Some(1) {
            found = live("c", "dearer", seconds);
        }
    }
    found.fails(1, &[]);
    assert!(found.out.contains("dearer"), "{}", found.out);
    // Cheaper is no regression.
    live("dearer", "c/O2", "2").done();
    place
        .run(&["compare", "--live", "c", "c", "--only", "nobody.*"])
        .fails(2, &["nobody.*"]);
}

#[test]
fn a_live_comparison_in_which_a_side_fails_does_not_pass() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    place.script("crashing", "echo the valve is stuck >&2; exit 7");
    let ran = place.run(&["compare", "--live", "c", "crashing", "--only", "self.same"]);
    ran.fails(3, &["crashing/v", "exit code 7", "the valve is stuck"]);
}
