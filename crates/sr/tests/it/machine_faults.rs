//! Virtual machines that die, stop or cannot be created: an error names them, nothing waits for ever,
//! and no process is left.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use antiphon_runner::{End, Process, Program};
use antiphon_sr::build::Executable;

use crate::support::{LIMIT, MODELS, built, source};

/// A program of three machines. The others print their process numbers. One waits for ever in a
/// call of the first, the other one computes or waits.
const THREE: &str = "\
resource far
  op number() returns n: int
  op hang(), spin()
  external getpid() returns n: int
body far()
  sem never
  proc number() returns n
    n := getpid()
  end
  proc hang()
    P(never)
    V(never)
  end
  proc spin()
    do true -> skip od
  end
end

resource main()
  import far
  var f := create far() on create vm()
  var g := create far() on create vm()
  write(f.number(), g.number())
  flush(stdout)
  send g.spin()
  f.hang()
end
";

/// A program whose second machine dies while nobody waits for it. The program then ends as its
/// argument says.
const UNMISSED: &str = "\
resource far
  op number() returns n: int
  external getpid() returns n: int
body far()
  proc number() returns n
    n := getpid()
  end
end

resource main()
  import far
  var how := 0
  var line: string[10]
  getarg(1, how)
  var f := create far() on create vm()
  write(f.number())
  flush(stdout)
  read(line)
  if how = 1 -> stop
  [] how = 2 -> stop(7)
  fi
end
";

fn program(name: &str, text: &str) -> Executable {
    let built = built(&[source(name, text)], MODELS[1], &[]);
    built.unwrap_or_else(|message| panic!("{message}"))
}

/// Starts a program, and returns the process numbers that it prints.
fn begun(executable: &Executable, settings: &str) -> (Process, Vec<u32>) {
    let program = Program::new(&executable.path).env("ANTIPHON_SR", settings);
    begun_as(program)
}

fn begun_as(program: Program) -> (Process, Vec<u32>) {
    let mut child = program.spawn().expect("it starts");
    child.set_deadline(Some(LIMIT));
    let line = child.read_line().expect("it writes");
    (child, processes_in(&line))
}

fn processes_in(line: &str) -> Vec<u32> {
    let numbers = line.split_whitespace();
    numbers
        .map(|n| n.parse().unwrap_or_else(|_| panic!("no process: {line:?}")))
        .collect()
}

fn signal(process: u32, number: i32) {
    // SAFETY: a process that the test started.
    assert_eq!(unsafe { libc::kill(process as i32, number) }, 0);
}

/// Returns whether a process exists and is no zombie: an orphan may never be collected.
fn is_alive(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|text| !text.contains("State:\tZ"))
}

