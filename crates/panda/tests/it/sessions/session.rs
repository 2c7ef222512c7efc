//! Services of a session besides messages, and the addresses at which its sockets listen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::{Bootstrap, Local, Secret, udp};
use antiphon_panda::{Error, Message, Session};

use crate::process::in_own_process;

fn pair() -> (Session, Session) {
    let mut sessions = Local::sessions(2).unwrap();
    let other = sessions.pop().unwrap();
    (sessions.pop().unwrap(), other)
}

#[test]
fn a_wait_ends_when_an_upcall_makes_it_hold_or_its_time_has_passed() {
    let (own, other) = pair();
    let sum = Arc::<AtomicU32>::default();
    let of_upcall = sum.clone();
    own.port("sum")
        .on_message(move |arrived| {
            of_upcall.fetch_add(arrived.tag, SeqCst);
        })
        .unwrap();
    let holds = || sum.load(SeqCst) == 6;
    let passed = Instant::now();
    assert!(!own.wait_until(holds, Some(passed)).unwrap());
    let port = other.port("sum");
    let sender = thread::spawn(move || {
        for tag in 1..=3 {
            port.send(0, tag, Message::new()).unwrap();
        }
    });
    assert!(own.wait_until(holds, None).unwrap());
    // A condition that holds already does not depend on the timeout.
    assert!(own.wait_until(holds, Some(passed)).unwrap());
    sender.join().unwrap();
}

#[test]
fn threads_that_wait_see_a_change_that_another_thread_announces() {
    let (own, _other) = pair();
    let flag = Arc::<AtomicU32>::default();
    // One of them drives, and the others wait for it.
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let (session, flag) = (own.clone(), flag.clone());
            thread::spawn(move || session.wait_until(|| flag.load(SeqCst) == 1, None))
        })
        .collect();
    thread::sleep(Duration::from_millis(20));
    flag.store(1, SeqCst);
    own.notify();
    for waiter in waiters {
        assert!(waiter.join().unwrap().unwrap());
    }
}

#[test]
fn upcalls_run_on_a_thread_that_polls() {
    let (own, other) = pair();
    let on = Arc::<parking_lot::Mutex<Vec<thread::ThreadId>>>::default();
    let of_upcall = on.clone();
    own.port("polled")
        .on_message(move |_| of_upcall.lock().push(thread::current().id()))
        .unwrap();
    // Messages that come while no thread polls may be handled by the session's own thread. But a
    // thread that polls again and again gets its share.
    let is_here = || on.lock().contains(&thread::current().id());
    while !is_here() {
        other.port("polled").send(0, 0, Message::new()).unwrap();
        own.poll();
    }
    assert!(other.port("nothing").poll(None, None).is_none());
}

#[test]
fn who_receives_from_anybody_is_told_when_nobody_is_left() {
    let mut sessions = Local::sessions(3).unwrap();
    let others = sessions.split_off(1);
    let own = sessions.pop().unwrap();
    assert_eq!(own.why_lost(1), None);
    let port = own.port("any");
    let waits = thread::spawn(move || (port.receive(None, None), own));
    others[1].port("any").send(0, 7, Message::new()).unwrap();
    let (first, own) = waits.join().unwrap();
    assert_eq!(first.unwrap().from, 2);
    let port = own.port("any");
    let waits = thread::spawn(move || port.receive(None, None));
    drop(others);
    let reported = waits.join().unwrap();
    assert!(matches!(reported, Err(Error::Lost { .. })), "{reported:?}");
    assert!(own.why_lost(1).is_some() && own.why_lost(2).is_some());
    // So does a later call.
    assert!(own.port("any").receive(None, None).is_err());
}

#[test]
fn the_last_that_serves_a_name_answers() {
    let (own, other) = pair();
    for answer in [b"first".as_slice(), b"second"] {
        other
            .serve("name", move |call| call.reply.send(answer))
            .unwrap();
        let reply = own.call(1, "name", Message::new(), None).unwrap();
        assert_eq!(reply.to_bytes(), answer);
    }
}

/// Returns the local addresses of this process's sockets, as the system lists them.
fn addresses(table: &str) -> Vec<String> {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = links.flat_map(|link| std::fs::read_link(link.path()));
    let own: BTreeSet<String> = targets
        .filter_map(|target| {
            let target = target.to_str()?.strip_prefix("socket:[")?;
            Some(target.strip_suffix(']')?.to_owned())
        })
        .collect();
    let text = std::fs::read_to_string(format!("/proc/self/net/{table}")).unwrap_or_default();
    let words = text.lines().skip(1).map(|line| line.split_whitespace());
    words
        .map(|line| line.collect::<Vec<_>>())
        .filter(|line| line.get(9).is_some_and(|inode| own.contains(*inode)))
        .map(|line| line[1].to_owned())
        .collect()
}

in_own_process! {
    sockets_are_bound_to_the_loopback_alone
}

#[test]
#[ignore = "in_own_process: it looks for the process's sockets"]
fn sockets_are_bound_to_the_loopback_alone() {
    let secret = Secret::fresh().unwrap();
    let tcp = Bootstrap::hold("127.0.0.1:0".parse().unwrap(), 2, secret).unwrap();
    let udp = udp::Bootstrap::new(2, secret).unwrap();
    let infos = (0..2).flat_map(|rank| [tcp.launch_info("tcp", rank), udp.launch_info(rank)]);
    let joining: Vec<_> = infos
        .map(|info| thread::spawn(move || antiphon_panda::platform::join(&info).unwrap()))
        .collect();
    let joined: Vec<Session> = joining
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    for table in ["tcp", "udp"] {
        let addresses = addresses(table);
        assert!(addresses.len() >= 2, "{table}: {addresses:?}");
        let strange: Vec<_> = addresses
            .iter()
            .filter(|address| !address.starts_with(&loopback()))
            .collect();
        assert!(strange.is_empty(), "{table}: {strange:?}");
        let long = self::addresses(&format!("{table}6"));
        assert!(long.is_empty(), "{table}6: {long:?}");
    }
    drop(joined);
}

/// Returns 127.0.0.1 as the system prints it: the word in memory, as a number.
fn loopback() -> String {
    format!("{:08X}:", u32::from_ne_bytes([127, 0, 0, 1]))
}
