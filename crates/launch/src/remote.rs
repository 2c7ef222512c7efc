//! Processes on other hosts, by ssh.
//!
//! The other host needs a shell, `setsid` and the program, at the same place as here. The command
//! for ssh only reads a script from its standard input. So nothing of the session, least of all its
//! secret, stands on a command line.
//!
//! The script starts the program in a process group of its own and goes on reading: signals to pass
//! on, one a line. At the end of its input, because the launcher has ended in whatever way, it
//! kills the group. It reports the start of the program. So a command in place of ssh that neither
//! starts it nor ends is found out.

use crate::hosts::Host;
use crate::{LaunchError, Over};
use antiphon_panda::platform::LaunchInfo;
use antiphon_runner::{Error, Forwarding, Program, Signaller};
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Variable that names a command in place of ssh, with its first arguments; a host and a command
/// follow.
const SSH: &str = "ANTIPHON_SSH";
/// The usual command. It asks no questions, needs no terminal, and ends if the host does not answer
/// or falls silent.
const USUAL: &str = "ssh -T -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=5";

/// Part of the script behind the program: it passes signals on, kills what is left, and ends as the
/// program did.
const FOLLOW: &str = r#"child=$!
(
  exec > /dev/null 2>&1
  while IFS= read -r number <&3; do kill -s "$number" -- "-$child"; done
  kill -s KILL "$child"
  kill -s KILL -- "-$child"
) &
keeper=$!
exec 3<&-
wait "$child"
code=$?
kill -s KILL "$keeper" 2> /dev/null
kill -s KILL -- "-$child" 2> /dev/null
exit "$code"
"#;

/// Variables that some shells refuse to set.
const SHELLS_OWN: [&str; 6] = ["UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "_"];

/// The program to start there.
pub(crate) struct Call<'a> {
    pub over: Over,
    pub program: &'a OsStr,
    pub args: &'a [OsString],
    pub directory: &'a Path,
    /// Variables besides those of ssh and of the launch info. A shell sets them, so variables whose
    /// names it does not accept are left out.
    pub environment: &'a [(OsString, OsString)],
    /// Time that it may take to begin.
    pub start_limit: Duration,
}

/// A process on another host, and the means to signal it.
pub(crate) struct Remote {
    pub process: Forwarding,
    pub orders: Orders,
    pub beginning: Beginning,
}

/// State of the start of a process on another host.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    /// First line of the script, on the standard error.
    mark: Vec<u8>,
    state: Arc<AtomicU8>,
    /// Sender that reports its end or begin.
    over: mpsc::Sender<()>,
    host: String,
    limit: Duration,
}

const AWAITED: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

impl Beginning {
    /// Kills `ssh` if the program has not begun within a limit.
    fn await_within(
        limit: Duration,
        mark: Vec<u8>,
        host: String,
        ssh: Signaller,
    ) -> io::Result<Self> {
        let state = Arc::new(AtomicU8::new(AWAITED));
        let (over, is_over) = mpsc::channel();
        let awaited = state.clone();
        std::thread::Builder::new()
            .name("launch limit".into())
            .spawn(move || {
                let is_late = is_over.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
                let give_up = || {
                    let (relaxed, from) = (Ordering::Relaxed, AWAITED);
                    awaited.compare_exchange(from, GIVEN_UP, relaxed, relaxed)
                };
                if is_late && give_up().is_ok() {
                    ssh.signal(libc::SIGKILL);
                }
            })?;
        Ok(Self {
            mark,
            state,
            over,
            host,
            limit,
        })
    }

    /// Returns whether a line of the standard error reports the start; it is no line of the
    /// program's.
    pub fn is_said_by(&self, line: &[u8]) -> bool {
        let (relaxed, from) = (Ordering::Relaxed, AWAITED);
        let is_it = line == self.mark
            && (self.state)
                .compare_exchange(from, BEGUN, relaxed, relaxed)
                .is_ok();
        if is_it {
            let _ = self.over.send(());
        }
        is_it
    }

    /// Returns the message to print once the process has ended.
    pub fn complaint(&self) -> Option<String> {
        let _ = self.over.send(());
        let Self { host, limit, .. } = self;
        (self.state.load(Ordering::Relaxed) == GIVEN_UP).then(|| {
            format!(
                "antiphon: nothing was started on {host} within {limit:?}: see whether `ssh -o BatchMode=yes {host} true` ends, or what {SSH} names"
            )
        })
    }
}

/// The sender of signals.
#[derive(Debug)]
pub(crate) struct Orders {
    ssh: Signaller,
    lines: mpsc::Sender<Vec<u8>>,
}

impl Orders {
    pub fn signal(&self, number: i32) {
        if number == libc::SIGKILL {
            // The other side reads the end of its input.
            self.ssh.signal(number);
        } else {
            // If the line cannot be sent, the process has ended.
            let _ = self.lines.send(format!("{number}\n").into_bytes());
        }
    }
}

