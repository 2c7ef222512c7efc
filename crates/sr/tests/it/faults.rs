//! Faults of running programs end them, and the message has the place and the process. Nothing is
//! overwritten, and nothing runs for ever.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;

use antiphon_runner::End;
use antiphon_sr::build::{Executable, Linking};

use crate::support::{MODELS, built, linked, ran, ran_again, source};

/// C functions whose frames are larger than the guard below a stack, and than whole stacks.
const BIG_C: &str = "\
#include <string.h>
int big(int n) { char a[80000]; memset(a, n, sizeof a); return a[n] + a[79999 - n]; }
int down(int n) { char a[4000]; memset(a, n, sizeof a); return n ? a[5] + down(n - 1) : 0; }
int sum(double x, int n, char *s) { return (int)x + n + (int)strlen(s); }
";

const BIG_SR: &str = "\
resource main()
  external big(n: int) returns r: int
  external down(n: int) returns r: int
  external sum(x: real; n: int; s: string[*]) returns r: int
  var wrong := 0
  sem done
  process p(i := 1 to 100)
    var a[2000]: int
    fa k := 1 to 2000 -> a[k] := i af
    nap(1)
    if i = 50 -> write(big(7), sum(1.5, 2, \"abc\")) fi
    nap(1)
    fa k := 1 to 2000 -> if a[k] != i -> wrong++ fi af
    V(done)
  end
  fa i := 1 to 100 -> P(done) af
  write(\"wrong\", wrong)
  var n := 0
  getarg(1, n)
  write(down(n))
end
";

/// Builds the program of [`BIG_SR`]. Its C is a source file or, with `is_object`, an object that
/// was compiled without all of our flags.
fn with_big_frames(name: &str, is_parallel: bool, is_object: bool) -> Executable {
    let mut c = source(&format!("{name}.c"), BIG_C);
    if is_object {
        let object = c.with_extension("o");
        let mut compiler = Command::new("cc");
        compiler.args([
            "-O2",
            "-fno-stack-clash-protection",
            "-fno-optimize-sibling-calls",
        ]);
        compiler.args(["-c", "-o"]);
        assert!(compiler.arg(&object).arg(&c).status().unwrap().success());
        c = object;
    }
    let linking = Linking {
        is_parallel,
        with: vec![c.display().to_string()],
        ..Linking::default()
    };
    linked(&[source(&format!("{name}.sr"), BIG_SR)], linking)
        .unwrap_or_else(|message| panic!("{message}"))
}

#[test]
fn c_functions_overwrite_no_process() {
    for (is_parallel, is_object) in [(false, false), (false, true), (true, true)] {
        let program = with_big_frames("big", is_parallel, is_object);
        for settings in ["stack=65536", "stack=16384,model=sliced:0.2"] {
            let output = ran_again(&program, settings);
            let lines = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(lines, "14 6\nwrong 0\n0\n", "{}", output.stderr);
        }
    }
}

#[test]
fn the_overflow_of_a_c_function_is_told_at_its_call() {
    let program = with_big_frames("deep", false, true);
    let output = Command::new(&program.path).arg("100000").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for part in [
        "deep.sr, line 20",
        "in an external function",
        "in process main.body",
    ] {
        assert!(stderr.contains(part), "no {part}: {stderr}");
    }
    assert_eq!(output.stdout, b"14 6\nwrong 0\n");
}

#[test]
fn endless_recursion_overflows_the_stack_and_is_told() {
    // A C compiler would turn these into loops.
    for (name, body) in [
        ("product", "r := n * fact(n - 1)"),
        ("last", "r := fact(n - 1)"),
        ("library", "r := fact(n - 1) + length(string(n))"),
    ] {
        let text = format!(
            "resource main()\n  op fact(n: int) returns r: int\n  proc fact(n) returns r\n    {body}\n  end\n  \
             process p(i := 7 to 7)\n    write(fact(5))\n  end\nend\n"
        );
        let output = ran(&format!("endless_{name}.sr"), &text, "");
        assert_eq!(output.end, End::Exited(1), "{}", output.stderr);
        for part in [
            "line 3:\n",
            "stack overflow of 1048576 bytes",
            "in process main.p(7), in main.fact",
        ] {
            assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
        }
    }
}

#[test]
fn want_of_memory_is_told_with_its_place() {
    let allocating = "var p: ptr node\n  do true -> p := new(node) od";
    let sending = "op box(n: int)\n  process q\n    var k: int\n    nap(3600000)\n    receive box(k)\n  end\n  \
                   do true -> send box(1) od";
    let growing = "op p()\n  proc p()\n    nap(3600000)\n  end\n  do true -> send p() od";
    for (name, body, line) in [
        ("new", allocating, 4),
        ("send", sending, 9),
        ("processes", growing, 7),
    ] {
        let text =
            format!("resource main()\n  type node = rec(v: int; link: ptr node)\n  {body}\nend\n");
        let program = built(
            &[source(&format!("memory_{name}.sr"), text)],
            MODELS[2],
            &[],
        );
        let program = program.unwrap_or_else(|message| panic!("{message}"));
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 600000; exec \"$0\""])
            .arg(&program.path)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        let place = format!("memory_{name}.sr, line {line}:");
        assert!(stderr.contains(&place), "{name}: {stderr}");
        let is_reported = stderr.contains("out of memory") || stderr.contains("no memory for");
        assert!(is_reported, "{name}: {stderr}");
        assert!(stderr.contains("in process main.body"), "{name}: {stderr}");
    }
}

const CRASH_C: &str = "\
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int crash(int how) {
  if (how == 0) return *(volatile int *)16;
  if (how < 0) abort();
  raise(how);
  for (;;) pause();
}
";

