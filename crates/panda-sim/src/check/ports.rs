//! Checks of port messages. Each comes once and in its sender's order. None is lost between two
//! processes that never lost each other. Receipts are only for messages that were handed over.

use std::collections::BTreeMap;

use crate::world::RECEIPT_LIMIT;
use crate::{History, Life, Posted, Taken};
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;

/// The time of each message's hand-over, and the life that got it.
type Handed = BTreeMap<(usize, u32), (Time, usize)>;

pub(super) fn ports(history: &History, end: Time) -> Result<(), String> {
    let mut handed = Handed::new();
    for (which, life) in history.lives.iter().enumerate() {
        let mut last: BTreeMap<usize, u32> = BTreeMap::new();
        for taken in &life.taken {
            as_sent(history, life, taken)?;
            let before = last.insert(taken.id.0, taken.id.1);
            in_order(history, life, taken, before)?;
            if handed.insert(taken.id, (taken.at, which)).is_some() {
                return Err(format!("message {:?} was handed over twice", taken.id));
            }
        }
    }
    for (which, life) in history.lives.iter().enumerate() {
        for (posted, number) in life.posted.iter().zip(1..) {
            let taken = handed.get(&(which, number)).copied();
            arrived(history, life, posted, taken)
                .and_then(|()| receipted(life, posted, taken.map(|(at, _)| at), end))
                .map_err(|fault| {
                    format!(
                        "message {:?} from rank {} to rank {} {fault}",
                        (which, number),
                        life.rank,
                        posted.to
                    )
                })?;
        }
    }
    Ok(())
}

fn sent(history: &History, id: (usize, u32)) -> Option<&Posted> {
    let at = (id.1 as usize).checked_sub(1)?;
    history.lives.get(id.0)?.posted.get(at)
}

fn as_sent(history: &History, life: &Life, taken: &Taken) -> Result<(), String> {
    let is_same = sent(history, taken.id).is_some_and(|posted| {
        let from = history.lives[taken.id.0].rank;
        (posted.to, posted.tag, posted.length, from)
            == (life.rank, taken.tag, taken.length, taken.from)
    });
    match is_same {
        true => Ok(()),
        false => Err(format!(
            "rank {} was handed {taken:?}, which nobody sent so",
            life.rank
        )),
    }
}

/// Checks a message against the last one of the same sender: it comes later, with none missing
/// between them unless one process lost the other.
fn in_order(
    history: &History,
    life: &Life,
    taken: &Taken,
    before: Option<u32>,
) -> Result<(), String> {
    let Some(before) = before else { return Ok(()) };
    if taken.id.1 <= before {
        return Err(format!(
            "rank {} was handed message {:?} after number {before} of the same sender: doubled or out of order",
            life.rank, taken.id
        ));
    }
    let sender = &history.lives[taken.id.0];
    let is_passed =
        |number: &u32| sent(history, (taken.id.0, *number)).is_some_and(|it| it.to == life.rank);
    match (before + 1..taken.id.1).find(is_passed) {
        Some(number) if !has_lost(sender, life, Time::ZERO) => Err(format!(
            "rank {} was handed message {:?} without number {number} before it",
            life.rank, taken.id
        )),
        _ => Ok(()),
    }
}

/// Returns whether one of two lives was told that the other is lost, from a moment on.
pub(super) fn has_lost(a: &Life, b: &Life, from: Time) -> bool {
    let reported =
        |life: &Life, of: Rank| (life.losses.iter()).any(|(at, rank)| *at >= from && *rank == of);
    reported(a, b.rank) || reported(b, a.rank)
}

/// Returns whether a message between two living processes came, if neither lost the other since.
fn arrived(
    history: &History,
    sender: &Life,
    posted: &Posted,
    taken: Option<(Time, usize)>,
) -> Result<(), String> {
    let Some(receiver) = history.lives.get(posted.life) else {
        return Ok(());
    };
    let is_due = !sender.is_over && !receiver.is_over && !has_lost(sender, receiver, posted.at);
    match taken {
        None if is_due => Err("was lost, and they never lost each other".into()),
        _ => Ok(()),
    }
}

fn receipted(sender: &Life, posted: &Posted, taken: Option<Time>, end: Time) -> Result<(), String> {
    if posted.receipt.is_none() || sender.is_over && posted.ended.is_none() {
        return Ok(());
    }
    match posted.ended {
        Some((at, true)) if taken.is_none_or(|taken| taken > at) => {
            Err("has a receipt although it was not handed over".into())
        }
        ended if ended.map_or(end, |(at, _)| at) > posted.at + RECEIPT_LIMIT => {
            Err("has neither a receipt nor a loss in time".into())
        }
        _ => Ok(()),
    }
}
