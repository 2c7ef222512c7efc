//! Starting: from a [`Program`] to a running child with its keeper, or a clear word why not.

use crate::keeper::{self, Conditions, Kind, Report, Step};
use crate::program::Input;
use crate::shortage::limit_of;
use crate::{Error, Policy, Program};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::Builder;
use std::time::Duration;

/// A child that has just been started.
pub(crate) struct Started {
    /// The keeper, which is the process that we started.
    pub keeper: Child,
    /// Our end of the socket to the keeper; letting go of it kills the child.
    pub socket: OwnedFd,
    /// Report of the child before its program was loaded.
    pub first: Report,
    pub stdin: Option<ChildStdin>,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// Starts the program under its conditions.
pub(crate) fn start(program: &Program) -> Result<Started, Error> {
    check(program)?;
    let io_error = |source| Error::NotStarted {
        program: program.name(),
        source,
    };
    let (socket, theirs) = keeper::socket_pair().map_err(io_error)?;
    let conditions = conditions(program, theirs.as_raw_fd())?;
    let mut command = command(program);
    if let Input::From(input) = &program.stdin {
        command.stdin(input.try_clone().map_err(io_error)?);
    }
    // SAFETY: the closure only makes system calls (the invariant of `keeper::after_fork`); it owns
    // a copy of plain numbers, and the descriptor in it stays open until `spawn` has returned.
    unsafe {
        command.pre_exec(move || keeper::become_keeper(&conditions));
    }
    let spawned = command.spawn();
    drop(theirs);
    let first = keeper::report(&socket);
    match (spawned, first) {
        (Ok(mut keeper), Ok(first)) if first.kind == Kind::Started as u32 => {
            let (stdin, stdout, stderr) = (
                keeper.stdin.take(),
                keeper.stdout.take(),
                keeper.stderr.take(),
            );
            let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
                unreachable!("both streams were asked for as pipes");
            };
            Ok(Started {
                keeper,
                socket,
                first,
                stdin,
                stdout,
                stderr,
            })
        }
        (Err(source), Ok(report)) if report.kind == Kind::SetupFailed as u32 => {
            Err(setup_failed(program, &report, source))
        }
        (Err(source), _) if source.kind() == io::ErrorKind::NotFound => Err(Error::Missing {
            program: program.own_name(),
        }),
        (Err(source), _) if source.kind() == io::ErrorKind::PermissionDenied => {
            Err(Error::NotPermitted {
                program: program.own_name(),
                what: "loading it".into(),
                help: "make the file executable (chmod +x)".into(),
                source,
            })
        }
        (Err(source), _) => Err(io_error(source)),
        (Ok(mut keeper), other) => {
            drop(socket);
            let _ = keeper.wait();
            Err(io_error(other.err().unwrap_or_else(|| {
                io::Error::other("it was killed before its program was loaded")
            })))
        }
    }
}

/// Checks everything that needs no request to the system.
fn check(program: &Program) -> Result<(), Error> {
    let bad = |why: String| {
        Err(Error::BadRequest {
            program: program.name(),
            why,
        })
    };
    if let Some(cwd) = program.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return bad(format!("its directory `{}` does not exist", cwd.display()));
    }
    if let Policy::Fifo { priority } = program.policy {
        return check_fifo(priority).or_else(bad);
    }
    Ok(())
}

fn check_fifo(priority: i32) -> Result<(), String> {
    match priority {
        1..=98 => Ok(()),
        _ => Err(format!(
            "its FIFO priority is {priority}; it must be 1 … 98, as the one above it is its keeper's"
        )),
    }
}

