//! A child that behaves in the way that its first argument says.

use antiphon_runner::{Policy, Program};
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mode, rest) = args.split_first().ok_or("no mode was given")?;
    match mode.as_str() {
        "say" => say(rest),
        "echo" => echo()?,
        "hang" => hang(),
        "stubborn" => stubborn(),
        "spin" => spin(),
        "crash" => std::process::abort(),
        "last-words" => {
            eprintln!("the valve is stuck");
            exit(3);
        }
        "flood" => flood(b"xxxxxxxxxxxxxxxx")?,
        "flood-lines" => flood(b"a line of 16 by\n")?,
        "not-text" => io::stdout().write_all(b"good\nb\xffd\nagain\n")?,
        "complain" => (0..100_000).for_each(|number| eprintln!("complaint {number}")),
        "deaf" => {
            close_input();
            println!("closed");
            hang();
        }
        "allocate" => allocate()?,
        "open-files" => open_files(),
        "family" => family(false)?,
        "abandon" => family(true)?,
        "guardian" => guardian()?,
        "crowd" => crowd()?,
        "threads" => threads(),
        "crowds" => crowds()?,
        "unprivileged-fifo" => unprivileged_fifo(),
        "scheduling" => scheduling()?,
        other => return Err(format!("no mode `{other}`").into()),
    }
    Ok(())
}

/// Closes standard input itself, not a copy of it.
fn close_input() {
    // SAFETY: nothing else in this program reads standard input in this mode.
    unsafe { libc::close(0) };
}

fn say(words: &[String]) {
    words.iter().for_each(|word| println!("{word}"));
    println!("{}", std::env::var("CHILD_TEST").unwrap_or_default());
    let cwd = std::env::current_dir().unwrap_or_default();
    println!("{}", cwd.display());
}

fn echo() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        println!("{}", line?);
    }
    Ok(())
}

fn hang() {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

/// Does not end on SIGTERM.
fn stubborn() {
    // SAFETY: ignoring a signal is always allowed.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    println!("ready");
    hang();
}

/// Takes every processor that it is allowed.
fn spin() {
    println!("spinning");
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let spinners: Vec<_> = (0..threads)
        .map(|_| {
            thread::spawn(|| {
                loop {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    spinners.into_iter().for_each(|spinner| {
        let _ = spinner.join();
    });
}

fn flood(chunk: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    loop {
        stdout.write_all(chunk)?;
    }
}

/// Takes 512 MiB and says whether it got them.
fn allocate() -> Result<(), Box<dyn Error>> {
    let mut bytes: Vec<u8> = Vec::new();
    bytes
        .try_reserve_exact(512 << 20)
        .map_err(|_| "the storage was refused")?;
    bytes.resize(512 << 20, 1);
    println!("{}", std::hint::black_box(bytes).len());
    Ok(())
}

fn open_files() {
    let files: Vec<_> = (0..100_000)
        .map_while(|_| std::fs::File::open("/dev/null").ok())
        .collect();
    println!("{}", files.len());
}

/// Starts one child that leaves the process group and one that stays, prints their numbers, then
/// waits or ends.
fn family(abandon: bool) -> Result<(), Box<dyn Error>> {
    let me = std::env::current_exe()?;
    let stays = Command::new(&me).arg("hang").spawn()?;
    let mut leaver = Command::new(&me);
    leaver.arg("hang");
    // SAFETY: `setsid` is a plain system call.
    unsafe {
        leaver.pre_exec(|| {
            libc::setsid();
            Ok(())
        })
    };
    let leaves = leaver.spawn()?;
    println!("{} {} {}", std::process::id(), stays.id(), leaves.id());
    if !abandon {
        hang();
    }
    Ok(())
}

/// Starts a family through the runner, passes on its numbers, and waits to be killed.
fn guardian() -> Result<(), Box<dyn Error>> {
    let mut family = Program::new(std::env::current_exe()?)
        .arg("family")
        .spawn()?;
    println!("{}", family.read_line()?);
    hang();
    Ok(())
}

/// Starts children that have many threads, of which none does anything; says their numbers.
fn crowd() -> Result<(), Box<dyn Error>> {
    let me = std::env::current_exe()?;
    let children = (0..8).map(|_| Command::new(&me).arg("threads").spawn());
    let children = children.collect::<Result<Vec<_>, _>>()?;
    let numbers = children.iter().map(|child| child.id().to_string());
    println!("{}", numbers.collect::<Vec<_>>().join(" "));
    hang();
    Ok(())
}

fn threads() {
    (0..32).for_each(|_| drop(thread::spawn(hang)));
    hang();
}

/// Starts a crowd through the runner at every other line and prints its numbers; ends it at the
/// next line.
fn crowds() -> Result<(), Box<dyn Error>> {
    let mut lines = io::stdin().lock().lines();
    while let Some(line) = lines.next() {
        line?;
        let me = std::env::current_exe()?;
        let mut crowd = Program::new(me).arg("crowd").spawn()?;
        println!("{}", crowd.read_line()?);
        lines.next().ok_or("it was not said when to end")??;
        drop(crowd);
        println!("ended");
    }
    Ok(())
}

/// Gives up every privilege and asks for a FIFO child.
fn unprivileged_fifo() {
    let nothing = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: plain system calls with a record of our own.
    unsafe {
        libc::setrlimit(libc::RLIMIT_RTPRIO, &nothing);
        libc::setuid(65_534);
    }
    let policy = Policy::Fifo { priority: 10 };
    match Program::new("true").policy(policy).run() {
        Ok(_) => println!("it was permitted"),
        Err(error) => println!("{error}"),
    }
    println!("{}", policy.permitted().err().unwrap_or_default());
}

/// Says its policy, priority and processors.
fn scheduling() -> Result<(), Box<dyn Error>> {
    // SAFETY: asks about ourselves.
    let policy = unsafe { libc::sched_getscheduler(0) };
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let stat = std::fs::read_to_string("/proc/thread-self/stat")?;
    let priority = stat.split(' ').nth(39).unwrap_or_default();
    println!("{policy} {priority} {}", allowed.unwrap_or_default().trim());
    Ok(())
}
