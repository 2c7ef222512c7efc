//! The checks that every history must pass.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{History, Life, Membership, Place};
use super::world::CALL_LIMIT;
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;

mod communicators;
mod ports;

/// The name of a message: its sender's life, membership and number.
type Id = (u32, u32, u32);

/// A view's number, its messages with their places, and whether the member went on from it to the
/// very next.
type InView = (u64, Vec<(u64, Id)>, bool);

/// Checks a history.
///
/// # Errors
///
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
    reported_places(history)?;
    copies(history)?;
    calls(history, end)?;
    ports::ports(history, end)?;
    communicators::communicators(history, end)
}

/// Checks that a view's number has one view and one place, and grows.
fn views(history: &History) -> Result<(), String> {
    let mut seen: BTreeMap<u64, (&[u32], u64)> = BTreeMap::new();
    for (life, member) in memberships(history) {
        let mut last = 0;
        for event in &member.places {
            let Place::View {
                number,
                place,
                members,
                ..
            } = event
            else {
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
            let (first, at) = *seen.entry(*number).or_insert((members, *place));
            if first != members.as_slice() || at != *place {
                return Err(format!(
                    "view {number} is {first:?} at place {at} to some, and {members:?} at place {place} to rank {}",
                    life.rank
                ));
            }
        }
    }
    Ok(())
}

/// Checks that places have no gaps, each message comes once, each sender's messages are in its
/// order, and a view comes first.
fn orderly(which: usize, member: &Membership) -> Result<(), String> {
    let mut last: Option<u64> = None;
    let mut of_sender: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (at, event) in member.places.iter().enumerate() {
        let place = event.place();
        let is_of_snapshot = at == 1 && matches!(member.places[0], Place::Snapshot { .. });
        if is_of_snapshot && last.is_some_and(|last| place <= last) {
            // This is the view that holds at the place of the snapshot.
            continue;
        }
        if last.is_some_and(|last| place != last + 1) {
            return Err(format!("life {which}: place {place} after {last:?}"));
        }
        last = Some(place);
        let Place::Message { id, .. } = event else {
            continue;
        };
        if at == 0 {
            return Err(format!("life {which}: a message before the first view"));
        }
        let before = of_sender.insert((id.0, id.1), id.2);
        if before.is_some_and(|before| id.2 != before + 1) {
            return Err(format!(
                "life {which}: message {id:?} after number {before:?} of the same sender: doubled, lost or out of order"
            ));
        }
    }
    Ok(())
}

/// Checks the order of messages. In a view that two members both left for the next one, both
/// delivered the same. In their last views one may be ahead, unless it went on.
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
    // A member that is still in its last view has delivered a beginning of the others' messages.
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

/// Checks that all copies are equal at the begin of each view, those that began with another's
/// included.
fn copies(history: &History) -> Result<(), String> {
    if !history.has_state {
        return Ok(());
    }
    let mut seen: BTreeMap<u64, (u64, Rank)> = BTreeMap::new();
    for (life, member) in memberships(history) {
        for event in &member.places {
            let Place::View {
                number,
                copy: Some(copy),
                ..
            } = event
            else {
                continue;
            };
            let (first, rank) = *seen.entry(*number).or_insert((*copy, life.rank));
            if first != *copy {
                return Err(format!(
                    "at the beginning of view {number} rank {} has another copy than rank {rank}",
                    life.rank
                ));
            }
        }
    }
    Ok(())
}

/// Returns the messages of each view, and whether the member went on from it to the very next and
/// was told of all of its messages.
fn by_view(member: &Membership) -> Vec<InView> {
    let is_installed = matches!(member.places.first(), Some(Place::Snapshot { .. }));
    let mut views: Vec<InView> = Vec::new();
    for event in &member.places {
        match event {
            Place::View { number, .. } => {
                // Some messages of the first view may be in the snapshot.
                let is_first = views.len() == 1;
                if let Some(last) = views.last_mut() {
                    last.2 = last.0 + 1 == *number && !(is_first && is_installed);
                }
                views.push((*number, Vec::new(), false));
            }
            Place::Snapshot { .. } => {}
            Place::Message { place, id } => {
                if let Some(last) = views.last_mut() {
                    last.1.push((*place, *id));
                }
            }
        }
    }
    views
}

/// Checks that a member that left in order has had all of its messages delivered.
fn own_messages(history: &History) -> Result<(), String> {
    for (which, life) in history.lives.iter().enumerate() {
        for (n, member) in life.memberships.iter().enumerate() {
            let (own, sent) = (delivered_own(which, n, member), member.sent.len());
            if member.ended == Some(true) && own as usize != sent {
                return Err(format!(
                    "rank {} left with only {own} of its {sent} messages delivered",
                    life.rank,
                ));
            }
        }
    }
    Ok(())
}

/// Checks reported places. A sender learns the place of its message's delivery. No thread finds a
/// place delivered before the program was told of it.
fn reported_places(history: &History) -> Result<(), String> {
    for (which, life) in history.lives.iter().enumerate() {
        for (n, member) in life.memberships.iter().enumerate() {
            let own = member.places.iter().filter_map(|event| match event {
                Place::Message { place, id } => {
                    let is_own = id.0 as usize == which && id.1 as usize == n + 1;
                    is_own.then_some((id.2, *place))
                }
                Place::View { .. } | Place::Snapshot { .. } => None,
            });
            let own: BTreeMap<u32, u64> = own.collect();
            for (number, placed) in (1..).zip(&member.sent) {
                let (reported, seen) = (placed.place(), own.get(&number).copied());
                if reported != seen {
                    return Err(format!(
                        "rank {} was told place {reported:?} of its message {number}, which was delivered at {seen:?}",
                        life.rank
                    ));
                }
                if member.ended.is_some() && !placed.is_decided() {
                    return Err(format!(
                        "rank {} waits for the place of message {number} of a membership that has ended",
                        life.rank
                    ));
                }
            }
            if let Some((found, place)) = member.early {
                return Err(format!(
                    "rank {}: a thread found place {found} delivered while place {place} was not",
                    life.rank
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

/// Checks that calls run at most once, exactly once if they end well, and end in time.
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

/// Checks that after healing all living processes that want it are in one view, and all of their
/// messages are delivered to all of them.
///
/// # Errors
///
/// The stuck processes, and how.
pub fn check_lively(history: &History) -> Result<(), String> {
    let active: Vec<(usize, &Life, &Membership)> = last_memberships(history)
        .filter(|(_, _, member)| member.ended.is_none())
        .collect();
    let mut ends = BTreeSet::new();
    let mut views = BTreeSet::new();
    let mut copies = BTreeSet::new();
    for (which, life, member) in &active {
        let Some((number, members)) = member.view() else {
            return Err(format!("rank {} was never let in", life.rank));
        };
        views.insert((number, members.to_vec()));
        let own = delivered_own(*which, life.memberships.len() - 1, member);
        let sent = member.sent.len();
        if own as usize != sent {
            return Err(format!(
                "rank {} sent {sent} messages and {own} were delivered to it",
                life.rank
            ));
        }
        ends.extend(end_of(member));
        copies.insert(member.copy);
    }
    if views.len() > 1 {
        return Err(format!("members are in different views: {views:?}"));
    }
    let last: Option<u64> = ends.iter().copied().max();
    for (_, life, member) in &active {
        let own_last = end_of(member);
        let is_in_last = last.is_none() || own_last == last;
        if !is_in_last {
            return Err(format!(
                "rank {} delivered up to {own_last:?}, others up to {last:?}",
                life.rank
            ));
        }
    }
    if history.has_state && copies.len() > 1 {
        return Err("all are told of all, and their copies differ".into());
    }
    Ok(())
}

/// Returns the last place that a member has reached.
fn end_of(member: &Membership) -> Option<u64> {
    member.places.iter().map(Place::place).max()
}

/// Returns whether a majority of the last seen view still lives, so that the group could go on.
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

/// Returns the last view that any process saw.
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
