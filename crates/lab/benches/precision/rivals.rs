//! The rivals: criterion in a separate process, hyperfine on whole programs.

use super::chain::{STEPS, chain, repeat};
use antiphon_runner::Program;
use std::env;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// A tool that gives the ratio of the expensive operation to the cheap one.
pub trait Rival {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Makes one try; `None` if the tool gave no figure.
    fn ratio(&mut self, time: Duration) -> Option<f64>;
}

/// Returns the installed rivals.
pub fn present() -> Vec<Box<dyn Rival>> {
    let mut rivals: Vec<Box<dyn Rival>> = vec![Box::new(Criterion)];
    match Hyperfine::find() {
        Some(hyperfine) => rivals.push(Box::new(hyperfine)),
        None => println!("hyperfine is missing (apt-get install hyperfine): left out"),
    }
    rivals
}

struct Criterion;

impl Rival for Criterion {
    fn name(&self) -> &'static str {
        "criterion"
    }

    fn ratio(&mut self, _time: Duration) -> Option<f64> {
        let folder = tempfile::tempdir().ok()?;
        let child = Program::new(env::current_exe().ok()?)
            .arg("criterion")
            .arg(folder.path());
        child
            .time_limit(Duration::from_secs(60))
            .run()
            .ok()?
            .success()
            .ok()?;
        let time = |steps: u32| {
            let file = folder
                .path()
                .join(format!("chain {steps}/new/estimates.json"));
            let estimates: serde_json::Value =
                serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
            // Criterion itself prints the same: the slope if it fits one, else the mean.
            let estimate = Some(&estimates["slope"]).filter(|slope| !slope.is_null());
            estimate.unwrap_or(&estimates["mean"])["point_estimate"].as_f64()
        };
        Some(time(STEPS[1])? / time(STEPS[0])?)
    }
}

/// Does the work of a criterion try's child: both operations, half of the time each, a fifth of it
/// warm-up.
pub fn criterion_child(folder: &Path, time: Duration) {
    let mut criterion = criterion::Criterion::default()
        .output_directory(folder)
        .without_plots()
        .sample_size(10)
        .warm_up_time(time / 10)
        .measurement_time(time * 2 / 5);
    criterion.bench_function("chain 20", |b| b.iter(|| chain::<20>(black_box(1))));
    criterion.bench_function("chain 21", |b| b.iter(|| chain::<21>(black_box(1))));
}

struct Hyperfine {
    /// Iterations that take about a hundredth of a second.
    iterations: u64,
}

impl Hyperfine {
    fn find() -> Option<Self> {
        Program::new("hyperfine")
            .arg("--version")
            .run()
            .ok()?
            .success()
            .ok()?;
        let start = Instant::now();
        black_box(repeat::<20>(100_000));
        let ns = (start.elapsed().as_nanos() as u64 / 100_000).max(1);
        Some(Self {
            iterations: 10_000_000 / ns,
        })
    }
}

impl Rival for Hyperfine {
    fn name(&self) -> &'static str {
        "hyperfine"
    }

    fn ratio(&mut self, time: Duration) -> Option<f64> {
        let folder = tempfile::tempdir().ok()?;
        let file = folder.path().join("times.json");
        let this = env::current_exe().ok()?;
        let runs = (time.as_millis() / 2 / 10).max(2).to_string();
        let command = |steps: u32| format!("{} chain {steps} {}", this.display(), self.iterations);
        Program::new("hyperfine")
            .args(["-N", "--style", "none", "--runs", &runs, "--export-json"])
            .arg(&file)
            .args(STEPS.map(command))
            .time_limit(Duration::from_secs(60))
            .run()
            .ok()?
            .success()
            .ok()?;
        let times: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        let mean = |which: usize| times["results"][which]["mean"].as_f64();
        Some(mean(1)? / mean(0)?)
    }
}
