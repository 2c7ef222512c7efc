//! The conformance suite over simulated networks, quiet and rough.

use antiphon_panda_sim::{Kind, Network, Simulation};
use bytes::Bytes;

use crate::conformance::{self, Encoded, choosing, peers, places, state, threads};

/// One frame in twenty is lost and one in fifty doubled, and many are overtaken.
fn rough(kind: Kind) -> Network {
    Network::new(kind, 50, 20, 50, 1000)
}

fn datagrams(size: u32) -> Simulation {
    Simulation::of(size)
}

pub fn lossy(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Datagrams))
}

pub fn multicast(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Multicast))
}

pub fn streams(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Streams))
}

pub fn bus(size: u32) -> Simulation {
    Simulation::of(size).over(rough(Kind::Bus))
}

/// Runs a program in a simulation; returns its results by rank.
fn simulate(simulation: Simulation, program: Encoded) -> Vec<Bytes> {
    let run = simulation.run(move |session| program(session));
    let values = run.expect("fibers").values();
    values.unwrap_or_else(|failure| panic!("{failure}"))
}

macro_rules! conform {
    ($($network:ident)*) => {
        $(mod $network {
            use super::*;

            fn run(size: u32, program: Encoded) -> Vec<Bytes> {
                simulate(super::$network(size), program)
            }

            conform!(conformance =>
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
            conform!(choosing =>
                a_predicate_chooses_among_what_lies_there_and_what_comes
                the_last_of_many_messages_is_taken_first
                a_probe_leaves_its_message
                threads_choose_at_one_port
                a_port_with_an_upcall_is_not_searched
                a_wait_by_predicate_ends_when_nobody_is_left
            );
            conform!(peers =>
                all_are_told_of_all_who_join_and_leave
                a_late_follower_is_told_who_has_left
                what_was_sent_is_handed_over_before_its_sender_has_left
                an_upcall_that_panics_is_called_again
            );
            conform!(places =>
                sends_return_their_places
                a_place_named_by_another_is_waited_for
                waits_for_a_place_end
            );
            conform!(state =>
                a_joiner_gets_the_copy_at_a_place
                a_joiner_without_a_giver_is_told_so
                a_copy_that_cannot_be_installed_is_told_so
            );
            conform!(threads =>
                many_fibers_of_a_process_are_in_a_call_at_once
                a_fiber_that_goes_on_instead_of_driving_leaves_that_to_others
                waits_of_fibers_end_with_their_time_or_their_peer
            );
        })*
    };
    ($module:ident => $($test:ident)*) => {
        $(#[test]
        fn $test() {
            conformance::run_by(run, $module::$test);
        })*
    };
}

conform!(datagrams lossy multicast streams bus);
