//! Programs over shared data: in every installed language they run, lose nothing that is protected,
//! and report in the form that the suite needs.

use antiphon_lab::build::{BuildError, Built, Cache};
use antiphon_lab::subject::{Subject, Variant, find_command};
use antiphon_runner::{Output, Program};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Possible error of the system's account of a process: two ticks, the unit of some of the kernel's
/// counts.
const SLACK: Duration = Duration::from_millis(20);

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the build of a subject's variant. If the language is not installed, it says so.
fn built(subject: &Subject, variant: &Variant) -> Option<Built> {
    let never = AtomicBool::new(false);
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared-data"));
    match cache.build(subject, variant, "other", &never) {
        Ok(built) => Some(built),
        Err(missing @ BuildError::Missing { .. }) => {
            eprintln!("skipped: {missing} ({})", missing.help());
            None
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    }
}

/// Runs a program of a build after the words of a tool, if there are any.
fn run_under(tool: &[&str], built: &Built, program: &str, arguments: &[&str]) -> Output {
    let words = built.run.iter();
    let words = words.map(|word| word.replace("{program}", program));
    let tool = tool.iter().map(|word| (*word).to_owned());
    let mut words = tool.chain(words);
    let command = Program::new(words.next().expect("a command has a program"));
    let output = command.args(words).args(arguments).run();
    output.expect("the program can be started")
}

fn run(built: &Built, program: &str, arguments: &[&str]) -> Output {
    run_under(&[], built, program, arguments)
}

/// Report of a run about itself.
struct Reported {
    of: String,
    counters: BTreeMap<String, u64>,
    /// Processor time of all its processes, and its time from start to end, by the system's
    /// account.
    used: Duration,
    took: Duration,
}

impl Reported {
    fn by(output: &Output, of: String) -> Reported {
        let said = String::from_utf8_lossy(&output.stdout);
        let lines = said.lines().filter_map(|line| line.strip_prefix("@@ run "));
        let words = lines.flat_map(|line| line.split(' '));
        let counters = words.filter_map(|word| word.split_once('='));
        let counters = counters
            .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
            .collect();
        Reported {
            of,
            counters,
            used: output.usage.user + output.usage.system,
            took: output.usage.wall,
        }
    }

    fn count(&self, name: &str) -> u64 {
        let count = self.counters.get(name);
        *count.unwrap_or_else(|| panic!("{} did not count {name}", self.of))
    }

    /// Returns a time after a check that it is positive and at most `most`.
    fn time(&self, name: &str, most: Duration) -> Duration {
        let time = Duration::from_nanos(self.count(name));
        let of = &self.of;
        assert!(!time.is_zero(), "{of}: {name} is nothing");
        assert!(time <= most, "{of}: {name} is {time:?}, of {most:?}");
        time
    }

    /// Checks that the timed part is within the whole process, and that no operation takes less
    /// than a tenth of a nanosecond.
    fn keeps_account(&self) {
        self.time("elapsed_ns", self.took);
        let used = self.time("cpu_ns", self.used + SLACK);
        let least = Duration::from_nanos(self.count("operations") / 10);
        assert!(used >= least, "{}: {used:?} of a processor", self.of);
    }
}

/// Runs a program and returns its report.
fn reported(built: &Built, program: &str, arguments: &[&str]) -> Reported {
    let output = run(built, program, arguments);
    let of = format!("{} {program} {arguments:?}", built.record.id);
    let output = output
        .success()
        .unwrap_or_else(|error| panic!("{of}: {error}"));
    Reported::by(&output, of)
}

/// Returns the report of a run that was long enough for its tasks to get a processor at all.
fn busy(built: &Built, program: &str, kind: &str) -> Reported {
    let mut last = None;
    for ms in ["5", "50", "500", "5000"] {
        let arguments: &[&str] = match kind {
            "counter" | "starve" => &["3", ms],
            "cache" => &["3", "100", ms],
            _ => &["3", "2"],
        };
        let reported = reported(built, program, arguments);
        let is_idle = reported.counters.get("operations") == Some(&0);
        last = Some(reported);
        if !is_idle {
            break;
        }
    }
    last.expect("it was run")
}

/// Runs every program of a subject's variants, in small.
fn examine(name: &str) {
    let subject = Subject::load(&home().join("subjects").join(name)).expect("the file is right");
    for variant in &subject.variants {
        if let Some(built) = built(&subject, variant) {
            examine_built(&built);
        }
    }
}

fn examine_built(built: &Built) {
    for program in &built.programs {
        let (kind, way) = program.split_once('_').expect("a name and a way");
        let reported = busy(built, program, kind);
        let of = |name: &str| reported.count(name);
        if kind != "warm" {
            reported.keeps_account();
        }
        match kind {
            "counter" => {
                assert!(of("kept") <= of("operations"), "{program}");
                assert!(
                    way == "unsafe" || of("kept") == of("operations"),
                    "{program}"
                );
            }
            "cache" => {
                assert!(of("operations") > of("updates"), "{program}");
                assert!(of("kept") <= of("updates"), "{program}");
                assert!(way == "weak" || of("kept") == of("updates"), "{program}");
            }
            "starve" => {
                assert!(of("updates") > 0 && of("whole_ns") > 0, "{program}");
                reported.time("longest_wait_ns", reported.took);
            }
            _ => assert!(of("slice_3") >= of("warm") && of("warm") > 0, "{program}"),
        }
    }
    for (program, arguments) in [
        ("counter_atomic", ["many", "5"]),
        ("counter_bold", ["1", "5"]),
    ] {
        let output = run(built, program, &arguments);
        assert!(
            !output.stderr.is_empty() && output.success().is_err(),
            "{program} {arguments:?}"
        );
    }
    let refused = run(built, "counter_atomic", &["1"]).success();
    assert!(refused.is_err(), "an argument is missing");
}

#[test]
fn in_ada() {
    examine("shared-data-ada");
}

/// Tests the number of copies. Each of the 128 words of Ada's map is three pieces of the heap,
/// which valgrind counts. A write that copied the map twice would have twice as many.
#[test]
fn in_ada_a_write_copies_the_map_once() {
    const PIECES_MOST: u64 = 4 * 128;
    const BESIDE: u64 = 4_000;
    const WRITES_LEAST: u64 = 64; // a task looks at the time once in so many
    let subject = Subject::load(&home().join("subjects/shared-data-ada")).expect("it is right");
    let Some(built) = built(&subject, &subject.variants[0]) else {
        return;
    };
    if find_command("valgrind").is_none() {
        eprintln!("skipped: valgrind is needed (apt-get install valgrind)");
        return;
    }
    for program in ["cache_copy", "cache_weak"] {
        let under_valgrind = |ms| {
            let output = run_under(&["valgrind"], &built, program, &["1", "1000", ms]);
            let updates = Reported::by(&output, program.to_owned()).count("updates");
            (updates, output.stderr)
        };
        let mut runs = ["100", "1000", "10000"].into_iter().map(under_valgrind);
        let (updates, said) = runs
            .find(|(updates, _)| *updates >= WRITES_LEAST)
            .expect("it has its turn");
        let pieces = pieces(&said).expect("valgrind counts the heap");
        assert!(
            pieces < BESIDE + PIECES_MOST * updates,
            "{program}: {pieces} pieces of {updates} writes"
        );
    }
}

/// Returns the number of allocations of a program under valgrind.
fn pieces(said: &str) -> Option<u64> {
    let line = said
        .lines()
        .find(|line| line.contains("total heap usage: "))?;
    let count = line.split("total heap usage: ").nth(1)?.split(' ').next()?;
    count.replace(',', "").parse().ok()
}

#[test]
fn in_c() {
    examine("shared-data-c");
}

#[test]
fn in_cpp() {
    examine("shared-data-cpp");
}

#[test]
fn in_rust() {
    examine("shared-data-rust");
}

#[test]
fn in_go() {
    examine("shared-data-go");
}

#[test]
fn in_java() {
    examine("shared-data-java");
}

#[test]
fn in_python() {
    examine("shared-data-python");
}
