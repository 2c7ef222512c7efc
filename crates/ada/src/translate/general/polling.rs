//! The general scheme without a selector: clients call the object of an entry's rendezvous, and a
//! selective accept polls these objects.
//!
//! The paper's selector costs each call one more entry (section 5). Without it, a task that waits
//! for one entry waits at that entry's object. A task that waits for several cannot wait at any of
//! them, because a select has at most one entry call (RM 9.7). So it polls them in turn. When an
//! object is polled, it admits its first caller: that caller cannot leave any more, and no other
//! object has admitted one.

use super::entry::EntryPlan;
use super::gate::nest;
use super::plan::{Form, Plan};
use crate::flow::Wait;
use crate::names::At;
use crate::translate::context::{Context, source_of};
use crate::verdict::{Reason, Rule};

/// Seconds between two rounds of polling.
const INTERVAL: &str = "0.001";

/// Time for which a conditional call stays queued, in seconds: a few rounds.
const PATIENCE: &str = "0.005";

/// Whether a wait is a selective accept.
pub(super) fn is_select(wait: &Wait, cx: &Context) -> bool {
    wait.sites
        .iter()
        .any(|&s| cx.flow.sites[s].accept != wait.node)
}

impl Plan<'_> {
    pub(super) fn is_polling(&self) -> bool {
        self.form == Form::Polling
    }

    /// Whether a selective accept has an alternative for the entry.
    pub(super) fn is_polled(&self, entry: &EntryPlan) -> bool {
        let mut selects = self
            .cx
            .flow
            .waits
            .iter()
            .filter(|w| self.is_polling() && is_select(w, &self.cx));
        selects.any(|w| {
            let mut sites = w.sites.iter().map(|&s| &self.cx.flow.sites[s]);
            sites.any(|s| self.cx.task.entries[s.entry].id == entry.id)
        })
    }

    /// Whether a selective accept waits for a limited time only, or not at all.
    pub(super) fn has_limits(&self) -> bool {
        let mut waits = self.cx.flow.waits.iter();
        waits.any(|w| w.delay.is_some() || w.otherwise.is_some())
    }

    /// Returns the task's own procedure that polls the open entries.
    pub(super) fn poll_procedure(&self) -> Vec<String> {
        if !self.is_polling() || !self.chooses() {
            return vec![];
        }
        let (w, step) = (&self.words, &self.step);
        let mut lines = vec![
            String::new(),
            "--  Asks the open entries in turn, until one of them is called".to_string(),
            format!("procedure {}", w.accept_next),
            format!("  ({} : in {};", w.open, self.open_type),
        ];
        if self.has_limits() {
            lines.push(format!("   {} : out {};", w.chosen, self.call_type));
            lines.push("   Limit : in Duration := Duration'Last)".into());
        } else {
            lines.push(format!("   {} : out {})", w.chosen, self.call_type));
        }
        lines.push("is".into());
        let mut declarations = Vec::new();
        if self.has_limits() {
            declarations.push("use type Ada.Real_Time.Time;".to_string());
            declarations.push("Start : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;".into());
        }
        declarations.push("Is_Called : Boolean := False;".into());
        lines.extend(nest(&declarations, step));
        lines.push("begin".into());
        let mut statements = Vec::new();
        if self.checks_open {
            statements.extend([
                format!("if {} = {}'(others => False) then", w.open, self.open_type),
                format!("{step}raise Program_Error;  --  all alternatives are closed"),
                "end if;".into(),
            ]);
        }
        statements.push("loop".into());
        statements.extend(nest(&self.round(), step));
        statements.push("end loop;".into());
        lines.extend(nest(&statements, step));
        lines.push(format!("end {};", w.accept_next));
        lines.push(String::new());
        lines
    }

    /// Returns one round of polling, with the code before the next one.
    fn round(&self) -> Vec<String> {
        let (w, step) = (&self.words, &self.step);
        let mut asking = vec![format!("case {} is", w.call)];
        let polled = self.entries.iter().filter(|e| self.is_polled(e));
        for entry in polled {
            asking.push(format!("{step}when {} =>", entry.literal));
            asking.push(format!(
                "{step}{step}{}.Poll (Is_Called);",
                entry.rendezvous
            ));
        }
        let others = self.entries.iter().filter(|e| !self.is_polled(e));
        let mut others: Vec<&str> = others.map(|e| e.literal.as_str()).collect();
        others.insert(0, &w.no_call);
        asking.push(format!("{step}when {} =>", others.join(" | ")));
        asking.push(format!("{step}{step}Is_Called := False;"));
        asking.push("end case;".into());
        let mut found = vec![format!("{} := {};", w.chosen, w.call)];
        if self.has_terminate {
            found.push(format!("{}.Rest (False);", self.gate));
        }
        found.push("return;".into());
        asking.push("if Is_Called then".into());
        asking.extend(nest(&found, step));
        asking.push("end if;".into());
        let mut body = vec![format!("if {} ({}) then", w.open, w.call)];
        body.extend(nest(&asking, step));
        body.push("end if;".into());
        let mut lines = vec![format!("for {} in {} loop", w.call, self.call_type)];
        lines.extend(nest(&body, step));
        lines.push("end loop;".into());
        if self.has_limits() {
            lines.extend([
                "if Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Start) >= Limit".into(),
                "then".into(),
                format!("{step}{} := {};", w.chosen, w.no_call),
                format!("{step}return;"),
                "end if;".into(),
            ]);
        }
        if self.has_terminate {
            lines.push(format!("{}.Rest ({} ({}));", self.gate, w.open, w.no_call));
        }
        lines.push(format!("delay {INTERVAL};"));
        lines
    }

    /// Returns the declaration of the object that says whether the task could end at a terminate
    /// alternative.
    pub(super) fn rest_specification(&self) -> Vec<String> {
        if !self.has_terminate {
            return vec![];
        }
        let step = &self.step;
        vec![
            format!("protected {} is", self.gate),
            format!("{step}entry {};", self.words.at_rest),
            format!("{step}procedure Rest (Now : in Boolean);"),
            "private".into(),
            format!("{step}Is_Resting : Boolean := False;"),
            format!("end {};", self.gate),
        ]
    }

    /// Returns the body of that object.
    pub(super) fn rest_body(&self) -> Vec<String> {
        if !self.has_terminate {
            return vec![];
        }
        let at_rest = &self.words.at_rest;
        let units = [
            self.unit(
                vec![format!("entry {at_rest} when Is_Resting is")],
                &[],
                &["null;".into()],
                at_rest,
            ),
            self.unit(
                vec!["procedure Rest (Now : in Boolean) is".into()],
                &[],
                &["Is_Resting := Now;".into()],
                "Rest",
            ),
        ];
        let mut lines = vec![format!("protected body {} is", self.gate), String::new()];
        for unit in units {
            lines.extend(nest(&unit, &self.step));
            lines.push(String::new());
        }
        lines.push(format!("end {};", self.gate));
        lines
    }

    /// Returns statements with which a task that completes raises Tasking_Error in its callers.
    pub(super) fn close_objects(&self) -> Vec<String> {
        let mut closing: Vec<String> = self
            .entries
            .iter()
            .map(|e| format!("{}.Close;", e.rendezvous))
            .collect();
        if self.has_terminate {
            closing.push(format!("{}.Rest (True);", self.gate));
        }
        closing
    }

    /// Returns the first statements of a rendezvous' first entry.
    pub(super) fn call_beginning(&self, entry: &EntryPlan) -> Vec<String> {
        let step = &self.step;
        if !self.is_polling() {
            return vec![];
        }
        let mut lines = vec![
            "if Closed then".to_string(),
            format!("{step}raise Tasking_Error;"),
            "end if;".into(),
        ];
        if self.of_type(entry).iter().any(|e| self.is_polled(e)) {
            lines.push("Is_Open := False;".into());
        }
        lines
    }

    /// Returns the bodies of the further operations of a rendezvous without a selector.
    pub(super) fn polling_units(&self, entry: &EntryPlan) -> Vec<Vec<String>> {
        if !self.is_polling() {
            return vec![];
        }
        let like = self.of_type(entry);
        let is_polled = like.iter().any(|e| self.is_polled(e));
        let mut units = Vec::new();
        let mut unit = |head: &str, statements: &[&str], name: &str| {
            let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
            units.push(self.unit(vec![head.to_string()], &[], &statements, name));
        };
        let takes = if is_polled {
            "return not Called and then (Is_Open or else Accept_Begin'Count > 0);"
        } else {
            "return not Called and then Accept_Begin'Count > 0;"
        };
        unit("function Takes return Boolean is", &[takes], "Takes");
        if like.iter().any(|e| e.is_counted) {
            let head = "function Call_Count return Natural is";
            unit(head, &["return Call'Count;"], "Call_Count");
        }
        if is_polled {
            let head = "procedure Poll (Is_Called : out Boolean) is";
            let statements = [
                "--  The first caller is taken in before this protected action is over",
                "Is_Open := Call'Count > 0;",
                "Is_Called := Is_Open;",
            ];
            unit(head, &statements, "Poll");
        }
        unit("procedure Close is", &["Closed := True;"], "Close");
        units
    }

    /// Returns the head of a rendezvous' first entry, with its barrier.
    pub(super) fn call_head(&self, formals: &str) -> Vec<String> {
        if !self.is_polling() {
            return vec![format!("entry Call{formals} when not Called is")];
        }
        vec![
            format!("entry Call{formals}"),
            format!("{}when Closed or else Takes", self.step),
            "is".into(),
        ]
    }

    /// Whether the task chooses among its entries, so that it needs a type for the choice.
    pub(super) fn chooses(&self) -> bool {
        !self.is_polling() || self.entries.iter().any(|e| self.is_polled(e))
    }
}

