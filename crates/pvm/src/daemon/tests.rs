use std::ffi::c_int;
use std::sync::mpsc::{Receiver, channel};

use antiphon_panda::Rank;

use super::mailbox::{PERSISTENT, WAIT_FOR_INFO};
use super::{Daemon, TO_COME};
use crate::code::Code;
use crate::protocol::{Answer, Class, Letter, News, Request};
use crate::tid::Tid;

/// Sends a request, and returns the receiver of its answer.
fn ask(daemon: &mut Daemon, from: Rank, request: Request) -> Receiver<Answer> {
    let (tell, answers) = channel();
    let reply = Box::new(move |answer| tell.send(answer).unwrap_or_default());
    daemon.handle(from, request, reply);
    answers
}

/// Returns the answer, which must come at once.
fn reported(daemon: &mut Daemon, from: Rank, request: Request) -> Answer {
    ask(daemon, from, request).try_recv().expect("an answer")
}

fn enrol(pid: u32) -> Request {
    Request::Enrol {
        pid,
        host: "here".into(),
        parent: Tid(0),
    }
}

fn enrolled(count: Rank) -> Daemon {
    let mut daemon = Daemon::default();
    for rank in 0..count {
        let request = enrol(rank + 1);
        let enrolled = Answer::Enrolled {
            host: 1,
            is_guest: false,
        };
        assert_eq!(reported(&mut daemon, rank, request), enrolled);
    }
    daemon
}

fn refused(code: Code) -> Answer {
    Answer::Refused(code.0)
}

fn join(daemon: &mut Daemon, ranks: std::ops::Range<Rank>) {
    for rank in ranks {
        reported(daemon, rank, Request::Join("g".into()));
    }
}

#[test]
fn the_lowest_free_instance_is_given() {
    let mut daemon = enrolled(3);
    join(&mut daemon, 0..3);
    let leave = Request::LeaveGroup("g".into());
    assert_eq!(reported(&mut daemon, 1, leave.clone()), Answer::Number(0));
    assert_eq!(reported(&mut daemon, 1, leave), refused(Code::NOT_IN_GROUP));
    let again = reported(&mut daemon, 1, Request::Join("g".into()));
    assert_eq!(again, Answer::Number(1));
    let twice = reported(&mut daemon, 1, Request::Join("g".into()));
    assert_eq!(twice, refused(Code::DUP_GROUP));
    let nameless = reported(&mut daemon, 1, Request::Join(String::new()));
    assert_eq!(nameless, refused(Code::NULL_GROUP));
}

#[test]
fn a_barrier_opens_when_as_many_have_come() {
    let mut daemon = enrolled(3);
    join(&mut daemon, 0..3);
    let barrier = Request::Barrier("g".into(), 2);
    let first = ask(&mut daemon, 0, barrier.clone());
    assert!(first.try_recv().is_err());
    assert_eq!(reported(&mut daemon, 2, barrier), Answer::Number(0));
    assert_eq!(first.try_recv(), Ok(Answer::Number(0)));
}

#[test]
fn a_barrier_for_all_opens_when_the_one_that_lacks_has_ended() {
    let mut daemon = enrolled(3);
    join(&mut daemon, 0..3);
    let all = Request::Barrier("g".into(), -1);
    let first = ask(&mut daemon, 0, all.clone());
    let second = ask(&mut daemon, 1, all);
    daemon.ended(2);
    assert_eq!(first.try_recv(), Ok(Answer::Number(0)));
    assert_eq!(second.try_recv(), Ok(Answer::Number(0)));
}

#[test]
fn a_barrier_that_too_few_are_left_for_is_refused() {
    let mut daemon = enrolled(3);
    join(&mut daemon, 0..3);
    let three = Request::Barrier("g".into(), 3);
    let first = ask(&mut daemon, 0, three.clone());
    let second = ask(&mut daemon, 1, three);
    daemon.ended(2);
    assert_eq!(first.try_recv(), Ok(refused(Code::NO_GROUP)));
    assert_eq!(second.try_recv(), Ok(refused(Code::NO_GROUP)));
}

fn put(name: &str, flags: c_int) -> Request {
    Request::Put {
        name: name.into(),
        flags,
        index: None,
        replaces: true,
        letter: Letter {
            encoding: Encoding::Xdr.signature(),
            tag: 0,
            content: vec![1],
        },
    }
}

use crate::buffer::Encoding;

#[test]
fn a_letter_is_its_owners_until_that_ends() {
    let mut daemon = enrolled(2);
    assert_eq!(reported(&mut daemon, 0, put("a", 0)), Answer::Number(0));
    assert_eq!(reported(&mut daemon, 0, put("a", 0)), Answer::Number(0));
    assert_eq!(reported(&mut daemon, 1, put("a", 0)), refused(Code::DENIED));
    let remove = Request::Remove {
        name: "a".into(),
        index: 0,
    };
    assert_eq!(reported(&mut daemon, 1, remove), refused(Code::DENIED));
    reported(&mut daemon, 0, put("kept", PERSISTENT));
    daemon.ended(0);
    let Answer::Classes(classes) = reported(&mut daemon, 1, Request::Classes) else {
        panic!("no letters");
    };
    let kept = Class {
        name: "kept".into(),
        entries: vec![(0, Tid(0), PERSISTENT)],
    };
    assert_eq!(classes, [kept]);
}

