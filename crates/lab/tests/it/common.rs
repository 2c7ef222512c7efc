//! A laboratory in a temporary folder, a suite, and an observer for tests of whole runs.

use antiphon_lab::build::Cache;
use antiphon_lab::run::{Event, Laboratory, Observer, Options};
use antiphon_lab::store::Store;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{Outcome, RunRecord};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns the faults of a sound suite, `s.toml`, after one replacement.
pub fn faults_after(sound: &str, from: &str, to: &str) -> String {
    assert!(sound.contains(from), "the sound suite lacks {from:?}");
    let text = sound.replacen(from, to, 1);
    Suite::parse("s.toml", &text).expect_err(to).to_string()
}

/// A suite of everything that the test subject has, and of a row that it lacks.
pub const SUITE: &str = r#"
name = "small"
title = "Small"
subjects = ["plain/v"]
[quick]
seconds_per_row = 0.3
relative_half_width = 0.5
[full]
seconds_per_row = 0.3
relative_half_width = 0.1
runs = 2
[[group]]
id = "frames"
title = "Frames"
runs = ["other.same"]
[[group.row]]
test = "self.{what}"
label = "{what}"
each = { what = ["same", "dearer", "handoff"] }
[[group.row]]
test = "probe.absent"
label = "absent"
[[group.row]]
test = "nobody.has.this"
label = "unlisted"
[[group]]
id = "series"
title = "Series"
runs = ["other.same"]
[[group.row]]
test = "probe.latency"
label = "latency"
kind = "latency"
count = 50
[[group.row]]
test = "probe.series"
label = "series"
kind = "series"
count = 2000
arg = 64
memory_limit_mib = 4096
[[group.row]]
test = "*"
label = "{clock}"
kind = "clock"
count = 2000
[[group.row]]
test = "interference"
label = "the system"
kind = "interference"
seconds = 0.01
"#;

/// A folder with subjects, a cache and a store.
pub struct Place {
    folder: tempfile::TempDir,
    pub subjects: Vec<Subject>,
    pub stop: Arc<AtomicBool>,
}

/// Returns the file of a test subject named after its fault, or after the distribution of its
/// times.
///
/// `plain` has no fault, `warm` must be warmed, and `long` has long slices.
fn subject_toml(name: &str) -> String {
    let program = env!("CARGO_BIN_EXE_antiphon-test-subject");
    let fault = if ["plain", "warm", "long"].contains(&name) {
        String::new()
    } else {
        format!(", {name:?}")
    };
    let needs = match name {
        "needy" => "needs = [{ command = 'no-such-compiler', package = 'gnat' }]",
        "warm" => "warms = true",
        "long" => "slice_ms = 40",
        _ => "",
    };
    format!(
        "name = {name:?}\nlanguage = 'Test'\nversion = ['sh', '-c', 'echo {name} 1']\nsources = []\nbuild = []\n\
         run = [{program:?}{fault}]\n{needs}\n[[variant]]\nname = 'v'\n"
    )
}