pub(crate) fn start(
    call: &Call<'_>,
    host: &Host,
    info: &LaunchInfo,
) -> Result<Remote, LaunchError> {
    let failed = |source| LaunchError::Session {
        over: call.over.name(),
        source,
    };
    let ssh = std::env::var(SSH).unwrap_or_else(|_| USUAL.into());
    let mut words = ssh.split_whitespace();
    let name = words.next().ok_or(LaunchError::NoSsh {
        command: ssh.clone(),
    })?;
    let mark = format!("antiphon: rank {} begins", info.rank);
    let script = script(call, host, info, &mark).map_err(failed)?;
    // The end mark is a line that the script does not contain.
    let mut end = format!("END-{}", info.rank);
    while script.windows(end.len()).any(|part| part == end.as_bytes()) {
        end.push('-');
    }
    let (reader, writer) = io::pipe().map_err(failed)?;
    let process = Program::new(name)
        .args(words)
        .args([&host.name, &loader(&end)])
        .forward_from(reader)
        .map_err(|error| match error {
            Error::Missing { .. } => LaunchError::NoSsh {
                command: ssh.clone(),
            },
            other => other.into(),
        })?;
    let (lines, taken) = mpsc::channel();
    let _ = lines.send([&script, end.as_bytes(), b"\n"].concat());
    let ssh = process.signaller()?;
    let beginning = Beginning::await_within(
        call.start_limit,
        mark.into_bytes(),
        host.name.clone(),
        process.signaller()?,
    );
    // It may take long until ssh reads.
    std::thread::Builder::new()
        .name("launch orders".into())
        .spawn(move || write(writer, &taken))
        .map_err(failed)?;
    Ok(Remote {
        process,
        orders: Orders { ssh, lines },
        beginning: beginning.map_err(failed)?,
    })
}

/// Writes lines until no sender is left, or the reader is gone.
fn write(mut writer: PipeWriter, lines: &mpsc::Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv()
        && writer.write_all(&line).is_ok()
    {}
}

/// Returns ssh's command line: it reads a script up to a line, and runs it. Any user's shell takes
/// it.
fn loader(end: &str) -> String {
    format!(
        r#"exec /bin/sh -c 'n=$(printf "\nx"); n=${{n%x}}; s=; while IFS= read -r l; do if [ "$l" = {end} ]; then eval "$s"; exit; fi; s="$s$l$n"; done; exit 1'"#
    )
}

fn script(call: &Call<'_>, host: &Host, info: &LaunchInfo, mark: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    for (name, value) in call.environment.iter().filter(|(name, _)| can_be_set(name)) {
        script.extend([b"export ", name.as_bytes(), b"=", &quoted(value), b"\n"].concat());
    }
    for (name, value) in info.to_environment() {
        writeln!(script, "export {name}={}", text(&value))?;
    }
    let complaint = format!(
        "antiphon: {} has no directory {}: programs and directories must be at the same place on all hosts",
        host.name,
        call.directory.display()
    );
    script.extend(b"cd ");
    script.extend(quoted(call.directory.as_os_str()));
    writeln!(script, " || {{ echo {} >&2; exit 127; }}", text(&complaint))?;
    script.extend(check(call.program, &host.name));
    writeln!(script, "echo {} >&2", text(mark))?;
    writeln!(script, "exec 3<&0 < /dev/null")?;
    script.extend(b"setsid");
    for word in std::iter::once(call.program).chain(call.args.iter().map(OsString::as_os_str)) {
        script.push(b' ');
        script.extend(quoted(word));
    }
    writeln!(script, " 3<&- &")?;
    script.extend(FOLLOW.as_bytes());
    Ok(script)
}

/// Returns script lines that end the script with a message if the host lacks the program, or may
/// not run it.
fn check(program: &OsStr, host: &str) -> Vec<u8> {
    let shown = program.to_string_lossy();
    let has_none = format!(
        "antiphon: {host} has no program {shown}: programs and directories must be at the same place on all hosts"
    );
    let may_not = format!("antiphon: {host} may not run {shown}: make it executable (chmod +x)");
    let word = quoted(program);
    let ends = |complaint: &str, code: u8| {
        let complaint = text(complaint);
        format!(" || {{ echo {complaint} >&2; exit {code}; }}\n").into_bytes()
    };
    match program.as_bytes().contains(&b'/') {
        true => [
            [b"[ -e ", &word[..], b" ]"].concat(),
            ends(&has_none, 127),
            [b"[ -f ", &word[..], b" ] && [ -x ", &word[..], b" ]"].concat(),
            ends(&may_not, 126),
        ]
        .concat(),
        false => {
            let looks = [b"command -v ", &word[..], b" > /dev/null"].concat();
            [looks, ends(&has_none, 127)].concat()
        }
    }
}

fn text(word: &str) -> String {
    String::from_utf8_lossy(&quoted(OsStr::new(word))).into_owned()
}

/// Returns whether a shell takes a variable of that name.
fn can_be_set(name: &OsStr) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let bytes = name.as_bytes();
    bytes.first().is_some_and(is_letter)
        && (bytes.iter()).all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && SHELLS_OWN.iter().all(|own| name != *own)
}

/// Quotes a word for a shell.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in word.as_bytes() {
        if byte == b'\'' {
            quoted.extend(br"'\''");
        } else {
            quoted.push(byte);
        }
    }
    quoted.push(b'\'');
    quoted
}
