//! What must hold in every history.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{History, Life, Membership, Place};
use super::world::CALL_LIMIT;
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;

mod communicators;
mod ports;

/// A message's name: its sender's life, membership and number.
type Id = (u32, u32, u32);

/// A view's number, its messages with their places, and whether the member went on from it to the very next.
type InView = (u64, Vec<(u64, Id)>, bool);

/// What is wrong with a history, if anything.
///
/// # Errors
/// The first fault found, in words.
pub fn check(history: &History, end: Time) -> Result<(), String> {
    if let Some((rank, why)) = history.refused.first() {
        return Err(format!("rank {rank} was given what it cannot read: {why}"));
    }
    views(history)?;
    for (which, life) in history.lives.iter().enumerate() {
        for member in &life.memberships {
            orderly(which, member)?;
        }
    }
    order(history)?;
    own_messages(history)?;
    calls(history, end)?;
    ports::ports(history, end)?;
    communicators::communicators(history, end)
}

/// One number, one view; and a view's number grows.
fn views(history: &History) -> Result<(), String> {
    let mut seen: BTreeMap<u64, &[u32]> = BTreeMap::new();
    for (life, member) in memberships(history) {
        let mut last = 0;
        for place in &member.places {
            let Place::View { number, members } = place else {
                continue;
            };
            if *number <= last {
                return Err(format!(
                    "rank {}: view {number} after view {last}",
                    life.rank
                ));
            }
            last = *number;
            if !members.contains(&life.rank) {
                return Err(format!(
                    "rank {}: told of view {number} of {members:?}, which it is not in",
                    life.rank
                ));
            }
            let first = *seen.entry(*number).or_insert(members);
            if first != members.as_slice() {
                return Err(format!(
                    "view {number} is {first:?} to some and {members:?} to rank {}",
                    life.rank
                ));
            }
        }
    }
    Ok(())
}

/// Places without gaps, each message once, each sender's messages in its order; a view first.
fn orderly(which: usize, member: &Membership) -> Result<(), String> {
    let mut last: Option<u64> = None;
    let mut of_sender: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (at, event) in member.places.iter().enumerate() {
        let Place::Message { place, id } = event else {
            continue;
        };
        if at == 0 {
            return Err(format!("life {which}: a message before the first view"));
        }
        if last.is_some_and(|last| *place != last + 1) {
            return Err(format!("life {which}: place {place} after {last:?}"));
        }
        last = Some(*place);
        let before = of_sender.insert((id.0, id.1), id.2);
        if before.is_some_and(|before| id.2 != before + 1) {
            return Err(format!(
                "life {which}: message {id:?} after number {before:?} of the same sender: doubled, lost or out of order"
            ));
        }
    }
    Ok(())
}

/// In a view that two members both left for the next one, both delivered the same. In their last views one may be ahead, unless it went on.
fn order(history: &History) -> Result<(), String> {
    let mut settled: BTreeMap<u64, (Vec<(u64, Id)>, u32)> = BTreeMap::new();
    for (life, member) in memberships(history) {
        for (number, messages, is_whole) in by_view(member) {
            if !is_whole {
                continue;
            }
            let (first, rank) = settled
                .entry(number)
                .or_insert_with(|| (messages.clone(), life.rank));
            if *first != messages {
                return Err(format!(
                    "in view {number} rank {rank} delivered {} messages, rank {} other {}: {}",
                    first.len(),
                    life.rank,
                    messages.len(),
                    differ(first, &messages)
                ));
            }
        }
    }
    // Who is still in its last view has delivered a beginning of what others have.
    let mut open: BTreeMap<u64, BTreeMap<u64, (Id, u32)>> = BTreeMap::new();
    for (life, member) in
        memberships(history).filter(|(life, member)| !life.is_over && member.ended.is_none())
    {
        for (number, messages, _) in by_view(member) {
            for (place, id) in messages {
                let (first, rank) = *open
                    .entry(number)
                    .or_default()
                    .entry(place)
                    .or_insert((id, life.rank));
                if first != id {
                    return Err(format!(
                        "place {place} is {first:?} at rank {rank} and {id:?} at rank {}",
                        life.rank
                    ));
                }
            }
        }
    }
    Ok(())
}

fn differ(a: &[(u64, Id)], b: &[(u64, Id)]) -> String {
    let at = a
        .iter()
        .zip(b)
        .position(|(a, b)| a != b)
        .unwrap_or(a.len().min(b.len()));
    format!("{:?} against {:?}", a.get(at), b.get(at))
}

/// The messages of each view, and whether the member went on from it to the very next.
fn by_view(member: &Membership) -> Vec<InView> {
    let mut views: Vec<InView> = Vec::new();
    for event in &member.places {
        match event {
            Place::View { number, .. } => {
                if let Some(last) = views.last_mut() {
                    last.2 = last.0 + 1 == *number;
                }
                views.push((*number, Vec::new(), false));
            }
            Place::Message { place, id } => {
                if let Some(last) = views.last_mut() {
                    last.1.push((*place, *id));
                }
            }
        }
    }
    views
}

