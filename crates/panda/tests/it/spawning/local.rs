//! More threads join a running session over `local`: programs that are started by name, and threads
//! that the program starts itself.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use antiphon_panda::platform::local::Programs;
use antiphon_panda::platform::{self, Local};
use antiphon_panda::{
    Error, Group, GroupEvent, LaunchInfo, Message, Session, Signal, SpawnOptions,
};

/// Bounds waits that end far sooner.
const LIMIT: Duration = Duration::from_secs(60);

/// Joins a group, and returns the membership with its events.
fn member(session: &Session, group: &str) -> (Group, Receiver<GroupEvent>) {
    let (sender, events) = mpsc::channel();
    let joined = session.join_group(group, move |event| {
        let _ = sender.send(event);
    });
    (joined.expect("it joins"), events)
}

/// Receives the group's next message, and returns its place and number.
fn next_number(events: &Receiver<GroupEvent>) -> (u64, u64) {
    loop {
        let event = events.recv_timeout(LIMIT).expect("it is sent");
        if let GroupEvent::Message { place, payload, .. } = event {
            return (place, payload.value().expect("a number"));
        }
    }
}

/// Adds its rank to the group's message, and sends the sum to its parent.
fn child(session: &Session) {
    let (_group, events) = member(session, "all");
    let (_, number) = next_number(&events);
    let result = Message::of(&(number + u64::from(session.rank()))).unwrap();
    let parent = session.parent().expect("it was spawned");
    session.call(parent, "result", result, None).unwrap();
}

fn is_lost(session: &Session, rank: u32) {
    let end = session.port("end").receive(Some(rank), None).unwrap_err();
    assert!(matches!(end, Error::Lost { .. }), "{end}");
}

#[test]
fn programs_are_spawned_as_threads() {
    let programs = Programs::default().program("child", |session, _| child(&session));
    let session = programs.sessions(1).unwrap().remove(0);
    assert_eq!(session.spawn("no", [""; 0], 0).unwrap(), []);
    assert_eq!(session.parent(), None);
    let (sender, results) = mpsc::channel();
    session
        .serve("result", move |call| {
            let _ = sender.send((call.from, call.payload.value::<u64>().unwrap()));
            call.reply.send(Message::new());
        })
        .unwrap();
    let (group, events) = member(&session, "all");
    assert_eq!(session.spawn("child", [""; 0], 2).unwrap(), [1, 2]);
    assert_eq!((session.size(), session.population()), (1, 3));
    // The present members serve the newcomers.
    assert_eq!(session.spawn("child", [""; 0], 1).unwrap(), [3]);
    let is_whole = |event| matches!(event, GroupEvent::View { members, .. } if members.len() == 4);
    while !is_whole(events.recv_timeout(LIMIT).expect("they join the group")) {}
    group.send(Message::of(&7u64).unwrap()).unwrap();
    let mut all: Vec<_> = results.iter().take(3).collect();
    all.sort_unstable();
    assert_eq!(all, [(1, 8), (2, 9), (3, 10)]);
    (1..4).for_each(|rank| is_lost(&session, rank));
}

#[test]
fn a_spawned_program_has_its_arguments_and_spawns_others() {
    let programs = Programs::default()
        .program("first", |session, args| {
            assert_eq!(args, ["one more"]);
            assert_eq!(session.spawn("second", [""; 0], 1).unwrap(), [3]);
        })
        .program("second", |session, args| {
            assert!(args.is_empty());
            assert_eq!(session.parent(), Some(2));
            for to in 0..2 {
                let port = session.port("greeting");
                port.send_synchronously(to, 7, Message::new()).unwrap();
            }
        });
    let sessions = programs.sessions(2).unwrap();
    assert_eq!(sessions[1].spawn("first", ["one more"], 1).unwrap(), [2]);
    for session in sessions {
        let greeting = session.port("greeting").receive(None, None).unwrap();
        assert_eq!((greeting.from, greeting.tag), (3, 7));
    }
}

#[test]
fn a_program_that_there_is_not_takes_no_rank() {
    let programs = Programs::default().program("worker", |_, _| ());
    let session = programs.sessions(1).unwrap().remove(0);
    let error = session.spawn("wroker", [""; 0], 2).unwrap_err();
    let Error::NotSpawned { program, rank, why } = error else {
        panic!("{error}");
    };
    assert_eq!((program.as_str(), rank), ("wroker", 1));
    assert!(why.contains("local::Programs"), "{why}");
    assert_eq!(session.spawn("worker", [""; 0], 1).unwrap(), [1]);
}