pub(crate) fn command(program: &Program) -> Command {
    // A relative path counts from our directory, not from the child's.
    let path = std::path::Path::new(&program.program);
    let mut command = if program.own_name().contains('/') {
        Command::new(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
    } else {
        Command::new(path)
    };
    command.args(&program.args);
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    if program.clear_env {
        command.env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
    }
    for (name, value) in &program.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .stdin(match program.stdin {
            Input::Ours => Stdio::piped(),
            Input::Inherited => Stdio::inherit(),
            Input::Nothing | Input::From(_) => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn conditions(program: &Program, socket: i32) -> Result<Conditions, Error> {
    let limits = &program.limits;
    let both = |value: u64| libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    Ok(Conditions {
        socket,
        policy: program.policy,
        comes_first: program.comes_first,
        affinity: affinity(program)?,
        limits: [
            Some((libc::RLIMIT_CORE, both(0), Step::CoreSize)),
            limits
                .open_files
                .map(|files| (libc::RLIMIT_NOFILE, both(files), Step::OpenFiles)),
            limits.cpu_time.map(|time| {
                let seconds = time.as_millis().div_ceil(1000).max(1) as u64;
                let limit = libc::rlimit {
                    rlim_cur: seconds,
                    rlim_max: seconds + 1,
                };
                (libc::RLIMIT_CPU, limit, Step::CpuTime)
            }),
            // Last: under it even the steps above might fail.
            limits
                .address_space_bytes
                .map(|bytes| (libc::RLIMIT_AS, both(bytes), Step::AddressSpace)),
        ],
        limit_ns: program.time_limit.map_or(0, in_ns).max(u64::from(
            program.time_limit.is_some(), // a limit of nothing is over at once, and not "none"
        )),
        grace_ns: in_ns(program.grace),
    })
}

fn affinity(program: &Program) -> Result<Option<libc::cpu_set_t>, Error> {
    if program.affinity.is_empty() {
        return Ok(None);
    }
    // SAFETY: a set of bits; all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &processor in &program.affinity {
        if processor >= libc::CPU_SETSIZE as usize {
            return Err(Error::BadRequest {
                program: program.name(),
                why: format!("there is no processor {processor}"),
            });
        }
        // SAFETY: the number is below the set's size.
        unsafe { libc::CPU_SET(processor, &mut set) };
    }
    Ok(Some(set))
}

fn setup_failed(program: &Program, report: &Report, source: io::Error) -> Error {
    let (what, help) = match Step::of(report) {
        Some(Step::Priority | Step::KeeperPriority) => match program.policy {
            Policy::Fifo { priority } => (
                format!("SCHED_FIFO at priority {priority} is not permitted"),
                fifo_help(priority),
            ),
            Policy::Other | Policy::Idle => (
                "SCHED_IDLE is not permitted".into(),
                "run it on a Linux that has SCHED_IDLE and lets it through".into(),
            ),
        },
        Some(Step::Affinity) => (
            format!("it cannot be put on processors {:?}", program.affinity),
            "take some of those that this machine has and this process may use (see `nproc` and `taskset -p $$`)".into(),
        ),
        Some(step @ (Step::AddressSpace | Step::CpuTime | Step::OpenFiles | Step::CoreSize)) => (
            format!("its limit {step:?} cannot be set"),
            "ask for no more than this process itself may have (see `ulimit -aH`)".into(),
        ),
        Some(Step::Keeper | Step::Group) | None => (
            "its keeper could not be started".into(),
            match limit_of(&source).strip_prefix(": ") {
                Some(limit) => limit.to_owned(),
                None => "see whether too many processes run (`ulimit -u`)".into(),
            },
        ),
    };
    Error::NotPermitted {
        program: program.name(),
        what,
        help,
        source,
    }
}

fn fifo_help(priority: i32) -> String {
    format!(
        "it needs CAP_SYS_NICE or RLIMIT_RTPRIO of at least {} (one more, for the keeper): run as root, or put `@USER - rtprio 99` into \
         /etc/security/limits.conf and log in again",
        priority.saturating_add(1)
    )
}

/// Checks that FIFO children can be started, by a trial on a thread that ends at once.
pub(crate) fn try_fifo(priority: i32) -> Result<(), String> {
    check_fifo(priority)?;
    try_fifo_on(Builder::new(), priority)
}

fn try_fifo_on(thread: Builder, priority: i32) -> Result<(), String> {
    let above = priority.saturating_add(1);
    let try_it = move || {
        // SAFETY: changes the scheduling of the one new thread, which does nothing else.
        match unsafe { keeper::set_fifo(above) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let tried = thread.spawn(try_it).map_err(|error| {
        format!(
            "no thread could be started to try SCHED_FIFO ({error}): see whether too many processes run (`ulimit -u`)"
        )
    })?;
    match tried.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!(
            "SCHED_FIFO at priority {priority} is not permitted ({error}): {}",
            fifo_help(priority)
        )),
        Err(_) => Err("the thread that tried it ended".into()),
    }
}

/// Returns a duration in ns, as far as 64 bits go.
pub(crate) fn in_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_the_system_refuses_is_told() {
        // No address space holds such a stack.
        let reported = try_fifo_on(Builder::new().stack_size(1 << 60), 1).unwrap_err();
        assert!(
            reported.starts_with("no thread could be started"),
            "{reported}"
        );
    }
}
