//! Children to talk to.

use antiphon_runner::{End, Error, Process, Program};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn spawn(mode: &str) -> Result<Process, Error> {
    Program::new(env!("CARGO_BIN_EXE_runner-test-child"))
        .arg(mode)
        .line_max(1000)
        .time_limit(LONG)
        .spawn()
}

#[test]
fn talks_line_by_line_and_ends() -> Result<(), Error> {
    let mut echo = spawn("echo")?;
    for number in 0..1000 {
        let line = format!("line {number}");
        echo.write_line(&line)?;
        assert_eq!(echo.read_line()?, line);
    }
    echo.close_input();
    let (end, usage) = echo.wait(LONG)?;
    assert_eq!(end, End::Exited(0));
    assert!(usage.wall > Duration::ZERO);
    Ok(())
}

#[test]
fn many_lines_at_once_come_in_order() -> Result<(), Error> {
    let mut echo = spawn("echo")?;
    // The text exceeds both pipes, so the child can only go on while we read its output.
    let text: Vec<String> = (0..100).map(|number| format!("{number:>500}")).collect();
    echo.write_line(&text.join("\n"))?;
    for line in &text {
        assert_eq!(&echo.read_line()?, line);
    }
    Ok(())
}

#[test]
fn a_line_of_the_longest_length_passes() -> Result<(), Error> {
    let mut echo = spawn("echo")?;
    let line = "x".repeat(1000);
    echo.write_line(&line)?;
    assert_eq!(echo.read_line()?, line);
    echo.write_line(&"x".repeat(1001))?;
    assert!(matches!(
        echo.read_line(),
        Err(Error::LineTooLong {
            max_bytes: 1000,
            ..
        })
    ));
    Ok(())
}

#[test]
fn a_hang_ends_at_the_deadline() -> Result<(), Error> {
    let mut hang = spawn("hang")?;
    hang.set_deadline(Some(SHORT));
    assert!(matches!(
        hang.read_line(),
        Err(Error::TimedOut { limit: SHORT, .. })
    ));
    Ok(())
}

#[test]
fn a_deadline_that_is_lifted_does_nothing() -> Result<(), Error> {
    // Longer than a busy machine may take from the one call to the other.
    let soon = Duration::from_secs(2);
    let mut echo = spawn("echo")?;
    echo.set_deadline(Some(soon));
    echo.set_deadline(None);
    std::thread::sleep(soon + SHORT);
    echo.write_line("still here")?;
    assert_eq!(echo.read_line()?, "still here");
    Ok(())
}

#[test]
fn a_child_that_does_not_read_ends_at_the_deadline() -> Result<(), Error> {
    let mut hang = spawn("hang")?;
    hang.set_deadline(Some(SHORT));
    let error = hang.write_line(&"x".repeat(1 << 20));
    assert!(matches!(error, Err(Error::TimedOut { .. })), "{error:?}");
    Ok(())
}

#[test]
fn a_child_that_closes_its_input_is_told_apart() -> Result<(), Error> {
    let mut deaf = spawn("deaf")?;
    assert_eq!(deaf.read_line()?, "closed");
    // Its keeper, or a fresh fork of another thread, may hold the reading end for a moment longer.
    let error = loop {
        if let Err(error) = deaf.write_line("hello?") {
            break error;
        }
    };
    assert!(
        matches!(
            error,
            Error::Closed {
                stream: "input",
                ..
            }
        ),
        "{error:?}"
    );
    Ok(())
}

#[test]
fn a_crash_is_told_with_its_signal() -> Result<(), Error> {
    let error = spawn("crash")?.read_line();
    assert!(
        matches!(
            error,
            Err(Error::Signalled {
                signal: libc::SIGABRT,
                ..
            })
        ),
        "{error:?}"
    );
    Ok(())
}

