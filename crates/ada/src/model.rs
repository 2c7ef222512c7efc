//! The tasking model of a program: its tasks, their entries, and how other code uses them.

use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::source::Program;
use crate::syntax::NodeId;

/// An entry of a task.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its declaration.
    pub id: EntityId,
    /// The name as declared.
    pub name: String,
    /// The index subtype of a family.
    pub index: Option<NodeId>,
    /// The formal part of the declaration.
    pub formals: Option<NodeId>,
}

/// A task whose body was given.
#[derive(Debug, Clone)]
pub struct Task {
    /// The task type or single task.
    pub id: EntityId,
    /// The name as declared.
    pub name: String,
    /// Whether it is a type.
    pub is_type: bool,
    /// The declaration (`single_task_declaration` or `task_type_declaration`).
    pub declaration: At,
    /// The body (`task_body`).
    pub body: At,
    /// The entries, in order of declaration.
    pub entries: Vec<Entry>,
}

/// A use of a task that only a task allows.
#[derive(Debug, Clone)]
pub struct TaskUse {
    /// The place.
    pub at: At,
    /// The use: `abort`, `'Terminated` and the like.
    pub what: String,
}

/// A place where a name that may denote a task is used in a way that only tasks allow.
#[derive(Debug, Clone)]
pub struct Suspect {
    /// The place.
    pub at: At,
    /// The names that may denote a task.
    pub prefixes: Vec<At>,
    /// The tasks and protected objects that its names denote, contain or designate.
    pub meant: Vec<EntityId>,
    /// Whether a name is of an unknown type, which may be a task's.
    pub is_unknown: bool,
    /// `abort`, `'Terminated` and the like.
    pub what: String,
    /// Whether only tasks allow this use.
    pub is_task_only: bool,
}