#[test]
fn a_reader_waits_for_its_letter() {
    let mut daemon = enrolled(2);
    let get = Request::Get {
        name: "a".into(),
        index: 0,
        flags: WAIT_FOR_INFO,
    };
    let answer = ask(&mut daemon, 1, get);
    assert!(answer.try_recv().is_err());
    reported(&mut daemon, 0, put("a", 0));
    assert!(matches!(answer.try_recv(), Ok(Answer::Letter(_))));
}

#[test]
fn a_task_that_is_about_to_begin_is_waited_for() {
    let mut daemon = enrolled(1);
    daemon.started(1, Tid(0), "worker", &[1, 2, 3]);
    let begun = |rank| Request::Begun(rank);
    let waits = [1, 2, 3].map(|rank| ask(&mut daemon, 0, begun(rank)));
    assert!(waits.iter().all(|answer| answer.try_recv().is_err()));
    reported(&mut daemon, 1, enrol(9));
    daemon.started(2, Tid(0), "worker", &[1, 2, 3]);
    daemon.ended(2);
    // The third process could not be started.
    daemon.ended(3);
    let never = refused(Code::NO_TASK);
    let answers = [Answer::Number(1), never.clone(), never.clone()];
    for (rank, (waited, answer)) in (1..).zip(waits.iter().zip(answers)) {
        assert_eq!(waited.try_recv(), Ok(answer.clone()));
        assert_eq!(reported(&mut daemon, 0, begun(rank)), answer);
    }
    assert_eq!(reported(&mut daemon, 0, begun(4)), never);
    reported(&mut daemon, 1, Request::Leave);
    assert_eq!(reported(&mut daemon, 0, begun(1)), Answer::Number(0));
}

#[test]
fn hosts_come_and_go_by_their_numbers() {
    let mut daemon = enrolled(2);
    reported(&mut daemon, 1, Request::WatchHosts);
    let add = |name: &str| Request::AddHost(name.into());
    let delete = |name: &str| Request::DeleteHost(name.into());
    let second = Tid::of_host(2);
    assert_eq!(
        reported(&mut daemon, 0, add("there")),
        Answer::Number(second.0)
    );
    assert_eq!(
        reported(&mut daemon, 0, add("there")),
        refused(Code::DUP_HOST)
    );
    assert_eq!(
        reported(&mut daemon, 0, delete("here")),
        refused(Code::NOT_IMPL)
    );
    assert_eq!(
        reported(&mut daemon, 0, delete("there")),
        Answer::Number(second.0)
    );
    assert_eq!(
        reported(&mut daemon, 0, delete("there")),
        refused(Code::NO_HOST)
    );
    let Answer::Hosts(hosts) = reported(&mut daemon, 0, Request::Hosts) else {
        panic!("no hosts");
    };
    assert_eq!(hosts.len(), 1);
    assert_eq!(
        reported(&mut daemon, 0, add("there")),
        Answer::Number(second.0)
    );
    let (added, deleted) = (News::HostAdded(second), News::HostDeleted(second));
    assert_eq!(
        daemon.take_news(),
        [added, deleted, added].map(|news| (1, news))
    );
}

#[test]
fn those_that_expect_a_task_are_told_if_it_never_begins() {
    let mut daemon = enrolled(2);
    daemon.started(2, Tid(0), "worker", &[2, 3]);
    daemon.started(3, Tid(0), "worker", &[2, 3]);
    for (from, rank) in [(0, 2), (0, 3), (1, 3)] {
        let answer = reported(&mut daemon, from, Request::Expect(rank));
        assert_eq!(answer, Answer::Number(TO_COME));
    }
    reported(&mut daemon, 2, enrol(9));
    assert_eq!(
        reported(&mut daemon, 0, Request::Expect(2)),
        Answer::Number(1)
    );
    daemon.ended(2);
    daemon.ended(3);
    let of_third = [0, 1].map(|to| (to, News::NeverBegan(3)));
    assert_eq!(daemon.take_news(), of_third);
    let never = reported(&mut daemon, 0, Request::Expect(3));
    assert_eq!(never, refused(Code::NO_TASK));
}

#[test]
fn a_process_that_was_started_is_a_task_until_it_leaves() {
    let mut daemon = enrolled(1);
    daemon.started(1, Tid::of(1, 0), "worker", &[1]);
    let count = |daemon: &mut Daemon| match reported(daemon, 0, Request::Tasks) {
        Answer::Tasks(tasks) => tasks.len(),
        _ => 0,
    };
    assert_eq!(count(&mut daemon), 2);
    reported(&mut daemon, 1, enrol(9));
    assert_eq!(count(&mut daemon), 2);
    reported(&mut daemon, 1, Request::Leave);
    assert_eq!(count(&mut daemon), 1);
    assert_eq!(daemon.running().count(), 2);
    daemon.ended(1);
    assert_eq!(daemon.running().count(), 1);
}
