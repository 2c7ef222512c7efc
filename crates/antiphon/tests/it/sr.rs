//! `antiphon sr`: input and output of programs, and messages where there is no program.

use crate::common::{Place, Ran, has_cc, is_alive, signal, takes_interrupts};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Prints its arguments, copies its input and ends with a code.
const TALK: &str = "\
resource main()
  var s: string[80]
  fa i := 1 to numargs() -> getarg(i, s); write(s) af
  do read(s) != EOF -> write(s) od
  write(stderr, \"talked\")
  stop(7)
end
";

/// Prints a line and never ends.
const SPIN: &str = "\
resource main()
  write(\"begun\")
  flush(stdout)
  do true -> skip od
end
";

fn place(name: &str, text: &str) -> Place {
    let place = Place::new();
    place.write(name, text);
    place
}

#[test]
fn arguments_streams_and_exit_code_are_the_programs_own() {
    if !has_cc() {
        return;
    }
    let place = place("talk.sr", TALK);
    for arguments in [
        &["sr", "run", "talk.sr", "one", "two words"][..],
        &[
            "sr",
            "run",
            "--model",
            "counted=50",
            "talk.sr",
            "--",
            "one",
            "two words",
        ],
        &[
            "sr",
            "run",
            "talk.sr",
            "one",
            "--servers",
            "2",
            "--",
            "two words",
        ],
    ] {
        let mut child = place
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"in\nput\n").unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(7), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, "one\ntwo words\nin\nput\n", "{arguments:?}");
        assert_eq!(ran.err, "talked\n", "{arguments:?}");
    }
    place
        .run(&["sr", "run", "talk.sr", "--", "--help", "-O"])
        .fails(7, &["talked"]);
}

