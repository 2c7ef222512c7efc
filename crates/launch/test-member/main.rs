//! A process of a session that behaves in the way that its first argument says.

use antiphon_launch::{Launch, Over};
use antiphon_panda::platform::mpi::Mpi;
use antiphon_panda::platform::shm::Shm;
use antiphon_panda::platform::tcp::Tcp;
use antiphon_panda::platform::udp::Udp;
use antiphon_panda::platform::{Event, Inbox, LaunchInfo, Platform, Rank};
use antiphon_panda::{Message, Session, Signal, SpawnOptions};
use std::error::Error;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::process::exit;
use std::thread::sleep;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let mode = std::env::args().nth(1).ok_or("no mode was given")?;
    if mode == "launch" {
        return launch();
    }
    if mode == "by-hand" {
        return by_hand();
    }
    let info = LaunchInfo::from_environment()?;
    match mode.as_str() {
        "greet" => match info.platform.as_str() {
            "shm" => greet::<Shm>(&info)?,
            "tcp" => greet::<Tcp>(&info)?,
            "udp" => greet::<Udp>(&info)?,
            "mpi" => greet::<Mpi>(&info)?,
            other => return Err(format!("no platform `{other}`").into()),
        },
        "say" => {
            println!("one from {}\nhalf a line, ", info.rank);
            eprint!("and no end from {}", info.rank);
        }
        "echo" => println!("{:?}", std::env::args().nth(2).ok_or("nothing to say")?),
        // A member that does not exit stays until it is ended.
        "hang-exit" if info.rank != 1 => sleep(LONG),
        "hang-exit" => exit(7),
        "exit" => exit(7 * i32::from(info.rank == 1)),
        "read" => println!("read {:?}", io::read_to_string(io::stdin())?),
        "fail" => fail(&info)?,
        "hang" => {
            // A process that was spawned is one when it has joined.
            let _session = (info.rank >= info.size).then(Session::join).transpose()?;
            println!("here {}", std::process::id());
            io::stdout().flush()?;
            sleep(LONG);
        }
        "heed" => heed()?,
        // The second process ends before it joins; the others say what they are told.
        "never" if info.rank == 1 => exit(3),
        "never" => println!("{}", Session::join().err().ok_or("it has begun")?),
        // One process may have few files open; each says what it is told.
        "few" => few(&info)?,
        "gather" => {
            let session = Session::join()?;
            session.everyone()?.barrier()?;
            println!("here");
            // The first member to leave would be lost to those that are still waited for.
            session.everyone()?.barrier()?;
        }
        "stay" => {
            let _session = Session::join()?;
            println!("here {}", std::process::id());
            io::stdout().flush()?;
            sleep(LONG);
        }
        "spawn" => spawn(if info.rank < info.size {
            "spawn"
        } else {
            "fail"
        })?,
        "spawn-hang" => spawn("hang")?,
        // The spawner leaves; the spawned members report that and stay.
        "spawn-leave" if info.rank < info.size => {
            let session = Session::join()?;
            session.spawn(std::env::current_exe()?, ["spawn-leave"], 2)?;
        }
        "spawn-leave" => {
            let session = Session::join()?;
            let parent = session.parent();
            let _ = session.port("end").receive(parent, None);
            println!("spawner gone: here {}", std::process::id());
            sleep(LONG);
        }
        "spawn-many" => spawn_many()?,
        "info" => {
            let session = antiphon_panda::platform::join(&info)?;
            session.everyone()?.barrier()?;
            let is_not_outer = info.starter.as_deref() != Some("192.0.2.1:9");
            let LaunchInfo {
                address,
                silence,
                parent,
                ..
            } = info;
            // With no `--hosts` this is the loopback's.
            println!("{address:?} {silence:?} {parent:?} {is_not_outer}");
        }
        "idle" => drop(Session::join()?),
        "outlive" => outlive()?,
        "signalled" => signalled()?,
        "joinable" => joinable()?,
        "elsewhere" => elsewhere()?,
        "stop" => stop()?,
        other => return Err(format!("no mode `{other}`").into()),
    }
    Ok(())
}

