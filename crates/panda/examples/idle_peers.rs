//! The memory of an idle peer:
//! `cargo run --release -p antiphon-panda --example idle_peers -- PLATFORM PEERS`.
//!
//! All processes of a session greet each other, send rank 0 a long message each, and then do
//! nothing. The example prints the memory of rank 0, and that of a rank 0 with a single peer. It is
//! the proportional set size without the program's own pages. A page that two processes share
//! counts half. Socket memory of the kernel is not included.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use antiphon_panda::platform::{Bootstrap, Secret, shm, udp};
use antiphon_panda::{Error, LaunchInfo, Message, Session};

const LONG: usize = 200_000;
const PLATFORMS: [&str; 3] = ["shm", "tcp", "udp"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    match &words[1..] {
        [] => Ok(member()?),
        [platform, peers] => compare(platform, peers.parse()?),
        _ => Err("usage: idle_peers PLATFORM PEERS".into()),
    }
}

/// Compares two sessions: one with a single peer, and one with many.
fn compare(platform: &str, peers: u32) -> Result<(), Box<dyn std::error::Error>> {
    if !PLATFORMS.contains(&platform) {
        return Err(format!(
            "no platform `{platform}`: it is one of {}",
            PLATFORMS.join(", ")
        )
        .into());
    }
    let (few, many) = (bytes(platform, 1)?, bytes(platform, peers)?);
    let each = many.saturating_sub(few) / u64::from(peers.max(2) - 1);
    println!("{platform}: {few} bytes with one peer, {many} with {peers}: {each} for each more");
    Ok(())
}

/// Returns the proportional set size of rank 0 when all are idle.
fn bytes(platform: &str, peers: u32) -> Result<u64, Box<dyn std::error::Error>> {
    let size = peers + 1;
    let secret = Secret::fresh()?;
    let shm = shm::Bootstrap::new(size, secret)?;
    let udp = udp::Bootstrap::new(size, secret)?;
    let tcp = Bootstrap::hold(([127, 0, 0, 1], 0).into(), size, secret)?;
    let launch_info = |rank| match platform {
        "shm" => shm.launch_info(rank),
        "udp" => udp.launch_info(rank),
        _ => tcp.launch_info("tcp", rank),
    };
    let mut members: Vec<Child> = (0..size)
        .map(|rank| start(&launch_info(rank)))
        .collect::<Result<_, _>>()?;
    for member in &mut members {
        let output = member.stdout.as_mut().ok_or("a pipe")?;
        BufReader::new(output).read_line(&mut String::new())?;
    }
    let smaps = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", members[0].id()))?;
    // The program's own pages do not count: more processes only share them.
    let kib = |name: &str| {
        let line = smaps.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
    };
    let kib = kib("Pss_Anon:").zip(kib("Pss_Shmem:")).map(|(a, b)| a + b);
    let inputs: Vec<Option<ChildStdin>> = members.iter_mut().map(|m| m.stdin.take()).collect();
    drop(inputs);
    for mut member in members {
        member.wait()?;
    }
    Ok(kib.ok_or("this system does not say")? << 10)
}

fn start(info: &LaunchInfo) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .envs(info.to_environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
}

fn member() -> Result<(), Error> {
    let session = Session::join()?;
    let port = session.port("greetings");
    let others: Vec<u32> = (0..session.size())
        .filter(|&r| r != session.rank())
        .collect();
    for &to in &others {
        port.send(to, 0, Message::from(b"hello".as_slice()))?;
    }
    for _ in &others {
        port.receive(None, Some(0))?;
    }
    // The peers send one after another. Otherwise the memory that all need at once would hide the
    // memory that each keeps.
    if session.rank() == 0 {
        for &peer in &others {
            port.send(peer, 1, Message::new())?;
            drop(port.receive(Some(peer), Some(2))?);
        }
    } else {
        port.receive(Some(0), Some(1))?;
        port.send(0, 2, Message::from(vec![7; LONG]))?;
    }
    session.everyone()?.barrier()?;
    println!("idle");
    let _ = std::io::stdout().flush();
    // Waits until the measuring process is done.
    let _ = std::io::stdin().read_line(&mut String::new());
    Ok(())
}
