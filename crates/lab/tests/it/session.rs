//! Sessions with a subject that conforms, and with misbehaving ones, each identified by name.

use antiphon_lab::protocol::TestKind;
use antiphon_lab::{Launch, Session, SessionError};
use antiphon_measure::{BatchRequest, Placement, Purpose, Role, ThreadReport, reference_checksum};
use antiphon_runner::Policy;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(500);

const REQUEST: BatchRequest = BatchRequest {
    iterations: 100,
    blocks: 3,
    reference_iterations: 50,
    warmup: 10,
    purpose: Purpose::Sample,
};

fn launch(fault: Option<&str>) -> Launch {
    let program = env!("CARGO_BIN_EXE_antiphon-test-subject");
    Launch::new("test/plain", std::iter::once(program).chain(fault), "/")
}

fn roles(threads: &[ThreadReport]) -> Vec<&str> {
    threads.iter().map(|thread| thread.role.as_str()).collect()
}

/// Returns the error of a batch with this fault.
fn batch_with(fault: &str) -> SessionError {
    let mut session = Session::start(&launch(Some(fault))).expect("the fault is in the batch");
    let limit = match fault {
        "hangs" | "spins" => SHORT,
        _ => LONG,
    };
    let error = session
        .batch("self.same", None, &REQUEST, limit)
        .expect_err("a fault");
    if !error.lives_on() {
        let after = session.usage().expect_err("it is dead");
        assert!(matches!(after, SessionError::Over { .. }), "{after}");
    }
    error
}

#[test]
fn every_request_is_answered() -> Result<(), SessionError> {
    let mut session = Session::start(&launch(None))?;
    assert_eq!(session.hello().language, "Rust");

    let listing = session.list()?;
    let names: Vec<&str> = listing
        .tests
        .iter()
        .map(|test| test.name.as_str())
        .collect();
    assert!(
        names.starts_with(&["self.same", "self.dearer", "self.handoff"]),
        "{names:?}"
    );
    let handoff = &listing.tests[2];
    assert_eq!(
        (handoff.kind, handoff.switches, handoff.threads),
        (TestKind::Frame, Some(2.0), 2)
    );
    let absent = listing.tests.iter().find_map(|test| test.absent.as_deref());
    assert_eq!(absent, Some("this subject only tests the laboratory"));
    assert_eq!(listing.clocks.len(), 1);

    let readings = session.clock("steady", 2500, LONG)?;
    assert_eq!(readings.answer.len(), 2500);
    assert!(readings.answer.is_sorted());
    assert_eq!(roles(&readings.threads), ["main"]);

    let seen = session.gaps("steady", Duration::from_millis(5), 0, LONG)?;
    assert_eq!(roles(&seen.threads), ["main"]);
    let seen = seen.answer;
    assert!(seen.elapsed_ns >= 5_000_000 && seen.gaps > 0);
    assert_eq!(seen.kept.len() as u64, seen.gaps.min(200_000));

    let batch = session.batch("self.same", None, &REQUEST, LONG)?;
    assert_eq!(batch.slices.len(), 18);
    assert_eq!(batch.slices[0].checksum, reference_checksum(50));
    assert_eq!(batch.threads.len(), 1);
    assert!(batch.wall_ns > 0);

    let slice = session.slice("self.handoff", Role::Test, 20, 5, None, LONG)?;
    assert_eq!(
        (slice.role, slice.iterations, slice.checksum),
        (Role::Test, 20, 20)
    );

    let latency = session.latency("probe.latency", None, 100, 0, LONG)?;
    assert_eq!(latency.answer.len(), 100);
    assert_eq!(roles(&latency.threads), ["main", "partner"]);

    let all = session.series("probe.series", Some(64), 10, LONG)?;
    assert_eq!(roles(&all.threads), ["main"]);
    let all = all.answer;
    assert_eq!(
        (all.readings.len(), all.completed, all.exhausted),
        (11, 10, None)
    );
    let some = session.series("probe.series", Some(64), 5000, LONG)?.answer;
    assert_eq!(some.exhausted.as_deref(), Some("no storage"));
    assert_eq!(some.readings.len() as u64, some.completed + 1);

    assert!(session.usage()?.peak_rss_bytes > 0);
    session.quit()?;
    Ok(())
}

