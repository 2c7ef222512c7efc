//! The store: stored data comes out again, and foreign and newer files are refused. A kill at any
//! moment loses only the current addition, and a store without permission to write is read.

use crate::powers::without;
use antiphon_lab::store::{NewRun, Raw, Store, StoreError};
use antiphon_lab::{Identity, Machine, Outcome, ResultRecord, SubjectRecord};
use antiphon_measure::{Batch, ClockGap, GapLoop, LatencySample, Role, Slice, ThreadReport};
use rustix::thread::CapabilitySet;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn begin(store: &mut Store) -> i64 {
    let machine = Machine {
        host: "here".to_owned(),
        load: 0.25,
        ..Machine::default()
    };
    store
        .begin(&NewRun {
            suite: "s",
            suite_toml: "name = 's'",
            quick: true,
            machine: &machine,
            options: "{\"seed\":1}",
        })
        .unwrap()
}

fn absent(test: &str, reason: &str) -> ResultRecord {
    let identity = Identity {
        test: test.to_owned(),
        arg: None,
        subject: "ada/O2".to_owned(),
        policy: "other".to_owned(),
        placement: "same".to_owned(),
    };
    let outcome = Outcome::Absent {
        reason: reason.to_owned(),
        help: String::new(),
        last_words: String::new(),
        listed: false,
    };
    ResultRecord::new(identity, outcome)
}

fn batch(seed: u64) -> Raw {
    let slice = |block: u32, role| Slice {
        block,
        role,
        iterations: 100 + seed,
        start_ns: 5_821_734_001 + seed * 1000,
        elapsed_ns: 20_412 + seed,
        voluntary: seed % 3,
        involuntary: 0,
        minor_faults: 0,
        major_faults: 0,
        wait_ns: seed.is_multiple_of(2).then_some(seed),
        processor: Some(1),
        checksum: u64::MAX - seed,
    };
    let thread = ThreadReport {
        role: "main".to_owned(),
        policy: "other".to_owned(),
        priority: 0,
        processor: 0,
        allowed: "0-1".to_owned(),
        count: 2,
    };
    let slices = (0..8).flat_map(|block| {
        [Role::Control, Role::Test, Role::Reference].map(|role| slice(block, role))
    });
    Raw::Batch {
        asked: "batch a iterations=100".to_owned(),
        arg: Some(7),
        batch: Batch {
            slices: slices.collect(),
            threads: vec![thread],
            wall_ns: seed,
        },
    }
}

#[test]
fn a_warning_comes_back_once_and_with_its_run_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let (run, other) = (begin(&mut store), begin(&mut store));
    for warning in ["second", "first", "second"] {
        store.warn(run, warning).unwrap();
    }
    assert_eq!(store.load(run).unwrap().warnings, ["second", "first"]);
    assert!(store.load(other).unwrap().warnings.is_empty());
}