const CRASH_SR: &str = "\
resource main()
  external crash(how: int) returns r: int
  var name: string[200], how: int
  getarg(1, name); getarg(2, how)
  var log := open(name, WRITE)
  write(log, \"in the log\")
  writes(\"told \")
  write(crash(how))
end
";

/// A program that ends by the signal of a fault or of a closed terminal writes its output, counts
/// and timeline.
#[test]
fn what_ends_by_a_signal_writes_what_it_has() {
    let c = source("crash.c", CRASH_C);
    for is_parallel in [false, true] {
        let linking = Linking {
            is_parallel,
            with: vec![c.display().to_string()],
            ..Linking::default()
        };
        let program = linked(&[source("crash.sr", CRASH_SR)], linking);
        let program = program.unwrap_or_else(|message| panic!("{message}"));
        let folder = tempfile::tempdir().unwrap();
        let (log, trace) = (folder.path().join("log"), folder.path().join("trace.json"));
        for (how, signal) in [
            (0, libc::SIGSEGV),
            (-1, libc::SIGABRT),
            (libc::SIGBUS, libc::SIGBUS),
            (libc::SIGHUP, libc::SIGHUP),
            (libc::SIGQUIT, libc::SIGQUIT),
        ] {
            let mut command = Command::new(&program.path);
            // A shell's background jobs ignore some signals, and the program would inherit that.
            // SAFETY: plain system calls.
            unsafe {
                command.pre_exec(|| {
                    libc::signal(libc::SIGHUP, libc::SIG_DFL);
                    libc::signal(libc::SIGQUIT, libc::SIG_DFL);
                    Ok(())
                })
            };
            let output = command
                .arg(&log)
                .arg(how.to_string())
                .env(
                    "ANTIPHON_SR",
                    format!("stats=json,trace={}", trace.display()),
                )
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.signal(), Some(signal), "{how}: {stderr}");
            assert_eq!(output.stdout, b"told ", "{how}: {stderr}");
            assert_eq!(std::fs::read(&log).unwrap(), b"in the log\n", "{how}");
            assert!(stderr.contains("\"switches\":"), "{how}: {stderr}");
            let text = std::fs::read_to_string(&trace).unwrap();
            let timeline: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(timeline["traceEvents"].is_array(), "{how}: {text}");
            std::fs::remove_file(&trace).unwrap();
            if [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS].contains(&signal) {
                for part in ["crash.sr, line 8:", "in process main.body"] {
                    assert!(stderr.contains(part), "{how}: no {part}: {stderr}");
                }
            }
        }
    }
}
