//! Processes on other hosts, by ssh.
//!
//! The other host needs a shell, `setsid` and the program, at the same place as here. ssh is given a command that only reads a script from its standard input: nothing of
//! the session, its secret least of all, stands on a command line. The script starts the program in a process group of its own and goes on reading: signals to pass on, one
//! a line. When it reads the end, because we have ended in whatever way, it kills the group.

use crate::hosts::Host;
use crate::{LaunchError, Over};
use antiphon_panda::platform::LaunchInfo;
use antiphon_runner::{Error, Forwarding, Program, Signaller};
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc;

/// The variable that says what to call in place of ssh, with its first arguments; a host and a command follow.
const SSH: &str = "ANTIPHON_SSH";
/// No questions, no terminal, and an end if the host does not answer or is not heard of any more.
const USUAL: &str = "ssh -T -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=5";

/// Behind the program: pass signals on, kill what is left, and end as the program did.
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

/// What is started there.
pub(crate) struct Call<'a> {
    pub over: Over,
    pub program: &'a OsStr,
    pub args: &'a [OsString],
    pub directory: &'a Path,
    /// Besides what ssh gives and the variables of the launch info. A shell sets them, so those of names that are none of its own are left out.
    pub environment: &'a [(OsString, OsString)],
}

/// A process on another host, and the way to send it signals.
pub(crate) struct Remote {
    pub process: Forwarding,
    pub orders: Orders,
}

/// Passes signals on.
#[derive(Debug)]
pub(crate) struct Orders {
    ssh: Signaller,
    lines: mpsc::Sender<Vec<u8>>,
}

impl Orders {
    pub fn signal(&self, number: i32) {
        if number == libc::SIGKILL {
            // The other side reads the end.
            self.ssh.signal(number);
        } else {
            // It has ended if nobody takes it.
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
    let script = script(call, host, info).map_err(failed)?;
    // A line that the script does not hold.
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
    // It may take long until ssh reads.
    std::thread::Builder::new()
        .name("launch orders".into())
        .spawn(move || write(writer, &taken))
        .map_err(failed)?;
    Ok(Remote {
        process,
        orders: Orders { ssh, lines },
    })
}

/// Ends when nobody can send any more, or nobody reads.
fn write(mut writer: PipeWriter, lines: &mpsc::Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv()
        && writer.write_all(&line).is_ok()
    {}
}

/// What ssh's command line says: read a script as far as a line, and run it. Any user's shell takes it.
fn loader(end: &str) -> String {
    format!(
        r#"exec /bin/sh -c 'n=$(printf "\nx"); n=${{n%x}}; s=; while IFS= read -r l; do if [ "$l" = {end} ]; then eval "$s"; exit; fi; s="$s$l$n"; done; exit 1'"#
    )
}

fn script(call: &Call<'_>, host: &Host, info: &LaunchInfo) -> io::Result<Vec<u8>> {
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

/// Ends the script in words where the host has not the program, or may not run it.
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

/// Whether a shell takes a variable of that name.
fn can_be_set(name: &OsStr) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let bytes = name.as_bytes();
    bytes.first().is_some_and(is_letter)
        && (bytes.iter()).all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && SHELLS_OWN.iter().all(|own| name != *own)
}

/// A word as a shell reads it.
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
