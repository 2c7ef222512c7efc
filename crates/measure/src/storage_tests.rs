//! Storage loops of known behaviour.

use super::*;
use crate::synthetic::Noise;

fn outcome(completed: u64, exhausted: Option<&str>) -> StorageOutcome {
    StorageOutcome {
        completed,
        object_bytes: 4000,
        exhausted: exhausted.map(str::to_owned),
    }
}

fn loop_of(count: usize, cost: impl Fn(usize) -> f64) -> StorageEstimate {
    let mut noise = Noise::new(9);
    let mut now = 1e6;
    // One reading before the first turn and one after each.
    let mut readings = vec![now as i64];
    readings.extend((0..count).map(|i| {
        now += cost(i) + 10.0 * noise.uniform();
        now as i64
    }));
    StorageEstimate::from_readings(&readings, outcome(count as u64, None)).unwrap()
}

#[test]
fn regular_dear_turns_are_growth() {
    let estimate = loop_of(10_000, |i| if i % 33 == 5 { 9000.0 } else { 300.0 });
    let (distance, excess) = estimate.growth.unwrap();
    assert_eq!(distance, 33.0);
    assert!((excess / 8700.0 - 1.0).abs() < 0.01);
    assert_eq!(estimate.steps[0].0, 5);
    assert!(estimate.level_changes.is_empty());
    assert!((estimate.typical_ns - 305.0).abs() < 3.0);
    assert!(
        estimate
            .verdict
            .iter()
            .any(|v| v.contains("each 33 allocations"))
    );
}

#[test]
fn steps_shorter_than_a_turn_are_growth_too() {
    // A step of 132 KiB holds 33 objects of 4000 bytes or 34; a turn in five hundred is
    // interrupted.
    let step = |i: usize| (i + 1) * 4000 / 135_168 != i * 4000 / 135_168;
    let cost = |i: usize| match i % 503 {
        7 => 60_000.0,
        _ if step(i) => 5800.0,
        _ => 4100.0,
    };
    let estimate = loop_of(20_000, cost);
    let (distance, excess) = estimate.growth.unwrap();
    assert!((33.0..=34.0).contains(&distance), "{distance}");
    assert!((excess / 1700.0 - 1.0).abs() < 0.02, "{excess}");
    assert!(estimate.verdict.iter().all(|v| !v.contains("the system")));
}

#[test]
fn the_lines_of_the_readings_are_no_growth() {
    let estimate = loop_of(20_000, |i| if i % 8 == 0 { 150.0 } else { 60.0 });
    assert_eq!(estimate.growth, None);
    // An allocator's step at the same distance costs more than a cache line.
    let estimate = loop_of(20_000, |i| if i % 8 == 0 { 1800.0 } else { 60.0 });
    assert_eq!(estimate.growth.unwrap().0, 8.0);
}

#[test]
fn dear_turns_by_chance_are_no_growth() {
    let mut noise = Noise::new(11);
    let costs: Vec<f64> = (0..20_000)
        .map(|_| if noise.uniform() < 0.15 { 900.0 } else { 300.0 })
        .collect();
    assert_eq!(loop_of(20_000, |i| costs[i]).growth, None);
}

#[test]
fn paging_is_a_change_of_level() {
    let estimate = loop_of(20_000, |i| if i < 13_000 { 300.0 } else { 2500.0 });
    assert_eq!(
        estimate.level_changes.len(),
        1,
        "{:?}",
        estimate.level_changes
    );
    let (at, before, after) = estimate.level_changes[0];
    assert!(at.abs_diff(13_000) <= 2, "{at}");
    assert!((before / 305.0 - 1.0).abs() < 0.02 && (after / 2505.0 - 1.0).abs() < 0.02);
    assert!(estimate.growth.is_none());
    assert!(
        estimate.steps.is_empty(),
        "a new level is not a row of dear turns: {:?}",
        estimate.steps.len()
    );
}

#[test]
fn an_even_loop_has_neither() {
    let estimate = loop_of(5000, |_| 300.0);
    assert!(
        estimate.steps.is_empty() && estimate.level_changes.is_empty() && estimate.growth.is_none()
    );
}

#[test]
fn three_loops_tell_what_is_reclaimed() {
    let ended = |completed, exhausted| {
        let readings: Vec<i64> = (0..50).map(|i| i * 300).collect();
        StorageEstimate::from_readings(&readings, outcome(completed, exhausted)).unwrap()
    };
    let kept = ended(8000, Some("STORAGE_ERROR"));
    let gnat = storage_verdict(
        &kept,
        &ended(7990, Some("STORAGE_ERROR")),
        &ended(200_000, None),
    );
    assert!(
        gnat[0].contains("no collector") && gnat[1].contains("explicit deallocation reclaims"),
        "{gnat:?}"
    );
    let verdix = storage_verdict(
        &kept,
        &ended(8000, Some("STORAGE_ERROR")),
        &ended(8000, Some("STORAGE_ERROR")),
    );
    assert!(verdix[1].contains("does not reclaim"));
    let collector = storage_verdict(&kept, &ended(200_000, None), &ended(200_000, None));
    assert!(collector[0].contains("reclaimed implicitly"));
    let open = storage_verdict(&ended(200_000, None), &kept, &kept);
    assert!(open[0].contains("lower the memory limit"));
    let odd = storage_verdict(
        &kept,
        &ended(100, None),
        &ended(4000, Some("STORAGE_ERROR")),
    );
    assert!(odd.iter().all(|s| s.contains("does not decide")));
}

#[test]
fn too_few_readings_say_so() {
    let error = StorageEstimate::from_readings(&[1], outcome(1, None)).unwrap_err();
    assert_eq!(error, StorageError::TooFew { readings: 1 });
}
