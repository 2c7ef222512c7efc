//! A member: it executes the leader's orders.

use antiphon_kit::ThreadReport;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::control_page::Order;
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::{Part, Test};
use crate::usage::{Whose, switches};

/// The role in its reports.
const ROLE: &str = "member";

/// Executes orders until there are no more. `counts` is true for a member with a separate process,
/// whose switches no other member counts.
pub fn serve(mut member_state: MemberState, tests: &[Test], counts: bool) {
    let mut part: Option<Box<dyn Part>> = None;
    let mut last = 0;
    loop {
        let (given, order) = member_state.control_page.next_order(last);
        last = given;
        let mut added = 0;
        let went = match order {
            Order::Prepare {
                test,
                arg,
                processor,
                is_apart,
            } => {
                member_state.is_apart = is_apart;
                prepare(&mut member_state, tests, test, arg, processor).map(|prepared| {
                    part = Some(prepared);
                    String::new()
                })
            }
            Order::Slice(iterations) => {
                match slice(&member_state, part.as_mut(), given, iterations, counts) {
                    Ok(switches) => {
                        added = switches;
                        Ok(String::new())
                    }
                    // The others wait for this member's part, so only its end can tell them.
                    Err(Failed(why)) => {
                        eprintln!("member {}: {why}", member_state.rank);
                        std::process::exit(1);
                    }
                }
            }
            Order::Report => Ok(ThreadReport::of_this_thread(ROLE).to_string()),
            Order::Finish => {
                part = None;
                Ok(String::new())
            }
            Order::Quit => return,
        };
        member_state
            .control_page
            .answer(member_state.rank, given, went, added);
    }
}

fn prepare(
    member_state: &mut MemberState,
    tests: &[Test],
    test: usize,
    arg: u64,
    processor: Option<u32>,
) -> Result<Box<dyn Part>, Failed> {
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        set.set(processor as usize);
        // The session's own thread, which starts when it is joined, inherits the place.
        sched_setaffinity(None, &set)
            .map_err(|error| Failed(format!("cannot run on processor {processor}: {error}")))?;
    }
    tests[test].prepare(member_state, arg)
}

/// Takes part in a slice; returns the context switches to add to the leader's.
fn slice(
    member_state: &MemberState,
    part: Option<&mut Box<dyn Part>>,
    given: u32,
    iterations: u64,
    counts: bool,
) -> Result<i64, Failed> {
    let part = part.ok_or_else(|| Failed("a slice of nothing was ordered".into()))?;
    member_state.control_page.begin(member_state.rank, given);
    part.run(member_state.primes())?;
    part.confirm()?;
    let before = switches(Whose::Process);
    part.run(iterations)?;
    part.confirm()?;
    // Those whose upcalls work sleep here for the whole slice: that is no part of the operation.
    let asleep = switches(Whose::Thread);
    member_state.control_page.wait_for_end(given);
    let mut asleep = switches(Whose::Thread) - asleep;
    let mut before = before;
    if let Some(primed) = part.primed() {
        before = primed.switches;
        // The serving thread slept before this thread ran again, on their common processor.
        asleep = if primed.is_asleep { 1 } else { asleep + 1 };
    }
    let all = if counts {
        switches(Whose::Process) - before
    } else {
        0
    };
    Ok(all as i64 - asleep as i64)
}
