//! Instruction counts by callgrind, where valgrind is installed.

use antiphon_lab::instructions::{
    CountRequest, Countable, Counter, NoCount, ProcessCounter, ProcessorCounters,
};
use antiphon_lab::{Launch, Session, SessionError};
use antiphon_measure::{InstructionCount, Role};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Flag that no test sets.
static GOES_ON: AtomicBool = AtomicBool::new(false);

fn request(test: &str) -> CountRequest<'_> {
    CountRequest {
        test,
        arg: None,
        iterations: 20_000,
        limit: Duration::from_secs(120),
    }
}

fn launch(fault: Option<&str>) -> Launch {
    let program = env!("CARGO_BIN_EXE_antiphon-test-subject");
    Launch::new("test/plain", std::iter::once(program).chain(fault), "/")
}

/// Makes both counts by one process.
fn counted(tests: [&str; 2]) -> Option<[InstructionCount; 2]> {
    match Counter::start(&launch(None), &GOES_ON) {
        Ok(mut counter) => {
            let counts =
                tests.map(|test| counter.count(&request(test)).expect("it can be counted"));
            counter.end().expect("it ends as it should");
            Some(counts)
        }
        Err(NoCount::Missing) => {
            eprintln!("skipped: {}", NoCount::Missing);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn one_step_more_is_seen_and_the_same_is_the_same() {
    let Some([same, dearer]) = counted(["self.same", "self.dearer"]) else {
        return;
    };
    assert_eq!(same.per_operation(), 0.0, "{same:?}");
    assert_eq!(same.in_words(), "no difference in instructions");
    // Twenty steps are at least two instructions each.
    assert!(same.control > 40.0, "{same:?}");
    let step = dearer.per_operation();
    assert!((2.0..same.control / 10.0).contains(&step), "{dearer:?}");
    assert!(
        (dearer.control - same.control).abs() < 0.5,
        "{same:?} {dearer:?}"
    );
}

#[test]
fn a_missing_valgrind_is_told_with_the_mend() {
    let mut launch = launch(None);
    launch.env = vec![("PATH".into(), "/nowhere".into())];
    let Err(error) = Counter::start(&launch, &GOES_ON) else {
        panic!("there is no valgrind there")
    };
    assert!(matches!(error, NoCount::Missing), "{error}");
    assert!(
        error.to_string().contains("apt-get install valgrind"),
        "{error}"
    );
}

#[test]
fn a_test_that_is_not_there_is_told() {
    let counted = Counter::start(&launch(None), &GOES_ON)
        .and_then(|mut counter| counter.count(&request("no.such.test")));
    match counted {
        Err(NoCount::Session(SessionError::Refused { code, .. })) => {
            assert_eq!(code, "unknown-test")
        }
        Err(NoCount::Missing) => eprintln!("skipped: {}", NoCount::Missing),
        other => panic!("{other:?}"),
    }
}

/// Script that never answers `slice`, but notes it in the given file.
const NEVER_COUNTED: &str = r#"
while read -r request rest; do
    case $request in
    hello) echo '@@ hello protocol=1 language=sh kit=test clock=steady' ;;
    slice) : >"$1"; while :; do :; done ;;
    esac
    echo '@@ ok'
done
"#;

#[test]
fn a_count_ends_when_the_user_stops() {
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    let argv = ["sh", "-c", NEVER_COUNTED, "sh", asked.to_str().unwrap()];
    let stop = AtomicBool::new(false);
    let counted = std::thread::scope(|scope| {
        let counted = scope.spawn(|| {
            Counter::start(&Launch::new("test/never", argv, "/"), &stop)?.count(&request("any"))
        });
        while !asked.exists() && !counted.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        stop.store(true, Ordering::Relaxed);
        counted.join().unwrap()
    });
    match counted {
        Err(NoCount::Session(SessionError::Interrupted { request, .. })) => {
            assert!(request.starts_with("slice"), "{request}");
        }
        Err(NoCount::Missing) => eprintln!("skipped: {}", NoCount::Missing),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_kernel_counts_all_threads_of_a_running_subject_and_only_while_it_is_asked() {
    // Switches are the kernel's own events. The same code counts them where the processor counts
    // nothing.
    let mut session = Session::start(&launch(None)).unwrap();
    let limit = Duration::from_secs(60);
    let mut switches = match ProcessCounter::open(session.process(), Countable::Switches) {
        Ok(counter) => counter,
        Err(error) => {
            eprintln!("skipped: perf_event_open: {error}");
            return;
        }
    };
    let handoffs = |counter: &mut ProcessCounter, session: &mut Session<'_>| {
        let before = counter.total().unwrap();
        session
            .slice("self.handoff", Role::Test, 2000, 0, None, limit)
            .unwrap();
        counter.total().unwrap() - before
    };
    assert_eq!(handoffs(&mut switches, &mut session), 0);
    switches.enable().unwrap();
    // The partner's thread starts after the counter was opened, and both threads wait for each
    // other.
    let seen = handoffs(&mut switches, &mut session);
    assert!(seen >= 2000, "{seen}");
    switches.disable().unwrap();
    assert_eq!(handoffs(&mut switches, &mut session), 0);
}

#[test]
fn counts_of_a_running_subject_are_those_of_an_iteration() {
    let mut session = Session::start(&launch(None)).unwrap();
    let open = || ProcessCounter::open(session.process(), Countable::Switches);
    let (first, second) = match (open(), open()) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("skipped: perf_event_open: {error}");
            return;
        }
    };
    let mut counters = ProcessorCounters::of(first, second);
    let mut count = |test, iterations| {
        let request = CountRequest {
            iterations,
            ..request(test)
        };
        counters.count(&mut session, &request).unwrap()
    };
    // Main thread and partner wait for each other in both frames. Other load may add switches, and
    // two processors save some.
    let handoff = count("self.handoff", 4000);
    assert!(handoff.control >= 0.9 && handoff.test >= 0.9, "{handoff:?}");
    assert!(handoff.cycles.is_some());
    // A frame that does not block has only the switches of other load.
    let same = count("self.same", 20_000);
    assert!(same.control < 0.5 && same.test < 0.5, "{same:?}");
    assert_eq!(same.per_operation(), 0.0);
}

#[test]
fn the_processor_counts_what_callgrind_counts_or_says_why_not() {
    let mut session = Session::start(&launch(None)).unwrap();
    let counted = ProcessorCounters::open(session.process()).and_then(|mut counters| {
        ["self.same", "self.dearer"]
            .into_iter()
            .map(|test| counters.count(&mut session, &request(test)))
            .collect::<Result<Vec<_>, _>>()
    });
    match counted {
        Ok(counts) => {
            assert_eq!(counts[0].per_operation(), 0.0, "{counts:?}");
            assert!(counts[1].per_operation() >= 2.0, "{counts:?}");
            assert!(counts.iter().all(|count| count.cycles.is_some()));
        }
        Err(NoCount::Processor(error)) => eprintln!("not tried: {error}"),
        Err(error) => panic!("{error}"),
    }
}
