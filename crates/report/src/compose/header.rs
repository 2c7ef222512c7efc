//! The head of a run's document: title, conditions, and how many rows have a figure.

use super::view::{View, fatal};
use crate::document::{Document, Fact, Note, Unit, Weight};
use crate::number;
use antiphon_lab::{Outcome, RunRecord};

/// The document without its sections.
pub fn document(view: &View) -> Document {
    let (run, layout) = (view.run, view.layout);
    let title = if layout.title.is_empty() {
        &run.suite
    } else {
        &layout.title
    };
    Document {
        title: title.clone(),
        subtitle: layout.text.clone(),
        summary: summary(view),
        facts: facts(run),
        subjects: view.subjects.clone(),
        sections: Vec::new(),
    }
}

/// How many results have a figure, how many have none, and what weakens the run as a whole.
pub fn summary(view: &View) -> Vec<Note> {
    let tally = Tally::of(view.run);
    let mut notes = vec![Note::new(Weight::Info, "", tally.sentence())];
    if tally.absent > 0 {
        let reasons = tally
            .reasons
            .iter()
            .map(|(reason, times)| format!("{reason} ({times})"));
        let text = reasons.collect::<Vec<_>>().join("; ");
        notes.push(Note::new(Weight::Warning, "Without a figure", text));
    }
    if tally.withheld > 0 {
        let text = format!(
            "{} because of an error in them; see the findings",
            tally.withheld
        );
        notes.push(Note::new(Weight::Error, "Figures withheld", text));
    }
    if view.run.ended.is_none() {
        let text = "the run has not ended, or was cut off; what was measured up to then is shown. `antiphon measure --resume` goes on with it";
        notes.push(Note::new(Weight::Warning, "Unfinished", text));
    }
    notes
}

/// Counts of a run's results.
pub struct Tally {
    /// With a usable figure.
    pub measured: usize,
    /// Of these, costs not distinguishable from their control.
    pub like_control: usize,
    /// With a figure that an error makes worthless.
    pub withheld: usize,
    /// Without a figure.
    pub absent: usize,
    /// Why they are absent, the commonest first.
    pub reasons: Vec<(String, usize)>,
}

impl Tally {
    /// Counts the results of a run.
    pub fn of(run: &RunRecord) -> Tally {
        let mut tally = Tally {
            measured: 0,
            like_control: 0,
            withheld: 0,
            absent: 0,
            reasons: Vec::new(),
        };
        for result in &run.results {
            match &result.outcome {
                Outcome::Absent { reason, .. } => tally.count_absent(reason),
                Outcome::Frame(estimate) if fatal(estimate).is_some() => tally.withheld += 1,
                Outcome::Frame(e) => {
                    tally.measured += 1;
                    tally.like_control +=
                        usize::from(e.cost_ns.low <= 0.0 && e.cost_ns.high >= 0.0);
                }
                _ => tally.measured += 1,
            }
        }
        tally
            .reasons
            .sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        tally
    }

    fn count_absent(&mut self, reason: &str) {
        self.absent += 1;
        match self.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, times)) => *times += 1,
            None => self.reasons.push((reason.into(), 1)),
        }
    }

    /// The counts in a sentence.
    pub fn sentence(&self) -> String {
        let like = match self.like_control {
            0 => String::new(),
            n => format!(" ({n} of them not distinguishable from their control)"),
        };
        let figures = number::counted(self.measured, "figure");
        let without = self.absent + self.withheld;
        match without {
            0 => format!("{figures} measured{like}."),
            n => format!(
                "{figures} measured{like}, {} without a figure.",
                number::counted(n, "row")
            ),
        }
    }
}

fn facts(run: &RunRecord) -> Vec<Fact> {
    let machine = &run.machine;
    let ended = run.ended.as_deref().unwrap_or("not ended");
    let sizes = if run.quick {
        "quick sizes"
    } else {
        "full sizes"
    };
    let mut facts = vec![
        Fact::new("Run", format!("{} of suite {}, {sizes}", run.id, run.suite)),
        Fact::new("When", format!("{} – {ended}", run.started)),
        Fact::new("Machine", machine_line(run)),
        Fact::new(
            "System",
            format!("{}, kernel {}", machine.system, machine.kernel),
        ),
        Fact::new("Governor", machine.governor.clone()),
        Fact::new("Clock source", machine.clock_source.clone()),
        Fact::new("Load at the start", number::fixed(machine.load, 2)),
        Fact::new("Hardware counters", machine.counters.clone()),
        Fact::new("FIFO scheduling", machine.fifo.clone()),
        Fact::new("Policy and placement", conditions(run)),
    ];
    for subject in &run.subjects {
        let flags = if subject.flags.is_empty() {
            "no flags"
        } else {
            &subject.flags
        };
        facts.push(Fact::new(
            subject.id.clone(),
            format!("{}: {} ({flags})", subject.language, subject.compiler),
        ));
    }
    facts.retain(|fact| !fact.text.is_empty());
    facts
}

fn machine_line(run: &RunRecord) -> String {
    let machine = &run.machine;
    let mut line = format!(
        "{}: {}, {} processors, {}",
        machine.host,
        machine.processor,
        machine.processors,
        number::quantity(Unit::Bytes, machine.memory_bytes as f64)
    );
    if let Some(hypervisor) = &machine.virtualization {
        line.push_str(&format!(", under {hypervisor}"));
    }
    line
}

fn conditions(run: &RunRecord) -> String {
    let mut seen: Vec<String> = Vec::new();
    for result in &run.results {
        let pair = format!(
            "{} on {}",
            result.identity.policy, result.identity.placement
        );
        if !seen.contains(&pair) {
            seen.push(pair);
        }
    }
    seen.join("; ")
}
