//! Batches and slices: order, checksums, growth, thread reports, silence, placement.

use super::probe::{Probe, arg, split};
use crate::protocol::TestInfo;
use crate::session::wrong_slice;
use antiphon_measure::{
    BatchRequest, Placement, Purpose, Role, Slice, ThreadReport, reference_checksum,
};
use std::collections::HashMap;
use std::time::Duration;

type Seen = Result<String, String>;

fn wanted(iterations: u64, blocks: u32, reference_iterations: u64) -> BatchRequest {
    BatchRequest {
        iterations,
        blocks,
        reference_iterations,
        warmup: 10,
        purpose: Purpose::Sample,
    }
}

fn request(test: &str, wanted: &BatchRequest, more: &str) -> String {
    format!(
        "batch {test} iterations={} blocks={} reference={} warmup={}{more}",
        wanted.iterations, wanted.blocks, wanted.reference_iterations, wanted.warmup
    )
}

/// A batch whose slices are those that were asked for.
fn batch(
    probe: &mut Probe<'_>,
    test: &str,
    wanted: &BatchRequest,
    more: &str,
) -> Result<(Vec<Slice>, Vec<ThreadReport>), String> {
    let request = request(test, wanted, more);
    let (slices, threads) = probe.batch(&request)?;
    match wrong_slice(&slices, wanted) {
        Some(why) => Err(format!("`{request}`: {why}")),
        None => Ok((slices, threads)),
    }
}

pub(super) fn fields(probe: &mut Probe<'_>) -> Seen {
    let request =
        "batch self.same colour=dark%20green warmup=10 reference=0 blocks=1 iterations=10";
    let (slices, _) = probe.batch(request)?;
    match wrong_slice(&slices, &wanted(10, 1, 0)) {
        Some(why) => Err(format!("`{request}`: {why}")),
        None => Ok(format!("`{request}` is served")),
    }
}

pub(super) fn order(probe: &mut Probe<'_>) -> Seen {
    let (with, _) = batch(probe, "self.same", &wanted(100, 4, 50), "")?;
    let (without, _) = batch(probe, "self.same", &wanted(100, 4, 0), "")?;
    Ok(format!(
        "4 blocks are {} slices with the reference and {} without",
        with.len(),
        without.len()
    ))
}

pub(super) fn reference(probe: &mut Probe<'_>) -> Seen {
    let counts = [1, 2, 7, 1000, 12_345];
    for count in counts {
        let (slices, _) = batch(probe, "self.same", &wanted(1, 1, count), "")?;
        let due = reference_checksum(count);
        let mut references = slices.iter().filter(|slice| slice.role == Role::Reference);
        if let Some(slice) = references.find(|slice| slice.checksum != due) {
            return Err(format!(
                "the checksum of reference={count} is {}, where the chain gives {due}",
                slice.checksum
            ));
        }
    }
    Ok(format!("right for reference={counts:?}"))
}

pub(super) fn checksum(probe: &mut Probe<'_>) -> Seen {
    for test in ["self.same", "self.dearer", "self.handoff"] {
        let mut sums: HashMap<(Role, u64), u64> = HashMap::new();
        for iterations in [10, 40, 10] {
            let (slices, _) = batch(probe, test, &wanted(iterations, 3, 0), "")?;
            for slice in slices {
                let key = (slice.role, slice.iterations);
                let first = *sums.entry(key).or_insert(slice.checksum);
                if first != slice.checksum {
                    return Err(format!(
                        "{test}: {:?} with {} iterations gives {first} and {}",
                        slice.role, slice.iterations, slice.checksum
                    ));
                }
            }
        }
    }
    let (slices, _) = batch(probe, "self.same", &wanted(100, 1, 0), "")?;
    if let Some(other) = slices
        .iter()
        .find(|slice| slice.checksum != slices[0].checksum)
    {
        return Err(format!(
            "self.same: {:?} gives {} and {:?} gives {}: they are not the same work",
            slices[0].role, slices[0].checksum, other.role, other.checksum
        ));
    }
    Ok("equal for equal iterations, from slice to slice and from batch to batch".into())
}