#[test]
fn a_run_comes_back_whole_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/down/store.db");
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store);
    let subject = SubjectRecord {
        id: "ada/O2".to_owned(),
        language: "Ada".to_owned(),
        compiler: "GNAT".to_owned(),
        flags: "-O2".to_owned(),
        content: "abc".to_owned(),
    };
    store.subject(run, &subject).unwrap();
    store
        .plan(
            run,
            &["one".to_owned(), "two".to_owned(), "three".to_owned()],
        )
        .unwrap();
    let raws = [
        batch(3),
        Raw::Readings {
            clock: "A clock".to_owned(),
            readings: vec![5, 4, i64::MIN, i64::MAX],
        },
        Raw::Gaps {
            clock: "A clock".to_owned(),
            over_ns: 200,
            seen: GapLoop {
                readings: 1000,
                elapsed_ns: u64::MAX,
                wait_ns: None,
                gaps: 3,
                lost_ns: 900,
                kept: vec![ClockGap {
                    start_ns: 7,
                    duration_ns: 300,
                }],
            },
        },
        Raw::Samples(vec![LatencySample {
            intended_ns: 9,
            actual_ns: 1,
            end_ns: 30,
        }]),
        Raw::Series {
            readings: vec![1, 2],
            completed: 2,
            exhausted: Some("STORAGE_ERROR".to_owned()),
        },
        Raw::Note {
            name: "n".to_owned(),
            json: "{}".to_owned(),
        },
    ];
    for raw in &raws {
        store.append(run, 1, 0, raw).unwrap();
    }
    store.result(run, 2, &absent("three", "first")).unwrap();
    store.result(run, 0, &absent("one", "first")).unwrap();
    store.result(run, 2, &absent("three", "second")).unwrap();
    drop(store);

    let mut store = Store::open(&path).unwrap();
    let saved = store.resume(run).unwrap();
    assert_eq!(saved.options, "{\"seed\":1}");
    assert_eq!(saved.items, ["one", "two", "three"]);
    assert_eq!(saved.done, [true, false, true]);
    assert_eq!(saved.raw[1], raws.map(|raw| (0, raw)).to_vec());
    assert_eq!(saved.record.ended, None);
    assert_eq!(saved.record.subjects, [subject]);
    assert_eq!(
        saved.record.results,
        [absent("one", "first"), absent("three", "second")]
    );
    assert_eq!(saved.record.machine.load, 0.25);
    store.finish(run).unwrap();
    assert!(store.load(run).unwrap().ended.is_some());
    let summary = &store.runs().unwrap()[0];
    assert_eq!((summary.planned, summary.done, summary.quick), (3, 2, true));
    assert_eq!(store.newest(Some("s")).unwrap(), Some(run));
    assert_eq!(store.newest(Some("t")).unwrap(), None);
}

#[test]
fn a_newer_or_foreign_file_is_refused_with_a_mend() {
    let folder = tempfile::tempdir().unwrap();
    let newer = folder.path().join("newer.db");
    drop(Store::open(&newer).unwrap());
    rusqlite::Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let refused = Store::open(&newer).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 99, .. }));
    assert!(
        refused.to_string().contains("use a newer antiphon"),
        "{refused}"
    );

    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (a)")
        .unwrap();
    assert!(matches!(
        Store::open(&foreign).unwrap_err(),
        StoreError::Foreign { .. }
    ));

    let text = folder.path().join("text.db");
    std::fs::write(
        &text,
        "this is no database, and long enough to be looked at as one by its head",
    )
    .unwrap();
    let refused = Store::open(&text).unwrap_err().to_string();
    assert!(refused.contains("text.db"), "{refused}");
}

#[test]
fn an_unknown_run_is_told_with_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let refused = store.load(3).unwrap_err().to_string();
    assert!(refused.contains("there are none yet"), "{refused}");
    begin(&mut store);
    let refused = store.load(3).unwrap_err().to_string();
    assert!(
        refused.contains("no run 3") && refused.contains("there are 1 to 1"),
        "{refused}"
    );
}

/// Variable for the child of the next test: the file that it writes to until it is killed.
const CHILD: &str = "ANTIPHON_STORE_TEST_CHILD";

/// Serves as the child of the next test; it is no test by itself. Each line says how many batches
/// are certainly stored.
#[test]
fn child_that_writes_for_ever() {
    use std::io::Write;
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let run = match store.newest(None).unwrap() {
        Some(run) => run,
        None => {
            let run = begin(&mut store);
            store.plan(run, &["only".to_owned()]).unwrap();
            run
        }
    };
    let mut stored = store.resume(run).unwrap().raw[0].len() as u64;
    loop {
        store.append(run, 0, 0, &batch(stored)).unwrap();
        stored += 1;
        println!("stored={stored}");
        std::io::stdout().flush().unwrap();
    }
}

