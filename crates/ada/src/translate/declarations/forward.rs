//! Declarations that follow the task's, or are in the body of its package, and that the components
//! need. They are moved before the task.

use super::{Moved, is_external_clear};
use crate::edit::Edit;
use crate::names::{At, EntityId, Names, ScopeId};
use crate::source::Source;
use crate::syntax::{NodeId, Tree};
use crate::translate::context::Context;
use crate::translate::{layout, visibility};

/// Kinds of regions' parts with declarations side by side.
const PARTS: [&str; 2] = ["non_empty_declarative_part", "package_declaration"];

impl Moved {
    /// Moves an entity's declaration before the task's. Returns false if it must stay.
    pub(super) fn bring(&mut self, cx: &Context, id: EntityId) -> bool {
        let at = cx.names.entity(id).ident;
        let tree = &cx.program.sources[at.file].tree;
        let Some(node) = item(tree, at.node) else {
            return false;
        };
        let item = At { node, ..at };
        if self.brought.contains(&item) {
            return true;
        }
        let Some(place) = Place::of(cx).filter(|p| p.is_beside(cx, id)) else {
            return false;
        };
        if !can_stand_alone(cx, item)
            || !is_only_declaration(cx, item)
            || hides_another(cx, item, &place)
        {
            return false;
        }
        let crosses = place.part != part(tree, node);
        if crosses && is_known_elsewhere(cx, item) {
            return false;
        }
        for (ident, e) in cx.meanings(item) {
            let own = cx.names.entity(e).ident;
            if own.file == item.file && tree.is_within(own.node, node) {
                continue;
            }
            let is_there = own.file == place.at.file
                && cx.program.sources[own.file].tree.start(own.node) < place.byte
                || own.file != place.at.file && visibility::is_shown(cx, e);
            if is_there || self.bring(cx, e) {
                continue;
            }
            // An instance may need operators too, which an expanded name does not show (RM 12.6
            // (10)).
            let is_instance = tree.kind(node) == "generic_instantiation";
            if is_instance || !self.name_unit(cx, item, ident, e) {
                return false;
            }
        }
        if item.file != place.at.file && !is_external_clear(self, cx, item.node) {
            return false;
        }
        let source = &cx.program.sources[item.file];
        let Some(range) = whole_lines(source, node) else {
            return false;
        };
        let lines = layout::lines_of(source, node, &self.changes);
        let indent = cx.program.sources[place.at.file].indent(place.start);
        self.edits.push(Edit {
            file: place.at.file,
            range: place.byte..place.byte,
            text: layout::indented(&lines, indent) + "\n",
        });
        self.edits.push(Edit {
            file: item.file,
            range,
            text: String::new(),
        });
        self.brought.insert(item);
        true
    }
}

/// The place before the first task of the region, where declarations are visible to all tasks of
/// the region.
struct Place {
    at: At,
    /// The first byte of the task's declaration.
    start: usize,
    /// The first byte of its line, or of the comments above it.
    byte: usize,
    /// The visible or private part, or the declarative part, given by its first declaration.
    part: Option<NodeId>,
    scope: ScopeId,
}

impl Place {
    fn of(cx: &Context) -> Option<Place> {
        let declaration = cx.task.declaration;
        let source = &cx.program.sources[declaration.file];
        let tree = &source.tree;
        let own = item(tree, declaration.node)?;
        let is_task = |n: NodeId| {
            tree.kind(n) == "task_type_declaration"
                || tree.child(n, "task_type_declaration").is_some()
                || tree.child(n, "single_task_declaration").is_some()
        };
        let own_part = part(tree, own);
        let first = tree
            .children(tree.parent(own)?)
            .find(|&n| is_task(n) && part(tree, n) == own_part)?;
        let start = tree.start(first);
        let line = source.line_start(start);
        if !source.text[line..start].trim().is_empty() {
            return None;
        }
        let byte = (0..layout::comments_above(source, start).len())
            .fold(line, |byte, _| source.line_start(byte - 1));
        Some(Place {
            at: declaration,
            start,
            byte,
            part: own_part,
            scope: cx.names.entity(cx.task.id).scope,
        })
    }

    /// Whether an entity is declared in the same region (RM 8.1), including a package's body.
    fn is_beside(&self, cx: &Context, id: EntityId) -> bool {
        let scope = cx.names.entity(id).scope;
        scope == self.scope || cx.names.scope(scope).completes == Some(self.scope)
    }
}

/// Returns the declaration to which an entity belongs, as one of a region's items.
fn item(tree: &Tree, node: NodeId) -> Option<NodeId> {
    let mut item = node;
    loop {
        let parent = tree.parent(item)?;
        if PARTS.contains(&tree.kind(parent)) {
            return Some(item);
        }
        item = parent;
    }
}

