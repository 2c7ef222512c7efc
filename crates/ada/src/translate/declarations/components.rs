//! Variables of the task body become components of the object.

use std::collections::HashSet;

use super::{Moved, entities, first_word, is_own_discriminant, uses_component};
use crate::names::{At, EntityId, Names, Ty};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::translate::{layout, visibility};

impl Moved {
    /// Whether an object is controlled. It is finalized when its task ends, but as a component it
    /// would be finalized with the protected object.
    pub(super) fn is_controlled(&self, cx: &Context, item: NodeId) -> bool {
        let tree = cx.tree();
        let Some(mark) = tree.role(item, "subtype_mark") else {
            return false;
        };
        let mut open: Vec<EntityId> = cx
            .names
            .meaning(cx.program, cx.at(mark))
            .into_iter()
            .collect();
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let at = cx.names.first_declaration(id);
            for at in [cx.names.entity(id).at, cx.names.entity(at).at] {
                let source = source_of(cx.program, at);
                for node in source
                    .tree
                    .walk(at.node)
                    .filter(|&n| source.tree.field(n) == "subtype_mark")
                {
                    let word = Names::key(source.text(node));
                    if matches!(
                        word.rsplit('.').next(),
                        Some("controlled" | "limited_controlled")
                    ) {
                        return true;
                    }
                    open.extend(cx.names.meaning(cx.program, At { node, ..at }));
                }
            }
        }
        false
    }

    pub(super) fn component(&mut self, cx: &Context, item: NodeId) {
        let (tree, source) = (cx.tree(), cx.source());
        if self.is_controlled(cx, item) {
            let text = format!(
                "`{}` is controlled: it would be finalized with the object, not when the server completes",
                first_word(cx, item)
            );
            return self.refuse(cx, item, text, "finalize it explicitly, in an accept");
        }
        let value = tree.child(item, "expression");
        let bounds = tree.children(item).filter(|&n| Some(n) != value);
        if bounds
            .into_iter()
            .any(|n| uses_component(cx, n) && tree.field(n) != "name")
        {
            let text = format!(
                "the subtype of `{}` depends on a variable of the task, and a component must not depend on another",
                first_word(cx, item)
            );
            return self.refuse(cx, item, text, "make that variable a constant");
        }
        let ids = entities(cx, item);
        for &id in &ids {
            self.taken.insert(Names::key(&cx.names.entity(id).name));
        }
        let init = tree.child(item, "expression");
        let array = tree.child(item, "array_type_definition");
        let is_folded = ids.iter().any(|e| self.folded.contains_key(e));
        let is_default = init.is_none_or(|e| {
            cx.is_constant(e)
                && !uses_component(cx, e)
                && (self.shown.contains(&item) || visibility::is_all_shown(cx, e))
        });
        let is_constant = tree.child(item, "constant").is_some();
        if array.is_none() && is_default && !is_folded && !is_constant && self.is_definite(cx, item)
        {
            self.components
                .push(layout::lines_of(source, item, &self.changes));
            return;
        }
        let subtype = match array {
            Some(definition) => match self.array_type(cx, &ids, definition) {
                Some(name) => name,
                None => return,
            },
            None if self.is_definite(cx, item) => self.subtype_text(cx, item),
            None => match init
                .filter(|_| is_default)
                .and_then(|e| string_length(cx, e))
            {
                Some(length) => format!("{} (1 .. {length})", self.subtype_text(cx, item)),
                None => {
                    let text = format!(
                        "`{}` has no constraint of its own, and a component needs one",
                        first_word(cx, item)
                    );
                    return self.refuse(cx, item, text, "give the variable an explicit constraint");
                }
            },
        };
        let mut lines = layout::comments_above(source, tree.start(item));
        let value = init.map(|e| self.changes.apply(source, tree.range(e)).trim().to_string());
        for (position, id) in ids.iter().enumerate() {
            // A variable that only receives its first value needs no component.
            if self.folded.contains_key(id) && cx.names.uses_of(*id).len() == 1 {
                continue;
            }
            let name = cx.names.entity(*id).name.clone();
            let default = match (self.folded.get(id), &value) {
                (Some(folded), _) => Some(folded.clone()),
                (None, Some(value)) if is_default => Some(value.clone()),
                (None, Some(value)) => {
                    self.start.push(format!("{name} := {value};"));
                    None
                }
                _ => None,
            };
            let default = default.map_or(String::new(), |d| format!(" := {d}"));
            let comment = if position + 1 == ids.len() {
                layout::comment_behind(source, tree.end(item))
            } else {
                None
            };
            let comment = comment.map_or(String::new(), |c| format!("  {c}"));
            let text = format!("{name} : {subtype}{default};{comment}");
            lines.extend(layout::dedent(&text, source.indent(tree.start(item))));
        }
        self.components.push(lines);
    }

    pub(super) fn subtype_text(&self, cx: &Context, item: NodeId) -> String {
        let tree = cx.tree();
        let start = tree
            .children(item)
            .find(|&n| tree.kind(n) == ":")
            .map_or(tree.start(item), |n| tree.end(n));
        let end = tree
            .children(item)
            .find(|&n| matches!(tree.kind(n), ":=" | ";" | "aspect_specification"))
            .map_or(tree.end(item), |n| tree.start(n));
        let constant = tree.child(item, "constant").map(|n| tree.end(n));
        let text = self
            .changes
            .apply(cx.source(), constant.unwrap_or(start)..end);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether the subtype is definite without an initial value.
    pub(in crate::translate) fn is_definite(&self, cx: &Context, item: NodeId) -> bool {
        let tree = cx.tree();
        let Some(mark) = tree.role(item, "subtype_mark") else {
            return true;
        };
        if tree
            .children(item)
            .any(|n| matches!(tree.kind(n), "index_constraint" | "discriminant_constraint"))
            // The grammar takes a name with one constraint for a slice or a call.
            || matches!(tree.kind(mark), "slice" | "function_call")
        {
            return true;
        }
        let key = Names::key(cx.text(mark));
        if matches!(
            key.rsplit('.').next(),
            Some("string" | "wide_string" | "wide_wide_string")
        ) {
            return false;
        }
        let Some(id) = cx.names.meaning(cx.program, cx.at(mark)) else {
            return true;
        };
        // Looks for an unconstrained array, or a record with discriminants without defaults. A
        // constrained subtype ends the search.
        let mut ty = Ty::Named(id);
        for _ in 0..20 {
            let Ty::Named(e) = ty else { return true };
            let at = cx.names.entity(e).at;
            let other = &cx.program.sources[at.file].tree;
            if let Some(discriminants) = other.child(at.node, "known_discriminant_part") {
                return other.walk(discriminants).any(|n| other.kind(n) == ":=");
            }
            if let Some(array) = other.child(at.node, "array_type_definition") {
                return other.child(array, "index_subtype_definition").is_none();
            }
            let derived = other
                .child(at.node, "derived_type_definition")
                .unwrap_or(at.node);
            if other.children(derived).any(|n| {
                matches!(
                    other.kind(n),
                    "index_constraint" | "discriminant_constraint"
                )
            }) {
                return true;
            }
            let above = other.role(derived, "subtype_mark");
            let Some(above) = above else { return true };
            if matches!(
                Names::key(cx.program.sources[at.file].text(above))
                    .rsplit('.')
                    .next(),
                Some("string" | "wide_string")
            ) {
                return false;
            }
            match cx.names.meaning(cx.program, At { node: above, ..at }) {
                Some(next) => ty = Ty::Named(next),
                None => return true,
            }
        }
        true
    }

    /// Gives an anonymous array type a name, as a component needs one (RM 9.4, 3.8).
    pub(super) fn array_type(
        &mut self,
        cx: &Context,
        ids: &[EntityId],
        definition: NodeId,
    ) -> Option<String> {
        let name = cx.names.entity(*ids.first()?).name.clone();
        let wanted = [format!("{name}_Array"), format!("{}_{name}", cx.task.name)];
        let type_name = cx.free_name(&wanted, true, &self.taken);
        let text = self.changes.apply(cx.source(), cx.tree().range(definition));
        let uses_discriminant = cx
            .meanings(cx.at(definition))
            .iter()
            .any(|&(_, e)| is_own_discriminant(cx, e));
        let (declared, subtype) = if uses_discriminant {
            let (indexes, bounds, element) = self.discriminant_bounds(cx, definition)?;
            (
                format!("array ({indexes}) of {element}"),
                format!("{type_name} ({bounds})"),
            )
        } else {
            (text, type_name.clone())
        };
        let text = format!("type {type_name} is {declared};");
        self.declare_outside(&type_name);
        self.before_declaration.push(layout::dedent(
            &text,
            cx.source().indent(cx.tree().start(definition)),
        ));
        Some(subtype)
    }

    /// `array (A .. B, Color) of T` with bounds from a discriminant: returns the indexes of an
    /// unconstrained type, a constraint of it, and the element.
    fn discriminant_bounds(
        &mut self,
        cx: &Context,
        definition: NodeId,
    ) -> Option<(String, String, String)> {
        let tree = cx.tree();
        let element = tree
            .child(definition, "component_definition")
            .map(|n| cx.text(n).to_string());
        let dimensions = self.dimensions(cx, definition);
        let (Some(element), Some(dimensions)) = (element, dimensions) else {
            self.refuse(
                cx,
                definition,
                "the bounds of the array are computed from a discriminant",
                "make the bound the discriminant itself",
            );
            return None;
        };
        let (marks, bounds): (Vec<String>, Vec<String>) = dimensions.into_iter().unzip();
        let indexes: Vec<String> = marks.iter().map(|m| format!("{m} range <>")).collect();
        Some((indexes.join(", "), bounds.join(", "), element))
    }

    /// Returns the index subtype and the range of each dimension of a constrained array.
    fn dimensions(&self, cx: &Context, definition: NodeId) -> Option<Vec<(String, String)>> {
        let tree = cx.tree();
        let mut found: Vec<(String, String)> = Vec::new();
        let indexes = tree
            .children(definition)
            .skip_while(|&n| tree.kind(n) != "(")
            .skip(1)
            .take_while(|&n| tree.kind(n) != ")");
        let mut is_new = true;
        for node in indexes {
            let text = self.changes.apply(cx.source(), tree.range(node));
            if tree.kind(node) == "," {
                is_new = true;
                continue;
            }
            let is_range = matches!(tree.kind(node), "range_g" | "range_constraint");
            if is_range && !is_plain_bound(cx, node) {
                return None;
            }
            match found.last_mut() {
                // `Positive range 1 .. Size`
                Some((_, bounds)) if !is_new => {
                    *bounds = text.trim_start_matches("range").trim().to_string();
                }
                _ if is_range => {
                    let ty =
                        cx.names
                            .index(cx.program, Ty::Anonymous(cx.at(definition)), found.len());
                    let mark = cx.type_name(ty).unwrap_or_else(|| "Integer".into());
                    found.push((mark, text));
                }
                _ => found.push((text.clone(), text)),
            }
            is_new = false;
        }
        (!found.is_empty()).then_some(found)
    }
}

/// Whether each discriminant in a range is a bound by itself (RM 3.8 (12)).
fn is_plain_bound(cx: &Context, range: NodeId) -> bool {
    let tree = cx.tree();
    cx.meanings(cx.at(range)).iter().all(|&(ident, e)| {
        !is_own_discriminant(cx, e)
            || tree.parent(ident).is_some_and(|p| {
                tree.kind(p) == "term"
                    && tree.children(p).count() == 1
                    && tree.parent(p).is_some_and(|r| tree.kind(r) == "range_g")
            })
    })
}

pub(super) fn string_length(cx: &Context, expression: NodeId) -> Option<usize> {
    let text = cx.text(expression).trim();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let is_one = !inner.replace("\"\"", "").contains('"');
    is_one.then(|| inner.replace("\"\"", "\"").chars().count())
}
