//! The progress of a run: one line a result, and on a terminal a bar with the time left.

use crate::output::{say, takes_escapes, width};
use antiphon_lab::run::{Event, Observer};
use antiphon_outside as outside;
use antiphon_report::export::live::{LiveTable, one_line};
use console::Term;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Prints to standard error, so that standard output holds only the results.
pub struct Progress {
    bar: ProgressBar,
    table: Option<LiveTable>,
    headed: bool,
    /// Whether further results only add instruction counts. Their costs were shown before.
    counting: bool,
}

impl Progress {
    /// Makes a live table on a terminal that can draw one, and plain lines without a bar elsewhere.
    pub fn new() -> Self {
        let terminal = takes_escapes(std::io::stderr().is_terminal());
        let target = match terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {wide_msg}"));
        Progress {
            bar,
            table: terminal.then(|| LiveTable::new(width(&Term::stderr()))),
            headed: false,
            counting: false,
        }
    }

    /// Prints a line above the bar. It may contain a subject's words, which must not control the
    /// terminal.
    fn line(&self, text: impl AsRef<str>) {
        let text = outside::line(text.as_ref());
        match self.table {
            Some(_) => self.bar.println(text.as_ref()),
            None => say(text),
        }
    }

    /// Shows the current step beside the bar.
    fn message(&self, text: impl AsRef<str>) {
        let text = outside::line(text.as_ref()).into_owned();
        self.bar.set_message(text);
    }

    /// Sets the position, once the amount of work is known.
    fn measured_by(&self, position: usize, of: usize) {
        if self.bar.length() != Some(of as u64) {
            self.bar.set_style(style("{bar:20} {pos}/{len} {wide_msg}"));
            self.bar.set_length(of as u64);
        }
        self.bar.set_position(position as u64);
    }
}

/// Removes the bar, also after an error.
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn time(seconds: f64) -> HumanDuration {
    HumanDuration(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Building { subject, policy } => {
                self.message(format!("building {subject} for {policy}"));
                // A compiler runs and nothing is timed, so a moving sign disturbs no measurement.
                self.bar.enable_steady_tick(Duration::from_millis(200));
            }
            Event::Built {
                subject,
                policy,
                cached,
            } => {
                self.bar.disable_steady_tick();
                if !cached {
                    self.line(format!("built {subject} for {policy}"));
                }
            }
            Event::SubjectAbsent {
                subject,
                reason,
                help,
                last_words,
            } => {
                self.bar.disable_steady_tick();
                self.line(format!("{subject} is left out: {reason}"));
                for line in last_words.lines() {
                    self.line(format!("    │ {line}"));
                }
                if !help.is_empty() {
                    self.line(format!("    to mend it: {help}"));
                }
            }
            Event::Planned {
                run,
                items,
                starts,
                measurements,
                measured,
                seconds,
            } => {
                let each = match starts {
                    1 => String::new(),
                    _ => format!(
                        " ({measurements} measurements: frames in {starts} starts of each process)"
                    ),
                };
                let before = match measured {
                    0 => String::new(),
                    _ => format!(", {measured} of {measurements} measured before"),
                };
                let left = time(seconds);
                self.counting = false;
                self.line(format!(
                    "run {run}: {items} figures{each}{before}, about {left}"
                ));
            }
            Event::Started {
                item,
                position,
                of,
                seconds_left,
            } => {
                self.measured_by(position, of);
                let left = time(seconds_left);
                let identity = &item.identity;
                self.message(format!(
                    "{left} left · {} {}",
                    identity.subject, identity.test
                ));
            }
            Event::Counting { done, of } => {
                self.counting = true;
                self.measured_by(done, of);
                self.bar.set_message("counting instructions");
                // No more timing happens.
                self.bar.enable_steady_tick(Duration::from_millis(200));
            }
            Event::Comparing {
                test,
                position,
                of,
                seconds_left,
            } => {
                self.bar.disable_steady_tick();
                self.measured_by(position, of);
                let left = time(seconds_left);
                self.message(format!("{left} left · {test}"));
            }
            Event::Finished { .. } if self.counting => {}
            Event::Finished { item, result, .. } => match self.table {
                Some(table) => {
                    if !self.headed {
                        self.bar.println(table.heading());
                        self.headed = true;
                    }
                    self.bar.println(table.row(&item.label, result));
                }
                None => say(one_line(&item.label, result)),
            },
            Event::OwnOutput { subject, line } => self.line(format!("{subject}: {line}")),
            Event::Warning(text) => self.line(format!("warning: {text}")),
            Event::Ended { run, interrupted } => {
                self.bar.finish_and_clear();
                if interrupted {
                    say(format_args!(
                        "run {run} was interrupted; go on with `antiphon measure --resume {run}`"
                    ));
                }
            }
            _ => {}
        }
    }
}
