//! Whole programs: their end, their output, and their limits.

use antiphon_runner::{End, Error, Limits, Policy, Program};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn child(mode: &str) -> Program {
    Program::new(env!("CARGO_BIN_EXE_runner-test-child"))
        .arg(mode)
        .time_limit(LONG)
}

#[test]
fn gives_arguments_environment_and_directory() -> Result<(), Error> {
    let output = child("say")
        .args(["one", "two words"])
        .env("CHILD_TEST", "three")
        .cwd("/usr")
        .run()?
        .success()?;
    assert_eq!(output.text()?, "one\ntwo words\nthree\n/usr\n");
    Ok(())
}

#[test]
fn a_variable_can_be_left_out_and_set_after_that() -> Result<(), Error> {
    // The manifest's folder is set for every test.
    let shown = "echo \"${CARGO_MANIFEST_DIR-none}\"";
    let shell = || Program::new("sh").args(["-c", shown]).time_limit(LONG);
    let without = shell().env_remove("CARGO_MANIFEST_DIR");
    assert_ne!(shell().run()?.success()?.text()?, "none\n");
    assert_eq!(without.clone().run()?.success()?.text()?, "none\n");
    let set = without.env("CARGO_MANIFEST_DIR", "again");
    assert_eq!(set.run()?.success()?.text()?, "again\n");
    Ok(())
}

#[test]
fn another_name_is_shown_and_its_own_is_looked_for() -> Result<(), Error> {
    // The program itself is searched in PATH, whatever its shown name looks like.
    let shown = |program| Program::new(program).shown_as("tables/fill");
    let failed = shown("false").run()?.success().unwrap_err();
    assert!(
        failed.to_string().starts_with("`tables/fill` ended"),
        "{failed}"
    );
    let missing = shown("no-such-program-anywhere").run().unwrap_err();
    assert!(
        missing.to_string().contains("`no-such-program-anywhere`"),
        "{missing}"
    );
    Ok(())
}

#[test]
fn gives_input_larger_than_a_pipe_and_takes_it_back() -> Result<(), Error> {
    let text = "a line of input\n".repeat(100_000);
    let output = child("echo").input(text.clone()).run()?.success()?;
    assert_eq!(output.text()?, text);
    assert_eq!(output.stdout_dropped_bytes, 0);
    Ok(())
}

#[test]
fn accounts_for_what_was_used() -> Result<(), Error> {
    let output = child("allocate").run()?.success()?;
    let usage = output.usage;
    assert!(usage.peak_rss_bytes > 512 << 20, "{usage:?}");
    assert!(
        usage.peak_rss_floor_bytes < usage.peak_rss_bytes,
        "{usage:?}"
    );
    assert!(usage.minor_faults > 0, "{usage:?}");
    assert!(
        usage.wall > Duration::ZERO && usage.user + usage.system > Duration::ZERO,
        "{usage:?}"
    );
    Ok(())
}

#[test]
fn a_crash_names_the_signal() -> Result<(), Error> {
    let output = child("crash").run()?;
    assert_eq!(output.end, End::Signalled(libc::SIGABRT));
    let error = output.success().expect_err("a crash is no success");
    assert!(error.to_string().contains("SIGABRT"), "{error}");
    Ok(())
}

#[test]
fn a_failure_keeps_its_last_words() -> Result<(), Error> {
    let error = child("last-words").run()?.success().expect_err("code 3");
    assert!(matches!(error, Error::Exited { code: 3, .. }));
    assert_eq!(error.last_words(), "the valve is stuck\n");
    Ok(())
}

#[test]
fn a_hang_is_asked_to_end() -> Result<(), Error> {
    let output = child("hang").time_limit(SHORT).grace(LONG).run()?;
    assert_eq!(output.end, End::TimedOut { limit: SHORT });
    Ok(())
}

#[test]
fn a_stubborn_hang_is_killed() -> Result<(), Error> {
    let output = child("stubborn").time_limit(SHORT).grace(SHORT).run()?;
    assert_eq!(output.end, End::TimedOut { limit: SHORT });
    assert!(matches!(output.success(), Err(Error::TimedOut { .. })));
    Ok(())
}

