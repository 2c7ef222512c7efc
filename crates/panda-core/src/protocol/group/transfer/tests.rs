//! Tests with members and a joiner over a bench that loses chosen notes.

use super::*;

const SILENCE: Duration = Duration::from_secs(1);

fn transfer(rank: Rank) -> Transfer {
    let mut transfer = Transfer::new(Myself {
        rank,
        size: 3,
        is_founder: true,
        birth: 1,
        silence: SILENCE,
    });
    transfer.joins(true);
    transfer
}

fn view(place: u64, members: &[Rank]) -> GroupEvent {
    GroupEvent::View {
        number: place,
        place,
        members: members.to_vec(),
        joined: Vec::new(),
        left: Vec::new(),
    }
}

fn message(place: u64) -> GroupEvent {
    GroupEvent::Message {
        from: 0,
        place,
        payload: Message::new(),
    }
}

/// Members that have been told of the same events, and one that joins: rank 2.
struct Bench {
    all: [Transfer; 3],
    /// Notes under way, each with its sender.
    notes: VecDeque<(Rank, Rank, Note, Message)>,
    handed: [Vec<Handed>; 3],
    leaves: bool,
    now: Time,
}

impl Bench {
    fn without_members() -> Self {
        Self {
            all: [transfer(0), transfer(1), transfer(2)],
            notes: VecDeque::new(),
            handed: Default::default(),
            leaves: false,
            now: Duration::from_secs(10),
        }
    }

    /// The first members, and the joiner's first view at place 3.
    fn new() -> Self {
        let mut bench = Self::without_members();
        for rank in 0..2 {
            bench.act(rank, |one, now, out| {
                one.enter(now, view(1, &[0, 1]), VecDeque::new(), out);
                one.take(now, message(2), None, out);
                one.take(now, view(3, &[0, 1, 2]), None, out);
            });
        }
        bench.act(2, |one, now, out| {
            one.enter(now, view(3, &[0, 1, 2]), [0, 1].into(), out);
        });
        bench
    }

    fn act(&mut self, rank: usize, act: impl FnOnce(&mut Transfer, Time, &mut Outcome)) {
        let mut out = Outcome::default();
        act(&mut self.all[rank], self.now, &mut out);
        let sends = out.sends.into_iter();
        self.notes
            .extend(sends.map(|(to, note, body)| (rank as Rank, to, note, body)));
        self.handed[rank].extend(out.handed);
        self.leaves |= out.leaves;
    }

    /// Delivers the next note, and makes snapshots of so many bytes. Returns whether there was a
    /// note.
    fn step(&mut self, length: usize) -> bool {
        let Some((from, to, note, body)) = self.notes.pop_front() else {
            return false;
        };
        let to = to as usize;
        self.act(to, |one, now, out| one.receive(now, from, note, body, out));
        self.make(to, length);
        true
    }

    fn make(&mut self, rank: usize, length: usize) {
        let request = self.handed[rank]
            .pop_if(|handed| matches!(handed, Handed::State(StateRequest::Snapshot { .. })));
        if let Some(Handed::State(StateRequest::Snapshot { to, id, .. })) = request {
            let state = Message::from(vec![rank as u8; length]);
            self.act(rank, |one, _, out| one.give((to, id), Ok(state), out));
        }
    }

    fn settle(&mut self, length: usize) {
        while self.step(length) {}
    }

    /// Returns the installed snapshot: its place, its length and its maker.
    fn installed(&self) -> Option<(u64, usize, u8)> {
        self.handed[2].iter().find_map(|handed| match handed {
            Handed::State(StateRequest::Install { place, state }) => {
                Some((*place, state.len(), state.to_bytes()[0]))
            }
            _ => None,
        })
    }

    /// The places of the events that the joiner was told of.
    fn places(&self) -> Vec<u64> {
        let places = self.handed[2].iter().filter_map(|handed| match handed {
            Handed::Event(event, _) => event.place(),
            Handed::State(_) => None,
        });
        places.collect()
    }

    fn bytes_under_way(&self) -> usize {
        self.notes.iter().map(|(.., body)| body.len()).sum()
    }
}

