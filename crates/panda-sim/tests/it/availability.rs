//! A split that comes at whatever moment of a change of members: the side that holds a majority of
//! the last view that anybody saw goes on without the others.
//!
//! `PANDA_SPLITS` says at how many moments each change is split.

use std::time::Duration;

use antiphon_panda::Rank;
use antiphon_panda::protocol::group::Sequencer;
use antiphon_panda::protocol::link::{Links, Retransmit, Through};
use antiphon_panda_sim::{Chance, History, Kind, Membership, Network, Place, World};

/// Longer than members take to give up, which is six silences of 0.4 s.
const LONG: Duration = Duration::from_secs(6);

/// How long a change of members takes, and at how many moments of it the network is split.
const CHANGE: Duration = Duration::from_millis(10);
const SPLITS: u32 = 100;

/// All join, one after the other; `away` are cut off so long after the last has asked to be let in.
fn split_at<L: Links>(
    kind: Kind,
    size: u32,
    away: &[Rank],
    after: Duration,
) -> World<L, Sequencer> {
    // A lost or late message comes to some processes long after it came to others.
    let (lost, jitter_us) = match kind {
        Kind::Datagrams | Kind::Multicast => (250, 300),
        Kind::Streams | Kind::Bus => (0, 3000),
    };
    let network = Network::new(kind, 0, 0, 100, jitter_us);
    let seed = after.as_micros() as u64;
    let mut world: World<L, Sequencer> = World::new(size, network, Chance::new(seed));
    for rank in 0..size {
        if rank + 1 == size {
            world.medium.network.loss = lost;
        }
        world.join(rank);
        if rank + 1 < size {
            let is_in = |world: &World<L, Sequencer>| {
                (0..=rank).all(|member| world.view_size(member) == Some(rank as usize + 1))
            };
            assert!(
                world.run_till(world.medium.now + LONG, is_in),
                "{rank} joins"
            );
        }
    }
    world.run_until(world.medium.now + after);
    world.medium.network.split(1, away);
    world.medium.network.loss = 0;
    for rank in 0..size {
        world.send(rank, 20);
    }
    world.run_until(world.medium.now + LONG);
    world
}

/// What the membership of a rank saw; each has one.
fn membership(history: &History, rank: Rank) -> &Membership {
    let of_rank = |life: &&antiphon_panda_sim::Life| life.rank == rank;
    let life = history.lives.iter().find(of_rank);
    &life.expect("it was started").memberships[0]
}

/// Whether those who are not away are a majority of the last view; if so, they must all have gone
/// on, in one view.
fn went_on(history: &History, size: u32, away: &[Rank]) -> Result<bool, String> {
    let views = (0..size).filter(|rank| !away.contains(rank));
    let views = views.flat_map(|rank| &membership(history, rank).places);
    let views = views.filter_map(|place| match place {
        Place::View {
            number, members, ..
        } => Some((*number, members)),
        Place::Snapshot { .. } | Place::Message { .. } => None,
    });
    // Of those views that had members on both sides the last one decides; what this side saw later
    // it decided itself.
    let split = views.filter(|(_, members)| members.iter().any(|rank| away.contains(rank)));
    let Some((_, members)) = split.max_by_key(|(number, _)| *number) else {
        return Ok(false);
    };
    let rest: Vec<Rank> = members
        .iter()
        .filter(|rank| !away.contains(rank))
        .copied()
        .collect();
    if rest.len() * 2 <= members.len() {
        return Ok(false);
    }
    for &rank in &rest {
        let member = membership(history, rank);
        let now = member.view().map(|(_, members)| members);
        let is_with_all = now.is_some_and(|now| rest.iter().all(|other| now.contains(other)));
        let is_alone = now.is_some_and(|now| away.iter().all(|other| !now.contains(other)));
        if member.ended.is_some() || !is_with_all || !is_alone {
            return Err(format!(
                "rank {rank} of {rest:?}, a majority of {members:?}, sees {now:?}, ended: {:?}",
                member.ended
            ));
        }
    }
    Ok(true)
}

fn a_majority_goes_on<L: Links>(kind: Kind, size: u32, away: &[Rank]) {
    let splits = std::env::var("PANDA_SPLITS").map_or(SPLITS, |splits| {
        splits.parse().expect("PANDA_SPLITS is a number")
    });
    let mut went = 0;
    for split in 0..splits {
        let after = CHANGE * split / splits;
        let world = split_at::<L>(kind, size, away, after);
        match went_on(&world.history, size, away) {
            Ok(has) => went += u32::from(has),
            Err(fault) => panic!(
                "{kind:?}, {away:?} of {size} cut off after {after:?}: {fault}\n{}",
                world.history
            ),
        }
    }
    assert!(
        went > splits / 20,
        "only {went} of {splits} splits left a majority on the other side"
    );
}

#[test]
fn without_the_first_of_three() {
    a_majority_goes_on::<Through>(Kind::Streams, 3, &[0]);
    a_majority_goes_on::<Retransmit>(Kind::Datagrams, 3, &[0]);
    a_majority_goes_on::<Retransmit>(Kind::Multicast, 3, &[0]);
}

#[test]
fn without_the_first_of_five() {
    a_majority_goes_on::<Through>(Kind::Streams, 5, &[0]);
    a_majority_goes_on::<Retransmit>(Kind::Datagrams, 5, &[0]);
}

#[test]
fn without_the_first_two_of_five() {
    a_majority_goes_on::<Through>(Kind::Streams, 5, &[0, 1]);
    a_majority_goes_on::<Retransmit>(Kind::Datagrams, 5, &[0, 1]);
}

#[test]
fn without_another_of_three() {
    a_majority_goes_on::<Through>(Kind::Streams, 3, &[1]);
    a_majority_goes_on::<Retransmit>(Kind::Datagrams, 3, &[1]);
}
