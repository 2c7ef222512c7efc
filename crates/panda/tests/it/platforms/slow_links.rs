//! Messages that take longer to arrive than a peer may be silent, over slow connections. The system
//! paces them. No process is lost meanwhile.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use antiphon_panda::platform::{Bootstrap, Platform, Rank, Secret, Tcp};
use antiphon_panda::{GroupEvent, LaunchInfo, Message, Session};

use crate::process::in_own_process;

/// How long a peer may be silent: longer than a busy machine delays a thread.
const SILENCE: Duration = Duration::from_secs(3);
/// The rate of each connection, and a length that takes several silences at this rate.
const BYTES_PER_SECOND: u32 = 1_000_000;
const LONG: usize = 10_000_000;
/// Bounds waits that end far sooner.
const LIMIT: Duration = Duration::from_secs(120);

in_own_process! {
    who_sends_is_there_for_who_receives_from_it
    who_takes_is_there_for_who_waits_until_it_has
    who_takes_is_there_for_who_waits_for_room
    a_group_keeps_its_members
}

/// Returns sessions of threads of this process. Their connections are slow from now on.
fn sessions(size: u32) -> Vec<Session> {
    let any: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let bootstrap = Bootstrap::hold(any, size, Secret::fresh().unwrap()).unwrap();
    let join = |info: LaunchInfo| {
        let (tcp, inbox) = Tcp::join(&info).unwrap();
        Session::over(tcp, inbox, &info, SILENCE).unwrap()
    };
    let sessions = thread::scope(|scope| {
        let joining: Vec<_> = (0..size)
            .map(|rank| bootstrap.launch_info("tcp", rank))
            .map(|info| scope.spawn(move || join(info)))
            .collect();
        joining.into_iter().map(|one| one.join().unwrap()).collect()
    });
    pace();
    sessions
}

/// Paces all sockets of this process (`SO_MAX_PACING_RATE`, see `socket(7)`). All of them are this
/// test's.
fn pace() {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap();
    let numbers = descriptors.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    for number in numbers {
        // SAFETY: the value lives during the call. A descriptor that is no socket, or is closed by
        // now, is refused.
        unsafe {
            libc::setsockopt(
                number,
                libc::SOL_SOCKET,
                libc::SO_MAX_PACING_RATE,
                std::ptr::from_ref(&BYTES_PER_SECOND).cast(),
                size_of_val(&BYTES_PER_SECOND) as libc::socklen_t,
            )
        };
    }
}

fn long() -> Message {
    Message::from(vec![7; LONG])
}

/// The first of two processes sends. Checks that it ends well at both.
fn sent(send: impl FnOnce(&Session) + Send) {
    let [sender, receiver] = &sessions(2)[..] else {
        unreachable!("two of them");
    };
    thread::scope(|scope| {
        scope.spawn(|| send(sender));
        let arrived = receiver.port("long").receive(Some(0), None);
        assert_eq!(arrived.expect("it lives").payload.len(), LONG);
        // Both still know each other.
        let greeting = receiver.port("greeting");
        greeting.send_synchronously(0, 0, Message::new()).unwrap();
    });
    assert_eq!(receiver.why_lost(0), None);
    assert_eq!(sender.why_lost(1), None);
}

fn greeted(sender: &Session) {
    sender.port("greeting").receive(Some(1), None).unwrap();
}

#[test]
#[ignore = "in_own_process: all its sockets become slow"]
fn who_sends_is_there_for_who_receives_from_it() {
    sent(|sender| {
        sender.port("long").send(1, 0, long()).unwrap();
        greeted(sender);
    });
}

#[test]
#[ignore = "in_own_process: all its sockets become slow"]
fn who_takes_is_there_for_who_waits_until_it_has() {
    sent(|sender| {
        let port = sender.port("long");
        port.send_synchronously(1, 0, long()).unwrap();
        greeted(sender);
    });
}

#[test]
#[ignore = "in_own_process: all its sockets become slow"]
fn who_takes_is_there_for_who_waits_for_room() {
    sent(|sender| {
        let port = sender.port("long");
        port.send(1, 0, long()).unwrap();
        port.send(1, 1, b"waits".as_slice()).unwrap();
        greeted(sender);
    });
}

#[test]
#[ignore = "in_own_process: all its sockets become slow"]
fn a_group_keeps_its_members() {
    let sessions = sessions(3);
    let (tells, reported) = mpsc::channel::<(Rank, Result<usize, String>)>();
    let groups: Vec<_> = thread::scope(|scope| {
        let joining: Vec<_> = sessions
            .iter()
            .map(|session| {
                let (rank, tells) = (session.rank(), tells.clone());
                let tell = move |said| drop(tells.send((rank, said)));
                let join = || {
                    session.join_group("long", move |event| match event {
                        GroupEvent::Message { payload, .. } => tell(Ok(payload.len())),
                        GroupEvent::View { left, .. } if left.is_empty() => {}
                        other => tell(Err(format!("{other:?}"))),
                    })
                };
                scope.spawn(move || join().unwrap())
            })
            .collect();
        joining.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for group in &groups {
        while group.members().len() < 3 {
            thread::sleep(Duration::from_millis(5));
        }
    }
    // The last process is not the sequencer.
    groups[2].send(long()).unwrap();
    let mut heard: Vec<_> = (0..3)
        .map(|_| reported.recv_timeout(LIMIT).unwrap())
        .collect();
    heard.sort_unstable();
    assert_eq!(heard, [0, 1, 2].map(|rank| (rank, Ok(LONG))));
    assert!(groups.iter().all(|group| group.members().len() == 3));
}
