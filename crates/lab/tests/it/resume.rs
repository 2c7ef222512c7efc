//! Interrupted runs: measurements are kept, and a resumed run ends as if nothing had happened.

use crate::common::{Place, SUITE, Seen, quick};
use antiphon_lab::Outcome;
use antiphon_lab::run::{Options, RunError};
use antiphon_lab::store::{Raw, StoreError};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::atomic::Ordering;

#[test]
fn an_interrupted_run_keeps_its_results_and_can_be_resumed() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen {
        stop_after: Some((3, place.stop.clone())),
        ..Seen::default()
    };
    let broken = place.measure(&mut seen, &quick(&[]));
    assert_eq!(broken.ended, None);
    assert_eq!(seen.interrupted, Some(true));
    assert_eq!(broken.results.len(), 3);

    place.stop.store(false, Ordering::Relaxed);
    let mut seen = Seen::default();
    place
        .laboratory(&mut seen, |lab| lab.resume(broken.id))
        .unwrap();
    let whole = place.store().load(broken.id).unwrap();
    assert!(whole.ended.is_some());
    assert_eq!(whole.results.len(), 8);
    for result in &broken.results {
        assert!(
            whole.results.contains(result),
            "{} was measured again",
            result.identity.test
        );
    }
    assert!(
        whole
            .results
            .iter()
            .filter(|result| result.outcome.is_absent())
            .count()
            == 1
    );
    // A whole run resumed has only its absences tried again.
    let mut seen = Seen::default();
    place
        .laboratory(&mut seen, |lab| lab.resume(broken.id))
        .unwrap();
    assert_eq!(seen.finished, ["probe.absent"]);
}

#[test]
fn a_result_is_stored_when_it_is_told() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen {
        stored_in: Some(place.store_path()),
        ..Seen::default()
    };
    place.measure(&mut seen, &quick(&[]));
    assert_eq!(seen.finished.len(), 8);
}

#[test]
fn what_is_open_of_a_run_counts_every_start_of_its_frames() {
    // Eight items, of which three are frames: those are measured in two starts.
    let full = Options {
        quick: false,
        ..quick(&[])
    };
    for stop_after in [3, 8, 9] {
        let place = Place::with(&["plain"]);
        let mut seen = Seen {
            stop_after: Some((stop_after, place.stop.clone())),
            ..Seen::default()
        };
        let broken = place.measure(&mut seen, &full);
        assert_eq!(seen.planned, [(8, 2, 11, 0)]);
        let runs = place.store().runs().unwrap();
        let open = runs[0].open.as_ref().unwrap();
        assert_eq!((open.starts, open.measurements), (2, 11), "{open:?}");
        assert_eq!(open.measured, stop_after as u64);
        place.stop.store(false, Ordering::Relaxed);
        let mut seen = Seen::default();
        place
            .laboratory(&mut seen, |lab| lab.resume(broken.id))
            .unwrap();
        assert_eq!(place.store().runs().unwrap()[0].open, None);
    }
}

#[test]
fn a_run_that_another_measures_is_not_resumed() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen {
        stop_after: Some((1, place.stop.clone())),
        ..Seen::default()
    };
    let broken = place.measure(&mut seen, &quick(&[]));
    place.stop.store(false, Ordering::Relaxed);
    let store = place.store();
    let lease = store.hold(broken.id).unwrap();
    let resume = || place.laboratory(&mut Seen::default(), |lab| lab.resume(broken.id));
    let refused = resume().unwrap_err();
    assert!(
        matches!(refused, RunError::Store(StoreError::Held { .. })),
        "{refused}"
    );
    drop(lease);
    resume().unwrap();
}

#[test]
fn a_changed_subject_is_not_resumed() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen {
        stop_after: Some((2, place.stop.clone())),
        ..Seen::default()
    };
    let broken = place.measure(&mut seen, &quick(&[]));
    place.stop.store(false, Ordering::Relaxed);
    let file = place.folder().join("subjects/plain/subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("echo plain 1", "echo plain 2")).unwrap();
    let mut changed = Place::with(&[]);
    changed.subjects = vec![antiphon_lab::subject::Subject::load(file.parent().unwrap()).unwrap()];
    let cache = antiphon_lab::build::Cache::at(place.folder().join("cache"));
    let mut store = place.store();
    let mut lab = antiphon_lab::run::Laboratory {
        subjects: &changed.subjects,
        cache: &cache,
        store: &mut store,
        observer: &mut (),
        stop: &place.stop,
    };
    let refused = lab.resume(broken.id).unwrap_err();
    assert!(matches!(refused, RunError::Changed { .. }));
    assert!(
        refused
            .to_string()
            .contains("plain/v or its compiler has changed"),
        "{refused}"
    );
}

