//! Nothing that a child started survives it, us, or its keeper.

use antiphon_runner::{End, Policy, Program};
use std::error::Error;
use std::io::{BufRead, BufReader};
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

/// The state letter of a process; `None` when there is none. A zombie runs no more.
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

/// A keeper that took leave of it in real time, like its threads, spun in the kernel before they could end.
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
