//! Agreement of two runs of the suite `rest` beside other work on every processor. It compares each
//! server's processor time a request, as a share of the first one's, between both runs.
//!
//! `cargo bench -p antiphon-lab --bench load_agreement [-- TEST…]`. Without tests it uses 64
//! connections across processors and on one. Subjects that are not installed are left out.

// The other benchmark uses more of it.
#[allow(dead_code)]
#[path = "../precision/chain.rs"]
mod chain;
#[path = "../precision/load.rs"]
mod load;

use antiphon_lab::build::Cache;
use antiphon_lab::run::{Laboratory, Options};
use antiphon_lab::store::Store;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{LoadOutcome, LoadRound, Outcome, ResultRecord, RunRecord};
use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const TESTS: [&str; 2] = ["keep.64", "one.64"];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("spin") => load::spin(),
        Some("--test") => {} // The test runner of `cargo test --benches` wants no figures.
        _ => bench(&words)?,
    }
    Ok(())
}

fn bench(words: &[String]) -> Result<(), Box<dyn Error>> {
    let asked = words.iter().filter(|word| !word.starts_with("--"));
    let mut tests: Vec<String> = asked.cloned().collect();
    if tests.is_empty() {
        tests = TESTS.map(str::to_owned).to_vec();
    }
    let folder = tempfile::tempdir()?;
    let mut store = Store::open(&folder.path().join("runs.db"))?;
    let _load = load::start();
    let first = measure(&mut store, &tests)?;
    let second = measure(&mut store, &tests)?;
    let mut off: Vec<f64> = Vec::new();
    for pair in pairs(&first, &second) {
        println!(
            "{:44} {:>8.3} {:>8.3} {:>+7.1} %",
            pair.name,
            pair.first,
            pair.second,
            100.0 * (pair.second / pair.first - 1.0)
        );
        off.push((pair.second / pair.first - 1.0).abs());
    }
    off.sort_by(f64::total_cmp);
    let at = |part: f64| 100.0 * off[((off.len() - 1) as f64 * part) as usize];
    if !off.is_empty() {
        println!(
            "{} shares, two runs: off by {:.1} % at the median, {:.1} % at 90 per cent, {:.1} % at most",
            off.len(),
            at(0.5),
            at(0.9),
            at(1.0)
        );
    }
    Ok(())
}

/// Makes one quick run of these tests.
fn measure(store: &mut Store, tests: &[String]) -> Result<RunRecord, Box<dyn Error>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(home.join("suites/rest.toml"))?;
    let suite = Suite::parse("rest.toml", &text)?;
    let (subjects, _) = Subject::discover(&home.join("subjects"));
    let mut laboratory = Laboratory {
        subjects: &subjects,
        cache: &Cache::of_user(),
        store,
        observer: &mut (),
        stop: &AtomicBool::new(false),
    };
    let options = Options {
        quick: true,
        only: tests.to_vec(),
        ..Options::default()
    };
    let run = laboratory.measure(&suite, &text, &options)?;
    Ok(store.load(run)?)
}

/// A share in both runs.
struct Pair {
    name: String,
    first: f64,
    second: f64,
}

fn pairs(first: &RunRecord, second: &RunRecord) -> Vec<Pair> {
    let shares = |run: &RunRecord| -> Vec<(String, f64)> {
        run.results
            .iter()
            .filter_map(|result| Some((name(result), share(run, result)?)))
            .collect()
    };
    let second = shares(second);
    let both = shares(first).into_iter().filter_map(|(name, first)| {
        let (_, second) = second.iter().find(|(other, _)| *other == name)?;
        Some(Pair {
            name,
            first,
            second: *second,
        })
    });
    both.collect()
}

fn name(result: &ResultRecord) -> String {
    let identity = &result.identity;
    format!(
        "{} {} {}",
        identity.test, identity.placement, identity.subject
    )
}

/// Returns the processor time a request as a share of the first server's with this load; `None` for
/// that one itself.
fn share(run: &RunRecord, result: &ResultRecord) -> Option<f64> {
    let same = |other: &&ResultRecord| {
        (&other.identity.test, &other.identity.placement)
            == (&result.identity.test, &result.identity.placement)
            && load_of(other).is_some()
    };
    let base = run.results.iter().find(same)?;
    if base.identity.subject == result.identity.subject {
        return None;
    }
    let share = load_of(result)?.ratio(load_of(base)?, LoadRound::cpu_ns)?;
    Some(share.value)
}

fn load_of(result: &ResultRecord) -> Option<&LoadOutcome> {
    match &result.outcome {
        Outcome::Load(load) => Some(load),
        _ => None,
    }
}