/// Variable for the child of the next test: the folder that it measures in until it is killed.
const CHILD: &str = "ANTIPHON_RUN_TEST_CHILD";

/// Serves as the child of the next test; it is no test by itself.
#[test]
fn child_that_measures() {
    use antiphon_lab::build::Cache;
    use antiphon_lab::run::{Event, Laboratory, Observer};
    use antiphon_lab::store::Store;
    use antiphon_lab::subject::Subject;
    use antiphon_lab::suite::Suite;
    struct Tells;
    impl Observer for Tells {
        fn event(&mut self, event: Event<'_>) {
            use std::io::Write;
            if let Event::Started { item, .. } = event {
                println!("started={}", item.identity.test);
                let _ = std::io::stdout().flush();
            }
        }
    }
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let (subjects, _) = Subject::discover(&folder.join("subjects"));
    let suite = SUITE
        .replace("seconds_per_row = 0.3", "seconds_per_row = 30")
        .replace("half_width = 0.5", "half_width = 1e-9");
    let mut store = Store::open(&folder.join("runs.db")).unwrap();
    let mut lab = Laboratory {
        subjects: &subjects,
        cache: &Cache::at(folder.join("cache")),
        store: &mut store,
        observer: &mut Tells,
        stop: &std::sync::atomic::AtomicBool::new(false),
    };
    let parsed = Suite::parse("small.toml", &suite).unwrap();
    let options = Options {
        only: vec!["self.handoff".into()],
        ..quick(&[])
    };
    lab.measure(&parsed, &suite, &options).unwrap();
}

#[test]
fn a_run_that_was_killed_goes_on_from_its_stored_batches() {
    let place = Place::with(&["plain"]);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "resume::child_that_measures", "--nocapture"])
        .env(CHILD, place.folder())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let mut started = lines.filter(|line| line.contains("started=self.handoff"));
    started.next().expect("the child ended by itself");
    // The item takes half a minute, so it is under way when some batches are stored.
    let batches = || {
        let store = place.store();
        let run = store.newest(None).unwrap();
        run.map_or(0, |run| store.resume(run).unwrap().raw[0].len())
    };
    while batches() < 12 {
        // A run that is done has no batches to resume from, so the wait would have no end.
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "the child ended before it was killed");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let store = place.store();
    store.check().unwrap();
    let run = store.newest(None).unwrap().unwrap();
    let before = store.resume(run).unwrap();
    assert_eq!(before.done, [false]);
    drop(store);
    // Interrupted before it goes on, it stays as it is.
    place.stop.store(true, Ordering::Relaxed);
    let stopped = place.laboratory(&mut Seen::default(), |lab| lab.resume(run));
    assert!(matches!(stopped, Err(RunError::Interrupted)), "{stopped:?}");
    assert_eq!(
        place.store().resume(run).unwrap().raw[0].len(),
        before.raw[0].len()
    );
    place.stop.store(false, Ordering::Relaxed);
    let mut seen = Seen {
        stop_after: Some((1, place.stop.clone())),
        ..Seen::default()
    };
    let stop = place.stop.clone();
    let watch = std::thread::spawn({
        let path = place.store_path();
        let enough = before.raw[0].len() + 5;
        move || {
            let store = antiphon_lab::store::Store::open(&path).unwrap();
            while store.resume(run).unwrap().raw[0].len() < enough {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        }
    });
    place.laboratory(&mut seen, |lab| lab.resume(run)).unwrap();
    watch.join().unwrap();
    let after = place.store().resume(run).unwrap();
    assert_eq!(after.raw[0][..before.raw[0].len()], before.raw[0][..]);
    let conditions = after.raw[0]
        .iter()
        .filter(|(_, raw)| matches!(raw, Raw::Note { .. }));
    assert_eq!(conditions.count(), 1, "the plan was begun anew");
    let Outcome::Frame(estimate) = &after.record.results[0].outcome else {
        panic!()
    };
    assert!(estimate.blocks > 0);
}
