//! `antiphon launch`: runs a program as the processes of a session.

use crate::exit::Exit;
use crate::output;
use antiphon_launch::{Launch as Session, Line, Over, Signals};
use antiphon_panda::platform::launch_info::parse_silence;
use antiphon_panda::platform::udp::Faults;
use antiphon_runner::Stream;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use signal_hook::consts::{
    SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Signals that are passed on.
const PASSED_ON: [i32; 8] = [
    SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
];
/// Signals that ask the processes to end. SIGHUP is none: many programs read their settings again.
const ASKING: [i32; 3] = [SIGINT, SIGTERM, SIGQUIT];
/// Colours of ranks, as terminals number them. They are readable on light and dark.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// `antiphon launch`
#[derive(Debug, Args)]
#[command(after_help = "\
Each process finds its place in the session in its environment (ANTIPHON_RANK, ANTIPHON_SIZE, …; over mpi it is Open MPI that says its rank). What it writes comes line by line, marked with its rank.
Signals are passed on to all. What has not ended 5 s (--grace) after it was asked to by SIGINT, SIGTERM or SIGQUIT is killed, at once by a second Ctrl-C. The exit code is that of the first process that failed, 128 and the signal's number if a signal ended it.
When nobody reads the standard output any more (`| head -1`), the processes are ended by SIGTERM, and it is 0.
Nothing is left behind, even when this command is killed.

Examples:
  antiphon launch -n 4 --over shm ./counter
  antiphon launch -n 3 --over udp --faults seed=7,lost=50,late=100,late_us=3000 ./counter
  antiphon launch -n 8 --over tcp --hosts hosts ./counter
  antiphon launch -n 2 --over shm --joinable board ./counter

Other hosts are reached by ssh, or by what ANTIPHON_SSH names, and need the program at the same place as here. Processes there read no standard input, and get your variables ANTIPHON_*. Processes may start others on these hosts, and signal each other.
With --joinable a process that you start by hand joins by the name (Session::join_existing, panda_session_join_existing). It finds the session in $XDG_RUNTIME_DIR/antiphon (or /tmp/antiphon-UID/antiphon), which only you can read.")]
pub struct Launch {
    /// How many processes
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,

    /// What they communicate over
    #[arg(long, value_enum, value_name = "PLATFORM")]
    pub over: Platform,

    /// Hosts to start them on, one on each line as `HOST slots=N`; for tcp, udp and mpi
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,

    /// Let the first process lead: it is on this host, takes signals for all, and its exit code is the command's
    #[arg(long, hide = true)]
    pub led: bool,

    /// Lose, double and delay datagrams, of a thousand each; for udp
    #[arg(long, value_name = "FAULTS")]
    pub faults: Option<Faults>,

    /// Seconds for which a process may be silent before others take it for lost (3, or what the program says; longer for more than 16 processes a processor)
    #[arg(long, value_name = "SECONDS", value_parser = parse_silence)]
    pub silence: Option<Duration>,

    /// Seconds between a signal that asks to end (Ctrl-C) and the one that kills
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub grace: u32,

    /// Let processes that you start by hand join the session by this name; for shm, tcp and udp
    #[arg(long, value_name = "NAME")]
    pub joinable: Option<String>,

    /// Pass lines on without marking them
    #[arg(long)]
    pub plain: bool,

    /// Do not say which processes failed
    #[arg(long, short)]
    pub quiet: bool,

    /// The program, and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

/// The platform between processes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Platform {
    /// Shared memory of this host
    Shm,
    /// Connections
    Tcp,
    /// Datagrams
    Udp,
    /// Open MPI
    Mpi,
    /// Refused with what to do instead
    #[value(hide = true)]
    Local,
}

/// Starts the processes and follows them to their end.
pub fn run(options: &Launch) -> Result<Exit> {
    let over = match options.over {
        Platform::Shm => Over::Shm,
        Platform::Tcp => Over::Tcp,
        Platform::Udp => Over::Udp,
        Platform::Mpi => Over::Mpi,
        Platform::Local => bail!(
            "`local` is threads of one process, which that process begins itself (`Local::sessions` in Rust): run it without `antiphon launch`. Processes of this host reach each other over shm"
        ),
    };
    raise_descriptors();
    // At least one is required.
    let (program, arguments) = options.command.split_at(1);
    let running = Session::new(over, options.count, &program[0])
        .args(arguments)
        .hosts(options.hosts.as_ref())
        .begins_here(options.led)
        .faults(options.faults)
        .silence(options.silence)
        .joinable(options.joinable.clone())
        .marked(!options.plain)
        .quiet(options.quiet)
        .start()?;
    let grace = Duration::from_secs(options.grace.into());
    let ways = Ways {
        signals: running.signals(),
        is_led: options.led,
    };
    pass_signals(ways.clone(), grace)?;
    let is_closed = end_with_reader(ways, grace)?;
    let styles = Styles::of_this_process(options.plain);
    let outcome = running.to_end(|line| styles.write(&line))?;
    if is_closed.load(Ordering::Relaxed) {
        return Ok(Exit::Done);
    }
    if let Some(summary) = outcome.summary().filter(|_| !options.quiet) {
        output::say(format_args!("antiphon: {summary}"));
    }
    let written = output::passed_on();
    let code = match options.led {
        true => outcome.exit_code_of(0),
        false => None,
    };
    match u8::try_from(code.unwrap_or_else(|| outcome.exit_code())).unwrap_or(1) {
        0 => written.map(|()| Exit::Done),
        code => Ok(Exit::Program(code)),
    }
}

/// The ways to the processes for signals.
#[derive(Clone)]
struct Ways {
    signals: Signals,
    /// Whether the first process ends the others.
    is_led: bool,
}

impl Ways {
    /// Passes a signal on: to all, or, unless it stops or continues, to the process that leads.
    fn pass_on(&self, number: i32) {
        let is_for_all = !self.is_led || [SIGTSTP, SIGCONT].contains(&number);
        let is_taken = !is_for_all && self.signals.signal_one(0, number);
        if !is_taken {
            self.signals.signal(number);
        }
    }

    /// Kills what is left.
    fn kill(&self) {
        self.signals.signal(SIGKILL);
    }
}

/// Passes signals on from a thread of its own. Processes that live some time after a request to end
/// are killed, or at once on a second request.
fn pass_signals(ways: Ways, grace: Duration) -> Result<()> {
    let mut received =
        signal_hook::iterator::Signals::new(PASSED_ON).context("cannot pass signals on")?;
    std::thread::spawn(move || {
        let mut was_asked = false;
        for number in received.forever() {
            let asks = ASKING.contains(&number);
            if asks && was_asked {
                ways.kill();
                output::give_up();
                continue;
            }
            ways.pass_on(number);
            if number == SIGTSTP {
                // Stops this process as well, as the signal would have without us. SIGCONT
                // continues all.
                let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
            }
            if asks {
                was_asked = true;
                let ways = ways.clone();
                std::thread::spawn(move || {
                    std::thread::sleep(grace);
                    ways.kill();
                    output::give_up();
                });
            }
        }
    });
    Ok(())
}

/// Raises the limit of descriptors as far as it goes, because each process of a session takes
/// several. Started processes inherit it.
fn raise_descriptors() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is ours. A failure leaves the limit unchanged.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// Ends the processes once the reader of standard output is gone. Returns whether that has
/// happened.
fn end_with_reader(ways: Ways, grace: Duration) -> Result<Arc<AtomicBool>> {
    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = is_closed.clone();
    std::thread::Builder::new()
        .name("launch reader".into())
        .spawn(move || {
            if output::await_closed() {
                closed.store(true, Ordering::Relaxed);
                ways.pass_on(SIGTERM);
                std::thread::sleep(grace);
                ways.kill();
            }
        })
        .context("cannot watch the standard output")?;
    Ok(is_closed)
}

/// The style in which lines are passed on.
#[derive(Clone, Copy)]
enum Style {
    Plain,
    Marked,
    Coloured,
}

/// The styles of both streams: one may go to a terminal and the other to a file.
struct Styles {
    output: Style,
    error: Style,
}

impl Styles {
    fn of_this_process(is_plain: bool) -> Self {
        let style = |is_terminal| match (is_plain, output::takes_colours(is_terminal)) {
            (true, _) => Style::Plain,
            (false, false) => Style::Marked,
            (false, true) => Style::Coloured,
        };
        Self {
            output: style(std::io::stdout().is_terminal()),
            error: style(std::io::stderr().is_terminal()),
        }
    }

    /// The reader may have closed the output, which is no error.
    fn write(&self, line: &Line) {
        let _ = match line.stream {
            Stream::Output => {
                output::pass_on(&self.output.text(line));
                Ok(())
            }
            Stream::Error => std::io::stderr().lock().write_all(&self.error.text(line)),
        };
    }
}

impl Style {
    fn text(self, line: &Line) -> Vec<u8> {
        let mark = match (self, line.rank) {
            (Self::Plain, _) | (_, None) => String::new(),
            (Self::Marked, Some(rank)) => format!("[{rank}] "),
            (Self::Coloured, Some(rank)) => {
                let colour = COLOURS[rank as usize % COLOURS.len()];
                format!("\x1b[{colour}m[{rank}]\x1b[0m ")
            }
        };
        [mark.as_bytes(), &line.text, b"\n"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_marked_with_their_rank() {
        let line = |rank| Line {
            rank,
            stream: Stream::Output,
            text: b"a \xff".to_vec(),
        };
        assert_eq!(Style::Plain.text(&line(Some(7))), b"a \xff\n");
        assert_eq!(Style::Marked.text(&line(Some(7))), b"[7] a \xff\n");
        assert_eq!(Style::Marked.text(&line(None)), b"a \xff\n");
        assert_eq!(
            Style::Coloured.text(&line(Some(7))),
            b"\x1b[33m[7]\x1b[0m a \xff\n"
        );
    }
}
