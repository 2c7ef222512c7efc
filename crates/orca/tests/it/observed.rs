//! Counts and events of programs.

use std::sync::{Arc, Mutex};
use std::thread;

use antiphon_panda::thread::now;
use orca::{
    Error, Event, EventKind, MachineStatistics, On, Orca, Placement, Program, Shared,
    TypeStatistics,
};

use crate::objects::Counter;
use crate::platforms::local;

const MACHINES: u32 = 3;

/// Adds, waits for the sum of all machines, and says that it has read it.
#[orca::process]
fn adder(counter: Shared<Counter>, owned: Shared<Counter>) -> Result<(), Error> {
    counter.increment()?;
    counter.await_at_least(i64::from(MACHINES))?;
    owned.increment().map(drop)
}

fn program(orca: &Orca) -> Result<(), Error> {
    let counter = orca.create_at(Placement::Replicated, Counter::default())?;
    let owned = orca.create_at(Placement::Owned(1), Counter::default())?;
    for machine in orca.machines() {
        adder::fork(orca, On::Machine(machine), counter.clone(), owned.clone())?;
    }
    counter.await_at_least(i64::from(MACHINES))?;
    // All adders have read their copies before the counter moves away.
    owned.await_at_least(i64::from(MACHINES))?;
    for _ in 0..100 {
        counter.value()?;
    }
    counter.strategy(Placement::Owned(2))
}

/// Runs the program. Returns the counts of each machine, and all events.
fn observed() -> (Vec<MachineStatistics>, Vec<Event>) {
    let counts = Arc::new(Mutex::new(Vec::new()));
    let events = Arc::new(Mutex::new(Vec::new()));
    let run = |session| {
        let (counts, events) = (counts.clone(), events.clone());
        let set_up = Program::default()
            .statistics(move |it| counts.lock().unwrap().push(it))
            .observed_by(Arc::new(move |it| events.lock().unwrap().push(it)));
        thread::spawn(move || set_up.run(&session, program).expect("it ends well"))
    };
    let machines: Vec<_> = local(MACHINES).into_iter().map(run).collect();
    for machine in machines {
        if let Some(result) = machine.join().expect("no machine panics") {
            result.expect("nothing fails");
        }
    }
    let counts = std::mem::take(&mut *counts.lock().unwrap());
    let events = std::mem::take(&mut *events.lock().unwrap());
    (counts, events)
}

#[test]
fn operations_are_counted_by_kind_and_place() {
    let (counts, _) = observed();
    assert_eq!(counts.len(), MACHINES as usize);
    let mut sum = TypeStatistics::default();
    for machine in &counts {
        assert_eq!(machine.types.len(), 1, "{machine:?}");
        for of in machine.types.values() {
            sum.add(of);
            // The owner calls nobody for its own object.
            if machine.machine == 1 {
                assert_eq!((of.local_writes, of.remote_calls), (1, 0), "{machine:?}");
            }
        }
        let is_move = |it: &String| it.contains("to machine 2: as the program says");
        assert!(machine.moves.iter().any(is_move), "{machine:?}");
    }
    assert_eq!((sum.objects, sum.moves), (2, 1), "{counts:?}");
    assert_eq!(sum.ordered_writes, u64::from(MACHINES), "{counts:?}");
    // Each waits once for the replicated object. The main process reads it a hundred times more.
    assert_eq!(sum.local_reads, 104, "{counts:?}");
    // Two adders and the wait of the main process, which comes again if it is blocked.
    assert!(sum.remote_calls >= 3, "{counts:?}");
    assert!(sum.blocked <= sum.retries, "{counts:?}");
}

#[test]
fn each_replica_executes_the_write_of_an_invocation() {
    let began = now();
    let (_, events) = observed();
    let of = |kind| events.iter().filter(move |it| it.kind == kind);
    assert_eq!(of(EventKind::Write).count(), MACHINES as usize);
    for write in of(EventKind::Write) {
        assert!(write.name.ends_with(".increment"), "{write:?}");
        let executions = of(EventKind::Execution).filter(|it| it.invocation == write.invocation);
        let mut machines: Vec<_> = executions.map(|it| it.machine).collect();
        machines.sort_unstable();
        assert_eq!(machines, [0, 1, 2], "{events:?}");
    }
    for call in of(EventKind::Call) {
        let executions = of(EventKind::Execution).filter(|it| it.invocation == call.invocation);
        let machines: Vec<_> = executions.map(|it| it.machine).collect();
        assert_eq!(machines, [1], "{events:?}");
    }
    // The main process and an adder on each machine; the move is seen by all.
    assert_eq!(of(EventKind::Process).count(), MACHINES as usize + 1);
    assert_eq!(of(EventKind::Move).count(), MACHINES as usize);
    let is_sound = |it: &Event| began <= it.began && it.began <= it.ended && it.ended <= now();
    assert!(events.iter().all(is_sound), "{events:?}");
}
