//! The conformance suite, and the examples, over the simulated network: quiet and rough.

#[allow(dead_code, reason = "some tests make sessions outside of a simulation")]
mod conformance;
#[path = "../examples/counter.rs"]
mod counter;
#[allow(dead_code, reason = "its main is the document's")]
#[path = "../examples/language.rs"]
mod language;
#[path = "../examples/ping_pong.rs"]
mod ping_pong;
#[path = "../examples/work_queue.rs"]
mod work_queue;

use antiphon_panda::{Error, Session};
use antiphon_panda_sim::{Kind, Network, Simulation, seeds};

/// One frame in twenty is lost and one in fifty doubled, and many are overtaken.
fn rough(kind: Kind) -> Network {
    Network::new(kind, 50, 20, 50, 1000)
}

fn datagrams(size: u32) -> Simulation {
    Simulation::of(size)
}

fn lossy(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Datagrams))
}

fn multicast(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Multicast))
}

fn streams(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Streams))
}

fn bus(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Bus))
}

macro_rules! conform {
    ($($network:ident)*) => {
        $(mod $network {
            use super::conformance;
            conform!(super::$network =>
                messages_come_in_their_senders_order
                messages_of_all_lengths_arrive_whole
                a_receiver_chooses_by_sender_and_tag
                calls_are_answered_at_once_or_later_and_failures_name_the_peer
                a_group_has_one_order
                groups_of_different_members_have_an_order_each
                a_group_of_two_goes_on_when_one_has_ended
                a_joiner_begins_at_one_point
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
            mod choosing {
                use super::conformance::{self, choosing};
                conform!(super::super::$network, choosing =>
                    a_predicate_chooses_among_what_lies_there_and_what_comes
                    the_last_of_many_messages_is_taken_first
                    a_probe_leaves_its_message
                    threads_choose_at_one_port
                    a_port_with_an_upcall_is_not_searched
                    a_wait_by_predicate_ends_when_nobody_is_left
                );
            }
            mod peers {
                use super::conformance::{self, peers};
                conform!(super::super::$network, peers =>
                    all_are_told_of_all_who_join_and_leave
                    a_late_follower_is_told_who_has_left
                    what_was_sent_is_handed_over_before_its_sender_has_left
                    an_upcall_that_panics_is_called_again
                );
            }
            mod threads {
                use super::conformance::{self, threads};
                conform!(super::super::$network, threads =>
                    many_fibers_of_a_process_are_in_a_call_at_once
                    a_fiber_that_goes_on_instead_of_driving_leaves_that_to_others
                    waits_of_fibers_end_with_their_time_or_their_peer
                );
            }
        })*
    };
    ($network:path => $($test:ident)*) => {
        $(#[test]
        fn $test() {
            conformance::simulated(conformance::$test, $network);
        })*
    };
    ($network:path, $module:ident => $($test:ident)*) => {
        $(#[test]
        fn $test() {
            conformance::simulated($module::$test, $network);
        })*
    };
}

conform!(datagrams lossy multicast streams bus);

/// Runs a program over the rough networks, with some seeds on each. Its processes join by themselves.
fn runs<E: std::fmt::Display>(
    size: u32,
    program: impl Fn() -> Result<(), E> + Copy + Send + Sync + 'static,
) {
    for simulation in [lossy, multicast, streams, bus] {
        for seed in seeds(3) {
            let run = simulation(size).seed(seed);
            let run = run.run(move |_| program().map_err(|error| error.to_string()));
            let ends = run.expect("fibers").values();
            let ends = ends.unwrap_or_else(|failure| panic!("{failure}"));
            assert!(ends.iter().all(Result::is_ok), "seed {seed}: {ends:?}");
        }
    }
}

#[test]
fn the_replicated_counter() {
    runs(4, counter::main);
}

#[test]
fn the_work_queue() {
    runs(4, work_queue::main);
}

#[test]
fn the_ping_pong() {
    runs(2, ping_pong::main);
}

#[test]
fn the_language() {
    runs(3, || {
        let session = Session::join()?;
        let (rank, all) = (session.rank(), session.size());
        let runtime = language::Runtime::begin(session)?;
        runtime.add("here", 1)?;
        for place in 0..all {
            runtime.wait_for(place, "here", all.into())?;
        }
        runtime.wait_for(rank, "other", 0)?;
        runtime.end()?;
        Ok::<(), Error>(())
    });
}
