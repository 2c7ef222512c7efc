//! Payloads are not copied on their way. Within a process a receiver gets the sender's memory. To
//! send bytes out of a process takes no memory of the message's length.

use std::sync::mpsc;

use antiphon_panda::platform::{Local, Rank, join};
use antiphon_panda::{GroupEvent, LaunchInfo, Message, Session};

use crate::allocations;
use crate::members::{LIMIT, Members, say};

const LONG: usize = 1 << 20;
const SENDER: Rank = 0;
const RECEIVER: Rank = 1;

/// Returns a long payload, and its address.
fn payload() -> (Vec<u8>, *const u8) {
    let payload = vec![7; LONG];
    let at = payload.as_ptr();
    (payload, at)
}

/// Checks that the payload lies in one piece at this address.
fn lies_at(what: &str, payload: &Message, at: *const u8) {
    let pieces: Vec<&[u8]> = payload.slices().collect();
    let places: Vec<_> = pieces.iter().map(|piece| piece.as_ptr()).collect();
    assert_eq!(places, [at], "{what} was copied");
    assert_eq!(pieces[0].len(), LONG, "{what} was cut");
}

fn two() -> [Session; 2] {
    let sessions = Local::sessions(2).unwrap();
    sessions.try_into().ok().expect("two")
}

#[test]
fn a_message_within_a_process_is_the_senders() {
    let [sender, receiver] = two();
    let (sent, at) = payload();
    sender.port("long").send(1, 0, sent).unwrap();
    let arrived = receiver.port("long").receive(None, None).unwrap();
    lies_at("a message", &arrived.payload, at);
}

#[test]
fn arguments_and_replies_within_a_process_are_the_senders() {
    let [caller, server] = two();
    let (sent, at) = payload();
    let echo = |call: antiphon_panda::Call| call.reply.send(call.payload);
    server.serve("echo", echo).unwrap();
    let reply = caller.call(1, "echo", sent, None).unwrap();
    lies_at("a reply", &reply, at);
}

#[test]
fn a_groups_message_within_a_process_is_the_senders() {
    let [sender, other] = two();
    let (events, seen) = mpsc::channel();
    let upcall = move |event| {
        if let GroupEvent::Message { payload, .. } = event {
            let _ = events.send(payload);
        }
    };
    let _other = other.join_group("long", upcall.clone()).unwrap();
    let group = sender.join_group("long", upcall).unwrap();
    let (sent, at) = payload();
    group.send(sent).unwrap();
    for _ in 0..2 {
        let payload = seen.recv_timeout(LIMIT).expect("delivered to both");
        lies_at("a group's message", &payload, at);
    }
}

#[test]
fn a_broadcast_within_a_process_is_the_roots() {
    let [root, other] = two();
    let (sent, at) = payload();
    let other = std::thread::spawn(move || {
        let everyone = other.everyone().unwrap();
        everyone.broadcast_bytes(0, None).unwrap()
    });
    let everyone = root.everyone().unwrap();
    everyone.broadcast_bytes(0, Some(sent.into())).unwrap();
    lies_at("a broadcast", &other.join().unwrap(), at);
}

#[test]
fn a_sender_over_shm_needs_no_memory_for_a_long_message() {
    allocates_little("shm");
}

#[test]
fn a_sender_over_tcp_needs_no_memory_for_a_long_message() {
    allocates_little("tcp");
}

#[test]
fn a_sender_over_udp_needs_no_memory_for_a_long_message() {
    allocates_little("udp");
}

/// Counts at the sender alone, because the receiver is another process.
fn allocates_little(platform: &str) {
    let mut members = Members::start(module_path!(), platform, 2, &[]);
    let allocated = members.wait_for(SENDER, "allocated ");
    let allocated: usize = allocated.parse().expect("a number");
    println!("{platform}: {allocated} bytes for a message of {LONG}");
    // This bound is less than one copy. The many datagrams each take a little memory besides their
    // part of the message.
    assert!(allocated < LONG / 2, "{allocated} bytes");
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let info = LaunchInfo::from_environment().expect("launch info");
    let session = join(&info).expect("joined");
    let port = session.port("long");
    if session.rank() == RECEIVER {
        while let Ok(arrived) = port.receive(Some(SENDER), None) {
            assert_eq!(arrived.payload.len(), LONG);
        }
        return;
    }
    allocations::count_process();
    // The first message allocates buffers that stay.
    let least = (0..8).map(|_| allocated_for_one(&session)).min();
    say(&format!("allocated {}", least.expect("some")));
    std::io::stdin()
        .read_line(&mut String::new())
        .expect("a line");
}

/// Returns the bytes that this process allocates while it sends a long message, until that was
/// received.
fn allocated_for_one(session: &Session) -> usize {
    let (sent, _) = payload();
    let message = Message::from(sent);
    let before = allocations::allocated();
    let port = session.port("long");
    port.send_synchronously(RECEIVER, 0, message).unwrap();
    allocations::allocated() - before
}