/// Waits until none of these processes is left.
fn assert_all_end(processes: &[u32]) {
    let until = Instant::now() + LIMIT;
    while let Some(alive) = processes.iter().find(|process| is_alive(**process)) {
        assert!(Instant::now() < until, "{alive} lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_stopped_machine_is_lost_to_the_call_that_waits_for_it() {
    for over in ["shm", "tcp", "udp"] {
        let name = format!("stopped_{over}.sr");
        let settings = format!("model=sliced:1,over={over},silence=2");
        let (mut child, far) = begun(&program(&name, THREE), &settings);
        signal(far[0], libc::SIGSTOP);
        let (end, _) = child.wait(LIMIT).expect("it ends");
        let stderr = child.last_words();
        assert_eq!(end, End::Exited(1), "{over}: {stderr}");
        for part in [&format!("{name}, line 26"), "virtual machine 2 has died"] {
            assert!(stderr.contains(part), "{over}: {stderr}");
        }
        // It is told of once.
        let count = stderr.matches("virtual machine 2").count();
        assert_eq!(count, 1, "{over}: {stderr}");
        assert_all_end(&far);
    }
}

/// A program whose call takes as long as the test wants.
const WAITS: &str = "\
resource far
  op number() returns n: int
  op wait() returns n: int
  external getpid() returns n: int
body far()
  proc number() returns n
    n := getpid()
  end
  proc wait() returns n
    nap(500)
    n := 5
  end
end

resource main()
  import far
  var f := create far() on create vm()
  write(f.number())
  flush(stdout)
  write(f.wait())
end
";

#[test]
fn a_stopped_machine_that_goes_on_in_time_is_waited_for() {
    let (mut child, far) = begun(&program("goes_on.sr", WAITS), "silence=3600");
    signal(far[0], libc::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    signal(far[0], libc::SIGCONT);
    assert_eq!(child.read_line().expect("it writes"), "5");
    let (end, _) = child.wait(LIMIT).expect("it ends");
    assert_eq!(end, End::Exited(0), "{}", child.last_words());
}

#[test]
fn an_interrupt_ends_all_machines_and_stopped_ones_too() {
    for over in ["shm", "tcp", "udp"] {
        let executable = program(&format!("interrupted_{over}.sr"), THREE);
        let settings = format!("model=sliced:1,over={over}");
        let (mut child, far) = begun(&executable, &settings);
        signal(far[0], libc::SIGSTOP);
        child.signal(libc::SIGTERM);
        let (end, _) = child.wait(LIMIT).expect("it ends");
        let stderr = child.last_words();
        assert_eq!(end, End::Signalled(libc::SIGTERM), "{over}: {stderr}");
        for part in ["[vm 1] main.body : ", "[vm 2] does not answer"] {
            assert!(stderr.contains(part), "{over}: no {part:?} in {stderr}");
        }
        assert_all_end(&far);
    }
}

/// Two machines that compute for ever, and a process that waits.
const BUSY: &str = "\
resource far
  op number() returns n: int
  external getpid() returns n: int
body far()
  sem never
  proc number() returns n
    n := getpid()
  end
  process hang
    P(never)
    V(never)
  end
  process spin
    do true -> skip od
  end
end

resource main()
  import far
  var f := create far() on create vm()
  write(f.number())
  flush(stdout)
  do true -> skip od
end
";

#[test]
fn an_interrupt_tells_where_the_processes_of_all_machines_are() {
    for model in [MODELS[1], MODELS[3]] {
        let built = built(&[source("busy.sr", BUSY)], model, &[]);
        let executable = built.unwrap_or_else(|message| panic!("{message}"));
        for over in ["shm", "tcp"] {
            let settings = format!("{},over={over}", model.settings);
            let (mut child, far) = begun(&executable, &settings);
            child.signal(libc::SIGTERM);
            let (end, _) = child.wait(LIMIT).expect("it ends");
            let stderr = child.last_words();
            assert_eq!(end, End::Signalled(libc::SIGTERM), "{settings}: {stderr}");
            for part in [
                "RTS interrupt: SIGTERM; the processes are",
                "[vm 1] main.body : ",
                "[vm 2] far.spin : ",
                "[vm 2] far.hang : ",
            ] {
                assert!(stderr.contains(part), "{settings}: no {part:?} in {stderr}");
            }
            assert_all_end(&far);
        }
    }
}

#[test]
fn no_machine_outlives_the_first_whatever_it_does() {
    for over in ["shm", "tcp", "udp"] {
        let executable = program(&format!("outlived_{over}.sr"), THREE);
        // Started without the runner, which would end processes that outlive it.
        let mut child = Command::new(&executable.path)
            .env("ANTIPHON_SR", format!("model=sliced:1,over={over}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        output.read_line(&mut line).expect("it writes");
        let far = processes_in(&line);
        assert_eq!(far.len(), 2);
        signal(far[0], libc::SIGSTOP);
        signal(child.id(), libc::SIGKILL);
        child.wait().expect("it ends");
        assert_all_end(&far);
    }
}

#[test]
fn every_end_tells_of_a_machine_that_was_lost() {
    for over in ["shm", "tcp", "udp"] {
        let executable = program(&format!("unmissed_{over}.sr"), UNMISSED);
        for (how, code) in [("0", 1), ("1", 1), ("2", 7)] {
            let program = Program::new(&executable.path)
                .arg(how)
                .env("ANTIPHON_SR", format!("over={over},silence=2"));
            let (mut child, far) = begun_as(program);
            signal(far[0], libc::SIGKILL);
            assert_all_end(&far);
            child.write_line("").expect("it reads");
            let (end, _) = child.wait(LIMIT).expect("it ends");
            let stderr = child.last_words();
            assert_eq!(end, End::Exited(code), "{over}, {how}: {stderr}");
            let count = stderr.matches("virtual machine 2 has died").count();
            assert_eq!(count, 1, "{over}, {how}: {stderr}");
        }
    }
}

/// A destroyed machine has ended as it should, and is no loss.
#[test]
fn no_end_tells_of_a_machine_that_was_destroyed() {
    let text = "resource main()\n  var v := create vm()\n  destroy v\n  stop\nend\n";
    for over in ["shm", "tcp", "udp"] {
        let executable = program(&format!("destroyed_{over}.sr"), text);
        let program = Program::new(&executable.path).env("ANTIPHON_SR", format!("over={over}"));
        let output = program.time_limit(LIMIT).run().expect("it starts");
        let ended = (output.end, output.stderr.as_str());
        assert_eq!(ended, (End::Exited(0), ""), "{over}");
    }
}

/// Runs a program under a shell command, in which `"$0"` stands for the program.
fn run_under(command: &str, executable: &Executable, settings: &str) -> antiphon_runner::Output {
    let program = Program::new("sh")
        .args(["-c", command])
        .arg(&executable.path)
        .env("ANTIPHON_SR", settings)
        .time_limit(LIMIT);
    program.run().expect("it starts")
}

const CREATES: &str =
    "resource main()\n  var v := create vm()\n  destroy v\n  write(\"done\")\nend\n";

#[test]
fn a_session_without_memory_is_an_error_at_the_first_create() {
    let executable = program("no_memory.sr", CREATES);
    let limited = "ulimit -f 100; trap '' XFSZ; exec \"$0\"";
    let output = run_under(limited, &executable, "over=shm");
    assert_eq!(output.end, End::Exited(1), "{}", output.stderr);
    let parts = [
        "no_memory.sr, line 2",
        "cannot begin a session over shm",
        "raise `ulimit -f`",
        "over=tcp",
    ];
    for part in parts {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    // Its mend.
    let output = run_under(limited, &executable, "over=tcp");
    assert_eq!(output.end, End::Exited(0), "{}", output.stderr);
}

/// The memory of a session is no file of `/dev/shm`.
#[test]
fn a_full_dev_shm_is_no_fault() {
    let full = "mount -t tmpfs -o size=64k none /dev/shm && \
                ! dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null && exec \"$0\"";
    let namespace = Command::new("unshare").args(["-m", "true"]).status();
    if !namespace.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mount namespaces here");
        return;
    }
    let executable = program("full.sr", CREATES);
    let unshared = format!("exec unshare -m sh -c '{full}' \"$0\"");
    let output = run_under(&unshared, &executable, "over=shm");
    assert_eq!(output.end, End::Exited(0), "{}", output.stderr);
    assert_eq!(output.stdout, b"done\n");
}