/// Joins with the number of open files that the second argument gives, if it is of the rank that the
/// third one gives.
fn few(info: &LaunchInfo) -> Result<(), Box<dyn Error>> {
    let numbers = std::env::args().skip(2).map(|word| word.parse::<u32>());
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>()?;
    if info.rank == numbers[1] {
        let few = libc::rlimit {
            rlim_cur: numbers[0].into(),
            rlim_max: numbers[0].into(),
        };
        // SAFETY: the structure is ours.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &few) };
    }
    // All stay until each has come, so that none makes room for another.
    let met = Session::join().and_then(|session| session.everyone()?.barrier());
    println!("{}", met.err().ok_or("they have met")?);
    Ok(())
}

/// Keeps SIGUSR1 and SIGTERM for who waits for them, in all threads that are started later.
fn block_signals() -> libc::sigset_t {
    let mut signals = std::mem::MaybeUninit::uninit();
    // SAFETY: a set that is filled before it is used; this process has no other thread that could
    // get them.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGUSR1);
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGTERM);
        libc::sigprocmask(libc::SIG_BLOCK, signals.as_ptr(), std::ptr::null_mut());
        signals.assume_init()
    }
}

/// Says which signals come, to the first SIGTERM.
fn heed() -> Result<(), Box<dyn Error>> {
    let signals = block_signals();
    let mut number = 0;
    println!("here {}", std::process::id());
    while number != libc::SIGTERM {
        io::stdout().flush()?;
        // SAFETY: both are ours.
        unsafe { libc::sigwait(&signals, &mut number) };
        println!("heard {number}");
    }
    Ok(())
}

/// The first process has two more started, which the others hear from; they end well or badly, or
/// never.
fn spawn(mode: &str) -> Result<(), Box<dyn Error>> {
    let session = Session::join()?;
    let port = session.port("hello");
    if mode == "fail" {
        println!("spawned with {:?}", std::env::var("ANTIPHON_COLOUR"));
        for to in 0..session.size() {
            port.send_synchronously(to, 0, Message::new())?;
        }
        exit(if session.rank() == session.size() {
            0
        } else {
            9
        });
    }
    if session.rank() == 0 {
        // SAFETY: this process has no other thread that looks at its environment. The variable is
        // one that leaves a host.
        unsafe { std::env::set_var("ANTIPHON_COLOUR", "green") };
        let ranks = session.spawn(std::env::current_exe()?, [mode], 2)?;
        println!("spawned {ranks:?}");
        io::stdout().flush()?;
    }
    let mut heard: Vec<Rank> = Vec::new();
    while heard.len() < 2 {
        heard.push(port.receive_within(None, None, LONG)?.from);
    }
    heard.sort_unstable();
    println!("heard {heard:?}");
    Ok(())
}

/// The first process says who joins by hand, and tells each.
fn joinable() -> Result<(), Box<dyn Error>> {
    let session = Session::join()?;
    session.everyone()?.barrier()?;
    if session.rank() == 0 {
        println!("begun");
        io::stdout().flush()?;
        for _ in 0..2 {
            let arrived = session.port("by hand").receive(None, None)?;
            println!("came {}", arrived.from);
        }
    }
    session.everyone()?.barrier()?;
    Ok(())
}

/// A process that nobody has launched.
fn by_hand() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(2);
    let session = Session::join_existing(name.as_deref())?;
    let port = session.port("by hand");
    port.send_synchronously(0, 0, Message::new())?;
    println!("rank {} of {}", session.rank(), session.population());
    Ok(())
}

