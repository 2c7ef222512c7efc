//! The window, apart from its file, which a benchmark has as well.

use std::io::ErrorKind;
use std::net::UdpSocket;

use super::window::{DATAGRAM, EVERY, Receiver, Sender, WINDOW};

fn pair() -> [UdpSocket; 2] {
    let open = || UdpSocket::bind("127.0.0.1:0").expect("a port");
    let (one, other) = (open(), open());
    one.connect(other.local_addr().expect("bound"))
        .expect("set");
    other
        .connect(one.local_addr().expect("bound"))
        .expect("set");
    [one, other]
}

#[test]
fn messages_of_all_lengths_arrive_and_are_confirmed() {
    let [from, to] = pair();
    let lengths = [1, DATAGRAM, DATAGRAM + 1, 1 << 20];
    let received = std::thread::spawn(move || {
        let mut receiver = Receiver::default();
        for length in lengths {
            let mut space = vec![0; length];
            receiver.receive(&to, &mut space).expect("received");
            assert_eq!(space, vec![length as u8; length]);
            receiver.confirm(&to).expect("sent");
        }
    });
    let mut sender = Sender::default();
    for length in lengths {
        let sent = sender.send(&from, &vec![length as u8; length]);
        sent.expect("sent");
        sender.confirm(&from).expect("confirmed");
    }
    received.join().expect("all was as it was sent");
}

#[test]
fn no_more_are_under_way_than_the_window_lets() {
    let [from, to] = pair();
    from.set_nonblocking(true).expect("set");
    let mut sender = Sender::default();
    for _ in 0..WINDOW {
        sender.send(&from, &[1]).expect("there is room");
    }
    let error = sender.send(&from, &[1]).expect_err("nobody has answered");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    let mut receiver = Receiver::default();
    for _ in 0..EVERY {
        receiver.receive(&to, &mut [0]).expect("received");
    }
    for _ in 0..EVERY {
        sender.send(&from, &[1]).expect("there is room again");
    }
}
