//! The tests: their names, their numbers of processes, and the part of each process.

use crate::bare;
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::objects;
use crate::panda;
use crate::panda::Counted;

/// One process's part in an operation.
pub trait Part {
    /// Does its part of this many operations; returns a checksum that depends only on their number.
    fn run(&mut self, iterations: u64) -> Result<u64, Failed>;

    /// Says whether the leader may finish before the others. A slice, of test or control, then ends
    /// with [`confirm`](Self::confirm).
    fn confirms(&self) -> bool {
        false
    }

    /// Returns the counts at the end of the operations before a slice, if upcalls do them while the
    /// slice's thread sleeps.
    fn primed(&mut self) -> Option<Counted> {
        None
    }

    /// Does its part in letting the leader know that all are ready.
    fn confirm(&mut self) -> Result<(), Failed> {
        Ok(())
    }
}

/// Makes the part of this process.
pub type Prepare = fn(&mut MemberState, usize) -> Result<Box<dyn Part>, Failed>;

/// A test.
#[derive(Clone)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Number of processes.
    pub members: usize,
    /// Whether its messages have a configurable length.
    pub takes_bytes: bool,
    /// Makes a process's part, for messages of a given number of bytes.
    prepare: Prepare,
}

/// Members that the tests of many are there for.
pub const MEMBERS: std::ops::RangeInclusive<usize> = 2..=8;

/// Members of the tests whose messages two of them send in turn. The paper has 16.
const IN_TURN: [usize; 3] = [2, 4, crate::control_page::MOST];

/// Bytes from which a message is long.
const LONG: u64 = 1 << 20;

/// Operations that carry nothing.
const WITHOUT_BYTES: [&str; 8] = [
    "barrier",
    "barrier.half",
    "group.join",
    "group.stream",
    "group.turn",
    "object.group",
    "object.turn",
    "object.stream",
];

impl Test {
    /// Makes this process's part, for messages of `bytes`.
    pub fn prepare(
        &self,
        member_state: &mut MemberState,
        bytes: u64,
    ) -> Result<Box<dyn Part>, Failed> {
        member_state.are_long = bytes >= LONG;
        (self.prepare)(member_state, bytes as usize)
    }

    fn pair(name: &str, prepare: Prepare) -> Self {
        Self {
            name: name.to_owned(),
            members: 2,
            takes_bytes: true,
            prepare,
        }
    }

    /// Creates an operation of the leader, with one partner, that carries nothing.
    fn empty(name: &str, prepare: Prepare) -> Self {
        Self {
            takes_bytes: false,
            ..Self::pair(name, prepare)
        }
    }

    /// Creates the operation for a number of members, which ends the name.
    fn of_many(name: &str, members: usize, prepare: Prepare) -> Self {
        Self {
            name: format!("{name}.{members}"),
            members,
            takes_bytes: !WITHOUT_BYTES.contains(&name),
            prepare,
        }
    }
}

/// Returns the tests of panda.
pub fn of_panda() -> Vec<Test> {
    let mut tests = vec![
        Test::pair("roundtrip", panda::roundtrip),
        Test::pair("roundtrip.upcall", panda::roundtrip_upcall),
        Test::pair("roundtrip.synchronous", panda::synchronous),
        Test::pair("rpc", panda::rpc),
        Test::pair("rpc.thread", panda::rpc_thread),
        Test::pair("rpc.fiber", panda::rpc_fiber),
        Test::pair("rendezvous", panda::rendezvous),
        Test::pair("rendezvous.fiber", panda::rendezvous_fiber),
        Test::pair("stream", panda::stream),
        Test::empty("thread.create", panda::create_system),
        Test::empty("thread.create.fiber", panda::create_fiber),
        Test::empty("thread.switch", panda::switch_system),
        Test::empty("thread.switch.fiber", panda::switch_fiber),
    ];
    for members in MEMBERS {
        tests.extend([
            Test::of_many("group.own", members, panda::group_own),
            Test::of_many("group.all", members, panda::group_all),
            Test::of_many("group.round", members, panda::group_round),
            Test::of_many("alltoall", members, panda::all_to_all),
            Test::of_many("barrier", members, panda::barrier),
            Test::of_many("broadcast", members, panda::broadcast),
            Test::of_many("reduce", members, panda::reduce),
            Test::of_many("allreduce", members, panda::all_reduce),
            Test::of_many("gather", members, panda::gather),
            Test::of_many("scatter", members, panda::scatter),
            Test::of_many("barrier.half", members, panda::barrier_half),
            Test::of_many("group.join", members, panda::group_join),
        ]);
    }
    tests.push(Test::of_many(
        "group.own",
        crate::control_page::MOST,
        panda::group_own,
    ));
    for members in IN_TURN {
        tests.extend([
            Test::of_many("group.turn", members, panda::group_turn),
            Test::of_many("group.stream", members, panda::group_stream),
        ]);
    }
    tests
}

/// Returns the tests of shared objects.
pub fn of_orca() -> Vec<Test> {
    let mut tests = vec![
        Test::pair("object.remote", objects::remote),
        Test::empty("object.read", objects::read),
        Test::empty("lock.read", objects::lock_read),
    ];
    for members in IN_TURN {
        tests.extend([
            Test::of_many("object.group", members, objects::group),
            Test::of_many("object.turn", members, objects::turn),
            Test::of_many("object.stream", members, objects::stream),
        ]);
    }
    tests
}

/// Returns the tests of connections.
pub fn of_tcp() -> Vec<Test> {
    vec![
        Test::pair("roundtrip", bare::tcp_roundtrip),
        Test::pair("stream", bare::tcp_stream),
    ]
}

/// Returns the tests of datagrams.
pub fn of_udp() -> Vec<Test> {
    vec![
        Test::pair("roundtrip", bare::udp_roundtrip),
        Test::pair("stream", bare::udp_stream),
    ]
}

/// Returns the tests of shared memory.
pub fn of_memory() -> Vec<Test> {
    vec![
        Test::pair("roundtrip", bare::memory_roundtrip),
        Test::pair("stream", bare::memory_stream),
    ]
}
