//! Measuring, reporting and comparing with the project's C subject, and with subjects that
//! misbehave.

use crate::common::{Place, Ran, SUITE, c_subject, has_cc};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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
    assert_eq!(runs["schema"], "antiphon.run-list");
    assert_eq!(runs["runs"][0]["suite"], "small");

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
    // Each was started once, which proves nothing, however far apart the results are.
    let compared = place.run(&["compare", "1", "2", "--threshold", "0", "--json"]);
    assert_eq!(compared.code, Some(4), "{}", compared.out);
    let json: serde_json::Value = serde_json::from_str(&compared.out).unwrap();
    assert_eq!(
        (&json["answer"], &json["asked"]["threshold"]),
        (&"cannot_tell".into(), &0.0.into())
    );
    for row in json["comparison"]["rows"].as_array().unwrap() {
        assert_ne!(row["verdict"], "slower");
        assert_ne!(row["verdict"], "faster");
    }
    let none = place.run(&["compare", "1", "2", "--only", "nobody.*"]);
    none.fails(3, &["fits --only", "self.same"]);
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

/// Environment variables could tune one language alone, and would stay in cached builds.
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
    // A build from an earlier test would be reused, so this test has its own cache.
    command.env("ANTIPHON_CACHE", place.path("cache"));
    let set = ["RUSTFLAGS", "PGSSLMODE", "GOGC", "NOTED"];
    command.envs(set.map(|name| (name, "set")));
    let ran = Ran::of(command.output().unwrap());
    let reported = "not passed on to subjects and their builds: ";
    ran.fails(3, &[reported, "GOGC", "PGSSLMODE", "RUSTFLAGS"]);
    let report = place.run(&["report", "--markdown", "-"]);
    assert!(report.done().contains(reported), "{}", report.out);

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
    let doctor = || {
        let mut command = place.command(&["doctor"]);
        let ran = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
        assert!(ran.out.contains("apt-get install gcc make"), "{}", ran.out);
        ran
    };
    assert_eq!(doctor().code, Some(0), "no first look needs the compiler");
    let first_look = "[first_look]\nsubjects = ['c/O2']\nseconds = 1\n[[group]]";
    let suite = SUITE.replacen("[[group]]", first_look, 1);
    place.write("suites/small.toml", &suite);
    let ran = doctor();
    assert_eq!(ran.code, Some(3));
    let needed = "For a first look: apt-get install gcc make";
    assert!(ran.out.contains(needed), "{}", ran.out);
}

/// Starts a run with a long build, with SIGHUP ignored or at its default, and waits until the build
/// runs.
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
    // A terminal that closes sends SIGHUP twice.
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