#[test]
fn a_refusal_leaves_the_subject_alive() -> Result<(), SessionError> {
    let mut session = Session::start(&launch(None))?;
    let error = session.clock("sundial", 3, LONG).expect_err("no sundial");
    assert!(
        matches!(&error, SessionError::Refused { code, .. } if code == "unknown-clock"),
        "{error}"
    );
    let error = session
        .batch("no.such.test", None, &REQUEST, LONG)
        .expect_err("no test");
    assert!(matches!(&error, SessionError::Refused { code, .. } if code == "unknown-test"));
    session.list()?;
    Ok(())
}

#[test]
fn own_output_is_passed_on() -> Result<(), SessionError> {
    let mut session = Session::start(&launch(Some("talks")))?;
    session.list()?;
    // To `hello`, `placement` and `list`; the empty lines are ignored.
    assert_eq!(session.take_own_output(), ["done, so far as I can tell"; 3]);
    assert!(session.take_own_output().is_empty());
    Ok(())
}

#[test]
fn placement_reaches_every_thread() -> Result<(), SessionError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors < 2 {
        eprintln!("skipped: one processor only");
        return Ok(());
    }
    let mut launch = launch(None);
    launch.placement = Placement::Across {
        main: 0,
        partner: 1,
    };
    let mut session = Session::start(&launch)?;
    let batch = session.batch("self.handoff", None, &REQUEST, LONG)?;
    let mut seen: Vec<(&str, u32, &str)> = batch
        .threads
        .iter()
        .map(|thread| {
            (
                thread.role.as_str(),
                thread.processor,
                thread.allowed.as_str(),
            )
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [("main", 0, "0"), ("partner", 1, "1")]);
    Ok(())
}

#[test]
fn a_missing_program_is_not_started() {
    let error = Session::start(&Launch::new("test/missing", ["./no-such-subject"], "/"))
        .err()
        .expect("it is missing");
    assert!(matches!(error, SessionError::NotStarted { .. }), "{error}");
    let empty: [&str; 0] = [];
    let error = Session::start(&Launch::new("test/empty", empty, "/"))
        .err()
        .expect("empty");
    assert!(error.to_string().contains("`run` is empty"), "{error}");
}

#[test]
fn a_subject_that_fails_at_once_says_why() {
    let error = Session::start(&launch(Some("fails-at-once")))
        .err()
        .expect("code 3");
    assert!(
        matches!(error, SessionError::Crashed { code: Some(3), .. }),
        "{error}"
    );
    assert_eq!(error.last_words(), "no valve is connected");
    assert!(!error.reason().contains("valve"), "{}", error.reason());
}

#[test]
fn a_subject_of_another_version_is_named() {
    let error = Session::start(&launch(Some("version")))
        .err()
        .expect("version 2");
    assert!(error.to_string().contains("version 2"), "{error}");
}

#[test]
fn a_hang_is_told() {
    assert!(matches!(
        batch_with("hangs"),
        SessionError::Hung { limit: SHORT, .. }
    ));
}