/// Returns all abort statements, and all uses of attributes that tasks have or that give an
/// address.
pub fn suspects(program: &Program, names: &Names) -> Vec<Suspect> {
    let mut found = Vec::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        for node in tree.walk(tree.root()) {
            let at = At { file, node };
            match tree.kind(node) {
                "attribute_designator"
                    if tree
                        .ancestor(node, &["attribute_definition_clause"])
                        .is_none() =>
                {
                    let word = Names::key(source.text(node));
                    let is_task_only =
                        matches!(word.as_str(), "terminated" | "callable" | "identity");
                    if is_task_only
                        || matches!(word.as_str(), "unchecked_access" | "access" | "address")
                    {
                        let prefix = tree.previous(node).and_then(|tick| tree.previous(tick));
                        let prefixes = prefix.map(|node| At { file, node });
                        let what = format!("'{}", source.text(node));
                        found.push(Suspect::of(
                            program,
                            names,
                            at,
                            prefixes,
                            what,
                            is_task_only,
                        ));
                    }
                }
                "abort_statement" => {
                    let named = tree
                        .children(node)
                        .filter(|&n| !matches!(tree.kind(n), "abort" | "," | ";"));
                    let prefixes = named.map(|node| At { file, node });
                    found.push(Suspect::of(
                        program,
                        names,
                        at,
                        prefixes,
                        "abort".into(),
                        true,
                    ));
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the tasks of a program whose declaration and body were both given, in order of their
/// bodies.
pub fn tasks(program: &Program, names: &Names) -> Vec<Task> {
    let mut found = Vec::new();
    for (id, entity) in names.all() {
        let is_type = match entity.kind {
            Kind::TaskType => true,
            Kind::SingleTask => false,
            _ => continue,
        };
        let (Some(body), Some(inner)) = (entity.body, entity.inner) else {
            continue;
        };
        let entries = names
            .scope(inner)
            .entities
            .iter()
            .filter(|&&e| names.entity(e).kind == Kind::Entry);
        let entries = entries.map(|&e| entry(program, names, e)).collect();
        found.push(Task {
            id,
            name: entity.name.clone(),
            is_type,
            declaration: entity.at,
            body,
            entries,
        });
    }
    found.sort_by_key(|t| t.body);
    found
}

/// Returns the task bodies whose declarations were not given.
pub fn orphans(program: &Program, names: &Names) -> Vec<At> {
    let mut found = Vec::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        let bodies = tree.walk(tree.root()).map(|node| At { file, node });
        found.extend(
            bodies.filter(|&at| {
                tree.kind(at.node) == "task_body" && names.completed_by(at).is_none()
            }),
        );
    }
    found
}

/// Returns an entry from its declaration.
pub(crate) fn entry(program: &Program, names: &Names, id: EntityId) -> Entry {
    let entity = names.entity(id);
    let tree = &program.sources[entity.at.file].tree;
    let formals = tree.child(entity.at.node, "formal_part");
    let ident = tree.role(entity.at.node, "entry_name");
    // The family's index is between the first parentheses; it is no formal part.
    let index = tree.children(entity.at.node).find(|&n| {
        Some(n) != ident && (tree.field(n) == "subtype_mark" || tree.kind(n) == "range_g")
    });
    Entry {
        id,
        name: entity.name.clone(),
        index,
        formals,
    }
}

impl Task {
    /// Returns the entry that an accept statement of this task accepts.
    pub fn accepted(&self, program: &Program, names: &Names, accept: NodeId) -> Option<usize> {
        let tree = &program.sources[self.body.file].tree;
        let name = tree.role(accept, "entry_direct_name")?;
        let id = names.meaning(
            program,
            At {
                file: self.body.file,
                node: name,
            },
        )?;
        self.entries.iter().position(|e| e.id == id)
    }

    /// Returns the uses of the task as a task: abort, attributes of tasks, and a single task passed
    /// as a value.
    ///
    /// For a task type, an attribute or abort with a prefix of unknown type also counts: the prefix
    /// may be one of its objects.
    pub fn uses_as_task(
        &self,
        program: &Program,
        names: &Names,
        suspects: &[Suspect],
    ) -> Vec<TaskUse> {
        let mut found = Vec::new();
        for suspect in suspects {
            let is_meant = suspect.meant.contains(&self.id);
            let may_be = suspect.is_unknown && suspect.is_task_only && self.is_type;
            if (is_meant || may_be) && (suspect.is_task_only || !self.is_type) {
                found.push(TaskUse {
                    at: suspect.at,
                    what: suspect.what.clone(),
                });
            }
        }
        if !self.is_type {
            found.extend(self.uses_as_value(program, names));
        }
        found
    }

    /// Returns uses of a single task that are neither a prefix nor the name of its own body.
    fn uses_as_value(&self, program: &Program, names: &Names) -> Vec<TaskUse> {
        let mut found = Vec::new();
        for &at in names.uses_of(self.id) {
            let tree = &program.sources[at.file].tree;
            let Some(parent) = tree.parent(at.node) else {
                continue;
            };
            let is_prefix =
                tree.kind(parent) == "selected_component" && tree.field(at.node) == "prefix";
            let is_named = matches!(
                tree.kind(parent),
                "task_body"
                    | "task_body_stub"
                    | "task_definition"
                    | "attribute_definition_clause"
                    | "abort_statement"
            );
            let mut outer = at.node;
            let mut above = parent;
            if tree.kind(parent) == "selected_component" && tree.field(at.node) == "selector_name" {
                outer = parent;
                above = tree.parent(parent).unwrap_or(parent);
            }
            let is_prefix = is_prefix
                || (tree.kind(above) == "selected_component" && tree.field(outer) == "prefix");
            let is_attribute = tree.next(outer).is_some_and(|n| tree.kind(n) == "tick");
            if !is_prefix && !is_named && !is_attribute && tree.kind(above) != "abort_statement" {
                found.push(TaskUse {
                    at,
                    what: "the task as a value".into(),
                });
            }
        }
        found
    }
}

impl Suspect {
    fn of(
        program: &Program,
        names: &Names,
        at: At,
        prefixes: impl IntoIterator<Item = At>,
        what: String,
        is_task_only: bool,
    ) -> Suspect {
        let mut suspect = Suspect {
            at,
            prefixes: vec![],
            meant: vec![],
            is_unknown: false,
            what,
            is_task_only,
        };
        for prefix in prefixes {
            suspect.prefixes.push(prefix);
            // An indexed component begins with the name of its array.
            let tree = &program.sources[prefix.file].tree;
            let is_name = matches!(tree.kind(prefix.node), "identifier" | "selected_component");
            let direct = names.meaning(program, prefix).filter(|_| is_name);
            let known = match direct {
                Some(e) => names.type_of(program, e),
                None => names.expression_type(program, prefix),
            };
            suspect.meant.extend(direct);
            suspect.is_unknown |= known == Ty::Unknown && direct.is_none();
            let designated = names.designated(program, known);
            suspect.meant.extend(names.concurrent(program, known));
            suspect.meant.extend(names.concurrent(program, designated));
        }
        suspect
    }
}