#[test]
fn what_is_interrupted_is_ended_and_says_so() -> Result<(), Error> {
    for mode in ["hang", "stubborn"] {
        let stop = AtomicBool::new(false);
        let ran = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(SHORT);
                stop.store(true, Ordering::Relaxed);
            });
            child(mode).time_limit(LONG).grace(SHORT).run_unless(&stop)
        });
        assert!(matches!(ran, Err(Error::Interrupted { .. })), "{ran:?}");
    }
    // Nothing is interrupted without a request.
    let ran = child("last-words").run_unless(&AtomicBool::new(false))?;
    assert_eq!(ran.end, End::Exited(3));
    Ok(())
}

#[test]
fn a_flood_is_bounded_and_counted() -> Result<(), Error> {
    // On a busy machine it may not have begun within the shortest.
    let mut limits = [SHORT, 10 * SHORT, LONG].into_iter();
    let output = loop {
        let limit = limits.next().expect("it floods within the longest");
        let output = child("flood").time_limit(limit).stdout_max(1000).run()?;
        if !output.stdout.is_empty() {
            break output;
        }
    };
    assert_eq!(output.stdout.len(), 1000);
    assert!(output.stdout_dropped_bytes > 0);
    Ok(())
}

#[test]
fn complaints_are_kept_from_the_end() -> Result<(), Error> {
    let output = child("complain").stderr_max(100).run()?.success()?;
    assert!(
        output.stderr.ends_with("complaint 99999\n"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.starts_with("complaint ") && output.stderr.len() <= 100);
    Ok(())
}

#[test]
fn output_that_is_no_text_is_shown() -> Result<(), Error> {
    let output = child("not-text").run()?.success()?;
    let error = output.text().expect_err("it is not UTF-8");
    assert!(
        matches!(&error, Error::NotUtf8 { line, .. } if line == "b\u{fffd}d"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_missing_program_is_named() {
    for program in ["no-such-program-anywhere", "./no/such/program"] {
        let error = Program::new(program).run().expect_err("it is missing");
        assert!(
            matches!(&error, Error::Missing { program: named } if named == program),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_no_program_is_named() {
    let error = Program::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).run();
    let error = error.expect_err("a text file");
    assert!(error.to_string().contains("chmod +x"), "{error}");
}

#[test]
fn a_missing_directory_is_named() {
    let error = child("say")
        .cwd("/no/such/directory")
        .run()
        .expect_err("no directory");
    assert!(
        matches!(&error, Error::BadRequest { why, .. } if why.contains("/no/such/directory")),
        "{error}"
    );
}

#[test]
fn an_impossible_processor_is_named() {
    let error = child("say")
        .affinity([1023])
        .run()
        .expect_err("1024 processors");
    assert!(error.to_string().contains("[1023]"), "{error}");
}

#[test]
fn the_address_space_is_limited() -> Result<(), Error> {
    let limits = Limits {
        address_space_bytes: Some(256 << 20),
        ..Limits::default()
    };
    let error = child("allocate")
        .limits(limits)
        .run()?
        .success()
        .expect_err("512 MiB");
    assert!(error.last_words().contains("refused"), "{error}");
    Ok(())
}

#[test]
fn open_files_are_limited() -> Result<(), Error> {
    let limits = Limits {
        open_files: Some(32),
        ..Limits::default()
    };
    let output = child("open-files").limits(limits).run()?.success()?;
    let opened: u32 = output.text()?.trim().parse().expect("a number");
    assert!((1..32).contains(&opened), "{opened}");
    Ok(())
}

#[test]
fn processor_time_is_limited() -> Result<(), Error> {
    let limits = Limits {
        cpu_time: Some(Duration::from_millis(10)), // rounded up to a second
        ..Limits::default()
    };
    let output = child("spin").limits(limits).run()?;
    assert!(
        matches!(output.end, End::Signalled(signal) if signal == libc::SIGXCPU || signal == libc::SIGKILL),
        "{:?}",
        output.end
    );
    Ok(())
}

#[test]
fn it_runs_where_it_is_told() -> Result<(), Error> {
    let output = child("scheduling").affinity([0]).run()?.success()?;
    assert_eq!(output.text()?, "0 0 0\n");
    Ok(())
}

#[test]
fn fifo_is_set_before_the_program_begins() -> Result<(), Error> {
    let policy = Policy::Fifo { priority: 7 };
    if let Err(why) = policy.permitted() {
        eprintln!("skipped: {why}");
        return Ok(());
    }
    let output = child("scheduling")
        .affinity([0])
        .policy(policy)
        .run()?
        .success()?;
    assert_eq!(output.text()?, "1 7 0\n");
    Ok(())
}

#[test]
fn who_runs_where_nothing_else_would_is_told_so_before_its_program_begins() -> Result<(), Error> {
    let idle = child("scheduling").affinity([0]).policy(Policy::Idle);
    let output = idle.run()?.success()?;
    assert_eq!(output.text()?, "5 0 0\n");
    Ok(())
}

/// Checks whether a thread may be the most urgent, by a trial on a separate one.
fn may_be_most_urgent() -> bool {
    let tries = std::thread::spawn(|| {
        // SAFETY: on Linux a thread has a `nice` of its own, which these set and ask for.
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, -20) == 0
                && libc::getpriority(libc::PRIO_PROCESS, 0) == -20
        }
    });
    tries.join().expect("it does not panic")
}

/// Checks for CAP_SYS_ADMIN: without it a session's `nice` may be set only now and then.
fn administers() -> bool {
    const ADMINISTERS: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let powers = status.lines().find_map(|line| {
        let powers = line.strip_prefix("CapEff:")?;
        u64::from_str_radix(powers.trim(), 16).ok()
    });
    powers.is_some_and(|powers| powers & ADMINISTERS != 0)
}

#[test]
fn who_comes_first_is_the_most_urgent_and_we_are_not() -> Result<(), Error> {
    let reported = |program: Program| -> Result<String, Error> {
        let script = "nice; cat /proc/self/autogroup 2>/dev/null | sed 's/.* //'";
        let output = program.args(["-c", script]).run()?.success()?;
        Ok(output.text()?.to_owned())
    };
    let before = reported(Program::new("sh"))?;
    let lines = reported(Program::new("sh").comes_first())?;
    assert_eq!(lines.lines().count(), before.lines().count());
    if may_be_most_urgent() {
        // Its own, and its session's.
        let certain = if administers() { 2 } else { 1 };
        let mut nices = lines.lines().take(certain);
        assert!(nices.all(|nice| nice == "-20"), "{lines}");
    }
    assert_eq!(reported(Program::new("sh"))?, before);
    Ok(())
}

#[test]
fn fifo_without_permission_says_the_mend() -> Result<(), Error> {
    let output = child("unprivileged-fifo").run()?.success()?;
    let lines: Vec<&str> = output.text()?.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        assert!(
            line.contains("not permitted") && line.contains("RLIMIT_RTPRIO"),
            "{line}"
        );
    }
    Ok(())
}

#[test]
fn a_fifo_priority_that_there_is_not_is_never_permitted() {
    for priority in [i32::MIN, 0, 99, i32::MAX] {
        let reported = Policy::Fifo { priority }.permitted().expect_err("1 … 98");
        assert!(reported.contains("1 … 98"), "{reported}");
    }
}

#[test]
fn a_fifo_priority_without_room_for_the_keeper_is_refused() {
    let error = child("say")
        .policy(Policy::Fifo { priority: 99 })
        .run()
        .expect_err("99");
    assert!(matches!(error, Error::BadRequest { .. }), "{error}");
}

/// Tests a program that spins on every processor. Without a more urgent keeper this process would
/// make little progress.
#[test]
fn a_spinning_fifo_program_is_killed() -> Result<(), Error> {
    let policy = Policy::Fifo { priority: 5 };
    if let Err(why) = policy.permitted() {
        eprintln!("skipped: {why}");
        return Ok(());
    }
    let output = child("spin")
        .policy(policy)
        .time_limit(SHORT)
        .grace(Duration::ZERO)
        .run()?;
    assert_eq!(output.end, End::TimedOut { limit: SHORT });
    Ok(())
}

#[test]
fn a_program_in_our_place_says_how_it_ended() -> Result<(), Error> {
    let shell = |text: &str| Program::new("sh").args(["-c", text]).run_attached();
    assert_eq!(shell("exit 7")?, End::Exited(7));
    assert_eq!(shell("kill -SEGV $$")?, End::Signalled(libc::SIGSEGV));
    assert!(matches!(
        Program::new("no-such-program").run_attached(),
        Err(Error::Missing { .. })
    ));
    Ok(())
}
