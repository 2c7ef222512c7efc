//! The entries of a calling server's object: they give what the server passed to its clients, and take what came back.

use super::Writer;
use super::entries::choice;
use crate::flow::Site;
use crate::translate::calling::Opened;
use crate::translate::calling::data::Datum;
use crate::translate::code::{Code, grouped};

/// `(A, B : out T; C : in U)`, with a blank in front, of the data that goes one way.
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

/// The heads of the entries of a client's entry: one, or two if the server is held.
fn heads(opened: &Opened) -> Vec<(String, String)> {
    let given = profile(&opened.data, |d| d.is_given, "out");
    let taken = profile(&opened.data, |d| d.is_taken, "in");
    let name = &opened.name;
    if opened.is_held {
        return vec![
            (format!("Begin_{name}"), given),
            (format!("End_{name}"), taken),
        ];
    }
    vec![(name.clone(), format!("{given}{taken}"))]
}

impl Writer<'_> {
    pub(super) fn given_declarations(&self) -> Vec<String> {
        let opened = self.server.inverted.iter().flat_map(|i| &i.opened);
        opened
            .flat_map(heads)
            .map(|(name, profile)| format!("entry {name}{profile};"))
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
            let gives = self.copies(site, &opened.data, true);
            let mut takes = self.copies(site, &opened.data, false);
            takes.extend(self.machine.way_on(server.cx.flow.resume(site), None));
            match server.stages.held.get(&site.accept) {
                Some(literal) => {
                    let stage = format!("{} := {literal};", server.stages.component);
                    let gives = gives.into_iter().chain([Code::line(stage)]).collect();
                    first.push((self.given_test(site), gives));
                    last.push((format!("{} = {literal}", server.stages.component), takes));
                }
                None => {
                    let code = gives.into_iter().chain(takes).collect();
                    first.push((self.given_test(site), code));
                }
            }
        }
        let mut found = Vec::new();
        for ((name, profile), arms) in heads(opened).into_iter().zip([first, last]) {
            found.push(self.given_body(&name, &profile, arms));
        }
        found
    }

    fn given_body(&self, name: &str, profile: &str, arms: Vec<(String, Vec<Code>)>) -> Vec<String> {
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
        let header = self.with_barrier(&format!("entry {name}{profile}"), &barrier);
        self.subprogram(&header, name, &[], &body)
    }

    /// `Formal := value;` for what is given, `Target := Formal;` for what is taken.
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

    /// The test that the server would be making a call; empty if it always is.
    fn given_test(&self, site: &Site) -> String {
        let stages = &self.server.stages;
        match (self.stage_test(site.wait), &stages.closed) {
            (test, Some(_)) if test.is_empty() => format!("not {}", stages.component),
            (test, _) => test,
        }
    }
}
