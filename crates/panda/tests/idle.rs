//! What an idle peer costs in memory: at most 64 KiB, also one that sent long messages before.

mod members;

use antiphon_panda::platform::{Rank, join};
use antiphon_panda::{Error, Message, Seat, Session};

use members::{Members, say};

/// Of one more peer, in bytes.
const MOST: u64 = 64 << 10;
/// So many more are compared with one.
const MORE: u32 = 8;
/// Longer than what the platforms keep for short ones.
const LONG: usize = 200_000;
/// Whose memory is measured.
const MEASURED: Rank = 0;

#[test]
fn an_idle_peer_over_shm_takes_little_memory() {
    takes_little("shm");
}

#[test]
fn an_idle_peer_over_tcp_takes_little_memory() {
    takes_little("tcp");
}

#[test]
fn an_idle_peer_over_udp_takes_little_memory() {
    takes_little("udp");
}

fn takes_little(platform: &str) {
    let few = bytes(platform, 1);
    let each = bytes(platform, 1 + MORE).saturating_sub(few) / u64::from(MORE);
    println!("{platform}: {few} bytes with one peer, {each} for each more");
    assert!(each < MOST, "{platform}: {each} bytes");
}

/// What the first of them has of its own when all are idle.
fn bytes(platform: &str, peers: u32) -> u64 {
    let mut members = Members::start(platform, peers + 1, &[]);
    for rank in 0..=peers {
        members.wait_for(rank, "idle");
    }
    members.tell(MEASURED, "measure");
    let bytes = members.wait_for(MEASURED, "has bytes: ");
    bytes.parse().expect("a number")
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let seat = Seat::from_environment().expect("a seat");
    let session = join(&seat).expect("joined");
    greet(&session).expect("all are there");
    say("idle");
    std::io::stdin()
        .read_line(&mut String::new())
        .expect("a line");
    say(&format!("has bytes: {}", own_bytes()));
    std::thread::park();
}

/// All greet each other, and send the first a long message each; one after another, so that what it holds at once does not hide what it holds for each.
fn greet(session: &Session) -> Result<(), Error> {
    let port = session.port("greetings");
    let everyone = session.everyone()?;
    let others: Vec<Rank> = everyone.ranks().to_vec();
    let others = others.iter().filter(|rank| **rank != session.rank());
    for &to in others.clone() {
        port.send(to, 0, b"hello".as_slice())?;
    }
    for &from in others.clone() {
        port.receive(Some(from), Some(0))?;
    }
    if session.rank() == MEASURED {
        for &peer in others {
            port.send(peer, 1, Message::new())?;
            port.receive(Some(peer), Some(2))?;
        }
    } else {
        port.receive(Some(MEASURED), Some(1))?;
        port.send(MEASURED, 2, vec![7; LONG])?;
    }
    everyone.barrier()
}

/// The proportional set size of this process, without the pages of the program: one that two processes share counts half.
fn own_bytes() -> u64 {
    let smaps = std::fs::read_to_string("/proc/self/smaps_rollup").expect("this system says");
    let kib = |name: &str| {
        let line = smaps.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number
            .and_then(|number| number.parse::<u64>().ok())
            .expect("a number")
    };
    (kib("Pss_Anon:") + kib("Pss_Shmem:")) << 10
}
