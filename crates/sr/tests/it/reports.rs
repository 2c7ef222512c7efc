//! Reports about processes: their names with indices, and what and where each waits.

use std::process::Command;

use antiphon_runner::End;

use crate::support::{MODELS, built, ran, source};

/// Runs a program, and checks that its report contains all parts.
fn reports(name: &str, text: &str, exit: i32, parts: &[&str]) {
    let output = ran(name, text, "");
    assert_eq!(output.end, End::Exited(exit), "{name}: {}", output.stderr);
    for part in parts {
        assert!(
            output.stderr.contains(part),
            "{name}: no {part:?} in {}",
            output.stderr
        );
    }
}

/// Philosophers who all take their first fork.
fn philosophers(last: &str) -> String {
    format!(
        "resource main()\n  sem fork[2:4] := ([3] 1), grid[2, 0:1]\n  op ask[3:4]()\n  process phil(i := 2 to 4)\n    \
         P(fork[i])\n    nap(1)\n    P(fork[(i + 1) mod 3 + 2])\n  end\n  process two(i := 1 to 1, j := -1 to -1)\n    \
         P(grid[2, 1])\n  end\n  process asks\n    call ask[4]()\n  end\n  process serves\n    nap(1000000); receive ask[4]()\n  end\n  \
         {last}\nend\n"
    )
}

#[test]
fn a_deadlock_is_one_and_names_who_waits_for_what_by_index() {
    let text = philosophers("").replace("nap(1000000); receive", "receive ask[3](); receive");
    reports(
        "philosophers.sr",
        &text,
        1,
        &[
            "RTS abort: deadlock",
            "main.phil(3) : file",
            "line 7, waits for semaphore main.fork[3]",
            "main.two(1,-1) : file",
            "waits for semaphore main.grid[2,1]",
            "main.asks : file",
            "waits for a reply from main.ask[4]",
            "waits for an invocation of main.ask[3]",
        ],
    );
}

#[test]
fn a_final_makes_the_rest_of_all_processes_a_normal_end() {
    let text = philosophers("final\n    write(1)\n  end");
    let text = text.replace("nap(1000000); receive", "receive ask[3](); receive");
    let output = ran("final.sr", &text, "");
    assert_eq!(output.end, End::Exited(0), "{}", output.stderr);
    assert!(!output.stderr.contains("deadlock"), "{}", output.stderr);
    assert!(output.stderr.contains("main.phil(2)"), "{}", output.stderr);
}

#[test]
fn a_server_without_clients_is_no_deadlock() {
    let text = "resource main()\n  op a(), b()\n  process server\n    do true ->\n      in a() -> skip [] b() -> skip ni\n    \
                od\n  end\n  call a()\nend\n";
    let output = ran("server.sr", text, "");
    assert_eq!(output.end, End::Exited(0), "{}", output.stderr);
    let expected = "line 5, waits for an invocation of main.a or main.b";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    assert!(!output.stderr.contains("deadlock"), "{}", output.stderr);
}

#[test]
fn other_notations_are_reported_in_their_words() {
    let monitor = "_monitor(buf)\n  op take()\n_body(buf)\n  _condvar(full)\n  _proc(take())\n    _wait(full)\n  _proc_end\n\
                   _monitor_end\nresource main()\n  import buf\n  process p(i := 1 to 2)\n    buf.take()\n  end\nend\n";
    reports(
        "condition.m",
        monitor,
        1,
        &["main.p(2) : file", "line 6, waits for condition full"],
    );
    let nested = "_monitor(m)\n  op outer(), inner()\n_body(m)\n  _proc(inner())\n    write(\"in\")\n  _proc_end\n  \
                  _proc(outer())\n    inner()\n  _proc_end\n_monitor_end\nresource main()\n  import m\n  m.outer()\nend\n";
    reports(
        "nested.m",
        nested,
        1,
        &["line 4, waits for monitor m, which main.body itself holds"],
    );
    let region = "_resource(buf)\n  var n := 0\n_resource_end(buf)\nresource main()\n  process a\n    \
                  _region(buf, n > 0)\n      n--\n    _region_end(buf)\n  end\nend\n";
    reports(
        "region.ccr",
        region,
        1,
        &["main.a : file", "line 6, waits for region buf"],
    );
}

#[test]
fn a_signal_says_where_each_process_is() {
    let text = "resource main()\n  sem s\n  process waits(i := 1 to 2)\n    P(s)\n  end\n  process computes\n    \
                var n := 0\n    write(\"begins\"); flush(stdout)\n    do true -> n := (n + 1) mod 1000 od\n  end\nend\n";
    let reader = "resource main()\n  var n: int\n  sem s\n  process waits\n    P(s)\n  end\n  nap(1)\n  write(\"begins\"); flush(stdout)\n  \
                  read(n)\nend\n";
    for (name, text, model, parts) in [
        (
            "computes.sr",
            text,
            MODELS[1],
            &[
                "main.computes : ",
                "runs, in main.computes",
                "main.waits(2) : ",
            ][..],
        ),
        (
            "computes.sr",
            text,
            MODELS[2],
            &["runs, in main.computes"][..],
        ),
        ("computes.sr", text, MODELS[3], &["main.computes : "][..]),
        (
            "reads.sr",
            reader,
            MODELS[2],
            &[
                "main.body : ",
                "waits for input",
                "waits for semaphore main.s",
            ][..],
        ),
    ] {
        let program = built(&[source(name, text)], model, &[]).unwrap();
        let said = interrupted(&program.path, model.settings);
        for part in parts {
            assert!(
                said.contains(part),
                "{name}, {model:?}: no {part:?} in {said}"
            );
        }
        assert!(said.contains("RTS interrupt: SIGTERM"), "{said}");
    }
}

/// Runs a program until it has printed a line, sends it SIGTERM, and returns its standard error.
fn interrupted(program: &std::path::Path, settings: &str) -> String {
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    let mut child = Command::new(program)
        .env("ANTIPHON_SR", settings)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Standard input stays open, because the program may be reading.
    let input = child.stdin.take();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "begins\n");
    let kill = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    let status = child.wait().unwrap();
    drop(input);
    assert_eq!(status.signal(), Some(15), "{said}");
    said
}
