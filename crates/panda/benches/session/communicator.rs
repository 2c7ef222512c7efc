//! Collective operations and groups through a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use antiphon_panda::{Group, GroupEvent, Session};

use crate::process::{answer, time};
use crate::star::SENDER;
use crate::table::Case;

/// Bytes of an ordered message.
const BYTES: usize = 100;

pub fn is_one(way: &str) -> bool {
    ["barrier", "allreduce", "ordered", "all-ordered"].contains(&way)
}

pub fn run(case: &Case, way: &str, session: &Session) {
    let everyone = session.everyone().expect("all take part");
    everyone.barrier().expect("all are here");
    let barrier = || everyone.barrier().expect("all are here");
    let reduce = || {
        let sum = everyone.all_reduce(&1_u64, |one, other| one + other);
        assert_eq!(sum.expect("all take part"), size(session));
    };
    match (way, case.rank) {
        ("barrier", 0) => time(case, barrier),
        ("barrier", _) => answer(case, barrier),
        ("allreduce", 0) => time(case, reduce),
        ("allreduce", _) => answer(case, reduce),
        _ => ordered(case, way == "all-ordered", session),
    }
    everyone.barrier().expect("all are here");
}

fn size(session: &Session) -> u64 {
    session.size().into()
}

/// A member of the group, and the messages that it delivered.
struct Member<'a> {
    session: &'a Session,
    group: Group,
    all: Arc<AtomicU64>,
    own: Arc<AtomicU64>,
    sent: u64,
}

/// Measures ordered messages of one sender or of all. A sender waits until it has delivered its own
/// message.
fn ordered(case: &Case, all_send: bool, session: &Session) {
    let mut member = Member::join(session);
    let trips = u64::from(case.trips + case.trips / 10);
    let senders = if all_send { size(session) } else { 1 };
    if all_send || case.rank == SENDER {
        time(case, || member.send());
        member.wait(|member| member.all.load(SeqCst) >= senders * trips);
        return;
    }
    let mut seen = 0;
    answer(case, || {
        seen += 1;
        member.wait(|member| member.all.load(SeqCst) >= seen);
    });
}

impl<'a> Member<'a> {
    fn join(session: &'a Session) -> Self {
        let everyone = session.everyone().expect("all take part");
        let (all, own) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (counts, rank) = ((all.clone(), own.clone()), session.rank());
        let upcall = move |event| {
            if let GroupEvent::Message { from, .. } = event {
                counts.0.fetch_add(1, SeqCst);
                counts.1.fetch_add(u64::from(from == rank), SeqCst);
            }
        };
        let barrier = || everyone.barrier().expect("all are here");
        // The first process is the oldest member, which is the sequencer.
        if rank != 0 {
            barrier();
        }
        let group = session.join_group("bench", upcall).expect("let in");
        if rank == 0 {
            barrier();
        }
        barrier();
        Self {
            session,
            group,
            all,
            own,
            sent: 0,
        }
    }

    fn send(&mut self) {
        self.sent += 1;
        self.group.send(vec![7; BYTES]).expect("a member");
        self.wait(|member| member.own.load(SeqCst) >= member.sent);
    }

    fn wait(&self, is_over: impl Fn(&Self) -> bool) {
        let waited = self.session.wait_until(|| is_over(self), None);
        waited.expect("no upcall");
    }
}
