//! Resources of a report: they grow with the rows of its runs, and not faster.

use crate::sample::{empty_run, estimate, identity, result};
use antiphon_lab::{Outcome, RunRecord};
use antiphon_report::{compose, export};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Instant;

/// The system's allocator, with a count of the bytes that each thread holds.
struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed, and the most since it was last set.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that ends has no count any more.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: all calls go to the system's allocator with what they came with; counting allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the most bytes that this thread held at once meanwhile, besides those held before.
fn most_held<T>(act: impl FnOnce() -> T) -> usize {
    let before = HELD.with(|held| {
        held.set((held.get().0, held.get().0));
        held.get().0
    });
    let made = act();
    let most = HELD.with(|held| held.get().1);
    drop(made);
    usize::try_from(most - before).unwrap_or(0)
}

/// Returns a run of tests that two subjects have.
fn run_of(rows: usize) -> RunRecord {
    let mut run = empty_run();
    let of_row = |row: usize| {
        let test = format!("call.number.{}", row / 2);
        let subject = ["ada/O2", "c/O2"][row % 2];
        let cost = 10.0 + row as f64 / 7.0;
        let outcome = Outcome::Frame(Box::new(estimate(cost, 0.05)));
        result(identity(&test, subject, "other", "same"), outcome)
    };
    run.results = (0..rows).map(of_row).collect();
    run
}

#[test]
fn a_row_of_a_workbook_takes_a_few_kilobytes() {
    const ROWS: usize = 2000;
    let document = compose(&run_of(ROWS));
    let held = most_held(|| export::xlsx::render(&document).expect("a workbook"));
    assert!(held / ROWS < 8 << 10, "{} bytes a row", held / ROWS);
}

/// Prints the resources of each format, to show at a glance whether they grow faster than the rows:
/// `REPORT_ROWS=40000`.
#[test]
fn a_report_of_many_rows_is_written() {
    let most = std::env::var("REPORT_ROWS").map_or(1000, |rows| rows.parse().unwrap());
    for rows in [most / 2, most] {
        let run = run_of(rows);
        let since = Instant::now();
        let document = compose(&run);
        println!("{rows} rows: composed after {:?}", since.elapsed());
        let html = export::html::render(&document);
        println!("  page after {:?}", since.elapsed());
        let csv = export::csv::run(&run).unwrap();
        println!("  CSV after {:?}", since.elapsed());
        let text = export::markdown::render(&document);
        println!("  Markdown after {:?}", since.elapsed());
        let held = most_held(|| export::xlsx::render(&document).expect("a workbook"));
        println!(
            "  workbook after {:?}, {} bytes a row",
            since.elapsed(),
            held / rows
        );
        let last = format!("call.number.{}", rows / 2 - 1);
        assert!(
            [html, csv, text]
                .iter()
                .all(|format| format.contains(&last))
        );
    }
}
