//! Orphans: no descendant of a child survives it, us, or its keeper.

use antiphon_runner::{End, Policy, Program};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const CHILD: &str = env!("CARGO_BIN_EXE_runner-test-child");

/// Far more than it takes; a test waits this long only to fail.
const PATIENCE: Duration = Duration::from_secs(60);

fn numbers(line: &str) -> Vec<u32> {
    let numbers: Vec<u32> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    assert_eq!(numbers.len(), 3, "{line}");
    numbers
}

/// Returns the state letter of a process; `None` when there is none. A zombie runs no more.
fn state(process: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

fn assert_all_end(processes: &[u32]) {
    let until = Instant::now() + PATIENCE;
    for &process in processes {
        while state(process).is_some_and(|state| state != 'Z') {
            assert!(Instant::now() < until, "process {process} survived");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn assert_all_run(processes: &[u32]) {
    for &process in processes {
        assert!(state(process).is_some(), "process {process} does not run");
    }
}

#[test]
fn dropping_a_child_ends_all_that_it_started() -> Result<(), Box<dyn Error>> {
    let mut child = Program::new(CHILD).arg("family").spawn()?;
    let family = numbers(&child.read_line()?);
    assert_all_run(&family);
    drop(child);
    // The keeper has ended when `drop` returns, so this need not wait.
    for process in family {
        assert!(
            state(process).is_none_or(|state| state == 'Z'),
            "process {process} survived"
        );
    }
    Ok(())
}

#[test]
fn a_child_that_ends_takes_its_children_with_it() -> Result<(), Box<dyn Error>> {
    let output = Program::new(CHILD).arg("abandon").run()?;
    assert_eq!(output.end, End::Exited(0));
    let family = numbers(output.text()?);
    for process in family {
        assert!(
            state(process).is_none_or(|state| state == 'Z'),
            "process {process} survived"
        );
    }
    Ok(())
}

#[test]
fn killing_us_ends_all_that_we_started() -> Result<(), Box<dyn Error>> {
    let mut guardian = Command::new(CHILD)
        .arg("guardian")
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(guardian.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let family = numbers(&line);
    assert_all_run(&family);
    guardian.kill()?; // SIGKILL
    guardian.wait()?;
    assert_all_end(&family);
    Ok(())
}

#[test]
fn killing_the_keeper_ends_the_child_and_is_noticed() -> Result<(), Box<dyn Error>> {
    let mut child = Program::new(CHILD).arg("family").spawn()?;
    let family = numbers(&child.read_line()?);
    let keeper = parent(family[0]).ok_or("no parent")?;
    Command::new("kill")
        .args(["-9", &keeper.to_string()])
        .status()?;
    assert!(child.read_line().is_err());
    assert_all_end(&family[..2]); // the one that left the group is beyond reach now
    Command::new("kill")
        .args(["-9", &family[2].to_string()])
        .status()?;
    Ok(())
}

/// Holds a process's standard output open from outside its descendants, kills the process, and
/// writes until the pipe has no reader. Returns whether that happened.
fn usurp(process: u32) -> std::io::Result<bool> {
    let path = format!("/proc/{process}/fd/1");
    let mut output = std::fs::File::options().write(true).open(path)?;
    output.write_all(b"usurped\n")?;
    Command::new("kill")
        .args(["-9", &process.to_string()])
        .status()?;
    // The pipe is large and has many writers, so that there is always something to read.
    nix::fcntl::fcntl(&output, nix::fcntl::FcntlArg::F_SETPIPE_SZ(1 << 20))?;
    let output = &output;
    Ok(thread::scope(|scope| {
        let writers = [(); 4].map(|()| scope.spawn(move || write_on(output)));
        writers.map(|writer| writer.join().expect("it does not panic")) == [true; 4]
    }))
}

/// Writes until the pipe has no reader; returns whether that happened.
fn write_on(mut output: &std::fs::File) -> bool {
    let lines = b"still here\n".repeat(1 << 15);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if output.write_all(&lines).is_err() {
            return true;
        }
    }
    false
}

#[test]
fn who_writes_on_into_the_pipe_of_a_dead_program_keeps_nobody() -> Result<(), Box<dyn Error>> {
    let name = format!("usurped-{}", std::process::id());
    let note = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let usurper = thread::spawn({
        let note = note.clone();
        move || loop {
            let noted = std::fs::read_to_string(&note).unwrap_or_default();
            if let Some(process) = noted.strip_suffix('\n') {
                return usurp(process.parse().map_err(std::io::Error::other)?);
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
    let program = Program::new("sh").args(["-c", "echo $$ > \"$0\"; exec sleep 1000"]);
    let output = program.arg(&note).stdout_max(8).run()?;
    assert!(usurper.join().expect("it does not panic")?);
    assert_eq!(output.end, End::Signalled(9));
    assert_eq!(output.text()?, "usurped\n");
    std::fs::remove_file(note)?;
    Ok(())
}

#[test]
fn who_writes_on_into_a_dead_childs_pipe_keeps_nobody() -> Result<(), Box<dyn Error>> {
    let forwarding = Program::new(CHILD).arg("hang").forward(false)?;
    let process = forwarding.id();
    let usurper = thread::spawn(move || usurp(process));
    let mut had = Vec::new();
    let (end, _) = forwarding.to_end(|_, bytes| {
        had.extend_from_slice(&bytes[..bytes.len().min(8)]);
        thread::sleep(Duration::from_millis(1)); // slower than who writes
    })?;
    assert!(usurper.join().expect("it does not panic")?);
    assert_eq!(end, End::Signalled(9));
    assert!(had.starts_with(b"usurped\n"));

    let mut child = Program::new(CHILD).arg("hang").spawn()?;
    let process = child.id();
    let usurper = thread::spawn(move || usurp(process));
    assert_eq!(child.read_line()?, "usurped");
    while child.read_line().is_ok() {}
    drop(child);
    assert!(usurper.join().expect("it does not panic")?);
    Ok(())
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
}

fn is_zombie_of(process: u32, of: u32) -> bool {
    parent(process) == Some(of) && state(process) == Some('Z')
}

#[test]
fn no_zombies_are_left() -> Result<(), Box<dyn Error>> {
    for _ in 0..5 {
        Program::new("true").run()?.success()?;
        drop(Program::new(CHILD).arg("hang").spawn()?);
    }
    let missing = Program::new("no-such-program-anywhere").run();
    assert!(missing.is_err());
    let me = std::process::id();
    let zombies: Vec<u32> = std::fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.parse().ok())
        .filter(|&process| is_zombie_of(process, me))
        .collect();
    // Another test's child may be a zombie for a moment; ours would stay.
    let until = Instant::now() + PATIENCE;
    for zombie in zombies {
        while is_zombie_of(zombie, me) {
            assert!(Instant::now() < until, "left: {zombie}");
            thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Reads something of each thread, when all are there.
fn look_into_threads(process: &str) -> std::io::Result<()> {
    let threads = || std::fs::read_dir(format!("/proc/{process}/task"));
    while threads()?.count() < 33 {
        thread::sleep(Duration::from_millis(1));
    }
    for thread in threads()? {
        std::fs::read(thread?.path().join("stat"))?;
    }
    Ok(())
}

/// Tests that the crowd ends. A keeper that reaped it in real time would spin in the kernel before
/// its threads could end.
#[test]
fn a_real_time_crowd_in_whose_threads_somebody_looked_ends() -> Result<(), Box<dyn Error>> {
    let policy = Policy::Fifo { priority: 5 };
    if let Err(why) = policy.permitted() {
        eprintln!("skipped: {why}");
        return Ok(());
    }
    let program = Program::new(CHILD).arg("crowds").policy(policy);
    let mut crowds = program.affinity([0]).spawn()?;
    crowds.set_deadline(Some(PATIENCE));
    for _ in 0..20 {
        crowds.write_line("begin")?;
        for process in crowds.read_line()?.split(' ') {
            look_into_threads(process)?;
        }
        crowds.write_line("end")?;
        assert_eq!(crowds.read_line()?, "ended");
    }
    Ok(())
}