#[test]
fn a_crash_is_told_with_its_last_words() {
    let error = batch_with("crashes");
    assert!(
        matches!(
            error,
            SessionError::Crashed {
                signal: Some(6),
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.last_words(), "the valve is stuck");
}

#[test]
fn an_early_end_is_told() {
    let error = batch_with("exits-early");
    assert!(matches!(error, SessionError::ExitedEarly { .. }), "{error}");
    assert_eq!(error.last_words(), "enough for today");
}

#[test]
fn rubbish_is_shown() {
    for (fault, shown) in [
        ("rubbish", "@@ slices galore"),
        ("not-text", "@@ slice \u{fffd}"),
        ("endless-line", "xxxxxxxx"),
    ] {
        let error = batch_with(fault);
        assert!(
            matches!(&error, SessionError::Rubbish { line, .. } if line.starts_with(shown)),
            "{fault}: {error}"
        );
    }
}

#[test]
fn slices_that_were_not_asked_for_are_rubbish() {
    for fault in ["wrong-order", "missing-slice"] {
        let error = batch_with(fault);
        assert!(
            matches!(error, SessionError::Rubbish { .. }),
            "{fault}: {error}"
        );
    }
}

#[test]
fn a_subject_that_quits_with_a_code_is_told() {
    let session = Session::start(&launch(Some("quit-code"))).expect("it starts");
    let error = session.quit().expect_err("code 7");
    assert!(
        matches!(error, SessionError::Crashed { code: Some(7), .. }),
        "{error}"
    );
}

/// Kills a subject that spins under FIFO on its processor; the keeper has the higher priority.
#[test]
fn a_spinning_fifo_subject_is_killed() {
    let policy = Policy::Fifo { priority: 5 };
    if let Err(why) = policy.permitted() {
        eprintln!("skipped: {why}");
        return;
    }
    let mut launch = launch(Some("spins"));
    launch.policy = policy;
    launch.placement = Placement::Same { processor: 0 };
    let mut session = Session::start(&launch).expect("the fault is in the batch");
    let error = session
        .batch("self.same", None, &REQUEST, SHORT)
        .expect_err("it spins");
    assert!(matches!(error, SessionError::Hung { .. }), "{error}");
}

/// Script that answers everything, `quit` as well, and goes on; with `mute` it answers nothing.
const STAYS: &str = r#"
test "$1" = mute && exec sleep 600
while read -r request rest; do
    case $request in
    hello) echo '@@ hello protocol=1 language=sh kit=test clock=steady' ;;
    esac
    echo '@@ ok'
done
"#;

fn stays(how: &str) -> Launch {
    let mut launch = Launch::new("test/stays", ["sh", "-c", STAYS, "sh", how], "/");
    launch.start_limit = LONG;
    launch
}

/// Returns the error of an action during which the user asks for a stop after a moment.
fn stopped<T>(stop: &AtomicBool, act: impl FnOnce() -> Result<T, SessionError>) -> SessionError {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            stop.store(true, Ordering::Relaxed);
        });
        act().err().expect("it would take for ever")
    })
}

fn is_interrupted_at(error: &SessionError, word: &str) -> bool {
    matches!(error, SessionError::Interrupted { request, .. } if request.starts_with(word))
}

#[test]
fn a_subject_ends_when_the_user_stops_whatever_it_is_doing() {
    let stop = AtomicBool::new(false);
    let error = stopped(&stop, || Session::start_unless(&stays("mute"), &stop));
    assert!(is_interrupted_at(&error, "hello"), "{error}");

    let stop = AtomicBool::new(false);
    let mut session = Session::start_unless(&launch(Some("hangs")), &stop).expect("it starts");
    let error = stopped(&stop, || session.batch("self.same", None, &REQUEST, LONG));
    assert!(is_interrupted_at(&error, "batch"), "{error}");
    let after = session.usage().expect_err("it is dead");
    assert!(matches!(after, SessionError::Over { .. }), "{after}");

    let stop = AtomicBool::new(false);
    let session = Session::start_unless(&stays("on"), &stop).expect("it starts");
    let error = stopped(&stop, || session.quit());
    assert!(is_interrupted_at(&error, "quit"), "{error}");
}

#[test]
fn a_subject_that_may_be_stopped_and_is_not_ends_as_any_other() {
    let stop = AtomicBool::new(false);
    let mut session = Session::start_unless(&launch(None), &stop).expect("it starts");
    session
        .batch("self.same", None, &REQUEST, LONG)
        .expect("it answers");
    session.quit().expect("it ends");
}

#[test]
fn an_answer_without_end_is_refused_at_its_bound() {
    let mut session = Session::start(&launch(Some("endless-list"))).unwrap();
    let error = session.list().expect_err("it has no end");
    let said = error.to_string();
    assert!(matches!(error, SessionError::Rubbish { .. }), "{said}");
    assert!(said.contains("an answer is at most"), "{said}");
    assert!(matches!(session.usage(), Err(SessionError::Over { .. })));
}
