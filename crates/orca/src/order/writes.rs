//! Objects begin, and writes are executed at their places.

use std::sync::atomic::Ordering;

use antiphon_panda::Rank;
use bytes::Bytes;

use crate::cell::Outcome;
use crate::entry::{Answer, Copy, Effect, Entry, ObjectId, Ticket};
use crate::error::Error;
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::object;
use crate::placement::{Location, Placement};

impl Machine {
    pub(super) fn on_create(
        &self,
        from: Rank,
        place: u64,
        object_type: &str,
        wanted: Placement,
        location: Location,
        body: &[u8],
    ) -> Result<(), Error> {
        let object_type =
            object::find(object_type).ok_or_else(|| Error::NoType(object_type.into()))?;
        let has_copy = match location {
            Location::Owned(owner) if !self.is_machine(owner) => {
                return Err(Error::NoMachine(owner));
            }
            Location::Owned(owner) => owner == self.rank,
            _ => true,
        };
        let state = has_copy.then(|| object_type.decode(body)).transpose()?;
        let entry = Entry::new(place, object_type, wanted, location, state);
        self.objects.lock().insert(place, entry);
        let mut common = self.common.lock();
        common.sharers.entry(place).or_default().grant(from);
        Ok(())
    }

    pub(super) fn on_write(
        &self,
        from: Rank,
        place: u64,
        (number, object, operation, ticket): (u64, ObjectId, usize, u64),
        reads: u64,
        arguments: Bytes,
    ) -> Vec<Effect> {
        let answer = (number != 0).then_some(Answer::Origin(from, number));
        let effects = match self.entry(object) {
            None => answer
                .map(|answer| Effect::Answer(answer, Outcome::Failed(Error::Over)))
                .into_iter()
                .collect(),
            Some(entry) => {
                let mut copy = entry.copy.write();
                let invocation = (operation, arguments, (from, ticket));
                let mut effects =
                    self.write_in_order(&entry, &mut copy, (from, place), invocation, answer);
                if matches!(copy.location, Location::Replicated) {
                    copy.usage.note(from, reads, 1);
                    effects.extend(self.reconsider(&entry, &mut copy));
                }
                effects
            }
        };
        if number == 0 && from == self.rank {
            self.landed.fetch_add(1, Ordering::AcqRel);
        }
        effects
    }

    fn write_in_order(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        (from, place): (Rank, u64),
        invocation: (usize, Bytes, Ticket),
        answer: Option<Answer>,
    ) -> Vec<Effect> {
        if let Some(error) = entry.unusable(copy) {
            let answer = answer.map(|answer| Effect::Answer(answer, Outcome::Failed(error)));
            return answer.into_iter().collect();
        }
        let is_early = from == self.rank && self.fault.is(Mutant::AppliesBeforePlace);
        let is_skipped =
            self.fault.is(Mutant::SkipsWrite) && self.rank == 1 && place.is_multiple_of(8);
        match (copy.location, answer) {
            (Location::Replicated, None) if is_early || is_skipped => Vec::new(),
            (Location::Replicated, answer) => self.execute(entry, copy, invocation, answer, true),
            // The object has moved since. Its caller asks the owner.
            (_, Some(answer)) => vec![Effect::Answer(answer, Outcome::Again)],
            // No process waits, so it is executed here, at its place.
            (Location::Owned(owner), None) => {
                copy.late_write = place;
                match owner == self.rank && !self.fault.is(Mutant::DropsLateWrite) {
                    true => self.execute(entry, copy, invocation, None, true),
                    false => Vec::new(),
                }
            }
            (Location::Lost(_), None) => Vec::new(),
        }
    }
}
