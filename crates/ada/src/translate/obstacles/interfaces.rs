//! Interfaces of the task, and whether a protected type can implement them too (RM 3.9.4 (14), 9.4 (11.9)).

use super::Found;
use crate::names::{At, EntityId, Kind, Names};
use crate::translate::context::Context;
use crate::verdict::{Reason, Rule};

impl Found {
    /// Looks at each interface that the declaration names.
    pub(super) fn interfaces(&mut self, cx: &Context) {
        let declaration = cx.task.declaration;
        let tree = &cx.program.sources[declaration.file].tree;
        let Some(new) = tree.child(declaration.node, "new") else {
            return;
        };
        let named = tree
            .children(declaration.node)
            .skip_while(|&n| n != new)
            .take_while(|&n| tree.kind(n) != "with")
            .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"));
        for node in named {
            let at = At {
                node,
                ..declaration
            };
            let Some((text, mend)) = against(cx, at) else {
                continue;
            };
            self.reasons.push(Reason {
                rule: Rule::Interface,
                at,
                text,
                mend: mend.into(),
            });
        }
    }
}

/// Why a protected type cannot implement the interface of this name, and what to change.
fn against(cx: &Context, name: At) -> Option<(String, &'static str)> {
    let written = cx.program.sources[name.file].text(name.node);
    let mut open = vec![name];
    let mut seen: Vec<EntityId> = Vec::new();
    while let Some(at) = open.pop() {
        let Some(id) = cx.names.meaning(cx.program, at) else {
            let text = format!(
                "interface {written} was not given: it may be one that only tasks can implement"
            );
            return Some((text, "give its source too"));
        };
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let entity = cx.names.entity(id);
        let tree = &cx.program.sources[entity.at.file].tree;
        let Some(definition) = tree.child(entity.at.node, "interface_type_definition") else {
            continue;
        };
        if tree.child(definition, "task").is_some() {
            let text = format!("{} is an interface that only tasks implement", entity.name);
            return Some((
                text,
                "make it a synchronized interface, if no task needs it",
            ));
        }
        if let Some(operation) = unchanging(cx, id) {
            let text = format!(
                "{operation} does not change its {}, and an entry of a protected type can only implement what may",
                entity.name
            );
            return Some((text, "give its first parameter the mode in out"));
        }
        let parents = tree
            .children(definition)
            .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"));
        open.extend(parents.map(|node| At { node, ..entity.at }));
    }
    None
}

/// A procedure of an interface that an entry of the task implements, and whose first parameter is of mode `in`.
fn unchanging<'a>(cx: &Context<'a>, interface: EntityId) -> Option<&'a str> {
    let is_entry = |name: &str| {
        let mut entries = cx.task.entries.iter();
        entries.any(|e| Names::key(&e.name) == Names::key(name))
    };
    let mut procedures = cx
        .names
        .all()
        .filter(|(_, e)| e.kind == Kind::Subprogram && is_entry(&e.name));
    procedures.find_map(|(_, procedure)| {
        let tree = &cx.program.sources[procedure.at.file].tree;
        let first = tree
            .walk(procedure.at.node)
            .find(|&n| tree.kind(n) == "parameter_specification")?;
        let mark = tree.role(first, "subtype_mark")?;
        let node = mark;
        let meant = cx.names.meaning(
            cx.program,
            At {
                node,
                ..procedure.at
            },
        );
        let may_change = tree
            .child(first, "non_empty_mode")
            .is_some_and(|m| tree.child(m, "out").is_some());
        (meant == Some(interface) && !may_change).then_some(procedure.name.as_str())
    })
}