/// The first process signals the second one, until that has ended.
fn signalled() -> Result<(), Box<dyn Error>> {
    let signals = block_signals();
    let session = Session::join()?;
    let port = session.port("signals");
    if session.rank() == 1 {
        port.send(0, 0, Message::new())?;
        let mut number = 0;
        // SAFETY: both are ours.
        unsafe { libc::sigwait(&signals, &mut number) };
        println!("heard {number}");
        return Ok(());
    }
    port.receive(Some(1), None)?;
    session.signal(1, Signal::USR1)?;
    let _lost = port.receive(Some(1), None);
    let refused = loop {
        match session.signal(1, Signal::USR1) {
            Ok(()) => sleep(Duration::from_millis(5)),
            Err(error) => break error,
        }
    };
    println!("{refused}");
    Ok(())
}

/// The first process has others started on the host that is named, with what goes well there and
/// what does not.
fn elsewhere() -> Result<(), Box<dyn Error>> {
    let session = Session::join()?;
    let port = session.port("elsewhere");
    if session.rank() >= session.size() {
        let info = LaunchInfo::from_environment()?;
        let reported = (info.address, std::env::var("COLOUR").ok());
        port.send_synchronously(0, 0, Message::of(&reported)?)?;
        sleep(LONG);
        return Ok(());
    }
    let exe = std::env::current_exe()?;
    let options = SpawnOptions {
        host: std::env::args().nth(2),
        environment: vec![("COLOUR".into(), Some("a \"green\" one".into()))],
        arguments: vec!["elsewhere".into()],
        ..SpawnOptions::default()
    };
    let rank = session.spawn_with(&exe, 1, &options)?.remove(0)?;
    let reported = port.receive(Some(rank), None)?.payload;
    println!(
        "{:?}",
        reported.value::<(Option<IpAddr>, Option<String>)>()?
    );
    session.signal(rank, Signal::TERM)?;
    println!("lost: {}", port.receive(Some(rank), None).is_err());
    let missing = SpawnOptions {
        directory: Some("/no/such/directory".into()),
        ..options.clone()
    };
    let unknown = SpawnOptions {
        host: Some("node9.invalid".into()),
        ..options.clone()
    };
    for (program, options) in [
        (Path::new("/no/such/program"), &options),
        (Path::new("/proc/version"), &options),
        (Path::new("no-such-program"), &options),
        (&*exe, &missing),
        (&*exe, &unknown),
    ] {
        for outcome in session.spawn_with(program, 2, options)? {
            let why = outcome.expect_err("it cannot be there").to_string();
            println!("{}", why.replace('\n', " "));
        }
    }
    Ok(())
}

/// The second process ends without leaving its session; one that the first has started then says
/// how it finds that.
fn outlive() -> Result<(), Box<dyn Error>> {
    let session = Session::join()?;
    let port = session.port("end");
    match session.rank() {
        0 => {
            let _lost = port.receive(Some(1), None);
            let spawned = session.spawn(std::env::current_exe()?, ["outlive"], 1)?;
            port.receive(Some(spawned[0]), None)?;
        }
        1 => exit(0),
        _ => {
            let lost = port.receive(Some(1), None).map(drop);
            println!("{lost:?}");
            port.send_synchronously(0, 0, Message::new())?;
        }
    }
    Ok(())
}

/// The second process stops; the first says how that was found out, and ends it.
fn stop() -> Result<(), Box<dyn Error>> {
    let session = Session::join()?;
    let port = session.port("stop");
    if session.rank() == 1 {
        port.send(0, std::process::id(), Message::new())?;
        // SAFETY: stops this process.
        unsafe { libc::raise(libc::SIGSTOP) };
        return Ok(());
    }
    let id = i32::try_from(port.receive(Some(1), None)?.tag)?;
    println!("{:?}", port.receive(Some(1), None).map(|_| ()));
    // SAFETY: ends the other process.
    unsafe { libc::kill(id, libc::SIGKILL) };
    Ok(())
}

