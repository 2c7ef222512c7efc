//! What a run shows on the terminal while it goes on: one line a result, and a bar with the time left.

use antiphon_lab::run::{Event, Observer};
use antiphon_report::export::live::{LiveTable, one_line};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Prints to standard error, so that standard output holds the results alone.
pub struct Progress {
    bar: ProgressBar,
    table: Option<LiveTable>,
    headed: bool,
}

impl Progress {
    /// A live table on a terminal; plain lines, without a bar, elsewhere.
    pub fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Progress {
            bar,
            table: terminal.then(|| LiveTable::new(width())),
            headed: false,
        }
    }

    fn line(&self, text: impl AsRef<str>) {
        match self.table {
            Some(_) => self.bar.println(text),
            None => eprintln!("{}", text.as_ref()),
        }
    }
}

/// Columns of the terminal, or 100.
pub fn width() -> usize {
    use std::env::var;
    let given = var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    given.unwrap_or_else(|| {
        console::Term::stderr()
            .size_checked()
            .map_or(100, |(_, columns)| usize::from(columns))
    })
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Building { subject, policy } => self
                .bar
                .set_message(format!("building {subject} for {policy}")),
            Event::Built {
                subject,
                policy,
                cached: false,
            } => self.line(format!("built {subject} for {policy}")),
            Event::SubjectAbsent {
                subject,
                reason,
                mend,
                last_words,
            } => {
                self.line(format!("{subject} is left out: {reason}"));
                for line in last_words.lines() {
                    self.line(format!("    {line}"));
                }
                if !mend.is_empty() {
                    self.line(format!("    to mend it: {mend}"));
                }
            }
            Event::Planned {
                run,
                items,
                done,
                seconds,
            } => {
                let left = HumanDuration(Duration::from_secs_f64(seconds.max(0.0)));
                let before = if done > 0 {
                    format!(", {done} of them measured before")
                } else {
                    String::new()
                };
                self.line(format!("run {run}: {items} figures{before}, about {left}"));
                self.bar.set_length(items as u64);
            }
            Event::Started {
                item,
                position,
                of,
                seconds_left,
            } => {
                let left = HumanDuration(Duration::from_secs_f64(seconds_left.max(0.0)));
                self.bar.set_length(of as u64);
                self.bar.set_position(position as u64);
                self.bar.set_message(format!(
                    "{left} left · {} {}",
                    item.identity.subject, item.identity.test
                ));
            }
            Event::Finished { item, result, .. } => match self.table {
                Some(table) => {
                    if !self.headed {
                        self.bar.println(table.heading());
                        self.headed = true;
                    }
                    self.bar.println(table.row(&item.label, result));
                }
                None => eprintln!("{}", one_line(&item.label, result)),
            },
            Event::OwnOutput { subject, line } => self.line(format!("{subject}: {line}")),
            Event::Warning(text) => self.line(format!("warning: {text}")),
            Event::Ended { run, interrupted } => {
                self.bar.finish_and_clear();
                if interrupted {
                    eprintln!(
                        "run {run} was interrupted; go on with `antiphon measure --resume {run}`"
                    );
                }
            }
            _ => {}
        }
    }
}