/// Four times the work must take at least twice as long: coarse enough for a busy machine, as minima are compared.
pub(super) fn growth(probe: &mut Probe<'_>) -> Seen {
    const ITERATIONS: u64 = 2000;
    for test in ["self.same", "self.dearer"] {
        let few = minimum(probe, test, ITERATIONS)?;
        let many = minimum(probe, test, 4 * ITERATIONS)?;
        for (role, (few, many)) in ["control", "test", "reference"]
            .iter()
            .zip(few.into_iter().zip(many))
        {
            if many < 2 * few {
                return Err(format!(
                    "{test}: the {role} frame takes {few} ns for {ITERATIONS} iterations and {many} ns for four times as many"
                ));
            }
        }
    }
    Ok(format!(
        "frames of {} iterations take longer than of {ITERATIONS}",
        4 * ITERATIONS
    ))
}

fn minimum(probe: &mut Probe<'_>, test: &str, iterations: u64) -> Result<[u64; 3], String> {
    let (slices, _) = batch(probe, test, &wanted(iterations, 20, iterations), "")?;
    Ok([Role::Control, Role::Test, Role::Reference].map(|role| {
        let slices = slices.iter().filter(|slice| slice.role == role);
        slices.map(|slice| slice.elapsed_ns).min().unwrap_or(0)
    }))
}

/// Who reported, and how often: before the blocks and after them.
fn reports(threads: &[ThreadReport], main: bool) -> u64 {
    let wanted = threads
        .iter()
        .filter(|thread| (thread.role == "main") == main);
    wanted.map(|thread| thread.count).sum()
}

pub(super) fn threads(probe: &mut Probe<'_>) -> Seen {
    let (_, alone) = batch(probe, "self.same", &wanted(10, 1, 0), "")?;
    let (_, both) = batch(probe, "self.handoff", &wanted(10, 1, 0), "")?;
    for (test, threads) in [("self.same", &alone), ("self.handoff", &both)] {
        let count = reports(threads, true);
        if count < 2 {
            return Err(format!(
                "{test}: role=main reports {count} times; it is due before the blocks and after them"
            ));
        }
    }
    match reports(&both, false) {
        count @ 0..2 => Err(format!(
            "self.handoff: its partner reports {count} times; it is due before the blocks and after them"
        )),
        count => Ok(format!(
            "self.handoff: main {} times, partner {count} times",
            reports(&both, true)
        )),
    }
}

/// A line that comes in sooner after the request than the timed regions lasted was printed before their end, whatever the
/// subject's clock counts from.
pub(super) fn silence(probe: &mut Probe<'_>) -> Seen {
    const LASTING_NS: u64 = 60_000_000;
    const BLOCKS: u32 = 20;
    let [control_ns, test_ns, _] = minimum(probe, "self.same", 1000)?;
    let block_ns = 2 * (control_ns + test_ns).max(1);
    let iterations = 1000 * (LASTING_NS / u64::from(BLOCKS)).div_ceil(block_ns);
    let answer = probe.ask(&request("self.same", &wanted(iterations, BLOCKS, 0), ""))?;
    let (slices, _) = split(&answer)?;
    let (Some(first), Some(last)) = (slices.first(), slices.last()) else {
        return Err("no slices".into());
    };
    let timed_ns = last
        .start_ns
        .saturating_add(last.elapsed_ns)
        .saturating_sub(first.start_ns);
    let end = answer.asked + Duration::from_nanos(timed_ns);
    match answer.lines.iter().find(|line| line.at < end) {
        Some(line) => Err(format!(
            "`{}` was printed while {} ms were being timed",
            line.text,
            timed_ns / 1_000_000
        )),
        None => Ok(format!(
            "nothing was printed while {} ms were being timed",
            timed_ns / 1_000_000
        )),
    }
}

