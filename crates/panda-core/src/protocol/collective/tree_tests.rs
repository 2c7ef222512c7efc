//! What gathers and scatters join, among the state machines alone: where it is too long for one
//! message it goes in several, whenever they come.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;

use super::running::Running;
use super::*;

const SILENCE: Duration = Duration::from_secs(3);
/// Bytes of the longest step.
const LONGEST: usize = 200;

/// Processes, and what is under way between each two, in order.
struct Company {
    members: Vec<Collectives>,
    root: usize,
    under_way: BTreeMap<(Rank, Rank), VecDeque<(Key, Step)>>,
    ended: Vec<Option<Result<Vec<Message>, Failure>>>,
    parts: usize,
}

fn value(at: usize) -> Message {
    vec![at as u8; 10 * (at % 7)].into()
}

impl Company {
    fn new(count: usize, root: usize) -> Self {
        let member = |_| Collectives::new(SILENCE, LONGEST);
        Self {
            members: (0..count).map(member).collect(),
            root,
            under_way: BTreeMap::new(),
            ended: vec![None; count],
            parts: 0,
        }
    }

    fn begin(&mut self, at: usize, operation: Operation) {
        let part = Part {
            id: at as u64,
            list: 1,
            family: 1,
            order: 1,
            ranks: (0..self.members.len() as Rank).collect(),
            at,
            root: self.root,
            operation,
            value: value(at),
        };
        let mut out = Outcome::default();
        self.members[at].begin(Duration::ZERO, part, &mut out);
        self.follow(at as Rank, out);
    }

    fn follow(&mut self, from: Rank, out: Outcome) {
        assert!(out.liar.is_none());
        for (to, key, step) in out.sends {
            let message = step.encode();
            assert!(message.len() <= LONGEST, "{} bytes", message.len());
            self.parts += usize::from(matches!(step, Step::More(..)));
            let step = Step::decode(message).unwrap();
            let way = self.under_way.entry((from, to)).or_default();
            way.push_back((key, step));
        }
        for work in out.combine {
            let (key, step) = work.run();
            let way = self.under_way.entry((from, from)).or_default();
            way.push_back((key, step));
        }
        for (id, _, outcome) in out.ended {
            let before = self.ended[id as usize].replace(outcome);
            assert!(before.is_none(), "ended twice");
        }
    }

    /// All begin, and what is under way comes: which is next, is said by numbers.
    fn run(&mut self, order: &[usize], operation: impl Fn(usize) -> Operation) {
        let mut to_begin: Vec<usize> = (0..self.members.len()).collect();
        let mut order = order.iter().copied().chain(std::iter::repeat(0));
        loop {
            self.under_way.retain(|_, way| !way.is_empty());
            let ways = self.under_way.len();
            if ways + to_begin.len() == 0 {
                return;
            }
            let next = order.next().unwrap_or(0) % (ways + to_begin.len());
            if let Some((&(from, to), way)) = self.under_way.iter_mut().nth(next) {
                let (key, step) = way.pop_front().expect("it is not empty");
                let mut out = Outcome::default();
                self.members[to as usize].take(from, key, step, &mut out);
                self.follow(to, out);
            } else {
                let at = to_begin.swap_remove(next - ways);
                self.begin(at, operation(at));
            }
        }
    }

    fn result(&self, at: usize) -> Vec<Message> {
        let outcome = self.ended[at].clone().expect("it has ended");
        outcome.expect("it went well")
    }
}

fn bytes(values: &[Message]) -> Vec<bytes::Bytes> {
    values.iter().map(Message::to_bytes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_gathered_comes_in_parts(
        count in 40..70_usize,
        root in 0..20_usize,
        order in proptest::collection::vec(0..1000_usize, 200),
    ) {
        let mut company = Company::new(count, root);
        company.run(&order, |_| Operation::Gather);
        let all: Vec<_> = (0..count).map(value).collect();
        for at in 0..count {
            let have = bytes(&company.result(at));
            prop_assert_eq!(have, if at == root { bytes(&all) } else { Vec::new() });
        }
        prop_assert!(company.parts > 0, "it is too long for a message");
    }

    #[test]
    fn what_is_scattered_comes_in_parts(
        count in 40..70_usize,
        root in 0..20_usize,
        order in proptest::collection::vec(0..1000_usize, 200),
    ) {
        let mut company = Company::new(count, root);
        let all: Vec<_> = (0..count).map(value).collect();
        company.run(&order, |at| {
            Operation::Scatter(if at == root { all.clone() } else { Vec::new() })
        });
        for (at, own) in all.iter().enumerate() {
            prop_assert_eq!(bytes(&company.result(at)), bytes(std::slice::from_ref(own)));
        }
        prop_assert!(company.parts > 0, "it is too long for a message");
    }
}

/// More values than a subtree has places keep nothing.
#[test]
fn values_without_end_are_not_kept() {
    let mut company = Company::new(8, 0);
    company.begin(0, Operation::Gather);
    let key = Key {
        family: 1,
        list: 1,
        number: 1,
    };
    let Some(Running::Tree(tree)) = company.members[0].running_at(key) else {
        panic!("it is under way");
    };
    let (shape, mut out) = (tree.shape, Outcome::default());
    for _ in 0..100 {
        let more = Step::More(shape, vec![(1, value(3))]);
        company.members[0].take(1, key, more, &mut out);
        let more = Step::More(shape, vec![(4, value(3))]);
        company.members[0].take(4, key, more, &mut out);
    }
    let Some(Running::Tree(tree)) = company.members[0].running_at(key) else {
        panic!("it is under way");
    };
    assert_eq!(tree.kept(), 1 + 4, "as many as have places below");
}

/// What values are combined to may be too long, which is everybody's to know and nobody's loss.
#[test]
fn what_combines_to_too_much_fails_at_all_who_wait() {
    let mut company = Company::new(5, 0);
    let joins = |_| {
        Operation::AllReduce(Box::new(|mut a: Message, _| {
            a.append(vec![0; LONGEST].into());
            Ok(a)
        }))
    };
    company.run(&[], joins);
    for at in 0..5 {
        let outcome = company.ended[at].as_ref().expect("it has ended");
        assert!(
            matches!(outcome, Err(Failure::Panicked { why, .. }) if why.contains("at most 200")),
            "{outcome:?}"
        );
    }
}
