//! Operations on arrays, among the state machines alone: what comes of them whatever comes first,
//! and how they end where members disagree or are lost.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;

use super::plan::Way;
use super::*;
use crate::number::{from_wire, to_wire};

const SILENCE: Duration = Duration::from_secs(3);

/// An array that lasts.
struct Held {
    numbers: Mutex<Vec<f64>>,
    panics: bool,
}

/// Neither associative nor commutative, so that the result tells the expression.
fn pair(a: f64, b: f64) -> f64 {
    (a * 1.618_033_988_7 + b * 0.577_215_664_9).sin() * 10.0
}

impl Array for Held {
    fn part(&self, of: Range<usize>) -> Result<Message, Refused> {
        Ok(to_wire(&self.numbers.lock().unwrap()[of]).into())
    }

    fn combine(&self, of: Range<usize>, others: &Message, first: bool) -> Result<(), Refused> {
        if self.panics {
            return Err(Refused::Panicked("on purpose".into()));
        }
        let mut came = vec![0.0; of.len()];
        from_wire(others, &mut came);
        for (own, other) in self.numbers.lock().unwrap()[of].iter_mut().zip(came) {
            *own = if first {
                pair(other, *own)
            } else {
                pair(*own, other)
            };
        }
        Ok(())
    }

    fn put(&self, of: Range<usize>, others: &Message) -> Result<(), Refused> {
        from_wire(others, &mut self.numbers.lock().unwrap()[of]);
        Ok(())
    }
}

struct Company {
    members: Vec<Collectives>,
    arrays: Vec<Arc<Held>>,
    ended: Vec<Option<Result<(), Failure>>>,
    ranks: Arc<[Rank]>,
    root: usize,
    under_way: VecDeque<(Rank, Rank, Key, Step)>,
    seed: u64,
}

fn number(place: usize, at: usize) -> f64 {
    place as f64 + at as f64 / 7.0
}

impl Company {
    fn new(count: usize, root: usize, seed: u64) -> Self {
        Self {
            members: (0..count)
                .map(|_| Collectives::new(SILENCE, usize::MAX))
                .collect(),
            arrays: Vec::new(),
            ended: vec![None; count],
            ranks: (0..count as Rank).collect(),
            root,
            under_way: VecDeque::new(),
            seed,
        }
    }

    /// Each with an array of its own length.
    fn with_arrays(mut self, length: impl Fn(usize) -> usize, panics: Option<usize>) -> Self {
        let count = self.ranks.len();
        let array = |at: usize| {
            let place = (at + count - self.root) % count;
            let numbers = (0..length(at)).map(|of| number(place, of)).collect();
            Arc::new(Held {
                numbers: Mutex::new(numbers),
                panics: panics == Some(at),
            })
        };
        self.arrays = (0..count).map(array).collect();
        self
    }

    fn chance(&mut self, below: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.seed >> 33) as usize % below
    }

    fn begin(&mut self, at: usize, way: Way, of: u8) {
        let array = self.arrays[at].clone();
        let length = array.numbers.lock().unwrap().len();
        let numbers = Numbers {
            signature: Signature {
                of,
                by: 1,
                length: length as u64,
            },
            size: 8,
            way,
            array: array.clone(),
        };
        let count = self.ranks.len();
        let place = (at + count - self.root) % count;
        let value = array.part(numbers.brought(place, count)).unwrap();
        let part = Part {
            id: at as u64,
            list: 1,
            family: 1,
            order: 1,
            ranks: self.ranks.clone(),
            at,
            root: self.root,
            operation: Operation::Numbers(numbers),
            value,
        };
        let mut out = Outcome::default();
        self.members[at].begin(Duration::ZERO, part, &mut out);
        self.follow(at, out);
    }

    fn follow(&mut self, at: usize, out: Outcome) {
        assert!(out.liar.is_none());
        for (to, key, step) in out.sends {
            // As it goes between processes.
            let step = Step::decode(step.encode()).unwrap();
            self.under_way.push_back((at as Rank, to, key, step));
        }
        for work in out.combine {
            let (key, step) = work.run();
            self.under_way
                .push_back((at as Rank, at as Rank, key, step));
        }
        for (_, _, outcome) in out.ended {
            let before = self.ended[at].replace(outcome.map(drop));
            assert!(before.is_none(), "ended twice");
        }
    }

    /// One message arrives, of those of which no earlier one of the same two is under way.
    fn deliver(&mut self) -> bool {
        if self.under_way.is_empty() {
            return false;
        }
        let any = self.chance(self.under_way.len());
        let (from, to) = (self.under_way[any].0, self.under_way[any].1);
        let is_of_pair = |it: &(Rank, Rank, Key, Step)| (it.0, it.1) == (from, to);
        let first = self.under_way.iter().position(is_of_pair).unwrap();
        let (from, to, key, step) = self.under_way.remove(first).unwrap();
        let mut out = Outcome::default();
        self.members[to as usize].take(from, key, step, &mut out);
        self.follow(to as usize, out);
        true
    }

    /// All begin and all arrives, in any order.
    fn run(&mut self, way: Way, of: impl Fn(usize) -> u8) {
        let mut waiting: Vec<usize> = (0..self.ranks.len()).collect();
        loop {
            if !waiting.is_empty() && self.chance(3) == 0 {
                let next = self.chance(waiting.len());
                let at = waiting.swap_remove(next);
                self.begin(at, way, of(at));
            } else if !self.deliver() && waiting.is_empty() {
                return;
            }
        }
    }

    /// Lets all waiting members ask, until none waits.
    fn ask(&mut self) {
        let mut now = Duration::ZERO;
        for _ in 0..10 {
            now += 2 * SILENCE;
            for at in 0..self.members.len() {
                let mut out = Outcome::default();
                self.members[at].tick(now, &mut out);
                self.follow(at, out);
            }
            while self.deliver() {}
        }
    }
}

