//! Selection of a suite's rows by the user's patterns, as far as the suite alone decides, before
//! any build.

use super::{Options, RunError};
use crate::document::nearest;
use crate::patterns::Patterns;
use crate::record::original_of;
use crate::session::Listing;
use crate::suite::{Row, RowKind, Suite, fill};
use std::collections::BTreeSet;

/// The chosen rows.
pub(super) struct Selection<'s> {
    suite: &'s Suite,
    quick: bool,
    patterns: Patterns,
    /// Patterns that fit nothing, each with its warning.
    unmatched: Vec<String>,
}

impl<'s> Selection<'s> {
    /// Reads the patterns.
    ///
    /// # Errors
    /// One cannot be read, or all of them together choose nothing, for any list of the subjects.
    pub(super) fn new(suite: &'s Suite, options: &Options) -> Result<Selection<'s>, RunError> {
        let mut selection = Selection {
            suite,
            quick: options.quick,
            patterns: Patterns::new(&options.only)?,
            unmatched: Vec::new(),
        };
        for written in &options.only {
            let alone = Patterns::new(std::slice::from_ref(written))?;
            if !selection.may_choose(&alone) {
                let why = selection.why_nothing(written, &alone);
                selection.unmatched.push(why);
            }
        }
        match selection.unmatched.len() {
            0 => Ok(selection),
            all if all == options.only.len() => Err(RunError::Nothing {
                why: selection.unmatched.join("; "),
                help: format!("the suite's groups are {}", groups(suite)),
            }),
            _ => Ok(selection),
        }
    }

    /// Returns warnings about patterns that fit nothing, if others do.
    pub(super) fn unmatched(&self) -> &[String] {
        &self.unmatched
    }

    /// Checks whether a test of a group is chosen.
    pub(super) fn fits(&self, group: &str, test: &str) -> bool {
        self.patterns.name(group) || self.patterns.fit(test)
    }

    /// Checks whether a row is measured in a subject.
    pub(super) fn in_subject(&self, row: &Row, subject: &str) -> bool {
        let subject = original_of(subject).unwrap_or(subject);
        // The patterns were read when the suite was.
        Patterns::new(&row.subjects).is_ok_and(|patterns| patterns.fit(subject))
    }

    /// Checks whether any chosen row is measured in a subject, as far as the suite alone decides.
    pub(super) fn needs_subject(&self, subject: &str) -> bool {
        self.rows().any(|(group, row)| {
            self.in_subject(row, subject) && self.may_hold(group, row, &self.patterns)
        })
    }

    /// Returns the policies of chosen rows, `other` first.
    pub(super) fn policies(&self) -> Vec<&'static str> {
        let chosen: BTreeSet<&str> = self
            .rows()
            .filter(|(group, row)| self.may_hold(group, row, &self.patterns))
            .flat_map(|(_, row)| row.runs(self.quick))
            .map(|placed| placed.policy.as_str())
            .collect();
        let known = ["other", "fifo"].into_iter();
        known.filter(|policy| chosen.contains(policy)).collect()
    }

    /// Checks whether a subject with this listing has a chosen row under a policy.
    pub(super) fn needs(&self, policy: &str, listing: &Listing) -> bool {
        let lists = |name: &str| listing.tests.iter().any(|test| test.name == name);
        let has = |program: &str| listing.programs.iter().any(|known| known == program);
        let under = |row: &Row| {
            let mut runs = row.runs(self.quick).iter();
            runs.any(|placed| placed.policy == policy)
        };
        self.rows()
            .filter(|(_, row)| under(row))
            .any(|(group, row)| {
                let named = |test: &str| self.fits(group, test);
                match row.test.as_str() {
                    "*" => listing.clocks.iter().any(|clock| named(&clock.name)),
                    // The laboratory's own, of which subjects list nothing.
                    _ if matches!(row.kind, RowKind::Interference { .. }) => named(&row.test),
                    _ => row.instances(self.quick).iter().any(|instance| {
                        named(&instance.test)
                            && match &row.kind {
                                RowKind::Program(row) => has(&fill(&row.program, &instance.values)),
                                RowKind::Load(_) => listing.serves,
                                _ => lists(&instance.test),
                            }
                    }),
                }
            })
    }

    fn rows(&self) -> impl Iterator<Item = (&'s str, &'s Row)> {
        let groups = self.suite.groups.iter();
        groups.flat_map(|group| group.rows.iter().map(|row| (group.id.as_str(), row)))
    }

    /// Checks whether patterns choose any row, or may after the subjects' lists are known.
    fn may_choose(&self, patterns: &Patterns) -> bool {
        self.rows()
            .any(|(group, row)| self.may_hold(group, row, patterns))
    }

    /// Checks whether a row may hold a chosen test.
    ///
    /// Clocks are only known after subjects list them. Their names are those of their languages,
    /// such as `Ada.Calendar.Clock`, so a pattern without a capital does not wait for them.
    fn may_hold(&self, group: &str, row: &Row, patterns: &Patterns) -> bool {
        let fits = |test: &str| patterns.name(group) || patterns.fit(test);
        match row.test.as_str() {
            "*" => fits("*") || patterns.has_capital(),
            _ => row
                .instances(self.quick)
                .iter()
                .any(|instance| fits(&instance.test)),
        }
    }

    /// Returns the reason why a pattern chooses nothing, with a likely alternative.
    fn why_nothing(&self, written: &str, patterns: &Patterns) -> String {
        let suite = &self.suite.name;
        let of_full = self.rows().any(|(_, row)| {
            let mut all = row.instances(false).into_iter();
            all.any(|instance| patterns.fit(&instance.test))
        });
        if self.quick && of_full {
            return format!(
                "a quick run of `{suite}` leaves out what `{written}` fits (measure without --quick)"
            );
        }
        match nearest(written, self.words().iter().map(String::as_str)) {
            Some(meant) => {
                format!("nothing in `{suite}` fits `{written}` (did you mean `{meant}`?)")
            }
            None => format!("nothing in `{suite}` fits `{written}`"),
        }
    }

    /// Returns the possible patterns: groups, tests, and families of tests such as `call.inter.*`.
    fn words(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for (group, row) in self.rows() {
            words.insert(group.to_owned());
            for instance in row.instances(self.quick) {
                let dots = instance.test.match_indices('.');
                words.extend(dots.map(|(dot, _)| format!("{}.*", &instance.test[..dot])));
                words.insert(instance.test);
            }
        }
        words
    }
}

/// Returns the suite's groups, for messages.
pub(super) fn groups(suite: &Suite) -> String {
    let ids: Vec<_> = suite.groups.iter().map(|group| group.id.as_str()).collect();
    ids.join(", ")
}
