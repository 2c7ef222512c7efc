//! Rules about a subject's end and its own output until then.

use super::probe::Probe;
use crate::session::QUIT_LIMIT;

type Seen = Result<String, String>;

pub(super) fn own_output(probe: &mut Probe<'_>) -> Seen {
    match probe.broken_lines.first() {
        Some(line) => Err(format!("the mark stands inside a line: `{line}`")),
        None => Ok(match probe.own_lines {
            0 => "it printed nothing of its own".into(),
            lines => format!("its own output, lines so far: {lines}, none with the mark inside"),
        }),
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
        "it ended with exit code 0; it had run for {:.3} s",
        usage.wall.as_secs_f64()
    ))
}
