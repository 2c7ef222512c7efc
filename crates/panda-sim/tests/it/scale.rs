//! What the protocols cost grows as it should with the members: counted in the simulator, so these
//! are numbers, not times.

use std::sync::Arc;

use antiphon_panda::protocol::collective::{Operation, Refused};
use antiphon_panda::protocol::group::Sequencer;
use antiphon_panda::protocol::link::Through;
use antiphon_panda::{Message, Rank};
use antiphon_panda_sim::scale::{Cost, costs};
use antiphon_panda_sim::{Chance, Kind, Network, World};
use bytes::Bytes;

fn of(costs: &[Cost], operation: &str) -> Cost {
    let cost = costs.iter().find(|cost| cost.operation == operation);
    cost.unwrap_or_else(|| panic!("{operation} was not measured"))
        .clone()
}

#[test]
fn messages_and_bytes_grow_with_the_members_and_not_with_their_square() {
    for kind in [Kind::Streams, Kind::Datagrams] {
        let few = costs(kind, 32);
        let many = costs(kind, 256);
        let linear = [
            "ordered broadcast, alone",
            "barrier",
            "one joins",
            "one leaves",
            "a second without work",
            "the first crashes",
        ];
        for operation in linear {
            let (few, many) = (of(&few, operation), of(&many, operation));
            // Eight times the members; a square would be 64.
            assert!(
                many.messages <= 12.0 * few.messages && many.bytes <= 12.0 * few.bytes,
                "{kind:?} {operation}: {few:?} and {many:?}"
            );
        }
        let broadcast = of(&many, "ordered broadcast, alone");
        assert!(broadcast.messages < 1.5 * 256.0, "{kind:?}: {broadcast:?}");
        let load = of(&many, "ordered broadcast, many at once");
        assert!(load.messages < 0.2 * 256.0, "{kind:?}: {load:?}");
    }
}

type Streams = World<Through, Sequencer>;

fn world(size: u32) -> Streams {
    let network = Network::new(Kind::Streams, 0, 0, 50, 0);
    World::new(size, network, Chance::new(1))
}

fn sum(mut a: Message, mut b: Message) -> Result<Message, Refused> {
    let sum = u64::from_le_bytes(a.pop()?) + u64::from_le_bytes(b.pop()?);
    Ok(Message::from(sum.to_le_bytes().to_vec()))
}

/// Runs an operation on a list; what each came to, and the messages of the busiest process.
fn collect(
    world: &mut Streams,
    ranks: &Arc<[Rank]>,
    root: usize,
    operation: impl Fn() -> Operation,
) -> (Vec<(Rank, Vec<Bytes>)>, u64) {
    world.collected.clear();
    let before = world.medium.sent_by.clone();
    for at in 0..ranks.len() {
        let value = Bytes::copy_from_slice(&u64::from(ranks[at]).to_le_bytes());
        world.collect((ranks, at, root), operation(), value);
    }
    let all = ranks.len();
    let limit = world.medium.now + std::time::Duration::from_millis(50);
    assert!(world.run_till(limit, |world| world.collected.len() == all));
    let sent = world
        .medium
        .sent_by
        .iter()
        .zip(&before)
        .map(|(now, then)| now - then);
    let busiest = sent.max().unwrap_or(0);
    let results = std::mem::take(&mut world.collected).into_iter();
    (
        results
            .map(|(rank, values)| (rank, values.expect("nobody is lost")))
            .collect(),
        busiest,
    )
}

/// Collectives over everybody, and over a subset in an order of its own: right, and no process
/// sends more than three messages for each level of the tree, and one up it.
#[test]
fn collectives_among_many_cost_the_logarithm() {
    for size in [64, 257, 1000_u32] {
        let mut world = world(size);
        let everybody: Arc<[Rank]> = (0..size).collect();
        let subset: Arc<[Rank]> = (0..size).rev().filter(|rank| rank % 3 != 1).collect();
        for ranks in [everybody, subset] {
            let levels = u64::from((ranks.len() - 1).ilog(4)) + 1;
            let expected: u64 = ranks.iter().map(|rank| u64::from(*rank)).sum();
            let word = |bytes: &Bytes| u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
            for root in [0, ranks.len() / 2] {
                let all = || Operation::AllReduce(Box::new(sum));
                let (results, busiest) = collect(&mut world, &ranks, root, all);
                assert!(
                    results
                        .iter()
                        .all(|(_, values)| word(&values[0]) == expected)
                );
                assert!(
                    busiest <= 3 * levels + 1,
                    "{busiest} messages of one of {size}"
                );

                let (results, busiest) = collect(&mut world, &ranks, root, || Operation::Gather);
                let at_root = results.iter().find(|(rank, _)| *rank == ranks[root]);
                let gathered: Vec<u64> = at_root.expect("the root").1.iter().map(word).collect();
                assert!(
                    gathered.iter().eq(ranks
                        .iter()
                        .map(|rank| u64::from(*rank))
                        .collect::<Vec<_>>()
                        .iter())
                );
                assert!(busiest <= 1, "a place sends its subtree's values once");

                let (results, busiest) = collect(&mut world, &ranks, root, || Operation::Broadcast);
                let of_root = u64::from(ranks[root]);
                assert!(
                    results
                        .iter()
                        .all(|(_, values)| word(&values[0]) == of_root)
                );
                assert!(busiest <= 3 * levels);
            }
        }
    }
}
