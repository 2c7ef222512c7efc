//! Tests that the simulator finds protocols that are broken on purpose. For each injected fault,
//! some seed's history is wrong, and is the same each time.

use super::scenario::run_with;
use super::{Kind, Scenario};
use antiphon_panda_core::protocol::fault::{Fault, Mutant};

fn is_found(mutant: Mutant, kind: Kind, seeds: u64) {
    is_found_among(None, mutant, kind, seeds);
}

fn is_found_among(members: Option<u32>, mutant: Mutant, kind: Kind, seeds: u64) {
    let scenario = |seed| Scenario {
        kind,
        seed,
        members,
        tells: false,
    };
    let run = |seed| run_with(scenario(seed), Fault::of(mutant));
    let mut outcomes = (0..seeds).map(|seed| (seed, run(seed)));
    let (seed, found) = outcomes
        .find(|(_, outcome)| outcome.fault.is_some())
        .unwrap_or_else(|| panic!("{mutant:?} went unnoticed in {seeds} seeds of {kind:?}"));
    let fault = found.fault.as_deref().unwrap_or_default();
    println!("{mutant:?}: seed {seed}: {fault}");
    // A search for the fault runs the seed again, and must see the same.
    assert!(!found.story.is_empty());
    assert_eq!(run(seed), found, "seed {seed}, run again");
}

#[test]
fn a_member_that_forgets_what_was_under_way() {
    is_found(Mutant::ForgetsUnordered, Kind::Datagrams, 400);
}

#[test]
fn a_coordinator_without_a_majority() {
    is_found(Mutant::NeedsNoMajority, Kind::Datagrams, 400);
}

#[test]
fn a_view_that_ends_where_its_coordinator_is() {
    is_found(Mutant::CutsAtOwn, Kind::Datagrams, 1000);
}

#[test]
fn a_member_that_takes_orders_after_it_promised_not_to() {
    is_found(Mutant::OrdersAfterPromise, Kind::Datagrams, 1000);
}

#[test]
fn a_coordinator_that_forgets_what_was_accepted() {
    is_found(Mutant::ForgetsAccepted, Kind::Datagrams, 4000);
}

#[test]
fn members_that_leave_a_view_out_of_the_count_of_places() {
    is_found(Mutant::MiscountsViews, Kind::Datagrams, 40);
}

#[test]
fn a_place_that_counts_as_delivered_too_early() {
    is_found(Mutant::CountsUndelivered, Kind::Datagrams, 40);
}

#[test]
fn a_snapshot_that_is_taken_one_event_late() {
    is_found(Mutant::SnapshotsLate, Kind::Datagrams, 400);
}

#[test]
fn a_joiner_that_is_told_of_events_while_it_waits_for_a_snapshot() {
    is_found(Mutant::DeliversWhileFetching, Kind::Datagrams, 400);
}

#[test]
fn a_joiner_that_installs_a_snapshot_before_it_has_come_to_its_place() {
    is_found(Mutant::InstallsTooEarly, Kind::Datagrams, 400);
}

#[test]
fn a_late_member_that_forgets_what_came_while_it_asked() {
    is_found(Mutant::ForgetsSince, Kind::Bus, 400);
}

#[test]
fn a_link_that_takes_a_multicast_for_arrived() {
    is_found(Mutant::TrustsMulticast, Kind::Multicast, 400);
}

#[test]
fn a_link_that_takes_what_has_come_before() {
    is_found(Mutant::TakesDoubled, Kind::Datagrams, 400);
}

#[test]
fn a_sender_that_takes_what_it_sent_for_handed_over() {
    is_found(Mutant::TrustsSending, Kind::Streams, 400);
}

#[test]
fn a_combination_that_leaves_somebody_out() {
    is_found(Mutant::LeavesOut, Kind::Streams, 400);
}

#[test]
fn a_process_that_waits_for_what_was_lost_and_does_not_ask() {
    is_found(Mutant::NeverAsks, Kind::Datagrams, 1000);
}

#[test]
fn a_member_that_forgets_what_others_may_lack() {
    // With few members, none may be left that is behind.
    is_found_among(Some(32), Mutant::ForgetsHistory, Kind::Streams, 400);
}
