//! An upcall that waits is found, whatever it waits in, and the report gives its place.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use antiphon_panda::platform::Local;
use antiphon_panda::session::detect_waiting_upcalls;
use antiphon_panda::thread::{self, Barrier, Condition, Mutex, Semaphore};
use antiphon_panda::{Error, Group, GroupEvent, Message, Session};

use crate::process::{self, in_own_process};

const OPERATION: &str = "PANDA_TEST_OPERATION";
const UPCALL: &str = "PANDA_TEST_UPCALL";
const SHORT: Duration = Duration::from_millis(1);

/// An operation that an upcall performs.
struct Operation {
    name: &'static str,
    act: fn(&Session, Group) -> Result<(), Error>,
}

/// An upcall's body. Its result goes to the test.
type Body = Box<dyn FnMut() + Send>;

/// A way to register an upcall, and to have it called.
struct Upcall {
    name: &'static str,
    run: fn(&Session, Body),
}

const UPCALLS: &[Upcall] = &[
    Upcall {
        name: "message",
        run: |session, mut body| {
            let port = session.port("upcall");
            port.on_message(move |_| body()).unwrap();
            port.send(0, 0, Message::new()).unwrap();
        },
    },
    Upcall {
        name: "call",
        run: |session, mut body| {
            session.serve("upcall", move |_| body()).unwrap();
            // The service sends no reply.
            session.call(0, "upcall", Message::new(), None).unwrap_err();
        },
    },
    Upcall {
        name: "group",
        run: |session, mut body| {
            let upcall = move |event| {
                if let GroupEvent::Message { .. } = event {
                    body();
                }
            };
            let group = session.join_group("upcall", upcall).unwrap();
            group.send(Message::new()).unwrap();
        },
    },
];

macro_rules! operations {
    ($($name:ident: $act:expr;)*) => {
        &[$(Operation { name: stringify!($name), act: $act }),*]
    };
}

/// Each stands on a line of its own, so that its place identifies it.
#[rustfmt::skip]
const REFUSED: &[Operation] = operations! {
    receive: |session, _| session.port("other").receive(None, None).map(drop);
    receive_within: |session, _| session.port("other").receive_within(None, None, SHORT).map(drop);
    send_synchronously: |session, _| session.port("other").send_synchronously(0, 0, Message::new());
    call: |session, _| session.call(0, "none", Message::new(), None).map(drop);
    wait_until: |session, _| session.wait_until(|| false, None).map(drop);
    join_group: |session, _| session.join_group("other", drop).map(drop);
    leave: |_, group| group.leave();
    group_send_synchronously: |_, group| group.send_synchronously(Message::new()).map(drop);
    group_wait_for: |_, group| group.wait_for(u64::MAX, None).map(drop);
    spawn: |session, _| session.spawn("none", [""; 0], 1).map(drop);
    allot: |session, _| session.allot(1).map(drop);
    barrier: |session, _| session.everyone()?.barrier();
    broadcast: |session, _| session.everyone()?.broadcast(0, Some(&1)).map(drop);
    gather: |session, _| session.everyone()?.gather(0, &1).map(drop);
    scatter: |session, _| session.everyone()?.scatter(0, &[1]).map(drop);
    reduce: |session, _| session.everyone()?.reduce(0, &1, i32::max).map(drop);
    all_reduce: |session, _| session.everyone()?.all_reduce(&1, i32::max).map(drop);
};

/// Waits that return no error, and so cannot be refused.
#[rustfmt::skip]
const NOT_REFUSED: &[Operation] = operations! {
    sleep: |_, _| { thread::sleep(SHORT); Ok(()) };
    condition: |_, _| { Condition::new().wait(&mut Mutex::new(()).lock()); Ok(()) };
    condition_within: |_, _| { Condition::new().wait_for(&mut Mutex::new(()).lock(), SHORT); Ok(()) };
    semaphore: |_, _| { Semaphore::new(0).p(); Ok(()) };
    thread_barrier: |_, _| { Barrier::new(2).wait(); Ok(()) };
    blocking: |_, _| { thread::blocking(|| std::thread::sleep(SHORT)); Ok(()) };
    join_thread: |_, _| { drop(thread::spawn(std::thread::park).unwrap().join()); Ok(()) };
};

impl Operation {
    /// Returns this file's name, and the line where the operation stands.
    fn place(&self) -> String {
        let begins = format!("{}: |", self.name);
        let mut lines = include_str!("upcalls.rs").lines();
        let before = lines.position(|line| line.trim_start().starts_with(&begins));
        format!("{}:{}:", file!(), before.expect("it stands here") + 1)
    }
}

/// Performs an operation in an upcall, and returns its outcome.
fn in_upcall(upcall: &Upcall, operation: &'static Operation) -> Result<(), Error> {
    let session = Local::sessions(1).unwrap().remove(0);
    let group = session.join_group("own", drop).unwrap();
    let (sender, outcome) = mpsc::channel();
    let own = session.clone();
    let body = move || drop(sender.send((operation.act)(&own, group.clone())));
    (upcall.run)(&session, Box::new(body));
    let outcome = outcome.recv().expect("the upcall runs");
    session.end();
    outcome
}

