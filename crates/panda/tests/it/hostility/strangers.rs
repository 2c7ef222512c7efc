//! Strangers at the sockets: they connect and send nothing, or slowly, or garbage, or too much, in
//! numbers. The session goes on, others join, and the strangers' cost is bounded.

use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use super::caller::{self, BOOTSTRAP, CONNECTS, FRAMES, NO_RANK, own_sockets};
use crate::allocations::{self, live};
use crate::process::in_own_process;
use antiphon_panda::platform::{Bootstrap, Platform, Secret, Tcp, Udp, udp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{LaunchInfo, Message, Session};
use antiphon_panda_core::Chance;
use socket2::SockRef;

/// Connections of each kind of stranger.
const STRANGERS: usize = 150;
/// Bytes by which the session's own memory may grow meanwhile.
const KEPT: isize = 4 << 20;
/// Connections that a socket keeps before they have proven themselves, in a session of two.
const GREETINGS_MAX: usize = 64 + 2;

fn join<P: Platform>(info: &LaunchInfo) -> Session {
    let (platform, inbox) = P::join(info).unwrap();
    let session = Session::over(platform, inbox, info, SILENCE).unwrap();
    session
        .serve("echo", |call| call.reply.send(call.payload))
        .unwrap();
    session
}

fn join_all<P: Platform>(infos: Vec<LaunchInfo>) -> Vec<Session> {
    let joining: Vec<_> = infos
        .into_iter()
        .map(|info| thread::spawn(move || join::<P>(&info)))
        .collect();
    let sessions = joining.into_iter().map(|one| one.join().unwrap());
    sessions.collect()
}

/// Checks that the session still carries messages.
fn works(sessions: &[Session]) {
    for from in sessions {
        // The others learn of a late process a moment later.
        let are_known = || from.population() as usize >= sessions.len();
        from.wait_until(are_known, None).unwrap();
        for to in (0..sessions.len() as u32).filter(|to| *to != from.rank()) {
            for number in 0..20_u64 {
                let payload = Message::of(&number).unwrap();
                let reply = from.call(to, "echo", payload, None).unwrap();
                assert_eq!(reply.value::<u64>().unwrap(), number);
            }
        }
    }
}

fn counts() -> (usize, usize) {
    let fds = fs::read_dir("/proc/self/fd").unwrap().count();
    (fds, fs::read_dir("/proc/self/task").unwrap().count())
}

/// Returns openings that strangers send without the secret.
fn sayings(secret: Secret, chance: &mut Chance) -> Vec<Vec<u8>> {
    let noise = (0..4096).map(|_| chance.draw() as u8).collect();
    let mut sayings = vec![
        Vec::new(),
        vec![0; 1],
        vec![0xff; 16],
        secret.0.to_vec(),
        noise,
    ];
    for meant in [0, 1, NO_RANK] {
        // A beginning without an end, a challenge without an answer, a wrong answer, and a name
        // without a length.
        sayings.push(caller::opening(7, meant, 255, b"short"));
        sayings.push(caller::opening(7, meant, 4, b"mute"));
        let almost = caller::proof(secret, FRAMES, CONNECTS, &[]);
        let wrong = [caller::opening(7, meant, 5, b"wrong"), almost.to_vec()];
        sayings.push(wrong.concat());
        sayings.push(caller::opening(7, meant, 0, b""));
    }
    sayings
}

/// Connects with a leaked secret, as ranks that are free or taken.
fn leaks(address: SocketAddr, secret: Secret) -> Vec<TcpStream> {
    let ranks = [u32::MAX, 0, 1].into_iter();
    let calls = ranks.flat_map(|own| {
        [
            (FRAMES, own, 0),
            (FRAMES, own, 1),
            (BOOTSTRAP, own, NO_RANK),
        ]
    });
    calls
        .filter_map(|who| caller::call(address, secret, who))
        .collect()
}

in_own_process! {
    strangers_at_tcp_sockets_cost_little_and_keep_nobody_out
    a_member_that_announces_too_much_is_lost_and_costs_nothing
    strangers_at_udp_sockets_are_not_heard
}

#[test]
#[ignore = "in_own_process: it counts what the process holds"]
fn strangers_at_tcp_sockets_cost_little_and_keep_nobody_out() {
    allocations::count_process();
    let secret = Secret::fresh().unwrap();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bootstrap = Bootstrap::hold(any, 2, secret).unwrap();
    let infos = (0..2)
        .map(|rank| bootstrap.launch_info("tcp", rank))
        .collect();
    let mut sessions = join_all::<Tcp>(infos);
    works(&sessions);
    let listening = own_sockets("tcp", "0A");
    assert_eq!(listening.len(), 3, "two processes and their bootstrap");
    let (before, (_, tasks)) = (live(), counts());

    let mut chance = Chance::new(1);
    let sayings = sayings(secret, &mut chance);
    let mut strangers: Vec<TcpStream> = Vec::new();
    for address in &listening {
        for number in 0..STRANGERS {
            let mut stranger = TcpStream::connect(address).unwrap();
            // A caller that was disconnected may learn of it here.
            let _ = stranger.write_all(&sayings[number % sayings.len()]);
            strangers.push(stranger);
        }
        strangers.extend(leaks(*address, secret));
    }
    works(&sessions);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Sends byte by byte, and never ends.
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                for stranger in &mut strangers {
                    let _ = stranger.write_all(&[0]);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let info = sessions[1].allot(1).unwrap().remove(0);
        sessions.push(join::<Tcp>(&info));
        works(&sessions);
        is_over.store(true, Relaxed);
    });
    let (_, tasks_now) = counts();
    assert!(
        tasks_now <= tasks + GREETINGS_MAX + STRANGERS / 4,
        "{tasks_now} threads after {tasks}"
    );
    let grown = live() - before;
    assert!(grown < KEPT, "strangers cost {grown} bytes");
    // All but a few of them have been disconnected.
    let is_open = |mut stranger: &TcpStream| {
        stranger.set_nonblocking(true).unwrap();
        let read = stranger.read(&mut [0; 16]);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let open = strangers.iter().filter(|one| is_open(one)).count();
    assert!(open <= 3 * GREETINGS_MAX, "{open} connections are held");
}

#[test]
#[ignore = "in_own_process: it counts what the process holds"]
fn a_member_that_announces_too_much_is_lost_and_costs_nothing() {
    allocations::count_process();
    let secret = Secret::fresh().unwrap();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bootstrap = Bootstrap::hold(any, 2, secret).unwrap();
    let infos = (0..2)
        .map(|rank| bootstrap.launch_info("tcp", rank))
        .collect();
    let sessions = join_all::<Tcp>(infos);
    works(&sessions);
    let before = live();
    // Any process of the session knows the secret.
    let call = |address, own| {
        let meant = [
            (FRAMES, own, 0),
            (FRAMES, own, 1),
            (BOOTSTRAP, own, NO_RANK),
        ];
        let mut calls = meant.into_iter();
        let call = calls.find_map(|who| caller::call(address, secret, who));
        call.expect("one of the three")
    };
    for address in own_sockets("tcp", "0A") {
        let mut liar = call(address, 9);
        // A length that fits into an address space is accepted, and memory is allocated only as
        // bytes arrive. A greater one is refused.
        for length in [1_u64 << 40, u64::MAX] {
            let _ = liar.write_all(&length.to_le_bytes());
            let _ = liar.write_all(&[1; 1000]);
            works(&sessions);
            let grown = live() - before;
            assert!(grown < KEPT, "an announcement cost {grown} bytes");
        }
        let mut liar = call(address, 10);
        let _ = liar.write_all(&u64::MAX.to_le_bytes());
        assert!(
            caller::is_hung_up(&liar),
            "who announces more than anybody sends is hung up on"
        );
    }
    works(&sessions);
}

#[test]
#[ignore = "in_own_process: it counts what the process holds"]
fn strangers_at_udp_sockets_are_not_heard() {
    allocations::count_process();
    let secret = Secret::fresh().unwrap();
    let bootstrap = udp::Bootstrap::new(2, secret).unwrap();
    let infos = (0..2).map(|rank| bootstrap.launch_info(rank)).collect();
    let mut sessions = join_all::<Udp>(infos);
    works(&sessions);
    let targets = own_sockets("udp", "07");
    assert!(targets.len() >= 3, "two processes and their bootstrap");
    let before = live();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
            let mut chance = Chance::new(1);
            let mut noise: Vec<u8> = (0..20_000).map(|_| chance.draw() as u8).collect();
            while !is_over.load(Relaxed) {
                for target in &targets {
                    // Begins as a real frame does, with any length.
                    noise[0] = 1 + chance.below(2) as u8;
                    noise[1..5].copy_from_slice(&(chance.below(3) as u32).to_le_bytes());
                    let length = match chance.below(3) {
                        0 => chance.below(20),
                        1 => chance.below(1500),
                        _ => chance.below(20_000),
                    };
                    let _ = stranger.send_to(&noise[..length as usize], target);
                }
                thread::sleep(Duration::from_micros(100));
            }
        });
        works(&sessions);
        let info = sessions[0].allot(1).unwrap().remove(0);
        sessions.push(join::<Udp>(&info));
        for _ in 0..5 {
            works(&sessions);
        }
        is_over.store(true, Relaxed);
    });
    let grown = live() - before;
    assert!(grown < KEPT, "strangers cost {grown} bytes");
    assert_eq!(sessions[0].population(), 3, "nobody else was let in");
}

