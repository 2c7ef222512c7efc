//! The head of a run's document: title, conditions, and how many rows have a figure.

use super::figure::{range, standing};
use super::view::View;
use crate::document::{Document, Fact, Note, Standing, Unit, Weight};
use crate::number;
use antiphon_lab::{Identity, Outcome, RunRecord};

/// Returns the document without its sections.
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
        ..Document::default()
    }
}

/// Returns the numbers of results with and without a figure, and the weaknesses of the whole run.
pub fn summary(view: &View) -> Vec<Note> {
    let tally = Tally::of(view);
    let mut notes = vec![Note::new(Weight::Info, "", tally.sentence())];
    if tally.absent > 0 {
        let text = commonest(&tally.reasons);
        notes.push(Note::new(Weight::Warning, "Without a figure", text));
    }
    if tally.lacking > 0 {
        let rows = number::counted(tally.lacking, "row");
        let (verb, have) = if tally.lacking == 1 {
            ("does", "has")
        } else {
            ("do", "have")
        };
        let text =
            format!("{rows} {verb} not exist for a subject and {have} a “–”; the findings say why");
        notes.push(Note::new(Weight::Info, "", text));
    }
    if tally.withheld > 0 {
        let text = format!(
            "{} because of an error in them; see the findings",
            tally.withheld
        );
        notes.push(Note::new(Weight::Error, "Figures withheld", text));
    }
    notes.extend(super::processor_time::summary(view));
    notes.extend(super::start_variance::summary(view));
    let warnings = view.run.warnings.iter();
    notes.extend(warnings.map(|text| Note::new(Weight::Warning, "Conditions", text)));
    if view.run.ended.is_none() {
        let text = "the run has not ended, or was cut off; what was measured up to then is shown. `antiphon measure --resume` goes on with it";
        notes.push(Note::new(Weight::Warning, "Unfinished", text));
    }
    notes
}

/// Tests that have no figure for one reason.
pub struct Reason {
    /// The reason.
    reason: String,
    /// Labels of the tests, each with the subjects that it is missing in, in order of appearance.
    tests: Vec<(String, Vec<String>)>,
    /// Number of rows.
    rows: usize,
}

/// Returns the rows of the three commonest reasons, and the number of others.
fn commonest(reasons: &[Reason]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = reasons.iter().take(SHOWN).map(Reason::line).collect();
    let mut text = shown.join("; ");
    let others: usize = reasons.iter().skip(SHOWN).map(|reason| reason.rows).sum();
    if others > 0 {
        text.push_str(&format!(
            "; and {} more in the findings",
            number::count(others as u64)
        ));
    }
    text
}

impl Reason {
    /// Returns the reason in short, and as many tests as a reader takes in at a glance.
    fn line(&self) -> String {
        const NAMED: usize = 4;
        const LONGEST: usize = 90;
        let named = self.tests.iter().take(NAMED);
        let named = named.map(|(label, subjects)| format!("{label} ({})", subjects.join(", ")));
        let mut tests = named.collect::<Vec<_>>().join(", ");
        if self.tests.len() > NAMED {
            tests.push_str(&format!(" and {} more", self.tests.len() - NAMED));
        }
        let mut short: String = self.reason.chars().take(LONGEST).collect();
        if short.len() < self.reason.len() {
            short.push('…');
        }
        format!("{short}: {tests}")
    }
}

/// Counts of a run's results.
pub struct Tally {
    /// Results with a usable figure.
    pub measured: usize,
    /// Costs among these that are indistinguishable from their control.
    pub like_control: usize,
    /// Results with a figure that an error makes worthless.
    pub withheld: usize,
    /// Without a figure, because something failed.
    pub absent: usize,
    /// Without a figure, because the subject does not have the operation.
    pub lacking: usize,
    /// Reasons for missing figures, the commonest first.
    pub reasons: Vec<Reason>,
}

impl Tally {
    /// Counts the results of a run.
    pub fn of(view: &View) -> Tally {
        let mut tally = Tally {
            measured: 0,
            like_control: 0,
            withheld: 0,
            absent: 0,
            lacking: 0,
            reasons: Vec::new(),
        };
        for result in &view.run.results {
            match &result.outcome {
                Outcome::Absent { listed: true, .. } => tally.lacking += 1,
                Outcome::Absent { reason, .. } => {
                    tally.count_absent(reason, view.label(&result.identity), &result.identity);
                }
                Outcome::Frame(estimate) => match standing(result, estimate) {
                    Standing::Withheld { .. } => tally.withheld += 1,
                    shown => {
                        tally.measured += 1;
                        tally.like_control += usize::from(shown == Standing::LikeControl);
                    }
                },
                _ => tally.measured += 1,
            }
        }
        tally
            .reasons
            .sort_by_key(|reason| std::cmp::Reverse(reason.rows));
        tally
    }

    fn count_absent(&mut self, reason: &str, label: String, identity: &Identity) {
        self.absent += 1;
        let known = self.reasons.iter().position(|known| known.reason == reason);
        let at = known.unwrap_or_else(|| {
            self.reasons.push(Reason {
                reason: reason.into(),
                tests: Vec::new(),
                rows: 0,
            });
            self.reasons.len() - 1
        });
        let of_reason = &mut self.reasons[at];
        of_reason.rows += 1;
        let subject = identity.subject.clone();
        match of_reason
            .tests
            .iter_mut()
            .find(|(known, _)| *known == label)
        {
            Some((_, subjects)) if subjects.contains(&subject) => {}
            Some((_, subjects)) => subjects.push(subject),
            None => of_reason.tests.push((label, vec![subject])),
        }
    }

    /// Returns the counts in a sentence.
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
    let (mut facts, when) = (machine_facts(run), run_facts(run));
    // The machine stands between the run's identity and its measurements.
    facts.splice(0..0, when[..2].to_vec());
    facts.extend_from_slice(&when[2..]);
    facts
}

/// Returns the machine of a run.
pub fn machine_facts(run: &RunRecord) -> Vec<Fact> {
    let machine = &run.machine;
    let mut facts = vec![
        Fact::new("Machine", machine_line(run)),
        Fact::new(
            "System",
            format!("{}, kernel {}", machine.system, machine.kernel),
        ),
        Fact::new("Governor", machine.governor.clone()),
        Fact::new("Clock source", machine.clock_source.clone()),
        Fact::new("Hardware counters", machine.counters.clone()),
        Fact::new("FIFO scheduling", machine.fifo.clone()),
    ];
    facts.retain(|fact| !fact.text.is_empty());
    facts
}

/// Returns the facts of a run: number, time, load, method and tools.
pub fn run_facts(run: &RunRecord) -> Vec<Fact> {
    let ended = run.ended.as_deref().unwrap_or("not ended");
    let sizes = if run.quick {
        "quick sizes"
    } else {
        "full sizes"
    };
    let mut facts = vec![
        Fact::new("Run", format!("{} of suite {}, {sizes}", run.id, run.suite)),
        Fact::new("When", format!("{} – {ended}", run.started)),
        Fact::new("Load at the start", number::fixed(run.machine.load, 2)),
        Fact::new("Policy and placement", conditions(run)),
    ];
    facts.extend(apart(run).map(|text| Fact::new("Core-to-core latency", text)));
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

/// Returns the distance of the processors under `across`; `None` if it was not read.
fn apart(run: &RunRecord) -> Option<String> {
    let apart = run.apart()?;
    let range = range(&apart);
    Some(match apart.is_of_both_kinds() {
        true => format!("{range}: the host moved the processors during the run"),
        false => range,
    })
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
