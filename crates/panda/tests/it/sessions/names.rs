//! Names with the same number in different processes. The 64-bit FNV-1a has such pairs, and these
//! are known from others' work.

use antiphon_panda::platform::Local;
use antiphon_panda::{Error, Message, Named, Session};

const PAIR: [&str; 2] = ["8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"];
const OTHER_PAIR: [&str; 2] = ["7mohtcOFVz", "c1E51sSEyx"];

fn pair() -> (Session, Session) {
    let mut sessions = Local::sessions(2).unwrap();
    let other = sessions.pop().unwrap();
    (sessions.pop().unwrap(), other)
}

/// Checks for an error that names both, the refused one first.
fn is_refused<T>(outcome: Result<T, Error>, what: Named, [there, refused]: [&str; 2]) {
    let error = outcome.map(drop).expect_err("both have one number");
    let Error::SameNumber(pair) = &error else {
        panic!("{error}");
    };
    assert_eq!(pair.what, what);
    assert_eq!((&*pair.name, &*pair.other), (refused, there));
    let text = error.to_string();
    assert!(text.contains(there) && text.contains(refused), "{text}");
}

#[test]
fn the_second_of_two_ports_with_one_number_is_refused_and_the_first_goes_on() {
    let (own, other) = pair();
    for [there, refused] in [PAIR, OTHER_PAIR] {
        let first = own.port(there);
        let pair = [there, refused];
        let second = own.port(refused);
        is_refused(second.send(1, 0, Message::new()), Named::Port, pair);
        is_refused(
            second.send_synchronously(1, 0, Message::new()),
            Named::Port,
            pair,
        );
        is_refused(second.receive(None, None), Named::Port, pair);
        is_refused(second.on_message(drop), Named::Port, pair);
        assert!(!second.takes_more(1) && second.poll(None, None).is_none());
        other.port(there).send(0, 7, Message::new()).unwrap();
        assert_eq!(first.receive(Some(1), None).unwrap().tag, 7);
        // The same name again is the same port.
        first.send(1, 8, Message::new()).unwrap();
        assert_eq!(other.port(there).receive(None, None).unwrap().tag, 8);
    }
}

#[test]
fn the_second_of_two_services_with_one_number_is_refused_and_the_first_goes_on() {
    let (own, other) = pair();
    own.serve(PAIR[0], |call| call.reply.send(b"first".as_slice()))
        .unwrap();
    let second = own.serve(PAIR[1], |call| call.reply.send(b"second".as_slice()));
    is_refused(second, Named::Service, PAIR);
    let reply = other.call(0, PAIR[0], Message::new(), None).unwrap();
    assert_eq!(reply.to_bytes(), b"first".as_slice());
}

#[test]
fn the_second_of_two_groups_with_one_number_is_refused_also_after_the_first_was_left() {
    let (own, _other) = pair();
    let group = own.join_group(PAIR[0], drop).unwrap();
    is_refused(own.join_group(PAIR[1], drop), Named::Group, PAIR);
    assert_eq!(group.members(), [0]);
    group.leave().unwrap();
    is_refused(own.join_group(PAIR[1], drop), Named::Group, PAIR);
}

#[test]
fn ports_services_and_groups_have_numbers_apart() {
    let (own, _other) = pair();
    let _port = own.port(PAIR[0]);
    own.serve(PAIR[1], drop).unwrap();
    own.join_group(PAIR[1], drop).unwrap();
}