/// Kills a child after it has stored `many` batches, and returns the number of certainly stored
/// ones.
fn written_until_killed(path: &Path, many: usize) -> usize {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "store::child_that_writes_for_ever",
            "--nocapture",
        ])
        .env(CHILD, path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    // The harness prints on the same lines, so the number is looked for, not expected alone.
    let numbers =
        lines.filter_map(|line| line.split("stored=").nth(1)?.trim().parse::<usize>().ok());
    let mut certain = 0;
    let mut seen = 0;
    for number in numbers {
        certain = number;
        seen += 1;
        if seen == many {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(certain >= many, "the child ended by itself");
    certain
}

#[test]
fn a_kill_at_any_moment_loses_at_most_the_batch_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for round in 1..=6usize {
        let certain = written_until_killed(&path, 17 * round);
        let store = Store::open(&path).unwrap();
        store.check().unwrap();
        let saved = store.resume(store.newest(None).unwrap().unwrap()).unwrap();
        let kept = &saved.raw[0];
        assert!(
            kept.len() == certain || kept.len() == certain + 1,
            "{} kept, {certain} certain",
            kept.len()
        );
        for (number, (_, raw)) in kept.iter().enumerate() {
            assert_eq!(*raw, batch(number as u64));
        }
        assert_eq!(saved.done, [false]);
    }
}

#[test]
fn a_run_is_held_by_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let (run, other) = (begin(&mut store), begin(&mut store));
    let held_by = |store: &Store| {
        let runs = store.runs().unwrap();
        runs[0].open.clone().unwrap().held_by
    };
    assert_eq!(held_by(&store), None);
    let lease = store.hold(run).unwrap();
    // Another store is as another process: the lock belongs to the opened file.
    let link = folder.path().join("by-another-name.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let second = Store::open(&link).unwrap();
    let refused = second.hold(run).unwrap_err();
    let StoreError::Held { by, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(by.process, Some(std::process::id()));
    assert!(
        refused.to_string().contains("being measured by process"),
        "{refused}"
    );
    assert_eq!(held_by(&second).as_ref(), Some(by));
    drop(second.hold(other).unwrap());
    drop(lease);
    assert_eq!(held_by(&second), None);
    drop(second.hold(run).unwrap());
    let left = std::fs::read_dir(folder.path()).unwrap();
    let leases = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains("-run")
    });
    assert_eq!(leases.count(), 0);
}

#[test]
fn a_lease_that_a_killed_process_left_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store);
    let left = format!("{}-run{run}", path.canonicalize().unwrap().display());
    std::fs::write(&left, "{\"process\":1,\"since\":\"2026-01-01T00:00:00Z\"}").unwrap();
    assert_eq!(store.runs().unwrap()[0].open.clone().unwrap().held_by, None);
    store.hold(run).unwrap();
}

/// Returns a frame's result as stored by versions before limits could be unknown.
fn of_one_block(starts: usize) -> ResultRecord {
    let limits = serde_json::json!({ "value": 11e6, "low": 10.9e6, "high": 11.1e6 });
    let estimate = serde_json::json!({
        "cost_ns": limits, "sign_cost_ns": limits, "log_ratio": limits, "log_ratio_to_reference": null,
        "paper": {
            "minimum_control_ns": 1.0, "minimum_test_ns": 1.0, "minima_difference_ns": 1.0, "mean_raw_ns": 1.0,
            "mean_corrected_ns": null, "clock_accuracy_ns": 1.0
        },
        "frames": { "control_ns": 3.0, "test_ns": 11e6, "reference_ns": null },
        "resources": { "voluntary": 0.0, "involuntary": 0.0, "minor_faults": 0.0, "major_faults": 0.0, "wait_ns": null },
        "iterations": 1, "blocks": 1, "total_iterations": 2, "stopped": "budget_spent", "relative_half_width": 0.01, "findings": []
    });
    let estimate: antiphon_measure::Estimate = serde_json::from_value(estimate).unwrap();
    let mut result = absent("connect", "");
    result.starts = vec![estimate.clone(); starts];
    result.outcome = Outcome::Frame(Box::new(estimate));
    result
}

#[test]
fn limits_that_one_block_was_given_by_earlier_versions_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let run = begin(&mut store);
    let items = ["one".to_owned(), "two".to_owned()];
    store.plan(run, &items).unwrap();
    store.result(run, 0, &of_one_block(1)).unwrap();
    store.result(run, 1, &of_one_block(2)).unwrap();
    let results = store.load(run).unwrap().results;
    let cost = |at: usize| match &results[at].outcome {
        Outcome::Frame(estimate) => estimate.cost_ns,
        other => panic!("{other:?}"),
    };
    assert_eq!((cost(0).value, cost(0).limits()), (11e6, None));
    assert_eq!(cost(1).limits(), Some((10.9e6, 11.1e6)), "of two starts");
    assert_eq!(results[1].starts[0].cost_ns.limits(), None);
    // An unknown limit is stored as such.
    store.result(run, 0, &results[0]).unwrap();
    assert_eq!(store.load(run).unwrap().results[0], results[0]);
}