/// Starts a program that runs until it is asked to end, and reads its first line.
fn begun(place: &Place) -> Child {
    let mut command = place.command(&["sr", "run", "spin.sr"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    takes_interrupts(&mut command);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    child
}

/// Returns the process that a process has started.
fn started_by(process: u32) -> u32 {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(path).unwrap();
    children.trim().parse().expect("one child")
}

#[test]
fn a_signal_reaches_the_program_and_its_end_is_told() {
    if !has_cc() {
        return;
    }
    let place = place("spin.sr", SPIN);
    for (number, name) in [(libc::SIGINT, "SIGINT"), (libc::SIGTERM, "SIGTERM")] {
        let child = begun(&place);
        let program = started_by(child.id());
        signal(child.id(), number);
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(128 + number));
        assert!(
            ran.err.contains(&format!("was ended by {name}")),
            "{}",
            ran.err
        );
        assert!(!is_alive(program));
    }
}

#[test]
fn nothing_is_left_running_when_the_command_is_killed() {
    if !has_cc() {
        return;
    }
    let place = place("spin.sr", SPIN);
    let mut child = begun(&place);
    let program = started_by(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    while is_alive(program) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_built_program_has_its_settings_and_takes_others() {
    if !has_cc() {
        return;
    }
    let place = place("hello.sr", "resource main()\n write(\"hello\")\nend\n");
    place
        .run(&[
            "sr",
            "build",
            "--stats=json",
            "--model",
            "counted=3",
            "hello.sr",
        ])
        .done();
    let run = |settings: Option<&str>| {
        let mut command = std::process::Command::new(place.path("hello"));
        command
            .env_remove("ANTIPHON_SR")
            .envs(settings.map(|text| ("ANTIPHON_SR", text)));
        Ran::of(command.output().unwrap())
    };
    let ran = run(None);
    assert_eq!(ran.out, "hello\n");
    serde_json::from_str::<serde_json::Value>(&ran.err).unwrap();
    assert!(run(Some("stats=text")).err.starts_with("switches "));
    assert!(run(Some("speed=9")).err.contains("speed=9"));
    // Builds again over an existing executable.
    place
        .run(&["sr", "build", "hello.sr", "-o", "hello"])
        .done();
    assert_eq!(run(None).err, "");
    place
        .run(&["sr", "build", "hello.sr", "-o", "."])
        .fails(2, &["it is a folder"]);
}

#[test]
fn what_a_program_becomes_can_be_seen() {
    if !has_cc() {
        return;
    }
    let place = place("hello.sr", "resource main()\n write(\"hello\")\nend\n");
    let c = place.run(&["sr", "build", "--emit", "c", "hello.sr"]);
    assert!(c.done().contains("#include \"sr.h\""), "{}", c.out);
    place.write(
        "m.m",
        "_monitor(M)\n_body(M)\n_monitor_end\nresource main()\nend\n",
    );
    let sr = place.run(&[
        "sr",
        "build",
        "--emit",
        "sr",
        "--notation",
        "m2sr=sw",
        "m.m",
        "-o",
        "m.sr",
    ]);
    sr.done();
    place.run(&["sr", "run", "m.sr"]).done();
    place.run(&["sr", "run", "m.m"]).done();
}

#[test]
fn c_functions_are_linked() {
    if !has_cc() {
        return;
    }
    let place = place(
        "call.sr",
        "resource main()\n external twice(x: int) returns y: int\n write(twice(21))\nend\n",
    );
    place.write("twice.c", "int twice(int x) { return 2 * x; }\n");
    let ran = place.run(&["sr", "run", "call.sr", "--link", "twice.c"]);
    assert_eq!(ran.done(), "42\n");
    place
        .run(&["sr", "run", "call.sr"])
        .fails(2, &["twice", "not linked"]);
    place
        .run(&["sr", "run", "call.sr", "--link", "none.c"])
        .fails(3, &["none.c"]);
}

#[test]
fn what_is_wrong_is_said_once_and_nothing_is_run() {
    if !has_cc() {
        return;
    }
    let place = place(
        "wrong.sr",
        "resource main()\n x := 1\n write(\"a\" 2)\nend\n",
    );
    place
        .run(&["sr", "run", "wrong.sr"])
        .fails(1, &["wrong.sr:3:12: error: ", "1 error"]);
    let check = place.run(&["sr", "check", "--json", "wrong.sr"]);
    assert_eq!(check.code, Some(1));
    let found: serde_json::Value = serde_json::from_str(&check.out).unwrap();
    assert_eq!(found["schema"], "antiphon.sr-check");
    assert_eq!(found["findings"][0]["line"], 3);
    assert_eq!(found["findings"][0]["severity"], "error");
    place.run(&["sr", "run", "none.sr"]).fails(3, &["none.sr"]);
    place
        .run(&["sr", "run", "wrong"])
        .fails(2, &["does not look like a source file"]);
    place
        .run(&["sr", "run", "wrong.sr", "--model", "fast"])
        .fails(2, &["sliced-deferred"]);
    place
        .run(&["sr", "check", "wrong.sr", "--notation", "m3sr"])
        .fails(2, &["ccr2sr"]);
    let main = place.run(&["sr", "check", "--main", "boss", "wrong.sr"]);
    assert_eq!(main.code, Some(1));
}

#[test]
fn warnings_come_again_from_the_cache() {
    if !has_cc() {
        return;
    }
    let place = place(
        "warns.sr",
        "resource main()\n initial\n  write(\"runs\")\n end\nend\n",
    );
    for _ in 0..2 {
        let ran = place.run(&["sr", "run", "warns.sr"]);
        assert_eq!(ran.done(), "runs\n");
        assert!(ran.err.contains("warns.sr:2:2: warning: "), "{}", ran.err);
    }
}

#[test]
fn a_missing_c_compiler_is_named_with_its_package() {
    let place = place("hello.sr", "resource main()\nend\n");
    let mut command = place.command(&["sr", "run", "hello.sr"]);
    let ran = Ran::of(command.env("CC", "no-such-cc").output().unwrap());
    ran.fails(3, &["no-such-cc", "apt install gcc"]);
}

/// Output is written at the end alone, or before a message, or to a timeline.
#[test]
fn output_that_is_lost_is_no_success() {
    if !has_cc() {
        return;
    }
    let place = place("hello.sr", "resource main()\n  write(\"hello\")\nend\n");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [
        &["sr", "run", "hello.sr"][..],
        &["sr", "run", "--stats", "hello.sr"],
    ] {
        let mut command = place.command(arguments);
        let ran = Ran::of(command.stdout(full()).output().unwrap());
        ran.fails(1, &["output was lost", "No space left"]);
    }
    for trace in ["/dev/full", "no/such/folder/trace.json"] {
        let ran = place.run(&["sr", "run", "--trace", trace, "hello.sr"]);
        ran.fails(1, &["the timeline was not written"]);
        assert_eq!(ran.out, "hello\n");
    }
    let traced = place.run(&["sr", "run", "--trace", "trace.json", "hello.sr"]);
    assert_eq!(traced.done(), "hello\n");
    let names = std::fs::read_dir(place.path("")).unwrap().flatten();
    let unfinished =
        names.filter(|entry| entry.file_name().to_string_lossy().contains("unfinished"));
    assert_eq!(unfinished.count(), 0);
    // The text of a program that is translated to C.
    let mut command = place.command(&["sr", "build", "--emit", "c", "hello.sr"]);
    let ran = Ran::of(command.stdout(full()).output().unwrap());
    ran.fails(3, &["cannot write to standard output"]);
}

/// Hosts that nothing reaches: one that the file does not name, one without a way to it, and one
/// that refuses.
#[test]
fn a_host_that_cannot_be_reached_is_an_error_at_the_create() {
    if !has_cc() {
        return;
    }
    // Addresses that are kept for documentation.
    let cases = [
        ("192.0.2.8", "false", "no host `192.0.2.8`"),
        ("192.0.2.9", "no-such-ssh", "there is no `no-such-ssh`"),
        ("192.0.2.9", "false", "it ended with exit code 1"),
    ];
    for (host, ssh, why) in cases {
        let text = format!(
            "resource main()\n  write(\"begun\")\n  var v := create vm() on \"{host}\"\nend\n"
        );
        let place = place("far.sr", &text);
        place.write("hosts", "localhost\n192.0.2.9\n");
        let mut command = place.command(&["sr", "run", "far.sr", "--hosts", "hosts"]);
        let ran = Ran::of(command.env("ANTIPHON_SSH", ssh).output().unwrap());
        let on = format!("cannot create a virtual machine on {host}: ");
        let mend = format!("`ssh {host}` must work without a password");
        ran.fails(1, &["far.sr, line 3", &on, why, &mend]);
        assert_eq!(ran.out, "begun\n");
    }
}