/// A number of the result, by a plain loop: the second of each first pair with the one before it,
/// then neighbours, then pairs.
fn expected(count: usize, at: usize) -> f64 {
    let mut left: Vec<f64> = (0..count).map(|place| number(place, at)).collect();
    let extra = count - (1 << count.ilog2());
    for first in 0..extra {
        let second = left.remove(first + 1);
        left[first] = pair(left[first], second);
    }
    while left.len() > 1 {
        left = left.chunks(2).map(|two| pair(two[0], two[1])).collect();
    }
    left[0]
}

fn way(to_all: bool, in_parts: bool) -> Way {
    Way { to_all, in_parts }
}

proptest! {
    #[test]
    fn all_ways_come_to_the_same_bits(
        count in 1usize..20,
        root in 0usize..20,
        length in 0usize..60,
        seed: u64,
        to_all: bool,
        in_parts: bool,
    ) {
        let root = root % count;
        let mut company = Company::new(count, root, seed).with_arrays(|_| length, None);
        company.run(way(to_all, in_parts), |_| 10);
        let result: Vec<u64> = (0..length).map(|at| expected(count, at).to_bits()).collect();
        for at in 0..count {
            prop_assert_eq!(&company.ended[at], &Some(Ok(())));
            if to_all || at == root {
                let bits: Vec<u64> = company.arrays[at].numbers.lock().unwrap().iter().map(|it| it.to_bits()).collect();
                prop_assert_eq!(&bits, &result, "at {}", at);
            }
        }
    }

    #[test]
    fn who_has_another_length_is_named_at_all(
        count in 2usize..12,
        odd in 0usize..12,
        in_parts: bool,
        seed: u64,
    ) {
        let odd = odd % count;
        let length = |at| if at == odd { 30 } else { 20 };
        let mut company = Company::new(count, 0, seed).with_arrays(length, None);
        company.run(way(true, in_parts), |_| 10);
        company.ask();
        for (at, ended) in company.ended.iter().enumerate() {
            let Some(Err(Failure::Mismatch { rank, why })) = ended else {
                return Err(TestCaseError::fail(format!("rank {at} ended with {ended:?}")));
            };
            prop_assert!(*rank as usize == odd || why.contains(&format!("rank {odd} ")), "{rank} {why}");
            prop_assert!(why.contains("30") && why.contains("20"), "{}", why);
        }
    }

    #[test]
    fn a_root_never_ends_well_with_another_type(
        count in 2usize..12,
        odd in 0usize..12,
        in_parts: bool,
        seed: u64,
    ) {
        let odd = odd % count;
        let mut company = Company::new(count, 0, seed).with_arrays(|_| 9, None);
        company.run(way(false, in_parts), |at| if at == odd { 8 } else { 10 });
        company.ask();
        prop_assert!(company.ended.iter().all(Option::is_some));
        let Some(Err(Failure::Mismatch { why, .. })) = &company.ended[0] else {
            return Err(TestCaseError::fail(format!("the root ended with {:?}", company.ended[0])));
        };
        prop_assert!(why.contains("u64") && why.contains("f64"), "{}", why);
    }

    #[test]
    fn who_panics_is_named_at_all_who_wait_for_it(count in 2usize..12, odd in 0usize..12, in_parts: bool, seed: u64) {
        let extra = count - (1 << count.ilog2());
        let odd = odd % count;
        // A member that combines.
        let odd = if odd < 2 * extra { odd / 2 * 2 } else { odd };
        let mut company = Company::new(count, 0, seed).with_arrays(|_| 9, Some(odd));
        company.run(way(true, in_parts), |_| 10);
        company.ask();
        for (at, ended) in company.ended.iter().enumerate() {
            let is_named = matches!(ended, Some(Err(Failure::Panicked { rank, .. })) if *rank as usize == odd);
            // Where arrays go as a whole each combines for itself, and who needs nothing more of it
            // ends well.
            let may_end = !in_parts && at != odd && *ended == Some(Ok(()));
            prop_assert!(is_named || may_end, "{:?}", ended);
        }
    }

    #[test]
    fn who_waits_for_one_that_is_lost_is_told(count in 2usize..12, odd in 0usize..12, in_parts: bool, seed: u64) {
        let odd = odd % count;
        let mut company = Company::new(count, 0, seed).with_arrays(|_| 9, None);
        for at in (0..count).filter(|at| *at != odd) {
            company.begin(at, way(true, in_parts), 10);
        }
        while company.deliver() {}
        for at in (0..count).filter(|at| *at != odd) {
            let mut out = Outcome::default();
            company.members[at].lost(odd as Rank, true, "is gone", &mut out);
            company.follow(at, out);
        }
        while company.deliver() {}
        for at in (0..count).filter(|at| *at != odd) {
            let ended = &company.ended[at];
            prop_assert!(matches!(ended, Some(Err(Failure::Lost { rank, .. })) if *rank as usize == odd), "{:?}", ended);
        }
    }
}

