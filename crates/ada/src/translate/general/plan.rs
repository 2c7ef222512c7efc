//! What the general scheme makes of a task: the names of its objects and operations, and which of them it needs.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::parameters::{self, Parameter};
use crate::flow::{Flow, Wait};
use crate::names::{At, EntityId, Names};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::translate::layout;
use crate::verdict::Reason;

/// How rendezvous are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As in figures 3 and 4 of the paper: an object for each entry's rendezvous, and a selector.
    Apart,
    /// One object a task: selector and rendezvous are one, and the end of a rendezvous is one with the next accept.
    Merged,
}

/// An entry on its way into a protected object.
#[derive(Debug, Clone)]
pub(super) struct EntryPlan {
    pub id: EntityId,
    pub name: String,
    /// The literal that stands for a call of it.
    pub literal: String,
    pub parameters: Vec<Parameter>,
    /// The formal part as it is written, with its parentheses.
    pub formals: Option<String>,
    /// The index of a family, as it is written.
    pub index: Option<String>,
    /// A subtype mark for the index of a family.
    pub index_mark: Option<String>,
    /// Whether some accept statement has a body, so that callers wait for its end.
    pub has_body: bool,
    /// The type of the object that its rendezvous go through, if it has one of its own; entries of one profile share it.
    pub rendezvous_type: String,
    /// That object: a variable, or a component beside the gate of a task type.
    pub rendezvous: String,
    /// Whether some accept's body can fail.
    pub fails: bool,
    /// Whether `'Count` is asked for.
    pub is_counted: bool,
    /// The requeue statements that leave its accepts.
    pub requeues: Vec<NodeId>,
}

impl EntryPlan {
    /// The private entry at which callers wait for the end of the accept.
    pub fn end(&self) -> String {
        format!("{}_End", self.name)
    }

    /// The component that keeps a parameter.
    pub fn field(&self, parameter: &Parameter) -> String {
        format!("{}_{}", self.name, parameter.name)
    }

    /// The procedure and the component for the member of a family that is accepted.
    pub fn member(&self) -> String {
        format!("{}_Member", self.name)
    }

    /// Whether callers must name their parameters again at the end.
    pub fn end_has_formals(&self) -> bool {
        !self.requeues.is_empty() || self.parameters.iter().any(|p| p.comes_out)
    }
}

/// The names of the operations and components of an object, free inside the task.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub accept_next: String,
    pub accept_now: String,
    pub accept_end: String,
    pub accept_failed: String,
    pub accept_requeue: String,
    pub close: String,
    pub at_rest: String,
    pub waiting: String,
    pub takes: String,
    pub take: String,
    pub release: String,
    pub finish: String,
    pub open: String,
    pub is_open: String,
    pub chosen: String,
    pub call: String,
    pub called: String,
    pub ended: String,
    pub closed: String,
    pub data: String,
    pub kept: String,
    pub way: String,
    pub failure: String,
    pub has_failed: String,
    pub occurrence: String,
    pub no_call: String,
    pub back: String,
    pub owner: String,
    pub gate_part: String,
    pub server_part: String,
    pub member: String,
}

/// What a task becomes.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub cx: Context<'a>,
    pub form: Form,
    /// The protected object (of a task type: the protected type) that is called in the task's stead.
    pub gate: String,
    /// The task that accepts.
    pub server: String,
    /// The enumeration of calls, the type of a set of them, the record of parameters, the enumeration of requeue targets.
    pub call_type: String,
    pub open_type: String,
    pub data_type: String,
    pub way_type: String,
    pub words: Words,
    pub entries: Vec<EntryPlan>,
    /// By requeue statement, the literal of its target.
    pub ways: HashMap<NodeId, String>,
    /// What the task's body says after its accepts were rewritten: operations that it does not call are left out.
    pub server_text: String,
    /// By requeue statement, the name of a target outside the task.
    pub targets: HashMap<NodeId, String>,
    /// Whether a select can find all its alternatives closed (RM 9.7.1 (21)).
    pub checks_open: bool,
    pub has_terminate: bool,
    /// Whether an accept body can fail.
    pub fails: bool,
    pub step: String,
}