impl Place {
    pub fn with(names: &[&str]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("subjects")).unwrap();
        for name in names {
            let own = folder.path().join("subjects").join(name);
            std::fs::create_dir_all(&own).unwrap();
            std::fs::write(own.join("subject.toml"), subject_toml(name)).unwrap();
        }
        Place::at(folder)
    }

    fn at(folder: tempfile::TempDir) -> Place {
        let (subjects, errors) = Subject::discover(&folder.path().join("subjects"));
        assert!(errors.is_empty(), "{errors:?}");
        Place {
            folder,
            subjects,
            stop: Arc::default(),
        }
    }

    pub fn store_path(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    pub fn store(&self) -> Store {
        Store::open(&self.store_path()).unwrap()
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Does something in a laboratory here.
    pub fn laboratory<T>(&self, seen: &mut Seen, act: impl FnOnce(&mut Laboratory<'_>) -> T) -> T {
        let cache = Cache::at(self.folder.path().join("cache"));
        let mut store = self.store();
        act(&mut Laboratory {
            subjects: &self.subjects,
            cache: &cache,
            store: &mut store,
            observer: seen,
            stop: &self.stop,
        })
    }

    /// Measures the small suite and reads the run back.
    pub fn measure(&self, seen: &mut Seen, options: &Options) -> RunRecord {
        self.measure_suite(seen, SUITE, options)
    }

    /// Measures a suite and reads the run back.
    pub fn measure_suite(&self, seen: &mut Seen, text: &str, options: &Options) -> RunRecord {
        let suite = Suite::parse("small.toml", text).unwrap();
        let run = self.laboratory(seen, |lab| lab.measure(&suite, text, options));
        self.store()
            .load(run.unwrap_or_else(|error| panic!("{error}")))
            .unwrap()
    }
}

/// Options of a quick run of the given subjects.
pub fn quick(subjects: &[&str]) -> Options {
    Options {
        quick: true,
        subjects: subjects.iter().map(|name| (*name).to_owned()).collect(),
        hang_limit_s: 10.0,
        count_instructions: false,
        instructions_of_all: false,
        ..Options::default()
    }
}

/// Events that an observer saw.
#[derive(Default)]
pub struct Seen {
    pub warnings: Vec<String>,
    pub finished: Vec<String>,
    pub own_output: Vec<String>,
    pub absent_subjects: Vec<String>,
    /// Policies whose builds were made or found.
    pub built_for: Vec<String>,
    pub interrupted: Option<bool>,
    /// Items, process starts, measurements, and those made before.
    pub planned: Vec<(usize, u32, usize, usize)>,
    /// Flag to set after this many finished items.
    pub stop_after: Option<(usize, Arc<AtomicBool>)>,
    /// Store to search for each result when it is reported.
    pub stored_in: Option<PathBuf>,
    /// Look for processes of subjects, which work below this folder, whenever an item begins.
    pub looked_for_in: Option<PathBuf>,
    /// The placement of each item that began, and whether one was there.
    pub lives: Vec<(String, bool)>,
}

impl Observer for Seen {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Warning(text) => self.warnings.push(text.to_owned()),
            Event::OwnOutput { line, .. } => self.own_output.push(line.to_owned()),
            Event::SubjectAbsent { subject, .. } => self.absent_subjects.push(subject.to_owned()),
            Event::Built { policy, .. } => self.built_for.push(policy.to_owned()),
            Event::Planned {
                items,
                starts,
                measurements,
                measured,
                ..
            } => self.planned.push((items, starts, measurements, measured)),
            Event::Started { item, .. } => {
                if let Some(folder) = &self.looked_for_in {
                    let placement = item.identity.placement.clone();
                    self.lives.push((placement, one_works_in(folder)));
                }
            }
            Event::Ended { interrupted, .. } => self.interrupted = Some(interrupted),
            Event::Finished {
                item,
                result,
                seconds_left,
            } => {
                assert!(seconds_left.is_finite());
                if let Some(path) = &self.stored_in {
                    let store = Store::open(path).unwrap();
                    let newest = store.newest(None).unwrap().unwrap();
                    assert!(store.load(newest).unwrap().results.contains(result));
                }
                self.finished.push(item.identity.test.clone());
                if let Some((count, stop)) = &self.stop_after
                    && self.finished.len() >= *count
                {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            _ => {}
        }
    }
}

/// Returns the outcome of a subject's test in a run.
pub fn outcome<'r>(record: &'r RunRecord, subject: &str, test: &str) -> &'r Outcome {
    let found = record
        .results
        .iter()
        .find(|result| result.identity.test == test && result.identity.subject == subject);
    &found
        .unwrap_or_else(|| panic!("no result of {subject} {test}"))
        .outcome
}

/// Checks whether a process works below a folder.
fn one_works_in(folder: &Path) -> bool {
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    all.any(|entry| {
        let works_in = std::fs::read_link(entry.path().join("cwd"));
        works_in.is_ok_and(|works_in| works_in.starts_with(folder))
    })
}