pub(super) fn slices(probe: &mut Probe<'_>) -> Seen {
    let roles = [
        ("control", Role::Control),
        ("test", Role::Test),
        ("reference", Role::Reference),
    ];
    // To another test and back: each must be prepared again.
    for test in ["self.same", "self.handoff", "self.same"] {
        for (word, role) in roles {
            let request = format!("slice {test} {word} iterations=30 warmup=5");
            let (slices, _) = probe.batch(&request)?;
            let [slice] = slices.as_slice() else {
                return Err(format!("`{request}` gives {} slices", slices.len()));
            };
            if (slice.block, slice.role, slice.iterations) != (0, role, 30) {
                return Err(format!("`{request}` gives {slice:?}"));
            }
            if role == Role::Reference && slice.checksum != reference_checksum(30) {
                return Err(format!("`{request}`: the checksum is not the chain's"));
            }
        }
    }
    Ok("one each of control, test and reference, of two tests in turn".into())
}

pub(super) fn placement_same(probe: &mut Probe<'_>) -> Seen {
    let processors = allowed_processors();
    let Some(&processor) = processors.last() else {
        return Ok("the system does not tell which processors may be used".into());
    };
    placed(probe, Placement::Same { processor })
}

pub(super) fn placement_across(probe: &mut Probe<'_>) -> Seen {
    let processors = allowed_processors();
    let [main, .., partner] = processors.as_slice() else {
        return Ok("not checked: there is only one processor".into());
    };
    // The main thread not on the first one, where it may be by chance.
    let placement = Placement::Across {
        main: *partner,
        partner: *main,
    };
    placed(probe, placement)
}

fn placed(probe: &mut Probe<'_>, placement: Placement) -> Seen {
    probe.restart_placed(placement)?;
    let answer = batch(probe, "self.handoff", &wanted(20, 3, 0), "");
    probe.restart()?; // the rules that follow are checked under the caller's placement
    let (slices, threads) = answer?;
    for thread in &threads {
        let Some(due) = placement.processor(&thread.role) else {
            continue;
        };
        if thread.processor != due || thread.allowed != due.to_string() {
            return Err(format!(
                "role={} is on processor {} and allowed on {}, where {due} was due",
                thread.role, thread.processor, thread.allowed
            ));
        }
    }
    let main = placement.processor("main");
    let astray = |slice: &&Slice| slice.processor.is_some() && slice.processor != main;
    if let Some(slice) = slices.iter().find(astray) {
        return Err(format!(
            "a slice ended on processor {:?}, where {main:?} was due",
            slice.processor
        ));
    }
    if reports(&threads, false) == 0 {
        return Err("self.handoff: no partner reports where it is".into());
    }
    Ok(format!(
        "every thread of self.handoff kept to {placement:?}"
    ))
}

/// The processors that this process may use.
fn allowed_processors() -> Vec<u32> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return Vec::new();
    };
    let all = 0..rustix::thread::CpuSet::MAX_CPU;
    all.filter(|&processor| set.is_set(processor))
        .filter_map(|processor| u32::try_from(processor).ok())
        .collect()
}

/// Whether a frame runs at all, with equal checksums for equal iterations.
pub(super) fn runs(probe: &mut Probe<'_>, test: &TestInfo) -> Result<(), String> {
    let (slices, threads) = batch(
        probe,
        &test.name,
        &BatchRequest {
            warmup: 1,
            ..wanted(2, 1, 1)
        },
        arg(test),
    )?;
    for role in [Role::Control, Role::Test] {
        let mut sums = slices
            .iter()
            .filter(|slice| slice.role == role)
            .map(|slice| slice.checksum);
        if let (Some(first), Some(second)) = (sums.next(), sums.next())
            && first != second
        {
            return Err(format!(
                "two {role:?} slices of equal iterations give the checksums {first} and {second}"
            ));
        }
    }
    match reports(&threads, true) {
        0 => Err("no thread reports".into()),
        _ => Ok(()),
    }
}