impl<'a> Plan<'a> {
    /// Plans a task; `taken` are names that other translations declare.
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
        let mut reasons = Vec::new();
        let mut entries = Vec::new();
        for entry in &cx.task.entries {
            let literal = outside(format!("{}_Call", entry.name));
            match entry_plan(&cx, entry, literal) {
                Ok(mut plan) => {
                    if form == Form::Apart {
                        plan.rendezvous_type = shared_type(&entries, &plan).unwrap_or_else(|| {
                            outside(format!("{name}_{}_Rendezvous", entry.name))
                        });
                        plan.rendezvous = outside(format!("{name}_{}", entry.name));
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
                let text = self.cx.text(node).trim_end_matches(';');
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
        let mut rest = self.server_text.match_indices(&call);
        rest.any(|(at, _)| {
            !self.server_text[at + call.len()..]
                .starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    }

    /// Names the targets of requeue statements outside the task, as they are called after translation.
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

    /// Whether the caller's values travel in a record with every call of the object.
    pub fn has_data(&self) -> bool {
        self.form == Form::Merged && self.entries.iter().any(|e| !self.fields(e).is_empty())
    }

    /// The parameters of an entry that have a component in the record.
    pub fn fields<'e>(&self, entry: &'e EntryPlan) -> Vec<&'e Parameter> {
        if entry.has_body {
            entry.parameters.iter().collect()
        } else {
            vec![]
        }
    }

    /// Whether rendezvous have an end that the object is told of.
    pub fn has_ends(&self) -> bool {
        self.form == Form::Merged && self.entries.iter().any(|e| e.has_body)
    }

    /// The entry of an accept statement.
    pub fn entry_of(&self, accept: NodeId) -> &EntryPlan {
        let site = self.cx.flow.sites.iter().find(|s| s.accept == accept);
        &self.entries[site.map_or(0, |s| s.entry)]
    }

    /// The object as its own task calls it.
    pub fn gate_in_server(&self) -> String {
        if self.cx.task.is_type {
            format!("{}.{}", self.words.owner, self.words.gate_part)
        } else {
            self.gate.clone()
        }
    }

    /// The object that an entry's rendezvous go through, as the gate and the task name it.
    pub fn rendezvous(&self, entry: &EntryPlan) -> String {
        if self.cx.task.is_type {
            format!("{}.{}", self.words.owner, entry.rendezvous)
        } else {
            entry.rendezvous.clone()
        }
    }

    /// Where the task is declared, and what is written there.
    pub fn declaration(&self) -> At {
        self.cx.task.declaration
    }
}

/// Whether all alternatives of a wait may be closed, so that Program_Error must be raised.
pub(super) fn may_all_be_shut(wait: &Wait, flow: &Flow) -> bool {
    wait.sites.iter().all(|&s| flow.sites[s].guard.is_some())
        && wait.otherwise.is_none()
        && wait.delay.is_none()
        && !wait.has_terminate
}

/// Whether a wait may have nothing open but its delay alternative.
pub(super) fn can_only_elapse(wait: &Wait, flow: &Flow) -> bool {
    wait.delay.is_some() && wait.sites.iter().all(|&s| flow.sites[s].guard.is_some())
}

/// Whether the accept statement has a body that may raise an exception.
pub(super) fn can_fail(cx: &Context, accept: NodeId) -> bool {
    let tree = cx.tree();
    let Some(handled) = tree.child(accept, "handled_sequence_of_statements") else {
        return false;
    };
    tree.walk(handled).any(|n| match tree.kind(n) {
        "assignment_statement" => !is_plain_copy(cx, n),
        "null_statement" | "pragma_g" => false,
        kind => {
            kind.ends_with("_statement") || kind == "timed_entry_call" || kind == "selective_accept"
        }
    })
}

/// Whether an assignment copies between names that were declared with the same subtype.
fn is_plain_copy(cx: &Context, node: NodeId) -> bool {
    let tree = cx.tree();
    let name = |n: NodeId| {
        let text = cx.text(n).trim();
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| tree.walk(n).find(|&i| tree.kind(i) == "identifier"))?
    };
    let mark = |n: NodeId| {
        let id = cx.names.meaning(cx.program, cx.at(n))?;
        let at = cx.names.entity(id).at;
        let source = source_of(cx.program, at);
        let mark = source.tree.role(at.node, "subtype_mark")?;
        Some(Names::key(source.text(mark)))
    };
    let target = tree
        .role(node, "variable_name")
        .and_then(name)
        .and_then(mark);
    let value = tree.child(node, "expression").and_then(name).and_then(mark);
    target.is_some() && target == value
}

/// The type of an earlier entry with the same profile; who is requeued needs a type of its own.
fn shared_type(known: &[EntryPlan], entry: &EntryPlan) -> Option<String> {
    let is_like = |other: &&EntryPlan| {
        other.requeues.is_empty()
            && entry.requeues.is_empty()
            && other.fails == entry.fails
            && other.parameters == entry.parameters
            && other.formals == entry.formals
    };
    known
        .iter()
        .find(is_like)
        .map(|e| e.rendezvous_type.clone())
}

fn entry_plan(
    cx: &Context,
    entry: &crate::model::Entry,
    literal: String,
) -> Result<EntryPlan, Reason> {
    let at = cx.names.entity(entry.id).at;
    let source = source_of(cx.program, at);
    let tree = cx.tree();
    let sites = cx.flow.sites.iter();
    let accepts: BTreeSet<NodeId> = sites
        .filter(|s| cx.task.entries[s.entry].id == entry.id)
        .map(|s| s.accept)
        .collect();
    let requeues = accepts
        .iter()
        .flat_map(|&a| crate::translate::machine::leaving(cx.source(), a, "requeue_statement"))
        .collect();
    let index_mark = match entry.index {
        Some(index) if source.tree.kind(index) == "range_g" => {
            Some(range_mark(cx, At { node: index, ..at })?)
        }
        Some(index) => Some(source.text(index).to_string()),
        None => None,
    };
    Ok(EntryPlan {
        id: entry.id,
        name: entry.name.clone(),
        literal,
        parameters: parameters::of_entry(cx, entry.id)?,
        formals: entry.formals.map(|f| source.text(f).to_string()),
        index: entry.index.map(|i| source.text(i).to_string()),
        index_mark,
        has_body: accepts
            .iter()
            .any(|&a| tree.child(a, "handled_sequence_of_statements").is_some()),
        rendezvous_type: String::new(),
        rendezvous: String::new(),
        fails: accepts.iter().any(|&a| can_fail(cx, a)),
        is_counted: counts(cx, entry.id).next().is_some(),
        requeues,
    })
}

/// A subtype mark for a range: that of the type before `range`, or Integer for a range of literals.
fn range_mark(cx: &Context, range: At) -> Result<String, Reason> {
    let source = source_of(cx.program, range);
    let is_numeric = source
        .text(range.node)
        .split("..")
        .all(|b| b.trim().replace('_', "").parse::<i64>().is_ok());
    if is_numeric {
        return Ok("Integer".into());
    }
    Err(Reason {
        rule: crate::verdict::Rule::Parameter,
        at: range,
        text: "the index of the family has a range without a name".into(),
        mend: "declare a subtype for the index".into(),
    })
}

/// The uses of an entry in `E'Count`, inside the task's body: the prefix.
pub(super) fn counts<'c>(cx: &'c Context, entry: EntityId) -> impl Iterator<Item = NodeId> + 'c {
    let tree = cx.tree();
    cx.names
        .uses_of(entry)
        .iter()
        .filter(|at| at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node))
        .filter_map(move |at| {
            let mut prefix = at.node;
            while let Some(above) = tree.parent(prefix).filter(|&p| {
                (tree.kind(p) == "selected_component" && tree.field(prefix) == "selector_name")
                    || (tree.kind(p) == "function_call" && tree.field(prefix) == "name")
            }) {
                prefix = above;
            }
            let designator = tree
                .next(prefix)
                .filter(|&n| tree.kind(n) == "tick")
                .and_then(|t| tree.next(t));
            designator
                .is_some_and(|d| cx.text(d).eq_ignore_ascii_case("count"))
                .then_some(prefix)
        })
}