/// Finds uses that need a selector.
pub(super) fn obstacles(cx: &Context, reasons: &mut Vec<Reason>) {
    if cx.task.is_type {
        let text = "without a selector each object of a task type would need rendezvous of its own at the place of its declaration";
        let help = "use --scheme optimised, which has one object a task";
        reasons.push(cx.reason(Rule::Requeue, cx.task.body.node, text, help));
    }
    for entry in cx.task.entries.iter().filter(|e| e.index.is_some()) {
        reasons.push(Reason {
            rule: Rule::Parameter,
            at: cx.names.entity(entry.id).at,
            text: format!(
                "{} is a family, and without a selector each member would need an object of its own",
                entry.name
            ),
            help: "use --selector object".into(),
        });
    }
    let tree = cx.tree();
    let delays = cx.flow.waits.iter().filter_map(|w| w.delay);
    for delay in delays {
        let mut inside = tree.walk(delay);
        if inside.any(|n| tree.kind(n) == "delay_until_statement") {
            reasons.push(cx.reason(
                Rule::DelayAlternative,
                delay,
                "a time of day: polling measures how long it has waited",
                "use --selector object, or a relative delay",
            ));
        }
    }
}

/// Returns notes about conditional calls, which are repeated for a few rounds (`T30`).
pub(super) fn notes(plan: &Plan) -> Vec<Reason> {
    let calls = conditional_calls(plan);
    let note = |(at, entry): (At, &EntryPlan)| Reason {
        rule: Rule::ConditionalCall,
        at,
        text: format!(
            "a conditional call of {}, which the task polls: it becomes a timed call of {PATIENCE} s, so that it can be found",
            entry.name
        ),
        help: "use --selector object where that matters".into(),
    };
    calls.into_iter().map(note).collect()
}

/// Returns the `else` parts of conditional calls of polled entries.
pub(super) fn conditional_calls<'p>(plan: &'p Plan) -> Vec<(At, &'p EntryPlan)> {
    let cx = &plan.cx;
    let mut found = Vec::new();
    for entry in plan.entries.iter().filter(|e| plan.is_polled(e)) {
        for &at in cx.names.uses_of(entry.id) {
            let tree = &source_of(cx.program, at).tree;
            let call = tree.ancestor(
                at.node,
                &["conditional_entry_call", "sequence_of_statements"],
            );
            let word = call.and_then(|c| tree.child(c, "else"));
            found.extend(word.map(|node| (At { node, ..at }, entry)));
        }
    }
    found
}

/// Returns the replacement of such an `else`.
pub(super) fn patience(step: &str, indent: &str) -> String {
    format!("or\n{indent}{step}delay {PATIENCE};")
}
