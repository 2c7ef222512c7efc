//! The plan of a task's translation: the names of its objects and operations, and which of them it
//! needs.

use std::collections::{HashMap, HashSet};

use super::entry::{EntryPlan, entry_plan, shared_type};
use super::names_inside::own_target;
use super::parameters::Parameter;
use super::words::{Words, words};
use crate::flow::{Flow, Wait};
use crate::names::{At, Names};
use crate::syntax::NodeId;
use crate::translate::ceiling;
use crate::translate::context::{Context, source_of};
use crate::translate::layout;
use crate::verdict::Reason;

/// The form of the general scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As in figures 3 and 4 of the paper: a selector, and an object for each entry's rendezvous.
    Apart,
    /// An object for each entry's rendezvous and no selector: clients call these objects, and a
    /// selective accept polls them.
    Polling,
    /// One object per task: it combines selector and rendezvous, and one call ends a rendezvous and
    /// begins the next accept.
    Merged,
}

/// The parts of a translated task.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub cx: Context<'a>,
    pub form: Form,
    /// The protected object (for a task type: the protected type) that clients call in the task's
    /// place.
    pub gate: String,
    /// The task that accepts.
    pub server: String,
    /// The enumeration of calls, the type of a set of them, the record of parameters, the
    /// enumeration of requeue targets.
    pub call_type: String,
    pub open_type: String,
    pub data_type: String,
    pub way_type: String,
    pub words: Words,
    pub entries: Vec<EntryPlan>,
    /// The literal for the target of each requeue statement.
    pub ways: HashMap<NodeId, String>,
    /// The text of the task's body after its accepts were rewritten. Operations that it does not
    /// call are omitted.
    pub server_text: String,
    /// The name of each requeue statement's target outside the task.
    pub targets: HashMap<NodeId, String>,
    /// Whether all alternatives of a select can be closed (RM 9.7.1 (21)).
    pub checks_open: bool,
    pub has_terminate: bool,
    /// Whether an accept body can fail.
    pub fails: bool,
    /// The ceiling of its objects, if it is not the default.
    pub ceiling: Option<i128>,
    pub step: String,
}

