//! Conclusions from the tables, judged by this run's figures.

use super::Compared;
use crate::compose::verdict::{self, Fate, Judged, Limits};
use crate::document::{Block, Mark, Note, Section, Unit, Weight};
use crate::number;
use antiphon_lab::suite::{ModelClaim, ModelColumn};
use antiphon_measure::{Interval, RunFigure};

/// Id of the section of conclusions.
const SECTION: &str = "models-conclusions";

/// A claim tried on one column in one row.
struct Trial<'a> {
    row: &'a str,
    column: &'a ModelColumn,
    share: Interval,
    /// Share of the published figures.
    published: Option<f64>,
    fate: Fate,
    /// Weaknesses of the trial.
    words: Vec<String>,
}

/// A claim of a table with its trials.
struct Tried<'a> {
    compared: &'a Compared<'a>,
    claim: &'a ModelClaim,
    trials: Vec<Trial<'a>>,
}

/// Returns the section of conclusions; `None` if none can be tried.
pub(super) fn section(tables: &[Compared]) -> Option<Section> {
    let tried: Vec<Tried> = tables.iter().flat_map(tried).collect();
    if tried.is_empty() {
        return None;
    }
    let rows = tried.iter().map(|tried| {
        let fates: Vec<Fate> = tried.trials.iter().map(|trial| trial.fate).collect();
        let weakest = tried.weakest().map(|trial| tried.reported(trial));
        let title = &tried.compared.models.title;
        let place = format!("{} · {title}", tried.limits());
        let words: Vec<Vec<String>> = tried.trials.iter().map(|t| t.words.clone()).collect();
        let verdict = verdict::weakened(&fates, &words);
        verdict::row(&tried.claim.text, place, verdict, weakest)
    });
    let table = verdict::table(
        "The conclusions, and whether they hold here",
        "A conclusion holds where the whole interval is within its limits, and fails where none of it is. The published share stands beside \
         today's weakest case.",
        rows.collect(),
    );
    let notes: Vec<Note> = tried.iter().filter_map(Tried::note).collect();
    let mut blocks = vec![
        Block::Prose {
            text: summary(&tried),
        },
        Block::Table(table),
    ];
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    Some(Section {
        id: SECTION.into(),
        title: "Which conclusions hold today".into(),
        blocks,
    })
}

/// Returns the conclusions that can be tried, each with its set.
pub(super) fn judged(tables: &[Compared]) -> Vec<(String, Judged)> {
    let tried = tables.iter().flat_map(tried);
    tried
        .filter_map(|tried| {
            let fates: Vec<Fate> = tried.trials.iter().map(|trial| trial.fate).collect();
            let judged = Judged {
                text: tried.claim.text.clone(),
                fate: Fate::of_all(&fates),
                weakest: tried.weakest()?.share,
                limits: limits(tried.claim),
                unit: Unit::Share,
                section: SECTION.into(),
            };
            Some((tried.compared.models.id.clone(), judged))
        })
        .collect()
}

fn tried<'a>(compared: &'a Compared<'a>) -> Vec<Tried<'a>> {
    let claims = compared.models.claims.iter();
    claims
        .map(|claim| Tried {
            compared,
            claim,
            trials: trials(compared, claim),
        })
        .filter(|tried| !tried.trials.is_empty())
        .collect()
}

fn trials<'a>(compared: &'a Compared<'a>, claim: &'a ModelClaim) -> Vec<Trial<'a>> {
    let columns = &compared.models.columns;
    let named = |name: &String| columns.iter().find(|column| column.title == *name);
    let against = claim.against.as_ref().and_then(named);
    let mut trials = Vec::new();
    for row in &claim.rows {
        for column in claim.of.iter().filter_map(named) {
            let Some(share) = compared.share(column, against, row) else {
                continue;
            };
            trials.push(Trial {
                row,
                column,
                share,
                published: compared.published_share(column, against, row),
                fate: limits(claim).fate(share),
                words: words(compared.mark_of_share(column, against, row)),
            });
        }
    }
    trials
}

fn words(mark: Option<Mark>) -> Vec<String> {
    mark.into_iter().map(|mark| mark.word).collect()
}

fn limits(claim: &ModelClaim) -> Limits {
    Limits {
        at_least: claim.at_least,
        at_most: claim.at_most,
    }
}

impl<'a> Tried<'a> {
    fn count(&self, fate: Fate) -> usize {
        self.trials
            .iter()
            .filter(|trial| trial.fate == fate)
            .count()
    }

    fn weakest(&self) -> Option<&Trial<'a>> {
        limits(self.claim).weakest(&self.trials, |trial| (trial.fate, trial.share))
    }

    fn limits(&self) -> String {
        let range = limits(self.claim).words();
        let models = self.compared.models;
        let time = match models.figure {
            RunFigure::CpuPerOperation => "processor time",
            _ => "time",
        };
        match (&self.claim.against, models.of_shares()) {
            (Some(against), false) => format!("{range} of the {time} of {against}"),
            (None, false) => format!("{range} of the {time} of the fastest CP"),
            (Some(against), true) => format!("{range} of {against}"),
            (None, true) => range,
        }
    }

    /// Returns a trial in words.
    fn reported(&self, trial: &Trial) -> String {
        let percent = |share| number::quantity(Unit::Share, share);
        let by = &self.compared.models.by;
        let place = match trial.row {
            "" => trial.column.title.clone(),
            row => format!("{by} {row}, {}", trial.column.title),
        };
        let mut today = percent(trial.share.value);
        if let Some((low, high)) = trial.share.limits() {
            today.push_str(&format!(" ({} to {})", percent(low), percent(high)));
        }
        match trial.published {
            Some(share) => format!("{place}: {today} (published {})", percent(share)),
            None => format!("{place}: {today}"),
        }
    }

    /// Notes the trials in which a conclusion does not hold.
    fn note(&self) -> Option<Note> {
        let failed = self.trials.iter().filter(|trial| trial.fate == Fate::Fails);
        let failed: Vec<String> = failed.map(|trial| self.reported(trial)).collect();
        let text = format!(
            "does not hold here ({}): {}",
            self.compared.models.title,
            failed.join("; ")
        );
        let note = || Note::new(Weight::Info, self.claim.text.clone(), text);
        (!failed.is_empty()).then(note)
    }
}

/// Returns the number of conclusions that hold, in a sentence or two.
fn summary(tried: &[Tried]) -> String {
    let all = tried.len();
    let failing = tried.iter().filter(|t| t.count(Fate::Fails) > 0).count();
    let holding = |t: &&Tried| t.count(Fate::Holds) == t.trials.len();
    let hold = tried.iter().filter(holding).count();
    let mut text = format!(
        "Of {}, {hold} hold in every row that this run tried",
        number::counted(all, "conclusion")
    );
    if failing > 0 {
        text.push_str(&format!(", {failing} fail in at least one row"));
    }
    match all - hold - failing {
        0 => {}
        1 => text.push_str(", and one is undecided: its interval crosses a limit"),
        open => text.push_str(&format!(
            ", and {open} are undecided: their intervals cross a limit"
        )),
    }
    text.push('.');
    text
}