in_own_process! {
    a_wait_is_refused_with_its_place
    what_combines_values_may_send_and_not_wait
}

#[test]
#[ignore = "in_own_process: nobody watches upcalls there"]
fn a_wait_is_refused_with_its_place() {
    detect_waiting_upcalls(false);
    for (upcall, operation) in in_each(REFUSED.iter()) {
        let name = format!("{} in {}", operation.name, upcall.name);
        let outcome = in_upcall(upcall, operation);
        let Err(Error::InUpcall(place)) = outcome else {
            panic!("{name}: {outcome:?}");
        };
        assert!(place.starts_with(&operation.place()), "{name}: {place}");
    }
}

/// Returns each operation with each kind of upcall.
fn in_each(
    operations: impl Iterator<Item = &'static Operation>,
) -> impl Iterator<Item = (&'static Upcall, &'static Operation)> {
    operations.flat_map(|operation| UPCALLS.iter().map(move |upcall| (upcall, operation)))
}

/// The function that combines values is an upcall. It may send, also to its own process, and may
/// not wait.
#[test]
#[ignore = "in_own_process: nobody watches upcalls there"]
fn what_combines_values_may_send_and_not_wait() {
    detect_waiting_upcalls(false);
    let sessions = Local::sessions(2).unwrap();
    let (sender, outcome) = mpsc::channel();
    let ends = sessions.into_iter().map(|session| {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let (port, own) = (session.port("aside"), session.downgrade());
            let combine = move |a: u32, b: u32| {
                let aside = own.upgrade().unwrap().port("aside");
                (0..2).for_each(|to| aside.send(to, 0, Message::new()).unwrap());
                sender.send(aside.receive(None, None).map(drop)).unwrap();
                a + b
            };
            let sum = session.everyone().unwrap().all_reduce(&1, combine).unwrap();
            port.receive(Some(0), None).unwrap();
            session.everyone().unwrap().barrier().unwrap();
            sum
        })
    });
    let ends: Vec<_> = ends.collect();
    for end in ends {
        assert_eq!(end.join().unwrap(), 2);
    }
    let outcome = outcome.recv().unwrap();
    assert!(matches!(outcome, Err(Error::InUpcall(_))), "{outcome:?}");
}

/// Starts a test of this module, which performs an operation in an upcall.
fn start(member: &str, upcall: &str, operation: &str) -> Child {
    process::command(module_path!(), member)
        .env(UPCALL, upcall)
        .env(OPERATION, operation)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_wait_ends_the_process_where_the_detector_is_on() {
    for (upcall, operation) in in_each(REFUSED.iter().chain(NOT_REFUSED)) {
        let child = start("member", upcall.name, operation.name);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let name = format!("{} in {}", operation.name, upcall.name);
        assert_eq!(
            output.status.signal(),
            Some(libc::SIGABRT),
            "{name}: {said}"
        );
        let at = format!("must not wait: at {}", operation.place());
        let given = format!("in the upcall given at {}:", file!());
        assert!(
            said.contains(&at) && said.contains(&given),
            "{name}: {said}"
        );
    }
}

/// Debug builds detect waits by default.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds are not watched")]
fn a_wait_ends_the_process_by_default() {
    let child = start("member_as_built", "message", "receive");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
}

/// A wait that panda does not know holds the upcall up until it has been reported.
#[test]
fn an_upcall_that_runs_long_is_reported() {
    let mut child = start("member", "message", "long");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("has run for more than") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "not reported");
    }
    assert!(line.contains(&format!("given at {}:", file!())), "{line}");
    writeln!(child.stdin.take().unwrap(), "go on").unwrap();
    assert!(child.wait().unwrap().success());
}

fn read_a_line(_: &Session, _: Group) -> Result<(), Error> {
    std::io::stdin().read_line(&mut String::new()).unwrap();
    Ok(())
}

#[test]
#[ignore = "a process of other tests"]
fn member() {
    detect_waiting_upcalls(true);
    do_as_told().unwrap();
}

#[test]
#[ignore = "a process of another test"]
fn member_as_built() {
    do_as_told().unwrap();
}

/// Performs the operation that another test names by environment variables.
fn do_as_told() -> Result<(), Error> {
    const LONG: Operation = Operation {
        name: "long",
        act: read_a_line,
    };
    let [upcall, operation] =
        [UPCALL, OPERATION].map(|name| std::env::var(name).expect("another test says which"));
    let upcall = UPCALLS.iter().find(|one| one.name == upcall);
    let mut all = REFUSED.iter().chain(NOT_REFUSED).chain([&LONG]);
    let operation = all.find(|one| one.name == operation);
    in_upcall(
        upcall.expect("there is one"),
        operation.expect("there is one"),
    )
}