/// Acts while the files of the folder are read-only, and with `with_folder` the folder itself, also
/// for root.
fn sealed<T: Send>(folder: &Path, with_folder: bool, act: impl FnOnce() -> T + Send) -> T {
    let set = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    files(folder).iter().for_each(|file| set(file, 0o444));
    set(folder, if with_folder { 0o555 } else { 0o755 });
    let done = without(CapabilitySet::DAC_OVERRIDE, act);
    set(folder, 0o755);
    files(folder).iter().for_each(|file| set(file, 0o644));
    done
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_store_that_may_not_be_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // These characters have a meaning in SQLite's URIs.
    let path = folder.path().join("a?b#c%41.db");
    let mut store = Store::open(&path).unwrap();
    let run = begin(&mut store);
    store.warn(run, "told").unwrap();
    drop(store);
    for with_folder in [true, false] {
        sealed(folder.path(), with_folder, || {
            let mut store = Store::open_to_read(&path).unwrap();
            assert_eq!(store.runs().unwrap().len(), 1);
            assert_eq!(store.load(run).unwrap().warnings, ["told"]);
            store.check().unwrap();
            let refused = store.warn(run, "again").unwrap_err();
            assert!(
                matches!(refused, StoreError::NotWritable { .. }),
                "{refused}"
            );
            let refused = Store::open(&path).unwrap_err();
            assert!(
                matches!(refused, StoreError::NotWritable { .. }),
                "{refused}"
            );
            assert!(refused.to_string().contains("--store"), "{refused}");
        });
        // Files left by a reader would keep the writer out.
        assert_eq!(files(folder.path()), std::slice::from_ref(&path));
    }
    let mut store = Store::open(&path).unwrap();
    store.warn(run, "again").unwrap();
}

#[test]
fn a_folder_that_may_not_be_written_takes_no_new_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let refused = sealed(folder.path(), true, || Store::open(&path).unwrap_err()).to_string();
    assert!(
        refused.contains("its folder") && refused.contains("--store"),
        "{refused}"
    );
    assert!(files(folder.path()).is_empty());
}

#[test]
fn what_a_killed_process_left_in_the_log_is_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let certain = written_until_killed(&path, 5);
    let beside = |end: &str| folder.path().join(format!("store.db-{end}"));
    assert!(beside("wal").metadata().unwrap().len() > 0);
    let kept = sealed(folder.path(), true, || {
        let store = Store::open_to_read(&path).unwrap();
        store.resume(1).unwrap().raw[0].len()
    });
    assert!(kept == certain || kept == certain + 1, "{kept}, {certain}");

    std::fs::remove_file(beside("shm")).unwrap();
    for with_folder in [true, false] {
        let before = files(folder.path());
        let refused = sealed(folder.path(), with_folder, || {
            Store::open_to_read(&path).unwrap_err().to_string()
        });
        assert!(
            refused.contains("store.db-wal") && refused.contains("antiphon runs"),
            "{refused}"
        );
        assert_eq!(files(folder.path()), before);
    }
    let store = Store::open_to_read(&path).unwrap();
    assert_eq!(store.resume(1).unwrap().raw[0].len(), kept);
}

#[test]
fn a_store_of_an_earlier_version_is_read_by_who_may_bring_it_to_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let run = begin(&mut Store::open(&path).unwrap());
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("DROP TABLE warning; PRAGMA user_version = 1")
        .unwrap();
    let refused = sealed(folder.path(), true, || {
        Store::open_to_read(&path).unwrap_err()
    });
    assert!(
        matches!(refused, StoreError::Older { found: 1, .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("antiphon runs"), "{refused}");
    let store = Store::open_to_read(&path).unwrap();
    assert!(store.load(run).unwrap().warnings.is_empty());
}

#[test]
fn reading_makes_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/store.db");
    let refused = Store::open_to_read(&path).unwrap_err();
    assert!(matches!(refused, StoreError::NotThere { .. }), "{refused}");
    assert!(files(folder.path()).is_empty());
}

