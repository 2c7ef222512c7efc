//! A program gets the events of all its peers, also while it waits for none of them.

use std::sync::Mutex;
use std::thread;

use antiphon_panda::platform::Rank;
use antiphon_panda::{PeerEvent, Session};

use crate::members::{Members, say};

const FOLLOWER: Rank = 0;
const STOPPED: Rank = 1;
const KILLED: Rank = 2;

macro_rules! follows {
    ($($test:ident: $platform:literal;)*) => {
        $(#[test]
        fn $test() {
            lose_two($platform);
        })*
    };
}

follows! {
    losses_are_told_over_shm: "shm";
    losses_are_told_over_tcp: "tcp";
    losses_are_told_over_udp: "udp";
}

fn lose_two(platform: &str) {
    let mut members = Members::start(module_path!(), platform, 3, &[]);
    for rank in [STOPPED, KILLED] {
        members.wait_for(FOLLOWER, &format!("{rank} joined"));
    }
    members.signal(KILLED, libc::SIGKILL);
    members.wait_for(FOLLOWER, &format!("{KILLED} lost"));
    members.signal(STOPPED, libc::SIGSTOP);
    members.wait_for(FOLLOWER, &format!("{STOPPED} lost"));
    members.signal(STOPPED, libc::SIGCONT);
    members.wait_for(FOLLOWER, &format!("{STOPPED} joined"));
    // No event came twice.
    let all = format!("[(1, 3), ({KILLED}, 2)]");
    members.tell(FOLLOWER, "count");
    members.wait_for(FOLLOWER, &all);
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let session = Session::join().unwrap();
    session.everyone().unwrap().barrier().unwrap();
    if session.rank() == FOLLOWER {
        let counts: &'static Mutex<[u32; 3]> = Box::leak(Box::default());
        let upcall = move |rank: Rank, event: PeerEvent| {
            counts.lock().unwrap()[rank as usize] += 1;
            say(&match event {
                PeerEvent::Joined => format!("{rank} joined"),
                PeerEvent::Left => format!("{rank} left"),
                PeerEvent::Lost { .. } => format!("{rank} lost"),
            });
        };
        session.on_peer(upcall).unwrap();
        std::io::stdin()
            .read_line(&mut String::new())
            .expect("a line");
        let counts = *counts.lock().unwrap();
        say(&format!(
            "{:?}",
            [(STOPPED, counts[1]), (KILLED, counts[2])]
        ));
    }
    thread::park();
}