#[test]
fn one_that_panics_is_lost_to_the_others() {
    let programs = Programs::default().program("panics", |session, _| {
        session.port("go").receive(Some(0), None).unwrap();
        panic!("on purpose");
    });
    let session = programs.sessions(1).unwrap().remove(0);
    session.spawn("panics", [""; 0], 1).unwrap();
    session.port("go").send(1, 0, Message::new()).unwrap();
    is_lost(&session, 1);
}

/// Returns the launch info of one more process.
fn launch_info(session: &Session) -> LaunchInfo {
    session.allot(1).unwrap().remove(0)
}

#[test]
fn a_thread_joins_with_what_was_allotted_once() {
    let first = Local::sessions(1).unwrap().remove(0);
    let info = launch_info(&first);
    let second = platform::join(&info).unwrap();
    assert_eq!((second.rank(), second.parent()), (1, Some(0)));
    second.port("hello").send(0, 3, Message::new()).unwrap();
    assert_eq!(first.port("hello").receive(None, None).unwrap().tag, 3);
    let again = platform::join(&info)
        .err()
        .expect("it is taken")
        .to_string();
    assert!(again.contains("rank 1 has been in this session"), "{again}");
    drop(second);
    let again = platform::join(&info)
        .err()
        .expect("it was taken")
        .to_string();
    assert!(again.contains("rank 1 has been in this session"), "{again}");
}

#[test]
fn launch_info_of_a_session_that_is_over_or_elsewhere_is_refused() {
    let session = Local::sessions(1).unwrap().remove(0);
    let mut info = launch_info(&session);
    drop(session);
    for bootstrap in [info.bootstrap.clone(), "session 1 of process 1".into()] {
        info.bootstrap = bootstrap;
        let error = platform::join(&info).err().expect("it is over").to_string();
        assert!(error.contains("no session that goes on"), "{error}");
    }
}

/// A port keeps the session's hub alive, but does not keep the session.
#[test]
fn launch_info_of_a_session_that_all_have_left_is_refused() {
    let session = Local::sessions(1).unwrap().remove(0);
    let (info, port) = (launch_info(&session), session.port("held"));
    drop(session);
    let error = platform::join(&info).err().expect("it is over").to_string();
    assert!(error.contains("no session that goes on"), "{error}");
    drop(port);
}

#[test]
fn a_session_that_is_over_starts_nothing() {
    let (runs, ran) = mpsc::channel();
    let programs = Programs::default().program("worker", move |_, _| {
        let _ = runs.send(());
    });
    let session = programs.sessions(1).unwrap().remove(0);
    session.end_for_all();
    let error = session.spawn("worker", [""; 0], 2).unwrap_err();
    assert!(matches!(error, Error::Over), "{error}");
    drop(session);
    assert_eq!(ran.try_iter().count(), 0);
}

#[test]
fn more_than_a_session_can_have_are_refused() {
    let session = Local::sessions(1).unwrap().remove(0);
    for count in [u32::MAX, 70_000, 65_536] {
        let why = session.allot(count).unwrap_err().to_string();
        assert!(why.contains(&format!("{count} more processes")), "{why}");
    }
    let last = session.allot(65_535).unwrap().last().map(|info| info.rank);
    assert_eq!(last, Some(65_535));
    assert!(session.allot(1).is_err());
}

#[test]
fn who_comes_later_knows_who_is_gone_and_who_came_later_too() {
    let mut sessions = Local::sessions(2).unwrap();
    let (last, first) = (sessions.remove(1), sessions.remove(0));
    let third = platform::join(&launch_info(&last)).unwrap();
    drop(first);
    let fourth = platform::join(&launch_info(&last)).unwrap();
    is_lost(&fourth, 0);
    fourth.port("hello").send(2, 0, Message::new()).unwrap();
    let hello = third.port("hello").receive(None, None).unwrap();
    third
        .port("hello")
        .send(hello.from, 1, Message::new())
        .unwrap();
    let hello = fourth.port("hello").receive(Some(2), None).unwrap();
    assert_eq!(hello.tag, 1);
}