/// Ends a flood, also when the rest of the test fails.
struct Flood<'a>(&'a AtomicBool);

impl Drop for Flood<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn a_flood_at_the_bootstrap_fails_no_start() {
    for _ in 0..3 {
        let secret = Secret::fresh().unwrap();
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let bootstrap = Bootstrap::hold(any, 2, secret).unwrap();
        let infos: Vec<_> = (0..2)
            .map(|rank| bootstrap.launch_info("tcp", rank))
            .collect();
        let at: SocketAddr = infos[0].bootstrap.parse().unwrap();
        let (is_over, connected) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            let flood = Flood(&is_over);
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut held = VecDeque::new();
                    while !is_over.load(Relaxed) {
                        let stranger = TcpStream::connect_timeout(&at, Duration::from_secs(1));
                        let Ok(stranger) = stranger else { continue };
                        // Closing then frees the port at once.
                        let _ = SockRef::from(&stranger).set_linger(Some(Duration::ZERO));
                        held.push_back(stranger);
                        if held.len() > 100 {
                            held.pop_front();
                        }
                        connected.fetch_add(1, Relaxed);
                        thread::sleep(Duration::from_micros(50));
                    }
                });
            }
            while connected.load(Relaxed) < 500 {
                thread::sleep(Duration::from_millis(1));
            }
            works(&join_all::<Tcp>(infos));
            drop(flood);
        });
    }
}