/// Returns a node that identifies the part of a region: the word `private`, if it precedes an item,
/// or the declarative part.
fn part(tree: &Tree, item: NodeId) -> Option<NodeId> {
    let parent = tree.parent(item)?;
    let word = tree
        .children(parent)
        .take_while(|&n| n != item)
        .find(|&n| tree.kind(n) == "private");
    word.or(Some(parent))
}

/// Whether a declaration needs no body and has no effect at elaboration.
fn can_stand_alone(cx: &Context, item: At) -> bool {
    let tree = &cx.program.sources[item.file].tree;
    match tree.kind(item.node) {
        "subtype_declaration" | "number_declaration" => true,
        "full_type_declaration" => {
            let has = |kind| tree.child(item.node, kind).is_some();
            // The primitive operations of a tagged type are declared with it (RM 3.2.3 (6)).
            let is_tagged = tree.walk(item.node).any(|n| {
                matches!(
                    tree.kind(n),
                    "tagged" | "interface_type_definition" | "record_extension_part"
                )
            });
            !has("task_type_declaration") && !has("protected_type_declaration") && !is_tagged
        }
        "object_declaration" => {
            let value = tree.child(item.node, "expression");
            tree.child(item.node, "constant").is_some()
                && item.file == cx.task.body.file
                && value.is_some_and(|v| cx.is_constant(v))
        }
        // An instance of a language-defined generic.
        "generic_instantiation" => tree
            .role(item.node, "generic_name")
            .is_some_and(|node| names_language(cx, At { node, ..item })),
        _ => false,
    }
}

fn names_language(cx: &Context, name: At) -> bool {
    let text = Names::key(cx.program.sources[name.file].text(name.node));
    cx.names.meaning(cx.program, name).is_none() && text.starts_with("ada.")
}

/// Whether a declaration has no completion, completes nothing, and has no representation clause.
fn is_only_declaration(cx: &Context, item: At) -> bool {
    declared(cx, item).into_iter().all(|id| {
        let entity = cx.names.entity(id);
        let is_alone = cx.names.first_declaration(id) == id && entity.body.is_none();
        is_alone
            && cx.names.uses_of(id).iter().all(|at| {
                let tree = &cx.program.sources[at.file].tree;
                let clause = tree.parent(at.node).map_or("", |p| tree.kind(p));
                !(clause.ends_with("_clause") && tree.field(at.node) == "local_name")
                    && tree.ancestor(at.node, &["pragma_g"]).is_none()
            })
    })
}

/// Returns the entities that an item declares in its region.
fn declared(cx: &Context, item: At) -> Vec<EntityId> {
    let tree = &cx.program.sources[item.file].tree;
    let all: Vec<EntityId> = tree
        .walk(item.node)
        .filter(|&n| tree.kind(n) == "identifier")
        .filter_map(|node| cx.names.declared_by(At { node, ..item }))
        .collect();
    let region = all.first().map(|&id| cx.names.entity(id).scope);
    let is_own = |id: &EntityId| Some(cx.names.entity(*id).scope) == region;
    all.into_iter().filter(is_own).collect()
}

/// Whether a name of an item has another meaning between its new place and its old one, which the
/// item would hide.
fn hides_another(cx: &Context, item: At, place: &Place) -> bool {
    let old = cx.program.sources[item.file].tree.start(item.node);
    declared(cx, item).into_iter().any(|id| {
        let key = Names::key(&cx.names.entity(id).name);
        [place.at.file, item.file].into_iter().any(|file| {
            let tree = &cx.program.sources[file].tree;
            cx.names.occurrences(file, &key).iter().any(|&node| {
                let start = tree.start(node);
                let is_between = (file != place.at.file || start >= place.byte)
                    && (file != item.file || start < old);
                let at = At { file, node };
                let own = cx
                    .names
                    .declared_by(at)
                    .or(cx.names.meaning(cx.program, at));
                is_between && own != Some(id) && tree.field(node) != "selector_name"
            })
        })
    })
}

/// Whether other files use the names of an item, which would become visible there.
fn is_known_elsewhere(cx: &Context, item: At) -> bool {
    declared(cx, item).into_iter().any(|id| {
        let key = Names::key(&cx.names.entity(id).name);
        let mut others = cx.names.files_with(&key).iter();
        others.any(|&f| f != item.file && f != cx.task.declaration.file)
    })
}

/// Returns the lines of a declaration and of the comments above it; none if the lines contain other
/// text.
pub(super) fn whole_lines(source: &Source, node: NodeId) -> Option<std::ops::Range<usize>> {
    let (start, end) = (source.tree.start(node), source.tree.end(node));
    let line = source.line_start(start);
    let rest = source.text[end..source.line_end(end)].trim();
    let is_alone =
        source.text[line..start].trim().is_empty() && (rest.is_empty() || rest.starts_with("--"));
    if !is_alone {
        return None;
    }
    let first = (0..layout::comments_above(source, start).len())
        .fold(line, |byte, _| source.line_start(byte - 1));
    Some(first..source.line_end(end))
}
