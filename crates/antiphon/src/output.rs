//! Printing. A reader that has seen enough (`antiphon runs | head -1`) is no fault, and nothing here panics.

use antiphon_report::export::text::TextOptions;
use anyhow::{Context, Result};
use console::Term;
use std::env;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// Columns where there is no terminal to ask.
const WIDTH_ELSEWHERE: usize = 100;

/// Writes to standard output.
///
/// # Errors
/// Standard output cannot take it, for another reason than that its reader went away.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes a line to standard output, as [`print()`].
pub fn print_line(text: impl Display) -> Result<()> {
    print(&format!("{text}\n"))
}

/// Writes a file's content to standard output, as [`print()`].
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. What cannot be said there cannot be said at all.
pub fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// How tables are written to standard output.
pub fn text_options() -> TextOptions {
    let terminal = Term::stdout();
    TextOptions {
        width: u16::try_from(width(&terminal)).unwrap_or(u16::MAX),
        colour: std::io::stdout().is_terminal()
            && env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}

/// Columns of a terminal; without one, `COLUMNS`, or 100.
pub fn width(terminal: &Term) -> usize {
    let given = || env::var("COLUMNS").ok()?.parse().ok();
    let columns = match terminal.size_checked() {
        Some((_, columns)) => usize::from(columns),
        None => given().unwrap_or(WIDTH_ELSEWHERE),
    };
    // A terminal that does not know its size says 0.
    if columns == 0 {
        WIDTH_ELSEWHERE
    } else {
        columns
    }
}
