//! Long messages over `udp` beside bare datagrams of the same lengths, in turns: 1 MiB a message,
//! both ends in this process on threads of their own.
//!
//! Bare sockets keep as many datagrams under way as the receiver's buffer takes, which costs an
//! acknowledgement now and then and nothing else. `ROUNDS` says how many turns each gets (9), `MIB`
//! how many messages a turn (64).

// The suite `layer` measures the same between processes.
#[path = "../../layer/src/bare/window.rs"]
mod window;

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::{Platform, Secret, Udp, udp};
use antiphon_panda::{LaunchInfo, Message, Session};
use window::{Receiver, Sender};

const MIB: usize = 1 << 20;
fn number(variable: &str, otherwise: usize) -> usize {
    let given = std::env::var(variable).ok();
    given
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

struct Bare {
    from: UdpSocket,
    to: UdpSocket,
}

impl Bare {
    fn new() -> Self {
        let open = || UdpSocket::bind("127.0.0.1:0").expect("a port");
        let (from, to) = (open(), open());
        from.connect(to.local_addr().expect("bound")).expect("set");
        to.connect(from.local_addr().expect("bound")).expect("set");
        Self { from, to }
    }

    /// Sends `count` messages of a MiB, and returns how long that took.
    fn carry(&self, count: usize) -> Duration {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut receiver, mut space) = (Receiver::default(), vec![0; MIB]);
                for _ in 0..count {
                    let received = receiver.receive(&self.to, &mut space);
                    received.expect("received");
                }
                receiver.confirm(&self.to).expect("sent");
            });
            let (mut sender, message) = (Sender::default(), vec![1; MIB]);
            let began = Instant::now();
            for _ in 0..count {
                sender.send(&self.from, &message).expect("sent");
            }
            sender.confirm(&self.from).expect("confirmed");
            began.elapsed()
        })
    }
}

fn session() -> [Session; 2] {
    let secret = Secret::fresh().expect("random numbers");
    let bootstrap = udp::Bootstrap::new(2, secret).expect("a port");
    let join = |info: LaunchInfo| {
        thread::spawn(move || {
            let (platform, inbox) = Udp::join(&info).expect("joined");
            Session::over(platform, inbox, &info, Duration::from_secs(3)).expect("a thread")
        })
    };
    let joining = [0, 1].map(|rank| join(bootstrap.launch_info(rank)));
    joining.map(|one| one.join().expect("no panic"))
}

/// Sends `count` messages of a MiB, and returns how long that took.
fn carry(sessions: &[Session; 2], count: usize) -> Duration {
    let bytes = bytes_of_a_mib();
    thread::scope(|scope| {
        scope.spawn(|| {
            let port = sessions[1].port("long");
            for _ in 0..count {
                let arrived = port.receive(Some(0), None).expect("received");
                assert_eq!(arrived.payload.len(), MIB);
            }
            port.send(0, 0, Message::new()).expect("sent");
        });
        let began = Instant::now();
        let port = sessions[0].port("long");
        for _ in 0..count {
            port.send(1, 0, bytes.clone()).expect("sent");
        }
        port.receive(Some(1), None).expect("received");
        began.elapsed()
    })
}

fn bytes_of_a_mib() -> Message {
    Message::from(vec![7; MIB])
}

fn main() {
    let (rounds, count) = (number("ROUNDS", 9), number("MIB", 64));
    let (bare, sessions) = (Bare::new(), session());
    carry(&sessions, count);
    let mut turns: Vec<(f64, f64)> = (0..rounds)
        .map(|_| {
            let rate = |time: Duration| (count * MIB) as f64 / time.as_secs_f64() / 1e6;
            (rate(bare.carry(count)), rate(carry(&sessions, count)))
        })
        .collect();
    turns.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (bare, udp) = turns[rounds / 2];
    println!(
        "bare datagrams {bare:.0} MB/s, udp {udp:.0} MB/s: {:.2} of it",
        udp / bare
    );
    let (least, most) = (turns[0], turns[rounds - 1]);
    println!(
        "over {rounds} rounds: {:.2} to {:.2}",
        least.1 / least.0,
        most.1 / most.0
    );
}