/// Starts a long run and waits until its first figure is printed.
fn begin(place: &Place) -> Child {
    let mut command = place.command(&["measure", "small", "--repetitions", "500"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("same c/O2")));
    // From here on nothing reads its output.
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
fn an_interrupted_doctor_prints_what_it_knows() {
    let place = Place::new();
    // The subject is asked for its version first.
    let (asked, go) = (place.path("asked"), place.path("go"));
    let wait = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.05; done; echo 1",
        asked.display(),
        go.display()
    );
    let text = format!(
        "name = 'slow'\nlanguage = 'Shell'\nversion = ['sh', '-c', '{wait}']\nsources = []\nbuild = []\nrun = ['true']\n[[variant]]\nname = 'v'\n"
    );
    place.write("subjects/slow/subject.toml", &text);
    let child = place
        .command(&["doctor", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !asked.exists() {
        assert!(Instant::now() < until, "nobody asked for the version");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, "-INT");
    fs::write(go, "").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}{}", ran.out, ran.err);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(found["schema"], "antiphon.doctor");
    assert!(found["machine"]["processors"].is_u64());
    // The check of clocks comes after that of toolchains, and did not begin.
    assert_eq!(found["clocks"].as_array().unwrap().len(), 0);
    let topics = found["advice"].as_array().unwrap().iter();
    let topics: Vec<&str> = topics.filter_map(|of| of["topic"].as_str()).collect();
    assert!(topics.contains(&"processor quota"), "{topics:?}");
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

/// Makes a copy of the C subject with one line of its kit changed.
fn copy_of_c(place: &Place, name: &str, from: &str, to: &str) {
    let copied = Command::new("cp")
        .arg("-R")
        .arg(c_subject())
        .arg(place.path(name))
        .status();
    assert!(copied.unwrap().success());
    let kit = place.path(&format!("{name}/kit/self.c"));
    let source = fs::read_to_string(&kit).unwrap();
    let changed = source.replace(from, to);
    assert_ne!(changed, source, "it is written otherwise: mend this test");
    fs::write(&kit, changed).unwrap();
}

#[test]
fn a_live_comparison_tells_five_per_cent_from_nothing() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    copy_of_c(
        &place,
        "dearer",
        ".test = twenty_again",
        ".test = twenty_one",
    );
    let live = |a, b, starts, seconds| {
        let only = ["--only", "self.same", "--starts", starts];
        let compared = [
            &["compare", "--live", a, b, "--seconds", seconds][..],
            &only,
        ];
        place.run(&compared.concat())
    };
    let is_told_nothing_wrong = |ran: &Ran| matches!(ran.code, Some(0 | 4));
    let same = live("c", "c", "12", "2");
    assert!(is_told_nothing_wrong(&same), "{}", same.out);
    assert!(same.out.contains("self.same"), "{}", same.out);
    let mut found = live("c", "dearer", "12", "2");
    // Beside other programs more starts are needed for certainty.
    for (starts, seconds) in [("24", "8"), ("48", "30")] {
        if found.code != Some(1) {
            found = live("c", "dearer", starts, seconds);
        }
    }
    assert!(found.out.contains("slower"), "{}", found.out);
    found.fails(1, &[]);
    // A faster build is no regression.
    let faster = live("dearer", "c/O2", "12", "2");
    assert!(is_told_nothing_wrong(&faster), "{}", faster.out);
    // One start of each proves nothing.
    assert_eq!(live("c", "dearer", "1", "2").code, Some(4));
    place
        .run(&["compare", "--live", "c", "c", "--only", "nobody.*"])
        .fails(2, &["nobody.*"]);
}

#[test]
fn a_comparison_is_a_page_too() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let live = ["compare", "--live", "c", "c", "--only", "self.same"];
    let live = [&live[..], &["--starts", "2", "--seconds", "0.2"]].concat();
    let ran = place.run(&[&live[..], &["--html", "page.html"]].concat());
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.err);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(
        page.contains("self.same") && page.ends_with("</html>"),
        "{page}"
    );
    let said = "one format only";
    place
        .run(&[&live[..], &["--html", "-", "--json"]].concat())
        .fails(2, &[said]);
}

/// Returns how often builds are compared with themselves, if many tries are wanted.
fn soaked() -> Option<usize> {
    let runs = std::env::var("ANTIPHON_COMPARISONS").ok()?;
    Some(runs.parse().expect("a number of runs"))
}

#[test]
fn a_build_against_itself_has_no_exit_code_1() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let (runs, only, seconds) = match soaked() {
        Some(runs) => (runs, "call.*", "0.3"),
        None => (3, "call.inter.integer.*", "0.1"),
    };
    for run in 1..=runs {
        let live = ["compare", "--live", "c/O2", "c/O2", "--only", only];
        let ran = place.run(&[&live[..], &["--seconds", seconds]].concat());
        assert!(matches!(ran.code, Some(0 | 4)), "run {run}: {}", ran.out);
        if soaked().is_some() {
            println!("run {run} of {runs}: exit code {:?}", ran.code);
        }
    }
}

#[test]
fn a_true_three_per_cent_of_a_c_subject_is_found_in_a_soak() {
    if soaked().is_none() || !has_cc() {
        return;
    }
    let place = Place::with_c();
    let of = |name: &str, steps: &str| {
        let chain = "CHAIN_FRAME(twenty_again, CHAIN_20_STEPS)";
        let longer = format!(
            "#define CHAIN_3_STEPS(x) CHAIN_STEP(x); CHAIN_STEP(x); CHAIN_STEP(x)\n\
             #define CHAIN_13_STEPS(x) CHAIN_3_STEPS(x); CHAIN_3_STEPS(x); CHAIN_3_STEPS(x); CHAIN_3_STEPS(x); CHAIN_STEP(x)\n\
             #define CHAIN_33_STEPS(x) CHAIN_20_STEPS(x); CHAIN_13_STEPS(x)\n\
             #define CHAIN_34_STEPS(x) CHAIN_33_STEPS(x); CHAIN_STEP(x)\n\
             CHAIN_FRAME(twenty_again, CHAIN_{steps}_STEPS)"
        );
        copy_of_c(&place, name, chain, &longer);
    };
    of("before", "33");
    of("after", "34");
    let live = [
        "compare",
        "--live",
        "before",
        "after",
        "--only",
        "self.same",
    ];
    let found = place.run(&[&live[..], &["--starts", "40", "--seconds", "20"]].concat());
    println!("{}", found.out);
    found.fails(1, &[]);
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
