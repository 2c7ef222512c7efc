//! The tests: names, how many processes take part, what each process does.

use crate::bare;
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::panda;
use crate::panda::Counted;

/// One process's part in an operation.
pub trait Part {
    /// Does its part of so many operations; a checksum that is the same for the same number.
    fn run(&mut self, iterations: u64) -> Result<u64, Failed>;

    /// Whether the leader may be ready before the others: then a slice, of the test or of the control, ends with [`confirm`](Self::confirm).
    fn confirms(&self) -> bool {
        false
    }

    /// What was counted when the operations before those of a slice were done, where upcalls do them while the thread that takes part in the slice sleeps.
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
    /// How many processes take part.
    pub members: usize,
    /// Whether its messages have a length that it is told.
    pub takes_bytes: bool,
    /// Makes a process's part, for messages of so many bytes.
    prepare: Prepare,
}

/// Members that the tests of many are there for.
pub const MEMBERS: std::ops::RangeInclusive<usize> = 2..=crate::control_page::MOST;

/// Messages of so many bytes are long.
const LONG: u64 = 1 << 20;

/// Operations that carry nothing.
const WITHOUT_BYTES: [&str; 3] = ["barrier", "barrier.half", "group.join"];

impl Test {
    /// Makes this process's part, for messages of so many bytes.
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

    /// The same operation with each number of members, which ends the name.
    fn of_many(name: &str, members: usize, prepare: Prepare) -> Self {
        Self {
            name: format!("{name}.{members}"),
            members,
            takes_bytes: !WITHOUT_BYTES.contains(&name),
            prepare,
        }
    }
}

/// What is measured of panda.
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
    tests
}

/// What is measured of connections.
pub fn of_tcp() -> Vec<Test> {
    vec![
        Test::pair("roundtrip", bare::tcp_roundtrip),
        Test::pair("stream", bare::tcp_stream),
    ]
}

/// What is measured of datagrams.
pub fn of_udp() -> Vec<Test> {
    vec![
        Test::pair("roundtrip", bare::udp_roundtrip),
        Test::pair("stream", bare::udp_stream),
    ]
}

/// What is measured of shared memory.
pub fn of_memory() -> Vec<Test> {
    vec![
        Test::pair("roundtrip", bare::memory_roundtrip),
        Test::pair("stream", bare::memory_stream),
    ]
}
