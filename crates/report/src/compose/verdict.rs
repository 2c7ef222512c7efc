//! Verdict on a claim: from an interval and limits, summed up in words.

use crate::document::{Cell, Column, Row, RowKind, Table, Unit};
use crate::number;
use antiphon_measure::Interval;

/// Result of a claim that can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The whole interval is within the limits.
    Holds,
    /// It is neither within them nor outside.
    Undecided,
    /// It may be anywhere: the generator may have limited the figure.
    Limited,
    /// It may be anywhere: a side was not warm, and its figure may be too high.
    Cold,
    /// The whole interval is outside.
    Fails,
}

/// A claim with the results of its trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The claim in words.
    pub text: String,
    /// Result of all trials together.
    pub fate: Fate,
    /// The figure that speaks most against it.
    pub weakest: Interval,
    /// Its limits.
    pub limits: Limits,
    /// Unit of both.
    pub unit: Unit,
    /// Id of the section that shows it.
    pub section: String,
}

impl Fate {
    /// Returns the result of several trials: a claim fails if one does, and holds if all do.
    pub fn of_all(fates: &[Fate]) -> Fate {
        let of = |wanted: Fate| fates.contains(&wanted).then_some(wanted);
        let open = || {
            [Fate::Limited, Fate::Cold, Fate::Undecided]
                .into_iter()
                .find_map(of)
        };
        of(Fate::Fails).or_else(open).unwrap_or(Fate::Holds)
    }
}

/// The limits of a share; infinite where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The smallest at which the claim holds.
    pub at_least: f64,
    /// The largest.
    pub at_most: f64,
}

impl Limits {
    /// Returns the result of a claim with this share.
    pub fn fate(&self, share: Interval) -> Fate {
        if self.at_least <= share.low && share.high <= self.at_most {
            Fate::Holds
        } else if share.high < self.at_least || self.at_most < share.low {
            Fate::Fails
        } else {
            Fate::Undecided
        }
    }

    /// Returns the distance by which the interval leaves the limits; negative within them.
    fn excess(&self, share: Interval) -> f64 {
        (share.high - self.at_most).max(self.at_least - share.low)
    }

    /// Returns how far a share is beyond the limits, as a factor; 1 within them.
    pub fn beyond(&self, share: f64) -> f64 {
        let above = share / self.at_most;
        let below = self.at_least / share;
        let factors = [above, below]
            .into_iter()
            .filter(|factor| factor.is_finite());
        factors.fold(1.0, f64::max)
    }

    /// Returns the trial that speaks most against a claim: a failed one, else an undecided one.
    /// Among several it is the one whose interval reaches farthest.
    pub fn weakest<'t, T>(
        &self,
        trials: &'t [T],
        of: impl Fn(&T) -> (Fate, Interval),
    ) -> Option<&'t T> {
        let rank = |fate| match fate {
            Fate::Holds => 0,
            Fate::Undecided | Fate::Limited | Fate::Cold => 1,
            Fate::Fails => 2,
        };
        let key = |trial: &T| {
            let (fate, share) = of(trial);
            (rank(fate), self.excess(share))
        };
        trials.iter().max_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    /// Returns the limits of a share in words.
    pub fn words(&self) -> String {
        self.words_in(Unit::Share)
    }

    /// Returns the limits of a figure in words.
    pub fn words_in(&self, unit: Unit) -> String {
        let reported = |limit| number::quantity(unit, limit);
        match (self.at_least.is_finite(), self.at_most.is_finite()) {
            (true, true) => format!("{} to {}", reported(self.at_least), reported(self.at_most)),
            (true, false) => format!("at least {}", reported(self.at_least)),
            _ => format!("at most {}", reported(self.at_most)),
        }
    }
}

/// Returns the remark beside the figure of an undecided trial.
pub fn beside(fate: Fate) -> &'static str {
    match fate {
        Fate::Holds | Fate::Undecided | Fate::Fails => "",
        Fate::Limited => ", by the generator’s limit",
        Fate::Cold => ", not warm",
    }
}

/// Returns the number of trials in which a claim holds, and the fate of the others; for one trial,
/// its result.
pub fn verdict(fates: &[Fate]) -> String {
    match fates {
        [Fate::Holds] => return "yes".into(),
        [Fate::Undecided] => return "undecided".into(),
        [Fate::Limited] => return "undecided: the generator’s limit".into(),
        [Fate::Cold] => return "undecided: not warm".into(),
        [Fate::Fails] => return "no".into(),
        _ => {}
    }
    let count = |wanted| fates.iter().filter(|fate| **fate == wanted).count();
    let (holds, fails) = (count(Fate::Holds), count(Fate::Fails));
    let mut text = match (holds, fails) {
        (holds, 0) if holds == fates.len() => format!("yes, in all {holds}"),
        (holds, 0) => format!("in {holds} of {}", fates.len()),
        (holds, _) => format!("no: in {holds} of {}", fates.len()),
    };
    let (limited, cold) = (count(Fate::Limited), count(Fate::Cold));
    let undecided = count(Fate::Undecided) + limited + cold;
    if undecided > 0 {
        text.push_str(&format!(", {undecided} undecided"));
    }
    let because = [(limited, "by the generator’s limit"), (cold, "not warm")];
    let because = because.into_iter().filter(|(count, _)| *count > 0);
    let because: Vec<String> = because
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    match because.is_empty() {
        true => text,
        false => format!("{text} ({})", because.join(", ")),
    }
}

/// Returns the verdict of trials with their weaknesses: each word with the number of trials that
/// have it.
pub fn weakened(fates: &[Fate], words: &[Vec<String>]) -> String {
    let mut known: Vec<&String> = Vec::new();
    for word in words.iter().flatten() {
        if !known.contains(&word) {
            known.push(word);
        }
    }
    let reported = known.iter().map(|word| {
        match (
            words.iter().filter(|of| of.contains(word)).count(),
            words.len(),
        ) {
            (_, 1) => (*word).clone(),
            (some, all) => format!("{word} in {some} of {all}"),
        }
    });
    let reported: Vec<String> = reported.collect();
    match reported.is_empty() {
        true => verdict(fates),
        false => format!("{} ({})", verdict(fates), reported.join(", ")),
    }
}

/// Returns a row of a table of claims: the claim, its limits, its verdict, and its weakest case.
pub fn row(text: &str, limits: String, verdict: String, weakest: Option<String>) -> Row {
    Row {
        label: text.into(),
        place: limits,
        kind: RowKind::Derived,
        subject: None,
        cells: vec![Cell::text(verdict), weakest.map_or(Cell::Empty, Cell::text)],
    }
}

/// Returns the table of claims.
pub fn table(title: &str, caption: &str, rows: Vec<Row>) -> Table {
    Table {
        title: title.into(),
        caption: caption.into(),
        corner: "Claim".into(),
        columns: vec![Column::titled("Holds"), Column::titled("Weakest case")],
        rows,
        folded: false,
    }
}