/// Who left in order has had all of its messages delivered.
fn own_messages(history: &History) -> Result<(), String> {
    for (which, life) in history.lives.iter().enumerate() {
        for (n, member) in life.memberships.iter().enumerate() {
            if member.ended == Some(true) && delivered_own(which, n, member) != member.sent {
                return Err(format!(
                    "rank {} left with only {} of its {} messages delivered",
                    life.rank,
                    delivered_own(which, n, member),
                    member.sent
                ));
            }
        }
    }
    Ok(())
}

fn delivered_own(life: usize, membership: usize, member: &Membership) -> u32 {
    let own = |place: &&Place| matches!(place, Place::Message { id, .. } if id.0 as usize == life && id.1 as usize == membership + 1);
    member.places.iter().filter(own).count() as u32
}

/// Calls are executed at most once, exactly once if they end well, and end in time.
fn calls(history: &History, end: Time) -> Result<(), String> {
    let mut executed: BTreeSet<(usize, u32)> = BTreeSet::new();
    for life in &history.lives {
        for call in &life.executed {
            if !executed.insert(*call) {
                return Err(format!(
                    "call {} of life {} was executed twice",
                    call.1, call.0
                ));
            }
        }
    }
    for (which, life) in history.lives.iter().enumerate() {
        for call in life.calls.values() {
            let is_late = call.ended.map_or(end, |(at, _)| at) > call.at + CALL_LIMIT;
            if is_late && !life.is_over {
                return Err(format!(
                    "rank {}'s call {} to rank {} did not end in time",
                    life.rank, call.number, call.to
                ));
            }
            if call.ended.is_some_and(|(_, is_well)| is_well)
                && !executed.contains(&(which, call.number))
            {
                return Err(format!(
                    "rank {}'s call {} ended well but was not executed",
                    life.rank, call.number
                ));
            }
        }
    }
    Ok(())
}

/// After healing, all that live and want it are in one view, and everything that they sent is delivered to all of them.
///
/// # Errors
/// Who is stuck, and how.
pub fn check_lively(history: &History) -> Result<(), String> {
    let active: Vec<(usize, &Life, &Membership)> = last_memberships(history)
        .filter(|(_, _, member)| member.ended.is_none())
        .collect();
    let mut ends = BTreeSet::new();
    let mut views = BTreeSet::new();
    for (which, life, member) in &active {
        let Some((number, members)) = member.view() else {
            return Err(format!("rank {} was never let in", life.rank));
        };
        views.insert((number, members.to_vec()));
        let own = delivered_own(*which, life.memberships.len() - 1, member);
        if own != member.sent {
            return Err(format!(
                "rank {} sent {} messages and {own} were delivered to it",
                life.rank, member.sent
            ));
        }
        ends.extend(member.places.iter().rev().find_map(|place| match place {
            Place::Message { place, .. } => Some(*place),
            Place::View { .. } => None,
        }));
    }
    if views.len() > 1 {
        return Err(format!("members are in different views: {views:?}"));
    }
    let last: Option<u64> = ends.iter().copied().max();
    for (_, life, member) in &active {
        let own_last = member.places.iter().rev().find_map(|place| match place {
            Place::Message { place, .. } => Some(*place),
            Place::View { .. } => None,
        });
        let is_in_last = last.is_none() || own_last == last || own_last.is_none();
        if !is_in_last {
            return Err(format!(
                "rank {} delivered up to {own_last:?}, others up to {last:?}",
                life.rank
            ));
        }
    }
    Ok(())
}

/// Whether a majority of the last view that anybody saw still lives, so that the group could go on.
#[must_use]
pub fn can_go_on(history: &History) -> bool {
    let Some((number, members)) = latest_view(history) else {
        return true;
    };
    let saw = |member: &Membership| {
        member.places.iter().any(|place| matches!(place, Place::View { number: n, .. } if *n == number || n + 1 == number))
    };
    let living: BTreeSet<u32> = history
        .lives
        .iter()
        .filter(|life| !life.is_over && life.memberships.iter().any(saw))
        .map(|life| life.rank)
        .collect();
    members.iter().filter(|rank| living.contains(rank)).count() * 2 > members.len()
}

/// The last view that anybody saw.
#[must_use]
pub fn latest_view(history: &History) -> Option<(u64, &[Rank])> {
    memberships(history)
        .filter_map(|(_, member)| member.view())
        .max_by_key(|(number, _)| *number)
}

fn memberships(history: &History) -> impl Iterator<Item = (&Life, &Membership)> {
    history
        .lives
        .iter()
        .flat_map(|life| life.memberships.iter().map(move |member| (life, member)))
}

fn last_memberships(history: &History) -> impl Iterator<Item = (usize, &Life, &Membership)> {
    history
        .lives
        .iter()
        .enumerate()
        .filter(|(_, life)| !life.is_over)
        .filter_map(|(which, life)| Some((which, life, life.memberships.last()?)))
}
