//! The subject of the suite `layer`, which is part of the command. It keeps the protocol, measures,
//! and leaves no process behind.

use crate::common::{Place, Ran, has, has_cc, signal, subjects};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

fn conforms(subject: &str, variant: &str) {
    let folder = subjects().join(subject);
    let folder = folder.to_str().expect("a plain path");
    let place = Place::new();
    let ran = place.run(&["doctor", "--subject", folder, "--variant", variant]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn over_shared_memory_it_keeps_the_protocol() {
    conforms("layer-panda", "shm");
}

#[test]
fn over_connections_it_keeps_the_protocol() {
    conforms("layer-panda", "tcp");
}

#[test]
fn over_datagrams_it_keeps_the_protocol() {
    conforms("layer-panda", "udp");
}

#[test]
fn over_threads_it_keeps_the_protocol() {
    conforms("layer-panda", "local");
}

#[test]
fn over_open_mpi_it_keeps_the_protocol_or_says_what_is_missing() {
    conforms("layer-panda", "mpi");
}

#[test]
fn bare_platforms_keep_the_protocol() {
    for variant in ["shm", "tcp", "udp"] {
        conforms("layer-bare", variant);
    }
}

#[test]
fn shared_objects_keep_the_protocol() {
    conforms("layer-orca", "shm");
}

#[test]
fn shared_objects_of_threads_are_operated_on() {
    let mut subject = Started::over("orca-local");
    for test in ["object.remote", "object.group.4", "object.turn.4"] {
        let arg = if test == "object.remote" { "arg=8" } else { "" };
        let batch = "iterations=10 blocks=1 reference=0 warmup=1";
        let answer = subject.ask(format!("batch {test} {batch} {arg}").trim_end());
        assert_eq!(
            answer.last().map(String::as_str),
            Some("@@ ok"),
            "{test}: {answer:?}"
        );
    }
    assert_eq!(subject.ask("quit"), ["@@ ok"]);
    assert!(subject.process.wait().expect("ended").success());
}

#[test]
fn operations_between_virtual_machines_of_sr_keep_the_protocol() {
    if !has_cc() {
        return;
    }
    conforms("layer-sr", "shm");
}

#[test]
fn operations_of_sr_over_open_mpi_keep_the_protocol() {
    if !has_cc() || !has("mpirun", "openmpi-bin") {
        return;
    }
    conforms("layer-sr", "mpi");
}

#[test]
fn shared_objects_of_the_orca_language_keep_the_protocol() {
    if !has_cc() {
        return;
    }
    conforms("layer-orca-language", "shm");
}

const SUITE: &str = r#"
name = "trips"
title = "Trips"
subjects = ["layer-panda/shm", "layer-panda/local", "layer-bare/shm"]
[quick]
seconds_per_row = 0.1
relative_half_width = 0.9
[full]
seconds_per_row = 0.1
relative_half_width = 0.9
[[group]]
id = "g"
title = "G"
runs = ["other.same"]
row = [
    { test = "roundtrip", label = "round trip, {bytes} bytes", arg = "{bytes}", each = { bytes = ["0", "70000"] } },
    { test = "group.all.{members}", label = "all, {members}", arg = 100, each = { members = ["2", "4"] } },
]
[[curve]]
id = "c"
title = "Beside the bare page"
by = "bytes"
unit = "bytes"
rows = ["0", "70000"]
test = "roundtrip"
arg = "{row}"
column = [
    { title = "page", subject = "layer-bare/shm", run = "other.same" },
    { title = "Panda", subject = "layer-panda/shm", run = "other.same", against = "page" },
]
"#;

#[test]
fn a_suite_of_it_is_measured_and_shown_beside_the_bare_platform() {
    let place = Place::new();
    place.write("suites/trips.toml", SUITE);
    place.link("layer-panda");
    place.link("layer-bare");
    place.run(&["measure", "trips", "--quick"]).done();
    let ran = place.run(&["report", "--markdown", "-"]);
    let text = ran.done();
    for reported in ["round trip, 70000 bytes", "all, 4", "Beside the bare page"] {
        assert!(text.contains(reported), "{reported} is not in\n{text}");
    }
}

const APPLICATIONS: &str = r#"
name = "applications"
title = "Applications"
subjects = ["layer-orca-programs/shm"]
[quick]
seconds_per_row = 0.01
relative_half_width = 0.9
[full]
seconds_per_row = 0.01
relative_half_width = 0.9
[[group]]
id = "g"
title = "G"
runs = ["other.free"]
row = [
    { kind = "program", rounds = 1, test = "tsp.{machines}", label = "tsp, {machines}", program = "tsp", arguments = ["{machines}", "8"], each = { machines = ["1", "3"] } },
    { kind = "program", rounds = 1, test = "asp.{machines}", label = "asp, {machines}", program = "asp", arguments = ["{machines}", "40"], each = { machines = ["1", "3"] } },
    { kind = "program", rounds = 1, test = "sor.{machines}", label = "sor, {machines}", program = "sor", arguments = ["{machines}", "40", "5"], each = { machines = ["1", "3"] } },
]
[[models]]
id = "s"
title = "Speed-up"
by = "machines"
rows = ["1", "3"]
share_of = ["sequential_ns", "parallel_ns"]
column = [
    { title = "salesman", test = "tsp.{row}", subject = "layer-orca-programs/shm", run = "other.free" },
    { title = "paths", test = "asp.{row}", subject = "layer-orca-programs/shm", run = "other.free" },
    { title = "grid", test = "sor.{row}", subject = "layer-orca-programs/shm", run = "other.free" },
]
"#;

/// A program ends with an error if its parallel version gives another result.
#[test]
fn applications_in_orca_agree_with_their_sequential_versions() {
    if !has_cc() {
        return;
    }
    let place = Place::new();
    place.write("suites/applications.toml", APPLICATIONS);
    place.link("layer-orca-programs");
    let results = place.measured("applications");
    assert_eq!(results.len(), 6);
    for result in results {
        assert_eq!(result["outcome"]["kind"], "program", "{result}");
    }
    let ran = place.run(&["report", "--markdown", "-"]);
    let text = ran.done();
    for reported in ["Speed-up", "salesman", "Parallel"] {
        assert!(text.contains(reported), "{reported} is not in\n{text}");
    }
}

/// The subject, started as the laboratory starts it.
struct Started {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Started {
    fn over(what: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_antiphon"))
            .args(["subject", "layer"])
            .env("ANTIPHON_LAYER", what)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, answers }
    }

    fn ask(&mut self, request: &str) -> Vec<String> {
        let input = self.process.stdin.as_mut().expect("a pipe");
        writeln!(input, "{request}").expect("written");
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(
                self.answers.read_line(&mut line).expect("read") > 0,
                "{lines:?}"
            );
            let line = line.trim_end().to_owned();
            let is_last = line == "@@ ok" || line.starts_with("@@ error");
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }
}

const BATCH: &str = "iterations=10 blocks=1 reference=0 warmup=1 arg=8";

/// Returns the processes that the subject's children have started. Their environment names the
/// board of the process `front`.
fn members(front: u32) -> Vec<u32> {
    let reported = format!("ANTIPHON_LAYER_BOARD=/proc/{front}/fd/");
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |id: &u32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        !command.is_empty() && String::from_utf8_lossy(&environment).contains(&reported)
    };
    ids.filter(is_one).collect()
}

#[track_caller]
fn all_end(front: u32) {
    let until = Instant::now() + Duration::from_secs(20);
    while !members(front).is_empty() {
        assert!(Instant::now() < until, "{:?} live on", members(front));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_lives_on_when_it_is_killed() {
    let mut subject = Started::over("tcp");
    let answer = subject.ask(&format!("batch group.own.3 {BATCH}"));
    assert_eq!(
        answer.last().map(String::as_str),
        Some("@@ ok"),
        "{answer:?}"
    );
    let front = subject.process.id();
    assert!(members(front).len() >= 3, "{:?}", members(front));
    subject.process.kill().expect("killed");
    subject.process.wait().expect("ended");
    all_end(front);
}

#[test]
fn a_member_that_dies_costs_one_answer_and_the_next_test_has_others() {
    let mut subject = Started::over("shm");
    subject.ask(&format!("batch roundtrip {BATCH}"));
    let front = subject.process.id();
    let is_member = |id: &u32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains("ANTIPHON_LAYER_RANK=1")
    };
    let member = members(front)
        .into_iter()
        .find(is_member)
        .expect("there is a member");
    signal(member, libc::SIGKILL);
    let answer = subject.ask(&format!("batch roundtrip {BATCH}"));
    let [error] = &answer[..] else {
        panic!("{answer:?}");
    };
    assert!(error.starts_with("@@ error failed"), "{error}");
    let answer = subject.ask(&format!("batch roundtrip {BATCH}"));
    assert_eq!(
        answer.last().map(String::as_str),
        Some("@@ ok"),
        "{answer:?}"
    );
    assert_eq!(subject.ask("quit"), ["@@ ok"]);
    assert!(subject.process.wait().expect("ended").success());
    all_end(front);
}

#[test]
fn an_unknown_platform_is_refused_by_name() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
    command
        .args(["subject", "layer"])
        .env("ANTIPHON_LAYER", "pigeons");
    let ran = Ran::of(command.output().expect("run"));
    ran.fails(2, &["ANTIPHON_LAYER=pigeons", "shm"]);
}
