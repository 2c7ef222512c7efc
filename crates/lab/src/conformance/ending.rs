//! How a subject ends, and what it printed of its own until then.

use super::probe::Probe;
use crate::session::QUIT_LIMIT;

type Seen = Result<String, String>;

pub(super) fn own_output(probe: &mut Probe<'_>) -> Seen {
    match probe.broken_lines.first() {
        Some(line) => Err(format!("the mark stands inside a line: `{line}`")),
        None => Ok(format!(
            "{} lines of its own, each a whole line",
            probe.own_lines
        )),
    }
}

pub(super) fn quit(probe: &mut Probe<'_>) -> Seen {
    let answer = probe.ask("quit")?;
    if !answer.data.is_empty() {
        return Err(format!("`{}` comes before `@@ ok`", answer.data_line(0)));
    }
    ended(probe)
}

pub(super) fn end_of_input(probe: &mut Probe<'_>) -> Seen {
    probe.greeted()?.close_input();
    ended(probe)
}

fn ended(probe: &mut Probe<'_>) -> Seen {
    let usage = probe
        .running()?
        .end(QUIT_LIMIT)
        .map_err(|error| error.to_string())?;
    Ok(format!(
        "it ended with exit code 0, after {:.3} s in all",
        usage.wall.as_secs_f64()
    ))
}