fn words(cx: &Context, entries: &[EntryPlan], (no_call, back): (String, String)) -> Words {
    let mut taken: HashSet<String> = entries
        .iter()
        .flat_map(|e| {
            let fields = e.parameters.iter().map(|p| e.field(p));
            [e.end(), e.member(), format!("{}_Count", e.name)]
                .into_iter()
                .chain(fields)
                .collect::<Vec<_>>()
        })
        .map(|n| Names::key(&n))
        .collect();
    let mut free = |wanted: &[&str]| {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        let name = cx.free_name(&wanted, false, &taken);
        taken.insert(Names::key(&name));
        name
    };
    Words {
        accept_next: free(&["Accept_Next", "Accept_Next_Call"]),
        accept_now: free(&["Accept_Now", "Accept_Call_Now"]),
        accept_end: free(&["Accept_End", "Accept_Call_End"]),
        accept_failed: free(&["Accept_Failed", "Accept_Call_Failed"]),
        accept_requeue: free(&["Accept_Requeue", "Accept_Call_Requeue"]),
        close: free(&["Close", "Close_Entries"]),
        at_rest: free(&["At_Rest", "Is_At_Rest"]),
        waiting: free(&["Waiting", "Waiting_For_Call"]),
        takes: free(&["Takes", "Takes_Call"]),
        take: free(&["Take", "Take_Call"]),
        release: free(&["Release", "Release_Caller"]),
        finish: free(&["Finish", "Finish_Call"]),
        open: free(&["Open", "Open_Entries"]),
        is_open: free(&["Is_Open", "Is_Entry_Open"]),
        call: free(&["Call", "Which_Call"]),
        chosen: free(&["Chosen", "Chosen_Call"]),
        called: free(&["Called", "Last_Called"]),
        ended: free(&["Ended", "Ended_Call"]),
        closed: free(&["Closed", "Is_Closed"]),
        data: free(&["Data", "Call_Data"]),
        kept: free(&["Kept", "Kept_Data"]),
        way: free(&["Way", "Way_On"]),
        failure: free(&["Failure", "Call_Failure"]),
        has_failed: free(&["Has_Failed", "Call_Has_Failed"]),
        occurrence: free(&["Occurrence", "Failing"]),
        owner: free(&["Self", "Owner"]),
        gate_part: free(&["Gate", "Calls"]),
        server_part: free(&["Server", "Worker"]),
        member: free(&["Member", "Of_Member"]),
        no_call,
        back,
    }
}