#[test]
fn a_window_is_under_way_at_most_and_events_behind_the_snapshot_follow_it() {
    const LENGTH: usize = 3 << 20;
    let mut bench = Bench::new();
    let mut most = 0;
    for place in 4.. {
        if !bench.step(LENGTH) {
            break;
        }
        most = most.max(bench.bytes_under_way());
        for rank in 0..3 {
            bench.act(rank, |one, now, out| {
                one.take(now, message(place), None, out)
            });
            bench.make(rank, LENGTH);
        }
    }
    assert!(most > PART && most <= WINDOW, "{most}");
    let (place, length, by) = bench.installed().expect("it came whole");
    assert_eq!((length, by), (LENGTH, 1));
    let places = bench.places();
    assert_eq!(places[..2], [3, place + 1]);
    assert!(places[1..].is_sorted_by(|one, next| one + 1 == *next));
    assert!(
        bench.all[1].givings.is_empty(),
        "the giver has let go of it"
    );
}

#[test]
fn what_is_lost_is_asked_for_again() {
    const LENGTH: usize = 1 << 20;
    let mut bench = Bench::new();
    for lost in [0, 3, 5] {
        for _ in 0..lost {
            bench.step(LENGTH);
        }
        bench.notes.clear();
        bench.now += SILENCE;
        bench.act(2, |one, now, out| one.tick(now, out));
    }
    bench.settle(LENGTH);
    assert_eq!(bench.installed(), Some((3, LENGTH, 1)));
}

#[test]
fn a_giver_whose_link_began_anew_makes_another_snapshot() {
    const LENGTH: usize = 1 << 20;
    let mut bench = Bench::new();
    for _ in 0..4 {
        bench.step(LENGTH);
    }
    bench.notes.clear();
    bench.act(1, |one, now, out| one.lost(now, 2, out));
    assert!(bench.all[1].givings.is_empty());
    bench.now += SILENCE;
    bench.act(2, |one, now, out| one.tick(now, out));
    bench.settle(LENGTH);
    assert_eq!(bench.installed(), Some((3, LENGTH, 1)));
}

/// The snapshot of a giver that was ahead of the order, and was expelled for that, is not
/// installed.
#[test]
fn a_snapshot_of_a_place_that_never_came_is_dropped() {
    let mut bench = Bench::new();
    bench.act(1, |one, now, out| one.take(now, message(4), None, out));
    bench.settle(100);
    assert_eq!(bench.installed(), None, "the joiner is not so far");
    bench.act(0, |one, now, out| {
        one.take(now, view(4, &[0, 2]), None, out)
    });
    bench.act(2, |one, now, out| {
        one.take(now, view(4, &[0, 2]), None, out)
    });
    bench.settle(100);
    assert_eq!(bench.installed(), Some((4, 100, 0)));
    assert_eq!(bench.places(), [4]);
}

/// A request comes while its giver still fetches the state of a place before the joiner's view.
#[test]
fn a_giver_that_fetches_itself_keeps_the_request_of_a_later_joiner() {
    const LENGTH: usize = 100;
    let mut bench = Bench::without_members();
    bench.act(0, |one, now, out| {
        one.enter(now, view(1, &[0]), VecDeque::new(), out);
        one.take(now, view(2, &[0, 1]), None, out);
    });
    bench.act(1, |one, now, out| {
        one.enter(now, view(2, &[0, 1]), [0].into(), out);
    });
    assert!(bench.step(LENGTH), "the first joiner has asked");
    for rank in 0..2 {
        bench.act(rank, |one, now, out| {
            one.take(now, view(3, &[0, 1, 2]), None, out);
        });
    }
    bench.act(2, |one, now, out| {
        one.enter(now, view(3, &[0, 1, 2]), [0, 1].into(), out);
    });
    // The request overtakes the snapshot for its giver.
    bench.notes.rotate_right(1);
    bench.settle(LENGTH);
    assert_eq!(bench.installed(), Some((3, LENGTH, 1)));
}

#[test]
fn who_is_given_nothing_leaves() {
    let mut bench = Bench::new();
    bench.all[0].joins(false);
    bench.act(1, |one, now, out| {
        one.take(now, GroupEvent::Left, None, out)
    });
    bench.settle(100);
    assert!(bench.leaves && bench.installed().is_none() && bench.places().is_empty());
    let why = bench.handed[2].iter().find_map(|handed| match handed {
        Handed::State(StateRequest::Missing { why }) => Some(why.clone()),
        _ => None,
    });
    let expected = "rank 1 is no member; rank 0 joined without a state to give";
    assert_eq!(why.as_deref(), Some(expected));
    // Later parts are not for the program; the end of its membership is.
    bench.act(2, |one, now, out| one.take(now, message(4), None, out));
    bench.act(2, |one, now, out| {
        one.take(now, GroupEvent::Left, None, out)
    });
    assert!(matches!(
        bench.handed[2].last(),
        Some(Handed::Event(GroupEvent::Left, None))
    ));
    assert!(bench.places().is_empty());
}