#[test]
fn who_leaves_after_it_has_ended_ends_nobody_elses() {
    let mut company = Company::new(4, 0, 1).with_arrays(|_| 9, None);
    for at in 0..4 {
        company.begin(at, way(true, false), 10);
    }
    // All but what comes to the first from the third.
    let is_held = |it: &(Rank, Rank, Key, Step)| (it.0, it.1) == (2, 0);
    let mut held = Vec::new();
    loop {
        while let Some(at) = company.under_way.iter().position(is_held) {
            held.extend(company.under_way.remove(at));
        }
        if !company.deliver() {
            break;
        }
    }
    assert_eq!(company.ended[1], Some(Ok(())));
    let mut out = Outcome::default();
    company.members[0].lost(1, true, "is gone", &mut out);
    company.follow(0, out);
    assert_eq!(company.ended[0], None);
    company.under_way.extend(held);
    while company.deliver() {}
    assert_eq!(company.ended[0], Some(Ok(())));
}

#[test]
fn who_lost_touch_with_one_that_lives_ends_whatever_it_waits_for() {
    let mut company = Company::new(4, 0, 1).with_arrays(|_| 9, None);
    for at in [0, 1] {
        company.begin(at, way(true, true), 10);
    }
    while company.deliver() {}
    let mut out = Outcome::default();
    company.members[0].lost(1, false, "is silent", &mut out);
    company.follow(0, out);
    assert!(matches!(
        company.ended[0],
        Some(Err(Failure::Lost { rank: 1, .. }))
    ));
}

#[test]
fn nobody_ends_every_256th_reduction_before_all_have_begun_it() {
    for count in 2..9 {
        let mut company = Company::new(count, 0, 1);
        for turn in 1..=WINDOW {
            company = company.with_arrays(|_| 9, None);
            company.ended.fill(None);
            let is_last = turn == WINDOW;
            for at in usize::from(is_last)..count {
                company.begin(at, way(false, false), 10);
            }
            while company.deliver() {}
            let has_ended = company.ended[1].is_some();
            assert_eq!(has_ended, !is_last, "operation {turn} of {count}");
            assert!(!is_last || company.ended.iter().all(Option::is_none));
        }
        company.begin(0, way(false, false), 10);
        while company.deliver() {}
        assert!(company.ended.iter().all(|it| *it == Some(Ok(()))));
    }
}
