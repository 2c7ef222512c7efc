//! Upcalls that panic: the processes that depend on them get errors, and the session goes on.

use antiphon_panda::platform::Local;
use antiphon_panda::{Error, GroupEvent, Message, Session};

fn pair() -> (Session, Session) {
    let mut sessions = Local::sessions(2).unwrap();
    let other = sessions.pop().unwrap();
    (sessions.pop().unwrap(), other)
}

#[test]
fn the_caller_of_a_service_is_told() {
    let (own, other) = pair();
    other
        .serve("fragile", |call| {
            assert_ne!(call.payload.value::<u32>().unwrap(), 7, "not seven");
            call.reply.send(call.payload);
        })
        .unwrap();
    let call = |number: u32| own.call(1, "fragile", Message::of(&number).unwrap(), None);
    let failed = call(7).unwrap_err();
    assert!(matches!(failed, Error::NoReply { .. }), "{failed}");
    assert_eq!(call(8).unwrap().value::<u32>().unwrap(), 8);
}

#[test]
fn a_port_goes_on_with_the_next_message() {
    let (own, other) = pair();
    let back = other.port("fragile");
    other
        .port("fragile")
        .on_message(move |arrived| {
            assert_ne!(arrived.tag, 7, "not seven");
            back.send(0, arrived.tag, Message::new()).unwrap();
        })
        .unwrap();
    let port = own.port("fragile");
    for tag in [7, 8] {
        port.send(1, tag, Message::new()).unwrap();
    }
    assert_eq!(port.receive(Some(1), None).unwrap().tag, 8);
}

/// A waiting thread's condition panics on that thread. Other threads are still served.
#[test]
fn a_wait_that_panics_leaves_its_session_alive() {
    let (own, other) = pair();
    (other.serve("echo", |call| call.reply.send(call.payload))).unwrap();
    let waiting = other.clone();
    let waiter = std::thread::spawn(move || {
        let mut looks = 0;
        let fragile = || {
            looks += 1;
            assert!(looks < 2, "not twice");
            false
        };
        waiting.wait_until(fragile, None)
    });
    assert!(waiter.join().is_err(), "it panicked");
    let deadline = std::time::Duration::from_secs(60);
    let answer = own.call(1, "echo", Message::new(), Some(deadline));
    assert!(answer.is_ok(), "{answer:?}");
}

/// The other members see the member leave. The member itself gets an error with the reason, and may
/// join again.
#[test]
fn a_member_leaves_its_group() {
    let (own, other) = pair();
    let (sender, views) = std::sync::mpsc::channel();
    let observer = own.join_group("fragile", move |event| {
        if let GroupEvent::View { members, .. } = event {
            let _ = sender.send(members);
        }
    });
    let observer = observer.unwrap();
    let fragile = |event| {
        if let GroupEvent::Message { .. } = event {
            panic!("not a message");
        }
    };
    let line = line!() + 1;
    let group = other.join_group("fragile", fragile).unwrap();
    observer.send(Message::new()).unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(views.recv().unwrap());
    }
    assert_eq!(seen, [vec![0], vec![0, 1], vec![0]]);
    let failed = group.send(Message::new()).unwrap_err().to_string();
    let place = format!("{}:{line}:", file!());
    assert!(failed.contains("expelled"), "{failed}");
    assert!(
        failed.contains(&place) && failed.ends_with("panicked: not a message"),
        "{failed}"
    );
    let failed = group.leave().unwrap_err();
    assert!(matches!(failed, Error::Expelled { .. }), "{failed}");

    let again = other.join_group("fragile", drop).unwrap();
    assert_eq!(views.recv().unwrap(), [0, 1]);
    assert_eq!(again.members(), [0, 1]);
}

/// The function that combines values panics at the root. Both processes get an error with the rank
/// and the place, and go on.
#[test]
fn both_of_a_collective_operation_are_told() {
    let (own, other) = pair();
    let line = line!() + 1;
    let sum = |session: &Session, value: u8| {
        let everyone = session.everyone()?;
        everyone.all_reduce(&value, |a, b| a.checked_add(b).expect("no overflow"))
    };
    let both = |value: u8| {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| sum(&other, value));
            [sum(&own, value), other.join().unwrap()]
        })
    };
    for failed in both(200) {
        let failed = failed.unwrap_err();
        assert!(
            matches!(failed, Error::Panicked { rank: 0, .. }),
            "{failed}"
        );
        let (failed, place) = (failed.to_string(), format!("{}:{}:", file!(), line + 2));
        assert!(
            failed.contains(&place) && failed.ends_with("panicked: no overflow"),
            "{failed}"
        );
    }
    for sum in both(100) {
        assert_eq!(sum.unwrap(), 200);
    }
}