/// Variable for the children of the next test: the store that they begin with.
const BEGINNER: &str = "ANTIPHON_STORE_TEST_BEGINNER";

/// Opens a store that others open at the same time, and begins a run. It is no test by itself.
#[test]
fn child_that_begins_with_a_new_store() {
    let Some(path) = std::env::var_os(BEGINNER) else {
        return;
    };
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    begin(&mut Store::open(Path::new(&path)).unwrap());
}

#[test]
fn processes_that_begin_with_a_new_store_at_the_same_time_all_have_it() {
    use std::io::Write;
    const PROCESSES: usize = 4;
    let rounds = std::env::var("STORE_ROUNDS").map_or(5, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let start = |_| {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "store::child_that_begins_with_a_new_store"])
                .env(BEGINNER, &path)
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        };
        let mut children: Vec<_> = (0..PROCESSES).map(start).collect();
        for child in &mut children {
            child.stdin.take().unwrap().write_all(b"begin\n").unwrap();
        }
        for child in children {
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(ended.status.success(), "{said}");
        }
        let store = Store::open_to_read(&path).unwrap();
        assert_eq!(store.runs().unwrap().len(), PROCESSES);
        store.check().unwrap();
    }
}

#[test]
fn each_cause_has_its_words_and_its_mend() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(
        &text,
        "no database, and long enough to be looked at\n".repeat(99),
    )
    .unwrap();
    let refused = Store::open_to_read(&text).unwrap_err();
    assert!(matches!(refused, StoreError::NoStore { .. }), "{refused}");

    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    for _ in 0..50 {
        begin(&mut store);
    }
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    let page = 4096;
    bytes[page..]
        .chunks_mut(page)
        .for_each(|page| page[..64].fill(0xaa));
    std::fs::write(&path, bytes).unwrap();
    let refused = Store::open_to_read(&path)
        .and_then(|store| store.runs())
        .unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
    assert!(refused.to_string().contains(".recover"), "{refused}");
}

/// In place of a file system that maps no shared memory: files whose name ends so cannot be mapped.
const NO_SHARED_MEMORY_C: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = fd < 0 ? 0 : readlink(link, name, sizeof name);
  if (n > 4 && !memcmp(name + n - 4, "-shm", 4)) { errno = ENODEV; return MAP_FAILED; }
  return (void *)syscall(SYS_mmap, at, length, prot, flags, fd, offset);
}
void *mmap(void *a, size_t l, int p, int f, int fd, off_t o) { return map(a, l, p, f, fd, o); }
void *mmap64(void *a, size_t l, int p, int f, int fd, off_t o) { return map(a, l, p, f, fd, o); }
"#;

/// The test runs itself once more with a library before the system's.
#[test]
fn a_file_system_without_shared_memory_is_told_from_other_faults_and_read() {
    const NAME: &str =
        "store::a_file_system_without_shared_memory_is_told_from_other_faults_and_read";
    if let Some(path) = std::env::var_os("ANTIPHON_TEST_STORE") {
        let path = Path::new(&path);
        let refused = Store::open(path).unwrap_err();
        assert!(
            matches!(refused, StoreError::NoSharedMemory { .. }),
            "{refused:?}"
        );
        assert!(refused.to_string().contains("--store"), "{refused}");
        assert_eq!(Store::open_to_read(path).unwrap().load(1).unwrap().id, 1);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("shim.c"), folder.path().join("shim.so"));
    std::fs::write(&source, NO_SHARED_MEMORY_C).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]);
    let compiled = compiler.arg(&library).arg(&source).status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let path = folder.path().join("store.db");
    begin(&mut Store::open(&path).unwrap());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env("LD_PRELOAD", &library)
        .env("ANTIPHON_TEST_STORE", &path)
        .status()
        .unwrap();
    assert!(status.success());
}
