//! One suite for every platform: the guarantees on which programs may rely, whatever carries their
//! frames.
//!
//! A platform's tests say how a session of N processes is made, N sets of threads in one process or
//! this process's part of one, and run [`conformance_tests`].

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::thread::{self, LocalKey};
use std::time::Duration;

use antiphon_panda::thread::Threads;
use antiphon_panda::{Message, Session};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub mod choosing;
mod communicators;
pub mod flow;
mod groups;
mod mailbox;
mod numbers;
pub mod peers;
pub mod places;
pub mod quiescence;
pub mod sessions;
pub mod state;
pub mod threads;

pub use communicators::*;
pub use groups::*;
use mailbox::mailbox;
pub use numbers::*;
pub use threads::an_upcall_wakes_who_waits_for_a_condition;

/// Bounds waits that end far sooner. Nothing is asserted about times.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Makes a session of `n` processes, rank by rank. Where each rank is a process of its own, it
/// returns this process's part, or nothing for a session of another size.
pub type Make = fn(u32) -> Vec<Session>;

/// A program whose results are encoded. Encoding gives all programs one type, so that the code that
/// runs them is compiled once.
pub type Encoded = Arc<dyn Fn(Session) -> Bytes + Send + Sync>;

/// Runs a program as so many processes; returns their results by rank.
pub type Runner = fn(u32, Encoded) -> Vec<Bytes>;

thread_local! {
    /// The kind of threads that run the programs of this test.
    static KIND: Cell<Threads> = const { Cell::new(Threads::System) };
    /// The runner that replaces this suite's own, if there is one.
    static RUNNER: Cell<Option<Runner>> = const { Cell::new(None) };
}

/// A cell's earlier value, restored when the test is over: the harness may run several tests on one
/// thread.
struct Earlier<V: Copy + 'static>(&'static LocalKey<Cell<V>>, V);

impl<V: Copy + 'static> Earlier<V> {
    fn replace(cell: &'static LocalKey<Cell<V>>, value: V) -> Self {
        Self(cell, cell.replace(value))
    }
}

impl<V: Copy + 'static> Drop for Earlier<V> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// Runs a test with `runner`, which makes its own sessions.
#[allow(dead_code, reason = "tests of the simulator include this suite, too")]
pub fn run_by(runner: Runner, test: fn(Make)) {
    let _earlier = Earlier::replace(&RUNNER, Some(runner));
    test(|_| unreachable!("the test makes its sessions by itself"));
}

/// Runs a test with each program on a fiber.
pub fn on_fibers(test: fn(Make), make: Make) {
    let _earlier = Earlier::replace(&KIND, Threads::Fibers);
    test(make);
}

/// Returns two sessions of this process.
fn pair(make: Make) -> (Session, Session) {
    let mut sessions = make(2);
    let second = sessions.remove(1);
    (sessions.remove(0), second)
}

/// Runs a program at all ranks, and returns the results by rank.
fn run<R: Serialize + DeserializeOwned>(
    make: Make,
    size: u32,
    program: impl Fn(Session) -> R + Send + Sync + 'static,
) -> Vec<R> {
    let encoded = move |session| Message::of(&program(session)).unwrap().to_bytes();
    let results = run_encoded(make, size, Arc::new(encoded)).into_iter();
    let decoded = results.map(|result| Message::from(result).value().unwrap());
    decoded.collect()
}