#[test]
fn a_group_outlives_its_founders() {
    let mut sessions = Local::sessions(1).unwrap();
    let first = sessions.remove(0);
    let (group, events) = member(&first, "numbers");
    group.send(Message::of(&1u64).unwrap()).unwrap();
    // This is the place behind the view.
    assert_eq!(next_number(&events), (2, 1));
    let second = platform::join(&launch_info(&first)).unwrap();
    let (group, events) = member(&second, "numbers");
    drop(first);
    let third = platform::join(&launch_info(&second)).unwrap();
    let (_third, others) = member(&third, "numbers");
    group.send(Message::of(&2u64).unwrap()).unwrap();
    // Places continue where they were. Views of the other group take some, too.
    let (place, number) = next_number(&events);
    assert!(number == 2 && (5..=6).contains(&place), "{place}");
    assert_eq!(next_number(&others), (place, number));
}

/// Two founders send without end while other threads join and leave. Any two of them see common
/// events at the same places.
#[test]
fn whoever_comes_amid_messages_sees_them_at_their_places() {
    const COME: u32 = 12;
    const SEEN: usize = 300;
    let programs = Programs::default().program("watches", |session, _| {
        let (_group, events) = member(&session, "numbers");
        let seen: Vec<_> = (0..SEEN).map(|_| next_number(&events)).collect();
        let parent = session.parent().expect("it was spawned");
        let port = session.port("seen");
        port.send_synchronously(parent, 0, Message::of(&seen).unwrap())
            .unwrap();
    });
    let sessions = programs.sessions(2).unwrap();
    let sending = sessions.into_iter().map(|session| {
        thread::spawn(move || {
            let (group, _events) = member(&session, "numbers");
            let (mut seen, mut number) = (BTreeMap::new(), u64::from(session.rank()));
            let port = session.port("seen");
            session.spawn("watches", [""; 0], COME / 2).unwrap();
            let mut left = COME / 2;
            while left > 0 {
                group.send(Message::of(&number).unwrap()).unwrap();
                number += 2;
                while let Some(arrived) = port.poll(None, None) {
                    left -= 1;
                    let places: Vec<(u64, u64)> = arrived.payload.value().unwrap();
                    for (place, number) in places {
                        assert_eq!(*seen.entry(place).or_insert(number), number, "{place}");
                    }
                }
            }
            seen
        })
    });
    let sending: Vec<_> = sending.collect();
    let mut seen = sending.into_iter().map(|thread| thread.join().unwrap());
    let (mut all, more) = (seen.next().unwrap(), seen.next().unwrap());
    for (place, number) in more {
        assert_eq!(*all.entry(place).or_insert(number), number, "{place}");
    }
    let mut numbers: Vec<_> = all.values().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all.len(), "each number once");
}

#[test]
fn a_thread_has_arguments_and_no_directory_of_its_own() {
    let programs = Programs::default().program("worker", |session, args| {
        let sent = Message::of(&args.len()).unwrap();
        session.port("args").send(0, 0, sent).unwrap();
    });
    let session = programs.sessions(1).unwrap().remove(0);
    let mut options = SpawnOptions {
        arguments: vec!["one".into(), "two".into()],
        ..SpawnOptions::default()
    };
    let spawned = session.spawn_with("worker", 2, &options).unwrap();
    let ranks: Vec<u32> = spawned.into_iter().map(Result::unwrap).collect();
    for rank in ranks {
        let args = session.port("args").receive(Some(rank), None).unwrap();
        assert_eq!(args.payload.value::<usize>().unwrap(), 2);
    }
    let spawned = session.spawn_with("wroker", 2, &options).unwrap();
    assert!(spawned.iter().all(|outcome| {
        let said = outcome.as_ref().unwrap_err().to_string();
        said.contains("local::Programs")
    }));
    options.directory = Some("/".into());
    for outcome in session.spawn_with("worker", 2, &options).unwrap() {
        let why = outcome.unwrap_err().to_string();
        assert!(why.contains("leave the option `directory` out"), "{why}");
    }
}

#[test]
fn a_thread_cannot_be_signalled() {
    let sessions = Local::sessions(2).unwrap();
    for rank in 0..2 {
        let refused = sessions[0].signal(rank, Signal::USR1).unwrap_err();
        assert!(matches!(refused, Error::NotSignalled { .. }), "{refused}");
        assert!(
            refused.to_string().contains("threads of one process"),
            "{refused}"
        );
    }
    let unknown = sessions[0].signal(2, Signal::USR1).unwrap_err();
    assert!(matches!(unknown, Error::NoSuchRank { .. }), "{unknown}");
}