#[test]
fn an_early_end_is_told_with_its_last_words() -> Result<(), Error> {
    let mut child = spawn("last-words")?;
    let error = child.read_line().expect_err("it says nothing");
    assert!(matches!(error, Error::Exited { code: 3, .. }), "{error}");
    assert_eq!(error.last_words(), "the valve is stuck\n");
    let again = child.write_line("hello?").expect_err("it is gone");
    assert!(matches!(again, Error::Exited { code: 3, .. }), "{again}");
    Ok(())
}

#[test]
fn a_flood_without_a_line_end_is_cut() -> Result<(), Error> {
    let error = spawn("flood")?.read_line().expect_err("an endless line");
    assert!(
        matches!(&error, Error::LineTooLong { head, .. } if head.starts_with("xxx") && head.len() < 100),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_flood_of_lines_can_be_read_as_long_as_one_likes() -> Result<(), Error> {
    let mut flood = spawn("flood-lines")?;
    for _ in 0..10_000 {
        assert_eq!(flood.read_line()?, "a line of 16 by");
    }
    Ok(())
}

#[test]
fn a_line_that_is_no_text_does_not_stop_the_next() -> Result<(), Error> {
    let mut child = spawn("not-text")?;
    assert_eq!(child.read_line()?, "good");
    assert!(matches!(child.read_line(), Err(Error::NotUtf8 { line, .. }) if line == "b\u{fffd}d"));
    assert_eq!(child.read_line()?, "again");
    assert!(matches!(
        child.read_line(),
        Err(Error::Exited { code: 0, .. })
    ));
    Ok(())
}

#[test]
fn a_signal_reaches_it() -> Result<(), Error> {
    let mut stubborn = spawn("stubborn")?;
    assert_eq!(stubborn.read_line()?, "ready");
    stubborn.signal(libc::SIGTERM);
    // The signal is not SIGINT, which a shell ignores for its background processes.
    stubborn.signal(libc::SIGUSR1);
    assert_eq!(stubborn.wait(LONG)?.0, End::Signalled(libc::SIGUSR1));
    Ok(())
}

/// Tests that an order left unread by the ending keeper does not hide its report.
#[test]
fn an_end_in_the_midst_of_orders_is_told_as_it_was() -> Result<(), Error> {
    for round in 0..400 {
        let mut child = spawn("echo")?;
        child.close_input();
        // The order thus comes before its end, in the midst of it, or after it.
        std::thread::sleep(Duration::from_micros(20 * (round % 100)));
        assert_eq!(child.wait(LONG)?.0, End::Exited(0));
    }
    Ok(())
}

/// Acts while another thread asks for a stop after a moment.
fn stopped<T>(act: impl FnOnce(&AtomicBool) -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            stop.store(true, Ordering::Relaxed);
        });
        act(&stop)
    })
}

#[test]
fn who_reads_or_waits_is_interrupted_and_the_child_ends() -> Result<(), Error> {
    for mode in ["hang", "stubborn"] {
        let mut child = spawn(mode)?;
        let read = stopped(|stop| {
            // One of them says a line first, which is given.
            let mut lines = std::iter::repeat_with(|| child.read_line_unless(stop));
            lines.find(Result::is_err)
        });
        assert!(
            matches!(read, Some(Err(Error::Interrupted { .. }))),
            "{mode}: {read:?}"
        );
        assert_eq!(child.wait(LONG)?.0, End::Signalled(libc::SIGKILL), "{mode}");
    }
    let mut child = spawn("hang")?;
    let waited = stopped(|stop| child.wait_unless(LONG, stop));
    assert!(
        matches!(waited, Err(Error::Interrupted { .. })),
        "{waited:?}"
    );
    assert_eq!(child.wait(LONG)?.0, End::Signalled(libc::SIGKILL));
    Ok(())
}

#[test]
fn nobody_is_interrupted_who_is_not_asked_to_stop() -> Result<(), Error> {
    let stop = AtomicBool::new(false);
    let mut echo = spawn("echo")?;
    echo.write_line("still here")?;
    assert_eq!(echo.read_line_unless(&stop)?, "still here");
    echo.close_input();
    assert_eq!(echo.wait_unless(LONG, &stop)?.0, End::Exited(0));
    Ok(())
}
