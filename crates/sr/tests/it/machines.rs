//! Programs over several virtual machines, on every platform and model.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use antiphon_runner::{End, Program};
use antiphon_sr::build::Executable;

use crate::support::{Expected, LIMIT, MODELS, Model, built, programs, ran_again, run, source};

fn do_what_they_should(settings: &'static str, servers: u32, has_loop_checks: bool) {
    let model = Model {
        settings,
        has_loop_checks,
        servers,
    };
    let mut failures = String::new();
    for file in programs("machines") {
        let expected = Expected::of(&std::fs::read_to_string(&file).unwrap());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let differences = match built(std::slice::from_ref(&file), model, &[]) {
            Ok(executable) => expected.differences(&run(&executable.path, model, &expected)),
            Err(message) => message,
        };
        if !differences.is_empty() {
            failures += &format!("{name}, {settings}:\n{differences}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn programs_do_what_they_should_over_shared_memory() {
    do_what_they_should("model=sliced:1,over=shm", 1, false);
}

#[test]
fn programs_do_what_they_should_over_connections() {
    do_what_they_should("model=cooperative,over=tcp", 1, false);
}

#[test]
fn programs_do_what_they_should_over_datagrams() {
    do_what_they_should("model=counted:100,over=udp", 1, true);
}

#[test]
fn programs_do_what_they_should_on_two_processors_each() {
    do_what_they_should("model=sliced:1,over=shm,servers=2", 2, false);
}

/// Programs that `mpirun` starts: whose machines all talk, one that blocks, one that fails, and one
/// that needs more machines than are there.
const OVER_MPI: [&str; 4] = [
    "concurrent.sr",
    "deadlock.sr",
    "failing.sr",
    "field_topology.sr",
];

#[test]
fn programs_do_what_they_should_over_open_mpi() {
    if Command::new("mpirun").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "there is no mpirun");
        return;
    }
    let model = Model {
        settings: "model=sliced:1,over=mpi",
        ..MODELS[1]
    };
    for file in programs("machines") {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !OVER_MPI.contains(&&*name) {
            continue;
        }
        let expected = Expected::of(&std::fs::read_to_string(&file).unwrap());
        let built = built(&[file], model, &[]).unwrap_or_else(|message| panic!("{message}"));
        let mpirun = Program::new("mpirun")
            .args(["--quiet", "--oversubscribe", "-n", "4"])
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("ANTIPHON_SR", model.settings)
            .arg(&built.path)
            .args(&expected.arguments)
            .time_limit(LIMIT);
        let differences = expected.differences(&mpirun.run().expect("it starts"));
        assert!(differences.is_empty(), "{name}:\n{differences}");
    }
}

/// Returns the names of an executable's symbols.
fn symbols(path: &std::path::Path) -> String {
    let output = Command::new("nm").arg(path).output();
    String::from_utf8_lossy(&output.expect("there is nm").stdout).into_owned()
}

#[test]
fn a_program_without_virtual_machines_has_nothing_of_panda() {
    let model = MODELS[2];
    for (folder, has_panda) in [("programs", false), ("machines", true)] {
        let file = programs(folder).remove(0);
        let built = built(&[file], model, &[]).unwrap_or_else(|message| panic!("{message}"));
        assert_eq!(symbols(&built.path).contains("antiphon_panda"), has_panda);
    }
}

#[test]
fn a_limit_of_virtual_machines_is_told_with_its_place() {
    let file = programs("machines")
        .into_iter()
        .find(|file| file.ends_with("concurrent.sr"));
    let model = MODELS[2];
    let built = built(&[file.expect("it is there")], model, &[]);
    let built = built.unwrap_or_else(|message| panic!("{message}"));
    let output = ran_again(&built, "vms=3");
    assert_eq!(output.end, End::Exited(1), "{}", output.stderr);
    for part in [
        "concurrent.sr, line 22",
        "this program may have 3 virtual machines",
    ] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
}

/// A program whose second machine prints its process number, and then never answers.
const HANGS: &str = "resource far
  op hang()
  external getpid() returns n: int
body far(tell: cap (int))
  send tell(getpid())
  sem never
  proc hang()
    P(never)
    V(never)
  end
end

resource main()
  import far
  op tell(n: int)
  var n: int
  var f := create far(tell) on create vm()
  receive tell(n)
  write(n)
  flush(stdout)
  process other
    nap(3600000)
  end
  f.hang()
end
";

/// Builds that program from a file of this name, which no other test uses.
fn hanging(name: &str) -> Executable {
    let built = built(&[source(name, HANGS)], MODELS[2], &[]);
    built.unwrap_or_else(|message| panic!("{message}"))
}

/// Returns the process number in a line of that program.
fn process_in(line: &str) -> u32 {
    let process = line.trim().parse();
    process.unwrap_or_else(|_| panic!("no process: {line:?}"))
}

fn kill(process: u32) {
    // SAFETY: a process that the test started.
    assert_eq!(unsafe { libc::kill(process as i32, libc::SIGKILL) }, 0);
}

/// Whether a process exists and is no zombie: an orphan may never be collected.
fn is_alive(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|text| !text.contains("State:\tZ"))
}

#[test]
fn the_death_of_a_machine_is_an_error_at_the_call_that_waits_for_it() {
    for over in ["shm", "tcp", "udp"] {
        let name = format!("hangs_{over}.sr");
        let program = Program::new(&hanging(&name).path).env("ANTIPHON_SR", format!("over={over}"));
        let mut child = program.spawn().expect("it starts");
        child.set_deadline(Some(LIMIT));
        kill(process_in(&child.read_line().expect("it writes")));
        let (end, _) = child.wait(LIMIT).expect("it ends");
        let stderr = child.last_words();
        assert_eq!(end, End::Exited(1), "{over}: {stderr}");
        for part in [&format!("{name}, line 24"), "virtual machine 2 has died"] {
            assert!(stderr.contains(part), "{over}: {stderr}");
        }
    }
}

#[test]
fn no_machine_outlives_the_first() {
    // Started without the runner, which would end processes that outlive it.
    let mut child = Command::new(&hanging("outlived.sr").path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    output.read_line(&mut line).expect("it writes");
    let far = process_in(&line);
    kill(child.id());
    child.wait().expect("it ends");
    let until = Instant::now() + LIMIT;
    while is_alive(far) {
        assert!(Instant::now() < until, "{far} lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