impl<'a> Plan<'a> {
    /// Plans a task; `taken` has names that other translations declare.
    ///
    /// # Errors
    /// Parameters that cannot be kept, and families whose index has no name.
    pub fn of(
        cx: Context<'a>,
        form: Form,
        taken: &mut HashSet<String>,
    ) -> Result<Plan<'a>, Vec<Reason>> {
        let mut outside = |wanted: String| {
            let name = cx.free_name(&[wanted], true, taken);
            taken.insert(Names::key(&name));
            name
        };
        let name = &cx.task.name;
        let gate = if cx.task.is_type {
            outside(format!("{name}_Gate"))
        } else {
            name.clone()
        };
        let server = outside(format!("{name}_Server"));
        let call_type = outside(format!("{name}_Call"));
        let open_type = outside(format!("{name}_Open"));
        let data_type = outside(format!("{name}_Data"));
        let way_type = outside(format!("{name}_Way"));
        for wanted in Plan::watch_names(name) {
            outside(wanted);
        }
        let mut reasons = Vec::new();
        let mut entries = Vec::new();
        for entry in &cx.task.entries {
            let literal = outside(format!("{}_Call", entry.name));
            match entry_plan(&cx, entry, literal) {
                Ok(mut plan) => {
                    if plan.index.as_ref().is_some_and(|i| i.contains("..")) {
                        plan.index_subtype = Some(outside(format!("{name}_{}_Index", entry.name)));
                    }
                    if form != Form::Merged {
                        plan.rendezvous_type = shared_type(&entries, &plan).unwrap_or_else(|| {
                            outside(format!("{name}_{}_Rendezvous", entry.name))
                        });
                        let wanted = format!("{name}_{}", entry.name);
                        plan.rendezvous = outside(wanted.clone());
                        // Clients in other files also name the object.
                        while form == Form::Polling && is_named(&cx, &plan.rendezvous) {
                            plan.rendezvous = outside(wanted.clone());
                        }
                    }
                    entries.push(plan);
                }
                Err(reason) => reasons.push(reason),
            }
        }
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let literals = (outside("No_Call".into()), outside("To_Caller".into()));
        let words = words(&cx, &entries, literals);
        let mut plan = Plan {
            step: layout::indent_step(source_of(cx.program, cx.task.declaration)),
            cx,
            form,
            gate,
            server,
            call_type,
            open_type,
            data_type,
            way_type,
            words,
            entries,
            ways: HashMap::new(),
            targets: HashMap::new(),
            server_text: String::new(),
            checks_open: false,
            has_terminate: cx.flow.waits.iter().any(|w| w.has_terminate),
            fails: false,
            ceiling: ceiling::of_rendezvous(&cx),
        };
        plan.checks_open = cx.flow.waits.iter().any(|w| may_all_be_shut(w, cx.flow));
        plan.fails = plan.entries.iter().any(|e| e.fails);
        plan.name_ways(taken);
        Ok(plan)
    }

    fn name_ways(&mut self, taken: &mut HashSet<String>) {
        let mut known: HashMap<String, String> = HashMap::new();
        for entry in &self.entries {
            for &node in &entry.requeues {
                let text = without_index(&self.cx, node);
                let text = text.trim_end_matches(';');
                let key = Names::key(&text.split_whitespace().collect::<Vec<_>>().join(" "));
                let literal = known.entry(key.clone()).or_insert_with(|| {
                    let words: Vec<&str> = text
                        .split(|c: char| !c.is_alphanumeric() && c != '_')
                        .filter(|w| !["requeue", "with", ""].contains(&Names::key(w).as_str()))
                        .map(|w| {
                            if w.eq_ignore_ascii_case("abort") {
                                "Abortable"
                            } else {
                                w
                            }
                        })
                        .collect();
                    let name = self
                        .cx
                        .free_name(&[format!("To_{}", words.join("_"))], true, taken);
                    taken.insert(Names::key(&name));
                    name
                });
                self.ways.insert(node, literal.clone());
            }
        }
    }

    /// Whether the task calls an operation of one of its objects.
    pub fn is_called(&self, object: &str, operation: &str) -> bool {
        let call = format!("{object}.{operation}");
        let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let mut found = self.server_text.match_indices(&call);
        found.any(|(at, _)| {
            let (before, after) = (
                &self.server_text[..at],
                &self.server_text[at + call.len()..],
            );
            !before.ends_with(is_letter) && !after.starts_with(is_letter)
        })
    }

    /// Names the targets of requeue statements outside the task as they are called after
    /// translation.
    pub fn name_targets(&mut self, changes: &layout::Substitutions) {
        let tree = self.cx.tree();
        let nodes: Vec<NodeId> = self.ways.keys().copied().collect();
        for node in nodes {
            if let Some(name) = tree.role(node, "name") {
                let text = changes.apply(self.cx.source(), tree.range(name));
                self.targets.insert(node, text);
            }
        }
    }

    /// Whether every call of the object passes the caller's values in a record.
    pub fn has_data(&self) -> bool {
        self.form == Form::Merged && self.entries.iter().any(|e| !self.fields(e).is_empty())
    }

    /// Returns the parameters of an entry that have a component in the record.
    pub fn fields<'e>(&self, entry: &'e EntryPlan) -> Vec<&'e Parameter> {
        if entry.has_body {
            entry.parameters.iter().collect()
        } else {
            vec![]
        }
    }

    /// Whether the object is notified of the ends of rendezvous.
    pub fn has_ends(&self) -> bool {
        self.form == Form::Merged && self.entries.iter().any(|e| e.has_body)
    }

    /// Returns the entry of an accept statement.
    pub fn entry_of(&self, accept: NodeId) -> &EntryPlan {
        let site = self.cx.flow.sites.iter().find(|s| s.accept == accept);
        &self.entries[site.map_or(0, |s| s.entry)]
    }

    /// Returns the object as its own task calls it.
    pub fn gate_in_server(&self) -> String {
        if self.cx.task.is_type {
            format!("{}.{}", self.words.owner, self.words.gate_part)
        } else {
            self.gate.clone()
        }
    }

    /// Returns the object for an entry's rendezvous, as the gate and the task name it.
    pub fn rendezvous(&self, entry: &EntryPlan) -> String {
        if self.cx.task.is_type {
            format!("{}.{}", self.words.owner, entry.rendezvous)
        } else {
            entry.rendezvous.clone()
        }
    }

    /// Whether each entry's rendezvous have their own object.
    pub fn is_apart(&self) -> bool {
        self.form != Form::Merged
    }

    /// Returns the pragma for the ceiling, for objects' declarations.
    pub fn ceiling_pragma(&self) -> Option<String> {
        self.ceiling
            .map(|priority| format!("pragma Priority ({priority});"))
    }

    /// Returns the task's declaration, where the new declarations go.
    pub fn declaration(&self) -> At {
        self.cx.task.declaration
    }
}

/// Whether a name occurs anywhere in the program.
fn is_named(cx: &Context, name: &str) -> bool {
    let key = Names::key(name);
    (0..cx.program.sources.len()).any(|file| !cx.names.occurrences(file, &key).is_empty())
}

/// Whether all alternatives of a wait may be closed, so that Program_Error must be raised.
pub(super) fn may_all_be_shut(wait: &Wait, flow: &Flow) -> bool {
    wait.sites.iter().all(|&s| flow.sites[s].guard.is_some())
        && wait.otherwise.is_none()
        && wait.delay.is_none()
        && !wait.has_terminate
}

/// Whether a wait may have only its delay alternative open.
pub(super) fn can_only_elapse(wait: &Wait, flow: &Flow) -> bool {
    wait.delay.is_some() && wait.sites.iter().all(|&s| flow.sites[s].guard.is_some())
}

/// Returns a requeue statement's text without the index of the task's own family, which is passed
/// to the object separately.
fn without_index(cx: &Context, node: NodeId) -> String {
    let tree = cx.tree();
    let text = cx.text(node);
    let index = tree
        .role(node, "name")
        .filter(|_| own_target(cx, node).is_some())
        .and_then(|n| tree.child(n, "actual_parameter_part"));
    index.map_or(text.into(), |i| text.replace(cx.text(i), ""))
}
