//! Printing. A reader that closes the pipe (`antiphon runs | head -1`) is no error, and nothing
//! here panics.

use antiphon_outside as outside;
use antiphon_report::export::text::TextOptions;
use anyhow::{Context, Result};
use console::Term;
use serde::Serialize;
use serde_json::Value;
use std::env;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Columns where there is no terminal.
const WIDTH_ELSEWHERE: usize = 100;

/// Writes text to standard output, without control sequences for a terminal.
///
/// # Errors
/// Standard output fails, and not because its reader is gone.
pub fn print(text: &str) -> Result<()> {
    print_styled(&outside::text(text))
}

/// Writes text that was cleaned before its colours were added, as [`print()`].
pub fn print_styled(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes JSON and a line end to standard output, as [`print()`].
pub fn print_json(text: &str) -> Result<()> {
    print_styled(&format!("{}\n", outside::json(text.trim_end())))
}

/// Writes a line to standard output, as [`print()`].
pub fn print_line(text: impl Display) -> Result<()> {
    print(&format!("{text}\n"))
}

/// Writes a document of JSON to standard output, as [`print_json()`]: the fields of `body`, after
/// the schema's name and version. The version rises when a field changes its meaning or goes; new
/// fields do not raise it.
pub fn print_document(schema: &str, version: u32, body: impl Serialize) -> Result<()> {
    #[derive(Serialize)]
    struct Envelope<'s, T> {
        schema: &'s str,
        version: u32,
        #[serde(flatten)]
        body: T,
    }
    let all = Envelope {
        schema,
        version,
        body,
    };
    print_json(&serde_json::to_string_pretty(&all).context("cannot write JSON")?)
}

/// Writes a document of JSON as [`print_document`], with each field of the object `body` on a line
/// of its own: a histogram has thousands of numbers.
pub fn print_fields(schema: &str, version: u32, body: &Value) -> Result<()> {
    let fields = body.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| field(name, value));
    let head = [
        field("schema", &schema.into()),
        field("version", &version.into()),
    ];
    let lines: Vec<String> = head.into_iter().chain(fields).collect();
    print_json(&format!("{{\n{}\n}}", lines.join(",\n")))
}

fn field(name: &str, value: &Value) -> String {
    format!("  {}: {value}", Value::from(name))
}

/// Writes a file's content to standard output, as [`print()`]. A pipe or file gets it unchanged, a
/// terminal without control sequences.
pub fn print_file(bytes: &[u8]) -> Result<()> {
    match std::io::stdout().is_terminal() {
        true => print(&String::from_utf8_lossy(bytes)),
        false => print_bytes(bytes),
    }
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    write_out(bytes).context(NOT_WRITTEN)
}

const NOT_WRITTEN: &str = "cannot write to standard output";

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// The first error of [`pass_on`].
static NOT_PASSED: OnceLock<io::Error> = OnceLock::new();

/// Whether [`pass_on`] no longer waits for a stopped reader.
static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Bytes that a pipe takes at once if it has room at all (`PIPE_BUF`).
const PIECE: usize = 4096;
/// Milliseconds between two checks whether to stop waiting for a reader.
const LOOK_MS: i32 = 100;

/// Writes bytes of a running program to standard output. Waits until they are taken, unless
/// [`give_up`] is called. [`passed_on`] returns an error, if there was one.
pub fn pass_on(bytes: &[u8]) {
    let outcome = write_patiently(bytes);
    if let Err(error) = outcome
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = NOT_PASSED.set(error);
    }
}

/// From now on drops bytes that standard output does not take. The programs were ended, and a
/// stopped reader must not keep this command.
pub fn give_up() {
    IS_GIVEN_UP.store(true, Ordering::SeqCst);
}

fn write_patiently(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for piece in bytes.chunks(PIECE) {
        while !await_output(libc::POLLOUT, 0)? {
            if IS_GIVEN_UP.load(Ordering::SeqCst) {
                return Ok(());
            }
            await_output(libc::POLLOUT, LOOK_MS)?;
        }
        stdout.write_all(piece).and_then(|()| stdout.flush())?;
    }
    Ok(())
}

/// Checks that [`pass_on`] has written all bytes, unless the reader is gone.
///
/// # Errors
/// Standard output failed before all bytes were written.
pub fn passed_on() -> Result<()> {
    match NOT_PASSED.get() {
        None => Ok(()),
        Some(error) => {
            let error = io::Error::new(error.kind(), error.to_string());
            Err(error).context(NOT_WRITTEN)
        }
    }
}

/// Waits until standard output is a pipe or a socket whose other end is closed. Returns false if it
/// cannot wait for that.
pub fn await_closed() -> bool {
    // Without events, `poll` returns only on an error or when the other end closes.
    await_output(0, -1).is_ok_and(|is_ready| is_ready)
}

/// Waits until standard output is ready for `events`, or fails, at most `limit_ms` milliseconds
/// (-1: without limit). Without `events`, returns whether the other end is closed.
fn await_output(events: i16, limit_ms: i32) -> io::Result<bool> {
    loop {
        let mut output = libc::pollfd {
            fd: libc::STDOUT_FILENO,
            events,
            revents: 0,
        };
        // SAFETY: one structure, which is ours.
        let count = unsafe { libc::poll(&mut output, 1, limit_ms) };
        if count >= 0 {
            return Ok(match events {
                0 => output.revents & libc::POLLERR != 0,
                _ => count > 0,
            });
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Writes one or more lines to standard error, without control sequences for a terminal. Errors are
/// ignored: there is nowhere left to report them.
pub fn say(text: impl Display) {
    let text = text.to_string();
    let _ = writeln!(std::io::stderr().lock(), "{}", outside::text(&text));
}

/// Returns whether a terminal there accepts escape sequences.
pub fn takes_escapes(is_terminal: bool) -> bool {
    is_terminal && env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// Returns whether text for a terminal there is coloured.
pub fn takes_colours(is_terminal: bool) -> bool {
    takes_escapes(is_terminal) && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns the format of tables on standard output.
pub fn text_options() -> TextOptions {
    let terminal = Term::stdout();
    TextOptions {
        width: u16::try_from(width(&terminal)).unwrap_or(u16::MAX),
        colour: takes_colours(std::io::stdout().is_terminal()),
    }
}

/// Returns the columns of a terminal, or without one `COLUMNS`, or 100.
pub fn width(terminal: &Term) -> usize {
    let given = || env::var("COLUMNS").ok()?.parse().ok();
    let columns = match terminal.size_checked() {
        Some((_, columns)) => usize::from(columns),
        None => given().unwrap_or(WIDTH_ELSEWHERE),
    };
    // A terminal of unknown size reports 0.
    if columns == 0 {
        WIDTH_ELSEWHERE
    } else {
        columns
    }
}
