//! Instruction counts by callgrind, where valgrind is installed.

use antiphon_lab::instructions::{CountRequest, Counter, InstructionCount, NoCount};
use antiphon_lab::{Launch, SessionError};
use std::time::Duration;

fn request(test: &str) -> CountRequest<'_> {
    CountRequest {
        test,
        arg: None,
        iterations: (100, 20_100),
        limit: Duration::from_secs(120),
    }
}

fn launch(fault: Option<&str>) -> Launch {
    let program = env!("CARGO_BIN_EXE_antiphon-test-subject");
    Launch::new("test/plain", std::iter::once(program).chain(fault), "/")
}

/// Both counts by one process.
fn counted(tests: [&str; 2]) -> Option<[InstructionCount; 2]> {
    match Counter::start(&launch(None)) {
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
    // What this subject reads of the system varies in length; 20 000 iterations share the difference.
    assert!(same.per_operation().abs() < 0.5, "{same:?}");
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
    let Err(error) = Counter::start(&launch) else {
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
    let counted = Counter::start(&launch(None))
        .and_then(|mut counter| counter.count(&request("no.such.test")));
    match counted {
        Err(NoCount::Session(SessionError::Refused { code, .. })) => {
            assert_eq!(code, "unknown-test")
        }
        Err(NoCount::Missing) => eprintln!("skipped: {}", NoCount::Missing),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_slope_is_refused() {
    let mut request = request("self.same");
    request.iterations = (100, 100);
    match Counter::start(&launch(None)).and_then(|mut counter| counter.count(&request)) {
        Err(NoCount::NoSlope(100, 100)) => {}
        Err(NoCount::Missing) => eprintln!("skipped: {}", NoCount::Missing),
        other => panic!("{other:?}"),
    }
}
