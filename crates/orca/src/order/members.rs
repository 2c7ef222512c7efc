//! Machines join, are lost, and stand still together.

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_panda::Rank;

use super::Standstill;
use crate::entry::{Answer, Copy, Effect, Entry};
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::placement::Location;

impl Machine {
    pub(super) fn on_view(self: &Arc<Self>, members: Vec<Rank>, joined: &[Rank], left: &[Rank]) {
        let orphans = {
            let mut common = self.common.lock();
            common.members = members;
            for rank in joined {
                let base = common.work.clone();
                common.bases.entry(*rank).or_insert(base);
            }
            for rank in left {
                common.machines.remove(rank);
                common.bases.remove(rank);
                for sharers in common.sharers.values_mut() {
                    sharers.0.remove(rank);
                }
            }
            let all = common.sharers.iter();
            let orphans = all.filter(|(_, sharers)| sharers.0.is_empty());
            orphans.map(|(id, _)| *id).collect::<Vec<_>>()
        };
        if left.is_empty() {
            return;
        }
        self.lose_arrays(left);
        // Processes that this wakes must be active before a verdict can leave the lost machines
        // out.
        self.quiescence.active();
        let mut effects = Vec::new();
        for entry in self.all_entries() {
            let mut removed = Vec::new();
            {
                let mut copy = entry.copy.write();
                effects.extend(self.lose(&entry, &mut copy, left, &mut removed));
            }
            // Dropped where no lock is held, because dropped replies are answered with an error.
            drop(removed);
        }
        for orphan in orphans {
            effects.extend(self.delete(orphan));
        }
        self.perform(effects);
        self.quiescence.passive();
    }

    /// Records machines that are gone.
    fn lose(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        left: &[Rank],
        removed: &mut Vec<Answer>,
    ) -> Vec<Effect> {
        for rank in left {
            copy.usage.forget(*rank);
        }
        copy.wishes.retain(|(rank, _)| !left.contains(rank));
        let mut effects = Vec::new();
        if let Location::Owned(owner) = copy.location
            && left.contains(&owner)
            && !self.fault.is(Mutant::IgnoresLoss)
        {
            copy.location = Location::Lost(owner);
            self.note_move(entry, copy, format!("lost with machine {owner}"));
            effects.extend(entry.fail_all(copy));
            effects.extend(self.follow_wish(entry, copy));
        }
        if !self.fault.is(Mutant::ExecutesForTheLost) {
            let is_gone = |answer: &Answer| match answer {
                Answer::Here(_) => false,
                Answer::Caller(_, from) | Answer::Origin(from, _) => left.contains(from),
            };
            let blocked = std::mem::take(&mut copy.blocked);
            for invocation in blocked {
                match is_gone(&invocation.answer) {
                    true => removed.push(invocation.answer),
                    false => copy.blocked.push_back(invocation),
                }
            }
        }
        let (given_up, gone) = self.give_up(entry, copy, |it| left.contains(&it.0));
        effects.extend(given_up);
        removed.extend(gone);
        for rank in left {
            effects.extend(self.end_inquiry(entry, copy, *rank));
        }
        effects
    }

    pub(super) fn on_stuck(
        &self,
        from: Rank,
        (verdict, turn): (u64, u8),
        machines: &[Rank],
        said: Standstill,
    ) -> Vec<Effect> {
        let outcome = {
            let mut common = self.common.lock();
            if common.stuck.0 != verdict {
                common.stuck = (verdict, BTreeMap::new());
            }
            common.stuck.1.insert((turn, from), said);
            let here = machines
                .iter()
                .filter(|it| common.machines.contains_key(it));
            let here: Vec<_> = here.copied().collect();
            let said = &common.stuck.1;
            let of = |turn| -> Option<Vec<&Standstill>> {
                here.iter().map(|it| said.get(&(turn, *it))).collect()
            };
            match (of(1), of(2)) {
                (Some(first), Some(second)) => {
                    let live: u64 = second.iter().map(|it| it.live).sum();
                    let blocked = second.iter().flat_map(|it| it.blocked.clone());
                    let blocked: Vec<_> = blocked.collect();
                    let is_one = first == second && live > 0 && live == blocked.len() as u64;
                    Some(is_one.then_some(blocked))
                }
                (Some(_), None) if turn == 1 => None,
                _ => return Vec::new(),
            }
        };
        match outcome {
            // All have reported once.
            None => {
                self.ask_again(verdict, machines.to_vec());
                Vec::new()
            }
            Some(Some(blocked)) => self.on_deadlock(blocked),
            Some(None) => Vec::new(),
        }
    }
}
