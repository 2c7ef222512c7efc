//! Lines for a table that grows while a run goes on.

use super::cells::{figure_value, like_control, side_notes};
use super::text::clean;
use crate::compose::figure::figure;
use crate::document::{Figure, Standing, Unit};
use crate::number;
use antiphon_lab::{LoadRound, Outcome, ResultRecord};
use antiphon_measure::run_time_ns;

/// Widths of the columns that a terminal of this width has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveTable {
    label: usize,
    subject: usize,
    value: usize,
    rest: usize,
}

impl LiveTable {
    /// Divides `width` columns.
    pub fn new(width: usize) -> Self {
        let (subject, value) = (18, 26);
        let others = subject + value + 4;
        // A narrow terminal has no remarks, because a few columns would show nothing of them.
        let label = match width {
            ..110 => width.saturating_sub(others).max(16),
            _ => 48,
        };
        let rest = width.saturating_sub(label + others + 2);
        LiveTable {
            label,
            subject,
            value,
            rest,
        }
    }

    /// Returns the heading.
    pub fn heading(&self) -> String {
        self.join("operation", "subject", "cost", "")
    }

    /// Returns one result in one line, no longer than the width.
    pub fn row(&self, label: &str, result: &ResultRecord) -> String {
        let id = &result.identity;
        let subject = format!("{} {}.{}", id.subject, id.policy, id.placement);
        let (value, rest) = match &result.outcome {
            Outcome::Frame(estimate) => frame(&figure(result, estimate)),
            other => (headline(other), String::new()),
        };
        let (value, rest) = match &result.outcome {
            Outcome::Absent { reason, .. } => ("–".to_string(), reason.clone()),
            _ => (value, rest),
        };
        self.join(label, &subject, &value, &rest)
    }

    fn join(&self, label: &str, subject: &str, value: &str, rest: &str) -> String {
        let (label, subject) = (fit_middle(label, self.label), fit(subject, self.subject));
        let (value, rest) = (fit(value, self.value), fit(rest, self.rest));
        let (l, s, v) = (self.label, self.subject, self.value);
        format!("{label:l$}  {subject:s$}  {value:>v$}  {rest}")
            .trim_end()
            .to_string()
    }
}

fn frame(figure: &Figure) -> (String, String) {
    let value = match &figure.standing {
        Standing::Resolved => figure_value(figure, None).line(),
        Standing::LikeControl => like_control(figure),
        Standing::Withheld { reason } => return ("withheld".into(), reason.clone()),
    };
    let mut rest = side_notes(figure);
    rest.extend(figure.marks.iter().map(|mark| mark.word.clone()));
    (value, rest.join(", "))
}

fn headline(outcome: &Outcome) -> String {
    let ns = |v: f64| number::quantity(Unit::Nanoseconds, v);
    match outcome {
        Outcome::Latency(latency) => {
            let median = latency
                .from_actual
                .percentiles
                .iter()
                .find(|(p, _)| *p == 50.0);
            median.map_or("no samples".into(), |&(_, v)| {
                format!("median {}", ns(v as f64))
            })
        }
        Outcome::DelayCurve(curve) => {
            let sign = if curve.resolution_is_bound {
                "≤ "
            } else {
                ""
            };
            format!("resolution {sign}{}", ns(curve.resolution_ns))
        }
        Outcome::Storage(storage) => format!("typically {}", ns(storage.typical_ns)),
        Outcome::Clock { unit, estimate } if unit == "ticks" => {
            format!("τ {}", number::quantity(Unit::Ticks, estimate.resolution))
        }
        Outcome::Clock { estimate, .. } => format!("τ {}", ns(estimate.resolution)),
        Outcome::Interference(found) => {
            format!("{} lost", number::quantity(Unit::Share, found.beta))
        }
        Outcome::Program { runs, .. } => match run_time_ns(runs) {
            Some(time) => format!("{} a run", ns(time.value)),
            None => "no runs".into(),
        },
        Outcome::Load(load) => match load.median(LoadRound::cpu_ns) {
            Some(cost) => format!("{} of CPU a request", ns(cost.value)),
            None => "no rounds".into(),
        },
        Outcome::Frame(_) | Outcome::Absent { .. } => String::new(),
    }
}

/// Cuts to this many characters, with an ellipsis for the rest.
fn fit(text: &str, width: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// Cuts as [`fit`] does, but in the middle: the ends of labels distinguish the rows of a group.
fn fit_middle(text: &str, width: usize) -> String {
    let letters: Vec<char> = clean(text).chars().collect();
    if letters.len() <= width || width < 3 {
        return fit(text, width);
    }
    let tail = width / 2;
    let (head, end) = (
        &letters[..width - tail - 1],
        &letters[letters.len() - tail..],
    );
    head.iter().chain(&['…']).chain(end).collect()
}

/// Returns the one line of a result, for a log without a table.
pub fn one_line(label: &str, result: &ResultRecord) -> String {
    LiveTable {
        label: 60,
        subject: 40,
        value: 40,
        rest: 200,
    }
    .row(label, result)
    .split_whitespace()
    .collect::<Vec<_>>()
    .join(" ")
}
