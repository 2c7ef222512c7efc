//! Batches and slices: order, checksums, growth, silence.

use super::probe::{Probe, arg, split};
use crate::protocol::{TestInfo, role_word};
use crate::session::wrong_slice;
use antiphon_measure::{BatchRequest, Purpose, Role, Slice, ThreadReport, reference_checksum};
use std::collections::HashMap;
use std::time::Duration;

type Seen = Result<String, String>;

pub(super) fn wanted(iterations: u64, blocks: u32, reference_iterations: u64) -> BatchRequest {
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

/// Runs a batch and checks that its slices are those requested.
pub(super) fn batch(
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
    let counts = counts.map(|count| count.to_string()).join(", ");
    Ok(format!("right for {counts} iterations"))
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
                        "{test}: {} with {} iterations gives {first} and {}",
                        role_word(slice.role),
                        slice.iterations,
                        slice.checksum
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
            "self.same: {} gives {} and {} gives {}: they are not the same work",
            role_word(slices[0].role),
            slices[0].checksum,
            role_word(other.role),
            other.checksum
        ));
    }
    Ok("equal for equal iterations, from slice to slice and from batch to batch".into())
}

/// Checks that four times the work takes at least twice as long.
///
/// Minima are compared, so the rule also holds on a busy machine. A shared processor may be slow
/// for a whole batch, so a failed comparison is repeated.
pub(super) fn growth(probe: &mut Probe<'_>) -> Seen {
    const ITERATIONS: u64 = 2000;
    const TRIES: usize = 5;
    for test in ["self.same", "self.dearer"] {
        let (mut few, mut many) = ([u64::MAX; 3], [u64::MAX; 3]);
        for attempt in 1..=TRIES {
            keep_least(&mut few, minimum(probe, test, ITERATIONS)?);
            keep_least(&mut many, minimum(probe, test, 4 * ITERATIONS)?);
            let standing = (0..3).find(|&role| many[role] < 2 * few[role]);
            let Some(role) = standing else { break };
            if attempt == TRIES {
                return Err(format!(
                    "{test}: the {} frame takes {} ns for {ITERATIONS} iterations and {} ns for four times as many",
                    ["control", "test", "reference"][role],
                    few[role],
                    many[role]
                ));
            }
        }
    }
    Ok(format!(
        "frames of {} iterations take longer than of {ITERATIONS}",
        4 * ITERATIONS
    ))
}

fn keep_least(least: &mut [u64; 3], seen: [u64; 3]) {
    for (least, seen) in least.iter_mut().zip(seen) {
        *least = seen.min(*least);
    }
}

fn minimum(probe: &mut Probe<'_>, test: &str, iterations: u64) -> Result<[u64; 3], String> {
    let (slices, _) = batch(probe, test, &wanted(iterations, 20, iterations), "")?;
    Ok([Role::Control, Role::Test, Role::Reference].map(|role| {
        let slices = slices.iter().filter(|slice| slice.role == role);
        slices.map(|slice| slice.elapsed_ns).min().unwrap_or(0)
    }))
}

/// Checks that no line is printed before the end of the timed regions.
///
/// A line that arrives sooner after the request than the timed regions lasted was printed too
/// early. The zero point of the subject's clock does not matter.
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
                return Err(format!(
                    "`{request}` gives a slice of block {}, role {}, {} iterations",
                    slice.block,
                    role_word(slice.role),
                    slice.iterations
                ));
            }
            if role == Role::Reference && slice.checksum != reference_checksum(30) {
                return Err(format!("`{request}`: the checksum is not the chain's"));
            }
        }
    }
    Ok("one each of control, test and reference, of two tests in turn".into())
}

/// Checks that a frame runs, with equal checksums for equal iterations.
pub(super) fn runs(probe: &mut Probe<'_>, test: &TestInfo) -> Result<Vec<ThreadReport>, String> {
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
                "two {} slices of equal iterations give the checksums {first} and {second}",
                role_word(role)
            ));
        }
    }
    Ok(threads)
}
