//! Summaries of subprograms, callees before callers. There is no recursion, because a program may
//! have a chain of calls of any length.

use super::{Effect, Effects, Oracle};
use crate::names::{At, EntityId};
use std::collections::{HashMap, HashSet};

/// The subject of a summary: a subprogram, or implicit operations on the values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Doer {
    /// The body of a subprogram.
    Call(EntityId),
    /// The creation of a value: defaults, `Initialize`, activation of tasks.
    Create(EntityId),
    /// Assignment, parameters and the end of a value: `Adjust` and `Finalize`.
    Copy(EntityId),
    /// Input from a stream and output to it.
    Stream(EntityId),
    /// The image.
    Image(EntityId),
}

/// The state of a doer before its summary is complete (Tarjan's algorithm for strongly connected
/// components).
#[derive(Debug)]
struct Visit {
    id: Doer,
    callees: Vec<Doer>,
    next: usize,
    low: usize,
}

/// The text between the first subprogram of a chain and the effect of the last one.
const ON_THE_WAY: &str = ", which does ";

/// Reports show up to this many calls of a chain; of longer chains they show the first and the
/// last.
const CALLS_TOLD: usize = 3;

impl Oracle<'_> {
    /// Returns the effects that `look` finds in code, after everything that the code calls has been
    /// summarised.
    pub(super) fn settled(&self, look: impl Fn(&mut Effects)) -> Effects {
        loop {
            let mut effects = Effects::default();
            look(&mut effects);
            let pending = std::mem::take(&mut *self.pending.borrow_mut());
            if pending.is_empty() {
                return effects;
            }
            for id in pending {
                self.summarise(id);
            }
        }
    }

    /// Summarises a subprogram, and first all that it calls. Subprograms that call each other in a
    /// cycle have the effects of all of them.
    fn summarise(&self, root: Doer) {
        let mut numbers: HashMap<Doer, usize> = HashMap::new();
        let mut open: Vec<Doer> = Vec::new();
        let mut stack: Vec<Visit> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(id) = next.take() {
                let number = numbers.len();
                numbers.insert(id, number);
                open.push(id);
                stack.push(Visit {
                    id,
                    callees: self.callees(id),
                    next: 0,
                    low: number,
                });
            }
            let Some(visit) = stack.last_mut() else {
                return;
            };
            if let Some(&callee) = visit.callees.get(visit.next) {
                visit.next += 1;
                if self.known.borrow().contains_key(&callee) {
                    continue;
                }
                match numbers.get(&callee) {
                    // A doer with a number but without a summary is in a cycle with this one.
                    Some(&number) => visit.low = visit.low.min(number),
                    None => next = Some(callee),
                }
                continue;
            }
            let (id, low) = (visit.id, visit.low);
            stack.pop();
            if let Some(caller) = stack.last_mut() {
                caller.low = caller.low.min(low);
            }
            if numbers.get(&id) == Some(&low) {
                let first = open.iter().rposition(|&o| o == id).unwrap_or(0);
                let circle = open.split_off(first);
                self.summarise_circle(&circle);
            }
        }
    }

    /// Returns the subprograms that a body calls and that have no summary yet.
    fn callees(&self, id: Doer) -> Vec<Doer> {
        self.look(id, &mut Effects::default());
        let mut found = std::mem::take(&mut *self.pending.borrow_mut());
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds the effects of a doer, from the summaries of its callees.
    fn look(&self, doer: Doer, effects: &mut Effects) {
        let Doer::Call(id) = doer else {
            return self.implicit(doer, effects);
        };
        let entity = self.names.entity(id);
        if let Some(body) = entity.body {
            self.collect(body, effects);
        }
        for condition in self.contract(entity.at) {
            self.collect(condition, effects);
        }
    }

    fn summarise_circle(&self, circle: &[Doer]) {
        for &id in circle {
            self.known.borrow_mut().insert(id, Effects::default());
        }
        let mut shared = Effects::default();
        let mut own: Vec<(Doer, Effects)> = Vec::new();
        for &id in circle {
            let mut effects = Effects::default();
            self.look(id, &mut effects);
            let mut through = Effects::default();
            self.relate(id, &effects, self.place_of(id), &mut through);
            shared.fill(&through);
            own.push((id, effects));
        }
        for (id, mut effects) in own {
            if circle.len() > 1 {
                effects.fill(&shared);
            }
            self.known.borrow_mut().insert(id, effects);
        }
    }

    fn place_of(&self, doer: Doer) -> At {
        let (Doer::Call(id)
        | Doer::Create(id)
        | Doer::Copy(id)
        | Doer::Stream(id)
        | Doer::Image(id)) = doer;
        self.names.entity(id).ident
    }

    fn words(&self, doer: Doer) -> String {
        let name = |id: EntityId| &self.names.entity(id).name;
        match doer {
            Doer::Call(id) => format!("a call of {}", name(id)),
            Doer::Create(id) => format!("a new value of {}", name(id)),
            Doer::Copy(id) => format!("a value of {} that is copied or ends", name(id)),
            Doer::Stream(id) => format!("a stream's value of {}", name(id)),
            Doer::Image(id) => format!("an image of {}", name(id)),
        }
    }

    /// Adds the first effect of each kind, as an effect of a doer at a place.
    pub(super) fn relate(&self, doer: Doer, inner: &Effects, at: At, effects: &mut Effects) {
        let relate = |e: &Effect| Effect {
            at,
            what: self.reported(doer, e),
            unit: e.unit.clone(),
        };
        effects.blocks.extend(inner.blocks.first().map(relate));
        // Each unknown unit is named.
        let mut units = HashSet::new();
        let unknown = inner.unknown.iter().filter(|e| units.insert(&e.unit));
        effects.unknown.extend(unknown.map(relate));
        effects.io.extend(inner.io.first().map(relate));
        effects.raises.extend(inner.raises.first().map(relate));
        effects.long.extend(inner.long.first().map(relate));
        effects.identity.extend(inner.identity.first().map(relate));
        if !matches!(doer, Doer::Call(_)) && !inner.impure.is_empty() {
            effects.impure.push(Effect::new(at, self.words(doer)));
        }
        let mut units = HashSet::new();
        let types = inner.types.iter().filter(|e| units.insert(&e.unit));
        effects
            .types
            .extend(types.map(|e| Effect { at, ..e.clone() }));
    }

    fn reported(&self, doer: Doer, effect: &Effect) -> String {
        let doer = self.words(doer);
        let what = if effect.what.contains(" which ") {
            effect.what.clone()
        } else {
            let place = self.program.sources[effect.at.file].place_of(effect.at.node);
            format!("{} at {}:{}", effect.what, place.file.display(), place.line)
        };
        match what.rsplit_once(ON_THE_WAY) {
            Some((calls, last)) if calls.matches(ON_THE_WAY).count() + 2 > CALLS_TOLD => {
                format!("{doer}, which by further calls does {last}")
            }
            _ if what.contains(", which by further calls does ") => {
                let last = what.rsplit(" does ").next().unwrap_or(&what);
                format!("{doer}, which by further calls does {last}")
            }
            _ => format!("{doer}{ON_THE_WAY}{what}"),
        }
    }
}

impl Effects {
    /// Takes from others each kind of effect that is missing here.
    fn fill(&mut self, others: &Effects) {
        let lists = [
            (&mut self.blocks, &others.blocks),
            (&mut self.unknown, &others.unknown),
            (&mut self.io, &others.io),
            (&mut self.raises, &others.raises),
            (&mut self.long, &others.long),
            (&mut self.identity, &others.identity),
            (&mut self.types, &others.types),
        ];
        for (own, other) in lists {
            if own.is_empty() {
                own.extend(other.iter().cloned());
            }
        }
    }
}