/// Has as many processes started, one after the other, as it reads a line for, and says when each
/// has ended.
fn spawn_many() -> Result<(), Box<dyn Error>> {
    let session = Session::join()?;
    println!("begun");
    for line in io::stdin().lines() {
        line?;
        let rank = session.spawn(std::env::current_exe()?, ["idle"], 1)?[0];
        let ended = session.port("end").receive(Some(rank), None);
        println!("{:?}", ended.map(drop).map_err(|_| rank));
        io::stdout().flush()?;
    }
    Ok(())
}

/// Launches a session over a platform, of so many processes in this mode; ends as it does.
fn launch() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let (over, count, mode, name) = match words.as_slice() {
        [over, count, mode] => (over, count, mode, None),
        [over, count, mode, name] => (over, count, mode, Some(name)),
        _ => return Err("launch PLATFORM COUNT MODE [NAME]".into()),
    };
    let over = match over.as_str() {
        "shm" => Over::Shm,
        "tcp" => Over::Tcp,
        "udp" => Over::Udp,
        "mpi" => Over::Mpi,
        other => return Err(format!("no platform `{other}`").into()),
    };
    if let Ok(kib) = std::env::var("MEMBER_SPARE_KIB") {
        spare_addresses(kib.parse()?)?;
    }
    let launch = Launch::new(over, count.parse()?, std::env::current_exe()?);
    let launch = launch.args([mode]).joinable(name);
    let running = launch.start().map_err(|error| error.to_string())?;
    let outcome = running.to_end(|line| {
        println!("{}", String::from_utf8_lossy(&line.text));
        let _ = io::stdout().flush();
    });
    let outcome = outcome.map_err(|error| error.to_string())?;
    exit(outcome.exit_code())
}

/// Lets this process have so many KiB of addresses more than it has.
fn spare_addresses(kib: u64) -> Result<(), Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    let now: u64 = words.ok_or("no size")?.parse()?;
    let bytes = (now + kib) << 10;
    let most = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: the structure is ours.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &most) };
    Ok(())
}

/// Tells all others who it is, until it has heard of all of them.
fn greet<P: Platform>(info: &LaunchInfo) -> Result<(), Box<dyn Error>> {
    let (platform, mut inbox) = P::join(info)?;
    let others = (0..info.size).filter(|&rank| rank != info.rank);
    let mut heard: Vec<Rank> = Vec::new();
    let mut events = Vec::new();
    let end = Instant::now() + LONG;
    // Once more at the end, for those that have not heard yet: the platform may lose it.
    while heard.len() + 1 < info.size as usize {
        for to in others.clone() {
            let _ = platform.send(to, Message::from(vec![info.rank as u8]));
        }
        inbox.receive(Some(Instant::now() + Duration::from_millis(5)), &mut events);
        for event in events.drain(..) {
            if let Event::Frame { from, frame } = event
                && !heard.contains(&from)
            {
                assert_eq!(frame, Message::from(vec![from as u8]));
                heard.push(from);
            }
        }
        if Instant::now() > end {
            return Err("the others were not heard".into());
        }
    }
    for to in others {
        (0..20).for_each(|_| {
            let _ = platform.send(to, Message::from(vec![info.rank as u8]));
        });
    }
    heard.sort_unstable();
    println!("heard {heard:?}");
    Ok(())
}

/// Rank 1 ends badly; when that is known, rank 2 does as well.
fn fail(info: &LaunchInfo) -> Result<(), Box<dyn Error>> {
    let (_shm, mut inbox) = Shm::join(info)?;
    if info.rank == 1 {
        exit(3);
    }
    let mut events = Vec::new();
    while !events
        .iter()
        .any(|e| matches!(e, Event::Lost { rank: 1, loss } if loss.is_certain))
    {
        inbox.receive(None, &mut events);
    }
    if info.rank == 2 {
        // So that the first end is noted first, on however busy a machine.
        sleep(Duration::from_secs(2));
        std::process::abort();
    }
    Ok(())
}
