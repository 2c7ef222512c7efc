//! The object for an entry's rendezvous when they are separate from the selector (figure 3 of the
//! paper).
//!
//! The paper requeues with abort. Then a caller with an expired time-out, or an aborted one, would
//! leave a rendezvous that has begun, which is impossible with tasks (RM 9.5.2 (24), 9.7.2 (5)). So
//! the requeue here is without abort.

use super::entry::EntryPlan;
use super::gate::{nest, one_line};
use super::gate_entries::unreferenced;
use super::layout_of::profile;
use super::parameters::Parameter;
use super::plan::Plan;
use crate::names::Names;
use crate::verdict::{Reason, Rule};

impl Plan<'_> {
    /// Returns the declarations of the types, one for entries that share a profile.
    pub(super) fn rendezvous_types(&self) -> Vec<Vec<String>> {
        self.first_of_type()
            .map(|e| self.rendezvous_specification(e))
            .collect()
    }

    /// Returns the bodies of the types.
    pub(super) fn rendezvous_bodies(&self) -> Vec<Vec<String>> {
        self.first_of_type()
            .map(|e| self.rendezvous_body(e))
            .collect()
    }

    /// Returns the objects, for a single task.
    pub(super) fn rendezvous_objects(&self) -> Vec<String> {
        let entries = self.entries.iter().filter(|_| self.is_apart());
        entries
            .map(|e| format!("{} : {};", e.rendezvous, e.rendezvous_type))
            .collect()
    }

    fn first_of_type(&self) -> impl Iterator<Item = &EntryPlan> {
        let mut seen: Vec<&str> = Vec::new();
        self.entries.iter().filter(move |e| {
            let is_new = self.is_apart() && !seen.contains(&e.rendezvous_type.as_str());
            seen.push(&e.rendezvous_type);
            is_new
        })
    }

    fn rendezvous_specification(&self, entry: &EntryPlan) -> Vec<String> {
        let step = &self.step;
        let formals = entry.formals.as_ref().map(|f| format!(" {}", one_line(f)));
        let formals = formals.unwrap_or_default();
        let mut inner = vec![format!("entry Call{formals};")];
        let like = self.of_type(entry);
        if like.iter().any(|e| e.is_counted && self.is_polling()) {
            inner.push("function Call_Count return Natural;".into());
        }
        if like.iter().any(|e| self.is_polled(e)) {
            inner.push("procedure Poll (Is_Called : out Boolean);".into());
        }
        inner.extend(profile("entry Accept_Begin", &passed(entry, "out"), ";"));
        if self.is_ended(entry) {
            inner.extend(profile("procedure Accept_End", &passed(entry, "in"), ";"));
        }
        if entry.fails {
            inner.push(FAILED.to_string() + ";");
        }
        if !entry.requeues.is_empty() {
            inner.extend(profile("procedure Accept_Requeue", &self.moved(entry), ";"));
        }
        if self.is_polling() {
            inner.push("procedure Close;".into());
        }
        inner.extend(self.ceiling_pragma());
        let mut hidden = vec![if entry.end_has_formals() {
            format!("entry Queue{formals};")
        } else {
            "entry Queue;".into()
        }];
        hidden.push("Called : Boolean := False;".into());
        hidden.push("Ended : Boolean := False;".into());
        if like.iter().any(|e| self.is_polled(e)) {
            hidden.push("Is_Open : Boolean := False;".into());
        }
        if self.is_polling() {
            hidden.push("Closed : Boolean := False;".into());
        }
        for parameter in &entry.parameters {
            hidden.push(format!("Kept_{} : {};", parameter.name, parameter.subtype));
        }
        if !entry.requeues.is_empty() {
            hidden.push(format!("Way : {} := {};", self.way_type, self.words.back));
        }
        if entry.fails {
            hidden.push("Has_Failed : Boolean := False;".into());
            hidden.push("Failure : Ada.Exceptions.Exception_Occurrence;".into());
        }
        let discriminant = if self.cx.task.is_type && !entry.requeues.is_empty() {
            self.gate_discriminant()
        } else {
            String::new()
        };
        let mut lines = vec![format!(
            "protected type {}{discriminant} is",
            entry.rendezvous_type
        )];
        lines.extend(nest(&inner, step));
        lines.push("private".into());
        lines.extend(nest(&hidden, step));
        lines.push(format!("end {};", entry.rendezvous_type));
        lines
    }

    fn rendezvous_body(&self, entry: &EntryPlan) -> Vec<String> {
        let step = &self.step;
        let mut units = self.polling_units(entry);
        units.extend([self.call_entry(entry), self.begin_entry(entry)]);
        if self.is_ended(entry) {
            units.push(self.procedure("Accept_End", &passed(entry, "in"), &keeping(entry)));
        }
        if entry.fails {
            let statements = [
                "Has_Failed := True;".to_string(),
                "Ada.Exceptions.Save_Occurrence (Failure, Occurrence);".into(),
            ];
            let mut lines = vec![format!("{FAILED} is"), "begin".into()];
            lines.extend(nest(&statements, step));
            lines.extend([format!("{step}Ended := True;"), "end Accept_Failed;".into()]);
            units.push(lines);
        }
        if !entry.requeues.is_empty() {
            let mut statements = keeping(entry);
            statements.insert(0, "Way := Way_On;".into());
            units.push(self.procedure("Accept_Requeue", &self.moved(entry), &statements));
        }
        units.push(self.queue_entry(entry));
        let mut lines = vec![
            format!("protected body {} is", entry.rendezvous_type),
            String::new(),
        ];
        for unit in units {
            lines.extend(nest(&unit, step));
            lines.push(String::new());
        }
        lines.push(format!("end {};", entry.rendezvous_type));
        lines
    }

    fn call_entry(&self, entry: &EntryPlan) -> Vec<String> {
        let formals = entry.formals.as_ref().map(|f| format!(" {}", one_line(f)));
        let mut lines = self.call_head(&formals.unwrap_or_default());
        lines.push("begin".into());
        let mut statements = self.call_beginning(entry);
        let kept = entry.parameters.iter().filter(|p| p.goes_in);
        statements.extend(kept.map(|p| format!("Kept_{0} := {0};", p.name)));
        statements.extend(["Called := True;".into(), "requeue Queue;".into()]);
        lines.extend(nest(&statements, &self.step));
        lines.push("end Call;".into());
        lines
    }

    /// Returns the entries whose rendezvous have an object of the same type.
    pub(super) fn of_type(&self, entry: &EntryPlan) -> Vec<&EntryPlan> {
        let all = self.entries.iter();
        all.filter(|e| e.rendezvous_type == entry.rendezvous_type)
            .collect()
    }

    fn begin_entry(&self, entry: &EntryPlan) -> Vec<String> {
        let mut lines = profile(
            "entry Accept_Begin",
            &passed(entry, "out"),
            " when Called is",
        );
        lines.push("begin".into());
        let mut statements: Vec<String> = entry
            .parameters
            .iter()
            .filter(|p| p.goes_in)
            .map(|p| format!("{0} := Kept_{0};", p.name))
            .collect();
        if statements.is_empty() {
            statements.push("null;".into());
        }
        lines.extend(nest(&statements, &self.step));
        lines.push("end Accept_Begin;".into());
        lines
    }

    fn procedure(
        &self,
        name: &str,
        formals: &[(String, &'static str, String)],
        statements: &[String],
    ) -> Vec<String> {
        let mut lines = profile(&format!("procedure {name}"), formals, " is");
        lines.push("begin".into());
        lines.extend(nest(statements, &self.step));
        // After a requeue there is no call to end.
        lines.extend([
            format!("{}Ended := Called;", self.step),
            format!("end {name};"),
        ]);
        lines
    }

    /// Returns the last entry of a caller's way: its results, its exception, or the requeue to
    /// another entry.
    fn queue_entry(&self, entry: &EntryPlan) -> Vec<String> {
        let step = &self.step;
        let has_formals = entry.end_has_formals();
        let formals = entry.formals.as_ref().filter(|_| has_formals);
        let formals = formals.map(|f| format!(" {}", one_line(f)));
        let unused: Vec<&str> = entry
            .parameters
            .iter()
            .filter(|p| has_formals && p.is_in)
            .map(|p| p.name.as_str())
            .collect();
        let mut lines = vec![format!(
            "entry Queue{} when Ended is",
            formals.unwrap_or_default()
        )];
        let mut declarations = unreferenced(&unused);
        let mut statements: Vec<String> = vec!["Called := False;".into(), "Ended := False;".into()];
        if !entry.requeues.is_empty() {
            declarations.push(format!("Way_On : constant {} := Way;", self.way_type));
            statements.push(format!("Way := {};", self.words.back));
        }
        if entry.fails {
            statements.extend([
                "if Has_Failed then".into(),
                format!("{step}Has_Failed := False;"),
                format!("{step}Ada.Exceptions.Reraise_Occurrence (Failure);"),
                "end if;".into(),
            ]);
        }
        for parameter in entry.parameters.iter().filter(|p| p.comes_out) {
            statements.push(format!("{0} := Kept_{0};", parameter.name));
        }
        statements.extend(self.onward("Way_On", entry));
        lines.extend(nest(&declarations, step));
        lines.push("begin".into());
        lines.extend(nest(&statements, step));
        lines.push("end Queue;".into());
        lines
    }

    /// Whether an accept of the entries that share a type ends without a requeue.
    fn is_ended(&self, entry: &EntryPlan) -> bool {
        self.entries
            .iter()
            .filter(|e| e.rendezvous_type == entry.rendezvous_type)
            .any(|e| self.is_called(&self.rendezvous(e), "Accept_End"))
    }

    fn moved(&self, entry: &EntryPlan) -> Vec<(String, &'static str, String)> {
        let mut found = vec![("Way_On".to_string(), "in", self.way_type.clone())];
        found.extend(passed(entry, "in"));
        found
    }
}

/// Finds a parameter with the name of a component of its rendezvous object.
pub(super) fn clash(plan: &Plan, entry: &EntryPlan) -> Option<Reason> {
    let own = [
        "called",
        "ended",
        "closed",
        "is_open",
        "is_called",
        "way",
        "way_on",
        "has_failed",
        "failure",
        "occurrence",
    ];
    let parameters = entry.parameters.iter().filter(|_| plan.is_apart());
    let clashes = |p: &&Parameter| own.contains(&Names::key(&p.name).as_str());
    let parameter = parameters.into_iter().find(clashes)?;
    Some(Reason {
        rule: Rule::Parameter,
        at: plan.cx.names.entity(entry.id).at,
        text: format!(
            "the object of the entry's rendezvous has a component {} of its own",
            parameter.name
        ),
        help: "give the parameter another name, or use --scheme optimised".into(),
    })
}

const FAILED: &str = "procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence)";

/// Returns the parameters that the acceptor receives (`out`) or returns (`in`).
pub(super) fn passed(entry: &EntryPlan, mode: &'static str) -> Vec<(String, &'static str, String)> {
    let wanted = |p: &&Parameter| {
        if mode == "out" {
            p.goes_in
        } else {
            p.comes_out
        }
    };
    entry
        .parameters
        .iter()
        .filter(wanted)
        .map(|p| (p.name.clone(), mode, p.subtype.clone()))
        .collect()
}

fn keeping(entry: &EntryPlan) -> Vec<String> {
    let parameters = entry.parameters.iter().filter(|p| p.comes_out);
    parameters
        .map(|p| format!("Kept_{0} := {0};", p.name))
        .collect()
}