fn run_encoded(make: Make, size: u32, program: Encoded) -> Vec<Bytes> {
    if let Some(runner) = RUNNER.get() {
        return runner(size, program);
    }
    let mut sessions = make(size);
    let kind = KIND.get();
    if sessions.len() < size as usize {
        let Some(own) = sessions.pop() else {
            return Vec::new();
        };
        let part = move || run_part(&own, &program);
        return antiphon_panda::thread::run(kind, part).expect("fibers");
    }
    let threads: Vec<_> = sessions
        .into_iter()
        .map(|session| {
            let program = program.clone();
            thread::spawn(move || antiphon_panda::thread::run(kind, move || program(session)))
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().expect("no program panics").expect("fibers"))
        .collect()
}

/// Runs the program at this process's rank, and gathers the results of all ranks.
fn run_part(own: &Session, program: &Encoded) -> Vec<Bytes> {
    let result = program(own.clone());
    let all = own.everyone().expect("a founder");
    let results = all.gather(0, &result).expect("all are here");
    let results = results.unwrap_or_default();
    all.broadcast(0, Some(&results)).expect("all are here")
}

pub fn messages_come_in_their_senders_order(make: Make) {
    let sums = run(make, 3, |session| {
        let port = session.port("numbers");
        for number in 0..500u32 {
            for to in (0..3).filter(|to| *to != session.rank()) {
                port.send(to, session.rank(), Message::of(&number).unwrap())
                    .unwrap();
            }
        }
        let mut next = [0u32; 3];
        for _ in 0..1000 {
            let arrived = port.receive(None, None).unwrap();
            assert_eq!(arrived.tag, arrived.from);
            assert_eq!(
                arrived.payload.value::<u32>().unwrap(),
                next[arrived.from as usize]
            );
            next[arrived.from as usize] += 1;
        }
        session.everyone().unwrap().barrier().unwrap();
        next.iter().sum::<u32>()
    });
    assert_eq!(sums, [1000, 1000, 1000]);
}

pub fn messages_of_all_lengths_arrive_whole(make: Make) {
    run(make, 2, |session| {
        let port = session.port("long");
        let lengths = [
            0usize,
            1,
            63,
            64,
            65,
            1249,
            1250,
            1251,
            65_535,
            65_536,
            1 << 20,
            (5 << 20) + 3,
        ];
        let pattern = |length: usize| {
            (0..length)
                .map(|i| (i * 31 + length) as u8)
                .collect::<Vec<u8>>()
        };
        if session.rank() == 0 {
            for length in lengths {
                port.send_synchronously(1, 0, pattern(length)).unwrap();
            }
        } else {
            for length in lengths {
                assert!(
                    port.receive(Some(0), None).unwrap().payload.to_bytes() == pattern(length),
                    "{length} bytes"
                );
            }
        }
        session.everyone().unwrap().barrier().unwrap();
    });
}

pub fn a_receiver_chooses_by_sender_and_tag(make: Make) {
    run(make, 3, |session| {
        let port = session.port("tagged");
        if session.rank() > 0 {
            for tag in [1, 2] {
                port.send(0, tag, Message::of(&(session.rank() * 10 + tag)).unwrap())
                    .unwrap();
            }
        } else {
            let chosen: Vec<u32> = [(2, 2), (1, 2), (1, 1), (2, 1)]
                .into_iter()
                .map(|(from, tag)| {
                    port.receive(Some(from), Some(tag))
                        .unwrap()
                        .payload
                        .value()
                        .unwrap()
                })
                .collect();
            assert_eq!(chosen, [22, 12, 11, 21]);
            assert!(port.poll(None, None).is_none());
        }
        session.everyone().unwrap().barrier().unwrap();
    });
}

pub fn calls_are_answered_at_once_or_later_and_failures_name_the_peer(make: Make) {
    run(make, 2, |session| {
        let all = session.everyone().unwrap();
        if session.rank() == 1 {
            session
                .serve("double", |call| {
                    let number: u64 = call.payload.value().unwrap();
                    call.reply.send(Message::of(&(number * 2)).unwrap());
                })
                .unwrap();
            session
                .serve("later", |call| {
                    let reply = move || call.reply.send(b"late".as_slice());
                    drop(antiphon_panda::thread::spawn(reply).unwrap());
                })
                .unwrap();
            session.serve("never", drop).unwrap();
            let kept = Mutex::new(Vec::new());
            session
                .serve("silent", move |call| kept.lock().unwrap().push(call))
                .unwrap();
        }
        all.barrier().unwrap();
        if session.rank() == 0 {
            for number in 0..200u64 {
                let reply = session
                    .call(1, "double", Message::of(&number).unwrap(), None)
                    .unwrap();
                assert_eq!(reply.value::<u64>().unwrap(), number * 2);
            }
            assert_eq!(
                session
                    .call(1, "later", Message::new(), None)
                    .unwrap()
                    .to_bytes(),
                b"late".as_slice()
            );
            let peer = session.name_of(1);
            let failures = [
                session.call(1, "absent", Message::new(), None),
                session.call(1, "never", Message::new(), None),
                session.call(1, "silent", Message::new(), Some(Duration::from_millis(50))),
            ];
            for failure in failures {
                let text = failure.unwrap_err().to_string();
                assert!(text.contains(&peer), "{text}");
            }
        }
        all.barrier().unwrap();
    });
}

pub fn collectives_agree(make: Make) {
    for size in [1, 2, 3, 5] {
        run(make, size, move |session| {
            let (rank, all) = (session.rank(), session.everyone().unwrap());
            for root in 0..size {
                let own = (rank == root).then_some(rank + 7);
                assert_eq!(all.broadcast(root, own.as_ref()).unwrap(), root + 7);
                let gathered = all.gather(root, &(rank * 3)).unwrap();
                assert_eq!(
                    gathered,
                    (rank == root).then(|| (0..size).map(|r| r * 3).collect())
                );
                let values: Vec<String> = (0..size).map(|r| format!("{root} to {r}")).collect();
                assert_eq!(
                    all.scatter(root, &values).unwrap(),
                    format!("{root} to {rank}")
                );
                let sum = all
                    .reduce(root, &u64::from(rank + 1), |a, b| a + b)
                    .unwrap();
                assert_eq!(
                    sum,
                    (rank == root).then(|| u64::from(size * (size + 1) / 2))
                );
            }
            assert_eq!(all.all_reduce(&rank, u32::max).unwrap(), size - 1);
            if size == 5 && rank % 2 == 0 {
                let even = session.communicator(&[4, 0, 2]).unwrap();
                assert_eq!(
                    even.gather(2, &rank).unwrap(),
                    (rank == 2).then(|| vec![4, 0, 2])
                );
            }
            all.barrier().unwrap();
        });
    }
}

/// An upcall may send, to ports and to groups, and the session does not stall.
pub fn upcalls_may_send(make: Make) {
    run(make, 2, |session| {
        let (sender, receiver) = mailbox();
        let port = session.port("bounce");
        let other = 1 - session.rank();
        let back = port.clone();
        port.on_message(move |arrived| {
            if arrived.tag > 0 {
                back.send(other, arrived.tag - 1, arrived.payload).unwrap();
            } else {
                sender.send(());
            }
        })
        .unwrap();
        session.everyone().unwrap().barrier().unwrap();
        port.send(other, 100, Message::new()).unwrap();
        receiver
            .receive_within(LIMIT)
            .expect("the ball comes to rest here or there");
        session.everyone().unwrap().barrier().unwrap();
    });
}

/// Expands to all tests of the suite for one platform. `$make` makes its sessions.
macro_rules! conformance_tests {
    ($make:expr) => {
        $crate::conformance::conformance_tests!($make;
            messages_come_in_their_senders_order
            messages_of_all_lengths_arrive_whole
            a_receiver_chooses_by_sender_and_tag
            calls_are_answered_at_once_or_later_and_failures_name_the_peer
            a_group_has_one_order
            groups_of_different_members_have_an_order_each
            a_group_of_two_goes_on_when_one_has_ended
            a_joiner_begins_at_one_point
            groups_beside_many_others_are_as_they_were
            collectives_agree
            communicators_nobody_overruns
            communicators_carry_bytes
            communicators_that_disagree_end_with_an_error
            numbers_are_reduced_as_by_a_loop
            all_get_the_same_bits
            arrays_that_differ_end_with_an_error
            reductions_may_run_ahead
            communicators_of_a_group_are_of_one_view
            a_communicator_of_a_group_names_who_is_lost
            communicators_of_some_members_end_with_the_view
            a_lost_peer_is_named_and_the_group_goes_on
            upcalls_may_send
            an_upcall_wakes_who_waits_for_a_condition
        );
        $crate::conformance::conformance_tests!($make => sessions:
            upcalls_do_not_keep_their_session
            a_group_is_joined_once_at_a_time
            an_upcall_that_keeps_its_session_is_dropped_at_its_end
            a_wait_at_a_port_ends_with_its_session
            an_upcall_may_end_its_session
            an_upcall_may_outlast_the_end_of_its_session
        );
        $crate::conformance::conformance_tests!($make => places:
            sends_return_their_places
            a_place_named_by_another_is_waited_for
            waits_for_a_place_end
        );
        $crate::conformance::conformance_tests!($make => state:
            a_joiner_gets_the_copy_at_a_place
            a_joiner_without_a_giver_is_told_so
            a_copy_that_cannot_be_installed_is_told_so
        );
        $crate::conformance::conformance_tests!($make => quiescence:
            a_verdict_comes_when_all_work_is_done
            work_of_a_process_that_left_is_waited_for
            clocks_differ_by_what_is_measured
        );
        $crate::conformance::conformance_tests!($make => flow:
            a_synchronous_send_returns_when_its_message_was_taken
            who_sends_to_one_that_does_not_ask_is_held
            who_leaves_too_much_unread_is_lost
            one_of_those_who_wait_is_told_who_is_not_heard_any_more
            an_upcall_that_sends_to_its_own_process_leaves_others_their_turn
            a_wait_may_be_of_any_length
            two_who_send_much_before_they_receive_go_on
        );
        $crate::conformance::conformance_tests!($make => choosing:
            a_predicate_chooses_among_what_lies_there_and_what_comes
            the_last_of_many_messages_is_taken_first
            a_probe_leaves_its_message
            threads_choose_at_one_port
            a_port_with_an_upcall_is_not_searched
        );
        $crate::conformance::conformance_tests!($make => peers:
            all_are_told_of_all_who_join_and_leave
            a_late_follower_is_told_who_has_left
            what_was_sent_is_handed_over_before_its_sender_has_left
            an_upcall_that_panics_is_called_again
        );
        $crate::conformance::conformance_tests!($make => threads:
            many_fibers_of_a_process_are_in_a_call_at_once
            a_fiber_that_goes_on_instead_of_driving_leaves_that_to_others
            waits_of_fibers_end_with_their_time_or_their_peer
        );
    };
    ($make:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            conformance::$test($make);
        })*
        mod on_fibers {
            use super::*;
            $(#[test]
            fn $test() {
                conformance::on_fibers(conformance::$test, $make);
            })*
        }
    };
    ($make:expr => $module:ident: $($test:ident)*) => {
        $(#[test]
        fn $test() {
            conformance::$module::$test($make);
        })*
    };
}

pub(crate) use conformance_tests;
