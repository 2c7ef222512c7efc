//! The entries of a calling server's object. They return the values that the server passed to its
//! clients, and take the results.

use super::Writer;
use super::entries::choice;
use crate::flow::Site;
use crate::translate::calling::Opened;
use crate::translate::calling::data::Datum;
use crate::translate::calling::places::Place;
use crate::translate::code::{Code, grouped};

/// `(A, B : out T; C : in U)`, preceded by a blank, for the data of one direction.
fn profile(data: &[Datum], is_wanted: impl Fn(&Datum) -> bool, mode: &str) -> String {
    let mut parts: Vec<(Vec<&str>, &str)> = Vec::new();
    for datum in data.iter().filter(|d| is_wanted(d)) {
        match parts.last_mut() {
            Some((names, known)) if *known == datum.subtype => names.push(&datum.name),
            _ => parts.push((vec![&datum.name], &datum.subtype)),
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(names, subtype)| format!("{} : {mode} {subtype}", names.join(", ")))
        .collect();
    format!(" ({})", parts.join("; "))
}

/// The head of an entry: its name, the index of its family in the declaration and in the body, and
/// its profile.
struct Head {
    name: String,
    declared: String,
    family: String,
    profile: String,
}

/// Returns the heads of the entries for a client's entry: one, or two if the server is held.
fn heads(opened: &Opened) -> Vec<Head> {
    let mut given = profile(&opened.data, |d| d.is_given, "out");
    let taken = profile(&opened.data, |d| d.is_taken, "in");
    let (mut declared, mut family) = (String::new(), String::new());
    match &opened.place {
        Place::None => {}
        Place::Reported { formal, subtype } => {
            let own = format!("{formal} : out {subtype})");
            given = match given.strip_suffix(')') {
                Some(open) => format!("{open}; {own}"),
                None => format!(" ({own}"),
            };
        }
        Place::Asked { index, range } => {
            declared = format!(" ({range})");
            family = format!(" (for {index} in {range})");
        }
    }
    let name = &opened.name;
    let head = |name: String, declared: &str, family: &str, profile: String| Head {
        name,
        declared: declared.into(),
        family: family.into(),
        profile,
    };
    if opened.is_held {
        return vec![
            head(format!("Begin_{name}"), &declared, &family, given),
            head(format!("End_{name}"), "", "", taken),
        ];
    }
    let profile = match (given.strip_suffix(')'), taken.strip_prefix(" (")) {
        (Some(given), Some(taken)) => format!("{given}; {taken}"),
        _ => format!("{given}{taken}"),
    };
    vec![head(name.clone(), &declared, &family, profile)]
}

impl Writer<'_> {
    pub(super) fn given_declarations(&self) -> Vec<String> {
        let opened = self.server.inverted.iter().flat_map(|i| &i.opened);
        opened
            .flat_map(heads)
            .map(|h| format!("entry {}{}{};", h.name, h.declared, h.profile))
            .collect()
    }

    pub(super) fn given_bodies(&mut self, entry: usize) -> Vec<Vec<String>> {
        let server = self.server;
        let Some(inverted) = &server.inverted else {
            return vec![];
        };
        let opened = &inverted.opened[entry];
        let sites = self.sites(entry);
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for site in &sites {
            let mut gives = self.copies(site, &opened.data, true);
            let index = inverted.indexes.get(&site.accept).map(|&n| self.text(n));
            let mut test = self.given_test(site);
            match (&opened.place, index) {
                (Place::Reported { formal, .. }, Some(value)) => {
                    gives.push(Code::line(format!("{formal} := {value};")));
                }
                (Place::Asked { index, .. }, Some(value)) => {
                    let member = format!("{index} = {}", grouped(&value));
                    test = match test.as_str() {
                        "" => member,
                        stage => format!("{stage} and then {member}"),
                    };
                }
                _ => {}
            }
            let mut takes = self.copies(site, &opened.data, false);
            takes.extend(self.machine.way_on(server.cx.flow.resume(site), None));
            match server.stages.held.get(&site.accept) {
                Some(literal) => {
                    let stage = format!("{} := {literal};", server.stages.component);
                    let gives = gives.into_iter().chain([Code::line(stage)]).collect();
                    first.push((test, gives));
                    last.push((format!("{} = {literal}", server.stages.component), takes));
                }
                None => {
                    let code = gives.into_iter().chain(takes).collect();
                    first.push((test, code));
                }
            }
        }
        let mut found = Vec::new();
        for (head, arms) in heads(opened).into_iter().zip([first, last]) {
            found.push(self.given_body(&head, arms));
        }
        found
    }

    fn given_body(&self, head: &Head, arms: Vec<(String, Vec<Code>)>) -> Vec<String> {
        let mut barrier: Vec<String> = Vec::new();
        for (test, _) in &arms {
            let term = if test.is_empty() { "True" } else { test };
            barrier.push(term.to_string());
        }
        if barrier.is_empty() {
            barrier.push("False".into());
        }
        if barrier.len() > 1 {
            barrier = barrier.iter().map(|t| grouped(t)).collect();
        }
        let mut arms = arms;
        let body = match arms.len() {
            0 => vec![],
            1 => arms.remove(0).1,
            _ => vec![choice(arms)],
        };
        let name = &head.name;
        let start = format!("entry {name}{}{}", head.family, head.profile);
        let header = self.with_barrier(&start, &barrier);
        self.subprogram(&header, name, &[], &body)
    }

    /// `Formal := value;` for values to the client, `Target := Formal;` for results.
    fn copies(&self, site: &Site, data: &[Datum], is_given: bool) -> Vec<Code> {
        let inverted = self.server.inverted.iter();
        let values = inverted.flat_map(|i| i.values.get(&site.accept)).flatten();
        let mut found = Vec::new();
        for (formal, value) in values {
            let Some(datum) = data.iter().find(|d| d.name == *formal) else {
                continue;
            };
            let text = self.text(*value);
            if is_given && datum.is_given {
                found.push(Code::line(format!("{formal} := {text};")));
            } else if !is_given && datum.is_taken {
                found.push(Code::line(format!("{text} := {formal};")));
            }
        }
        found
    }

    /// Returns the test that the server would be at a call; empty if it always is.
    fn given_test(&self, site: &Site) -> String {
        let stages = &self.server.stages;
        match (self.stage_test(site.wait), &stages.closed) {
            (test, Some(_)) if test.is_empty() => format!("not {}", stages.component),
            (test, _) => test,
        }
    }
}
