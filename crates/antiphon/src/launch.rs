//! `antiphon launch`: a program as the processes of a session.

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
use std::env;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

/// What is passed on.
const PASSED_ON: [i32; 8] = [
    SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
];
/// What asks the processes to end. SIGHUP does not: to many programs it says to read their settings again.
const ASKING: [i32; 3] = [SIGINT, SIGTERM, SIGQUIT];
/// Colours of ranks, as terminals number them: those that can be read on light and dark.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// `antiphon launch`
#[derive(Debug, Args)]
#[command(after_help = "\
Each process finds its place in the session in its environment (ANTIPHON_RANK, ANTIPHON_SIZE, …; over mpi it is Open MPI that says its rank). What it writes comes line by line, marked with its rank.
Signals are passed on to all. What has not ended 5 s (--grace) after it was asked to by SIGINT, SIGTERM or SIGQUIT is killed, at once by a second Ctrl-C. The exit code is that of the first process that failed, 128 and the signal's number if a signal ended it.
Nothing is left behind, even when this command is killed.

Examples:
  antiphon launch -n 4 --over shm ./counter
  antiphon launch -n 3 --over udp --faults seed=7,lost=50,late=100,late_us=3000 ./counter
  antiphon launch -n 8 --over tcp --hosts hosts ./counter
  antiphon launch -n 2 --over shm --joinable board ./counter

Other hosts are reached by ssh, or by what ANTIPHON_SSH names, and need the program at the same place as here. Processes there read no standard input. Processes may start others on these hosts, and signal each other.
With --joinable a process that you start by hand joins by the name (Session::join_existing, panda_session_join_existing). It finds the session in $XDG_RUNTIME_DIR/antiphon, which only you can read.")]
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

    /// Lose, double and delay datagrams, of a thousand each; for udp
    #[arg(long, value_name = "FAULTS")]
    pub faults: Option<Faults>,

    /// Seconds for which a process may be silent before others take it for lost (3, or what the program says)
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

    /// The program
    #[arg(value_name = "PROGRAM")]
    pub program: OsString,

    /// Its arguments
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub args: Vec<OsString>,
}

/// What processes communicate over.
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
    let running = Session::new(over, options.count, &options.program)
        .args(&options.args)
        .hosts(options.hosts.as_ref())
        .faults(options.faults)
        .silence(options.silence)
        .joinable(options.joinable.clone())
        .start()?;
    pass_signals(running.signals(), Duration::from_secs(options.grace.into()))?;
    let styles = Styles::of_this_process(options.plain);
    let outcome = running.to_end(|line| styles.write(&line))?;
    if let Some(summary) = outcome.summary() {
        output::say(format_args!("antiphon: {summary}"));
    }
    Ok(Exit::Program(
        u8::try_from(outcome.exit_code()).unwrap_or(1),
    ))
}

/// Passes signals on from a thread of its own. What still lives some time after it was asked to end is killed, or at once when asked again.
fn pass_signals(signals: Signals, grace: Duration) -> Result<()> {
    let mut received =
        signal_hook::iterator::Signals::new(PASSED_ON).context("cannot pass signals on")?;
    std::thread::spawn(move || {
        let mut was_asked = false;
        for number in received.forever() {
            let asks = ASKING.contains(&number);
            if asks && was_asked {
                signals.signal(SIGKILL);
                continue;
            }
            signals.signal(number);
            if number == SIGTSTP {
                // Stops this process as well, as it would have without us; SIGCONT sets all going again.
                let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
            }
            if asks {
                was_asked = true;
                let signals = signals.clone();
                std::thread::spawn(move || {
                    std::thread::sleep(grace);
                    signals.signal(SIGKILL);
                });
            }
        }
    });
    Ok(())
}

/// How lines are passed on.
#[derive(Clone, Copy)]
enum Style {
    Plain,
    Marked,
    Coloured,
}

/// The same for each stream: one may go to a terminal and the other to a file.
struct Styles {
    output: Style,
    error: Style,
}

impl Styles {
    fn of_this_process(is_plain: bool) -> Self {
        let has_colours = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let style = |is_terminal| match (is_plain, is_terminal && has_colours) {
            (true, _) => Style::Plain,
            (false, false) => Style::Marked,
            (false, true) => Style::Coloured,
        };
        Self {
            output: style(std::io::stdout().is_terminal()),
            error: style(std::io::stderr().is_terminal()),
        }
    }

    /// Whoever reads them may have seen enough: that is no fault.
    fn write(&self, line: &Line) {
        let _ = match line.stream {
            Stream::Output => {
                let mut stdout = std::io::stdout().lock();
                let text = self.output.text(line);
                stdout.write_all(&text).and_then(|()| stdout.flush())
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
