//! Calls, followed into the called subprograms.

use super::external::{External, classify, is_assumed, is_in, is_pure, is_standard};
use super::summaries::Doer;
use super::{Effect, Effects, Oracle};
use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::syntax::{NodeId, Tree};

impl<'p> Oracle<'p> {
    /// Handles a name that is a call without actual parameters.
    pub(super) fn bare_call(&self, at: At, outer: At, effects: &mut Effects) {
        let tree = &self.program.sources[at.file].tree;
        let Some(parent) = tree.parent(at.node) else {
            return;
        };
        let role = tree.field(at.node);
        if matches!(
            tree.kind(parent),
            "procedure_call_statement" | "function_call"
        ) && role == "name"
        {
            return;
        }
        // The entry's name in an accept statement is not a call either.
        if is_not_called(tree, at.node) || tree.kind(parent) == "accept_statement" {
            return;
        }
        if let Some(id) = self.names.meaning(self.program, at) {
            // `Entry.Parameter` inside the accept statement names the parameter.
            let is_outer = role == "prefix" && self.names.entity(id).kind == Kind::Entry;
            let is_whole = role != "selector_name" || tree.kind(at.node) == "selected_component";
            if is_whole && !is_outer {
                self.known_call(id, at, outer, effects);
            }
            return;
        }
        let text = self.program.sources[at.file].text(at.node);
        let word = Names::key(text);
        if word == "current_task" || word.ends_with(".current_task") {
            effects.identity.push(Effect::new(at, "Current_Task"));
        }
        let last = word.rsplit('.').next();
        if matches!(last, Some("value" | "reference"))
            && matches!(
                &self.names.external_names(self.program, at)[..],
                [only] if is_in(only, &["ada.task_attributes"])
            )
        {
            effects
                .identity
                .push(Effect::new(at, format!("a call of {text} without a task")));
        }
        if self.is_own_time(at, &word) {
            effects
                .identity
                .push(Effect::new(at, "a call of Ada.Execution_Time.Clock"));
        }
        self.unresolved_value(at, effects);
        if matches!(word.rsplit('.').next(), Some("clock" | "random")) && role != "prefix" {
            effects
                .impure
                .push(Effect::new(at, format!("a call of {word}")));
        }
    }

    /// Whether a name can only mean the execution-time clock of the current task (RM D.14).
    fn is_own_time(&self, at: At, word: &str) -> bool {
        let other_clocks = ["calendar.clock", "real_time.clock"];
        word.rsplit('.').next() == Some("clock") && {
            let full = self.names.external_names(self.program, at);
            full.iter().any(|n| n == "ada.execution_time.clock")
                && !full
                    .iter()
                    .any(|n| other_clocks.iter().any(|o| n.ends_with(o)))
        }
    }

    pub(super) fn call(&self, at: At, outer: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        if tree.child(at.node, "tick").is_some() || is_not_called(tree, at.node) {
            return;
        }
        let Some(mut name) = tree.role(at.node, "name") else {
            return;
        };
        // `Family (Index) (…)`
        if tree.kind(name) == "function_call" && tree.kind(at.node) == "procedure_call_statement" {
            name = tree.role(name, "name").unwrap_or(name);
        }
        let name_at = At { node: name, ..at };
        match self.names.meaning(self.program, name_at) {
            Some(id) => {
                let is_procedure = tree.kind(at.node) == "procedure_call_statement";
                let kind = self.names.entity(id).kind;
                let is_object = matches!(
                    kind,
                    Kind::Variable | Kind::Parameter | Kind::Component | Kind::Constant
                );
                if is_object && (is_procedure || self.is_access_to_subprogram(id)) {
                    effects.unknown.push(Effect::new(
                        at,
                        format!("a call through {}", source.text(name)),
                    ));
                } else {
                    self.known_call(id, at, outer, effects);
                }
            }
            None => self.external_call(name_at, at, outer, effects),
        }
    }

    /// Whether an object's value is a subprogram to call.
    fn is_access_to_subprogram(&self, object: EntityId) -> bool {
        let ty = self.names.type_of(self.program, object);
        let kinds = ["access_to_subprogram_definition", "access_definition"];
        kinds.iter().any(|kind| {
            let found = self.names.definition(self.program, ty, kind);
            found.is_some_and(|at| {
                let tree = &self.program.sources[at.file].tree;
                tree.kind(at.node) == "access_to_subprogram_definition"
                    || tree.child(at.node, "function").is_some()
            })
        })
    }

    pub(super) fn known_call(&self, id: EntityId, at: At, outer: At, effects: &mut Effects) {
        let mut id = id;
        for _ in 0..20 {
            let entity = self.names.entity(id);
            let role = match entity.kind {
                Kind::SubprogramRenaming => "callable_entity_name",
                Kind::SubprogramInstance => "generic_name",
                _ => break,
            };
            let tree = &self.program.sources[entity.at.file].tree;
            let Some(mut node) = tree.role(entity.at.node, role) else {
                return;
            };
            if tree.kind(node) == "function_call" {
                self.deallocation(At { node, ..entity.at }, at, effects);
                node = tree.role(node, "name").unwrap_or(node);
            }
            let target = At { node, ..entity.at };
            match self.names.meaning(self.program, target) {
                Some(next) => id = next,
                None => return self.external_call(target, at, outer, effects),
            }
        }
        let entity = self.names.entity(id);
        match entity.kind {
            Kind::Entry => self.entry_call(id, at, effects),
            Kind::Subprogram | Kind::GenericSubprogram => {
                self.subprogram_call(id, at, outer, effects);
                if self.dispatches(at) {
                    for other in self.overriding(id) {
                        self.subprogram_call(other, at, outer, effects);
                    }
                }
            }
            _ => {}
        }
    }

    /// Handles a call of an entry, or of the procedure that the entry becomes.
    fn entry_call(&self, id: EntityId, at: At, effects: &mut Effects) {
        let effect = Effect::new(
            at,
            format!("a call of entry {}", self.names.entity(id).name),
        );
        let Some(opened) = self.opened.borrow().get(&id).copied() else {
            effects.blocks.push(effect);
            return;
        };
        if opened.raises {
            effects.raises.push(effect.clone());
        }
        if opened.does_io {
            effects.io.push(effect.clone());
        }
        effects.impure.push(effect);
    }

    /// Handles a call of a subprogram whose declaration was given.
    fn subprogram_call(&self, id: EntityId, at: At, outer: At, effects: &mut Effects) {
        let entity = self.names.entity(id);
        // A reference to the subprogram inside its own declaration is no call.
        if let Some(body) = entity.body {
            if body != outer {
                self.through(Doer::Call(id), at, effects);
                effects
                    .impure
                    .push(Effect::new(at, format!("a call of {}", entity.name)));
            }
        } else if is_assumed(&self.names.full_name(id), self.assumed) {
            effects
                .impure
                .push(Effect::new(at, format!("a call of {}", entity.name)));
        } else {
            let why = self.without_body(entity.at);
            let what = format!("a call of {}, {why}", entity.name);
            effects.unknown.push(Effect::new(at, what));
        }
        if let Ty::Named(result) = self.names.type_of(self.program, id) {
            self.through(Doer::Copy(result), at, effects);
        }
    }

    /// Whether a call has a class-wide actual parameter, or a class-wide object before the name (RM
    /// 3.9.2).
    fn dispatches(&self, at: At) -> bool {
        let tree = &self.program.sources[at.file].tree;
        let mut objects = tree
            .walk(at.node)
            .filter(|&n| tree.kind(n) == "identifier")
            .filter_map(|node| self.names.meaning(self.program, At { node, ..at }));
        objects.any(|object| {
            let entity = self.names.entity(object);
            let is_object = matches!(
                entity.kind,
                Kind::Variable | Kind::Constant | Kind::Parameter | Kind::Component
            );
            is_object && self.is_class_wide(object)
        })
    }

    fn is_class_wide(&self, object: EntityId) -> bool {
        let says_class = |at: At| {
            let source = &self.program.sources[at.file];
            Names::key(source.text(at.node)).contains("'class")
        };
        let designated = match self.names.type_of(self.program, object) {
            Ty::Named(id) => Some(self.names.entity(id).at),
            _ => None,
        };
        says_class(self.names.entity(object).at) || designated.is_some_and(says_class)
    }

    /// Returns the subprograms that a dispatching call may call instead of the named one.
    fn overriding(&self, id: EntityId) -> Vec<EntityId> {
        let own: Vec<EntityId> = self.parameter_types(id).collect();
        let key = Names::key(&self.names.entity(id).name);
        let others = self.declared.named(&key).iter().copied();
        others
            .filter(|&other| {
                other != id
                    && self
                        .parameter_types(other)
                        .any(|t| self.ancestry(t).iter().any(|a| own.contains(a)))
            })
            .collect()
    }

    /// Returns the types of a subprogram's parameters, as first declared.
    pub(super) fn parameter_types(&self, id: EntityId) -> impl Iterator<Item = EntityId> {
        self.names.parameter_types(self.program, id).into_iter()
    }

    pub(super) fn first(&self, ty: EntityId) -> EntityId {
        self.names.first_type(self.program, ty)
    }

    /// Returns a type and its ancestors, as first declared.
    pub(super) fn ancestry(&self, ty: EntityId) -> Vec<EntityId> {
        let mut found = vec![self.first(ty)];
        let mut next = Some(ty);
        for _ in 0..50 {
            let Some(Ty::Named(above)) = next.and_then(|t| self.names.above(self.program, t))
            else {
                break;
            };
            found.push(self.first(above));
            next = Some(above);
        }
        found
    }

    /// Returns subprograms that are called although the name does not denote them directly:
    /// operations that a type inherits (RM 3.4 (17)), and those called as `Object.Operation` (RM
    /// 4.1.3 (9.2)).
    fn implied(&self, name: At) -> Vec<EntityId> {
        let source = &self.program.sources[name.file];
        let tree = &source.tree;
        if tree.kind(name.node) == "identifier" {
            let key = Names::key(source.text(name.node));
            return self
                .declared
                .inherited
                .get(&key)
                .cloned()
                .unwrap_or_default();
        }
        let (Some(prefix), Some(selector)) = (
            tree.role(name.node, "prefix"),
            tree.role(name.node, "selector_name"),
        ) else {
            return vec![];
        };
        let prefix = At {
            node: prefix,
            ..name
        };
        let ty = self.names.expression_type(self.program, prefix);
        let object = match (ty, self.names.designated(self.program, ty)) {
            (_, Ty::Named(designated)) => designated,
            (Ty::Named(ty), _) => ty,
            _ => return vec![],
        };
        let own = self.ancestry(object);
        let named = self.declared.named(&Names::key(source.text(selector)));
        let is_related = |&&id: &&EntityId| {
            let first = self.parameter_types(id).next();
            first
                .is_some_and(|t| own.contains(&t) || self.ancestry(t).contains(&self.first(object)))
        };
        named.iter().filter(is_related).copied().collect()
    }

    /// Returns why a subprogram has no body that can be followed.
    fn without_body(&self, declaration: At) -> &'static str {
        let tree = &self.program.sources[declaration.file].tree;
        let is_formal = tree.kind(declaration.node).starts_with("formal_")
            || tree
                .ancestor(declaration.node, &["formal_subprogram_declaration"])
                .is_some();
        if is_formal {
            "which each instance of the generic provides"
        } else if tree.child(declaration.node, "abstract").is_some() {
            "which each type implements in its own way"
        } else {
            "whose body was not given"
        }
    }

    /// Adds the effects of a subprogram, or of implicit operations of a type.
    pub(super) fn through(&self, doer: Doer, at: At, effects: &mut Effects) {
        match self.known.borrow().get(&doer) {
            Some(inner) => self.relate(doer, inner, at, effects),
            None => self.pending.borrow_mut().push(doer),
        }
    }

    /// Adds the effects of operators of the program that may be meant.
    pub(super) fn operator(&self, at: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        let is_expression = tree.parent(at.node).is_some_and(|p| {
            let kind = tree.kind(p);
            matches!(kind, "expression" | "term") || kind.starts_with("factor")
        });
        let is_short_circuit = tree
            .next(at.node)
            .is_some_and(|n| matches!(tree.kind(n), "then" | "else"));
        if !is_expression || is_short_circuit {
            return;
        }
        let key = match source.text(at.node) {
            "/=" => "=".to_string(),
            other => Names::key(other),
        };
        for &id in self.declared.named(&key) {
            if self.names.entity(id).body.is_some() {
                self.through(Doer::Call(id), at, effects);
            }
        }
    }

    /// Whether the first part of a name is an object, so that the name cannot begin with a package.
    fn begins_with_object(&self, name: At) -> bool {
        let tree = &self.program.sources[name.file].tree;
        let mut node = name.node;
        while let Some(left) = tree
            .role(node, "prefix")
            .or_else(|| tree.role(node, "name"))
        {
            node = left;
        }
        self.names
            .meaning(self.program, At { node, ..name })
            .is_some_and(|e| {
                matches!(
                    self.names.entity(e).kind,
                    Kind::Variable | Kind::Constant | Kind::Parameter | Kind::Component
                )
            })
    }

    /// Returns the mark of the component type, if a mark denotes an array type.
    fn component_mark(&self, mark: At) -> Option<At> {
        let array = self.names.meaning(self.program, mark)?;
        let at = self
            .names
            .entity(self.names.first_subtype(self.program, array))
            .at;
        let tree = &self.program.sources[at.file].tree;
        let component = tree
            .walk(at.node)
            .find(|&n| tree.kind(n) == "component_definition")?;
        Some(At {
            node: tree.role(component, "subtype_mark")?,
            ..at
        })
    }

    /// Returns the mark of the parent of a derived type, or of a designated type.
    fn parent_mark(&self, id: EntityId) -> Option<At> {
        let at = self.names.entity(id).at;
        let tree = &self.program.sources[at.file].tree;
        let definition = ["derived_type_definition", "access_to_object_definition"]
            .iter()
            .find_map(|kind| tree.child(at.node, kind));
        let node = tree.role(definition.unwrap_or(at.node), "subtype_mark")?;
        Some(At { node, ..at })
    }

    /// `Object.Operation`: returns the operation's full names, by the external type of the object.
    fn through_object(&self, name: At) -> Vec<String> {
        let tree = &self.program.sources[name.file].tree;
        let (Some(mut prefix), Some(selector)) = (
            tree.role(name.node, "prefix"),
            tree.role(name.node, "selector_name"),
        ) else {
            return vec![];
        };
        let is_indexed = tree.kind(prefix) == "function_call";
        if is_indexed {
            prefix = tree.role(prefix, "name").unwrap_or(prefix);
        }
        let Some(object) = self.names.meaning(
            self.program,
            At {
                node: prefix,
                ..name
            },
        ) else {
            return vec![];
        };
        let at = self.names.entity(object).at;
        let other = &self.program.sources[at.file].tree;
        let array = other.child(at.node, "array_type_definition");
        let holder = other
            .child(array.unwrap_or(at.node), "component_definition")
            .unwrap_or(at.node);
        let Some(mark) = other.role(holder, "subtype_mark") else {
            return vec![];
        };
        let mut mark = At { node: mark, ..at };
        if is_indexed {
            mark = self.component_mark(mark).unwrap_or(mark);
        }
        for _ in 0..20 {
            let Some(id) = self.names.meaning(self.program, mark) else {
                break;
            };
            // The components of a known type were searched before; inherited ones belong to its
            // parent.
            match self.parent_mark(id) {
                Some(parent) => mark = parent,
                None => return vec![],
            }
        }
        let operation = Names::key(self.program.sources[name.file].text(selector));
        let types = self.names.external_names(self.program, mark);
        types
            .iter()
            .filter_map(|t| t.rsplit_once('.'))
            .map(|(package, _)| format!("{package}.{operation}"))
            .collect()
    }

    /// Whether a call of an operation of `Ada.Task_Attributes` names a task, rather than use the
    /// default, `Current_Task`.
    fn names_a_task(&self, name: &str, call: At) -> bool {
        let tree = &self.program.sources[call.file].tree;
        let actuals = tree
            .child(call.node, "actual_parameter_part")
            .map_or(0, |part| tree.all(part, "parameter_association").count());
        let is_set = Names::key(name).ends_with("set_value");
        actuals > usize::from(is_set)
    }

    /// Whether a name is that of a library function whose result depends only on its parameters.
    pub fn is_pure_function(&self, name: At) -> bool {
        self.names.meaning(self.program, name).is_none()
            && is_pure(&self.names.external_names(self.program, name))
    }

    pub(super) fn external_call(&self, name: At, at: At, outer: At, effects: &mut Effects) {
        let source = &self.program.sources[name.file];
        let implied = self.implied(name);
        for &id in &implied {
            self.known_call(id, at, outer, effects);
        }
        let is_through_object = self.begins_with_object(name);
        if is_through_object && !implied.is_empty() {
            return;
        }
        let candidates = if is_through_object {
            self.through_object(name)
        } else {
            self.names.external_names(self.program, name)
        };
        let text = source.text(name.node).to_string();
        // The name may be in a renaming in another file than the call.
        let is_function = self.program.sources[at.file].tree.kind(at.node) == "function_call";
        let call = || Effect::new(at, format!("a call of {text}"));
        let class = match classify(&candidates, self.assumed) {
            External::Unknown(_) if self.is_surely_output(&candidates, at) => External::Io,
            class => class,
        };
        match class {
            External::Harmless => {
                if !is_standard(&candidates) && !is_pure(&candidates) {
                    effects.impure.push(call());
                }
            }
            External::Io => {
                effects.io.push(call());
                effects.impure.push(call());
            }
            External::Blocks => effects.blocks.push(call()),
            External::Identity => effects.identity.push(call()),
            External::Attribute if self.names_a_task(&text, at) => effects.impure.push(call()),
            External::Attribute => effects
                .identity
                .push(Effect::new(at, format!("a call of {text} without a task"))),
            External::Unknown(_) if text.to_lowercase().ends_with(".all") => effects
                .unknown
                .push(Effect::new(at, format!("a call through {text}"))),
            // An apparent function call may be an array or a type of an unknown unit. A procedure
            // call cannot be.
            External::Unknown(None)
                if is_function && candidates.len() == 1 && !candidates[0].contains('.') =>
            {
                effects.impure.push(call());
            }
            External::Unknown(unit) => effects.unknown.push(Effect {
                unit,
                ..Effect::new(at, format!("a call of {text}, whose source was not given"))
            }),
        }
    }

    /// Whether a call can only be an operation of text output from a use clause: it has no actual
    /// parameters, or a string. With another suitable operation the call would be ambiguous (RM 8.6
    /// (30)).
    fn is_surely_output(&self, candidates: &[String], call: At) -> bool {
        let source = &self.program.sources[call.file];
        let tree = &source.tree;
        let is_output = candidates.iter().any(|n| {
            ["put", "put_line", "new_line"]
                .iter()
                .any(|last| *n == format!("ada.text_io.{last}"))
        });
        let is_image = |n: NodeId| {
            let mut parts = tree.children(n);
            parts.any(|p| {
                let word = Names::key(source.text(p));
                tree.kind(p) == "attribute_designator" && ["image", "img"].contains(&word.as_str())
            })
        };
        let is_string = |value: NodeId| {
            let terms = tree.children(value);
            let mut parts = terms.flat_map(|term| std::iter::once(term).chain(tree.children(term)));
            parts.any(|n| tree.kind(n) == "string_literal" || is_image(n))
        };
        let actuals = tree.child(call.node, "actual_parameter_part");
        is_output
            && actuals.is_none_or(|part| {
                let mut all = tree.all(part, "parameter_association");
                let value = all.next().and_then(|a| tree.child(a, "expression"));
                all.next().is_none() && value.is_some_and(is_string)
            })
    }

    /// Handles an unresolved name without parameters in place of a value: an object, a literal, or
    /// a function (RM 4.1).
    fn unresolved_value(&self, at: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        let is_value = tree.parent(at.node).is_some_and(|p| {
            let kind = tree.kind(p);
            matches!(kind, "expression" | "term") || kind.starts_with("factor")
        });
        // Choices and aspects are static, or are only names.
        let is_static = tree.ancestors(at.node).any(|n| {
            matches!(
                tree.kind(n),
                "discrete_choice" | "discrete_choice_list" | "pragma_g" | "membership_choice_list"
            )
        });
        if !is_value || is_static {
            return;
        }
        let implied = self.implied(at);
        for &id in &implied {
            self.known_call(id, at, at, effects);
        }
        let candidates = if self.begins_with_object(at) {
            self.through_object(at)
        } else {
            self.names.external_names(self.program, at)
        };
        let text = source.text(at.node);
        match classify(&candidates, self.assumed) {
            External::Io => {
                let call = || Effect::new(at, format!("a call of {text}"));
                effects.io.push(call());
                effects.impure.push(call());
            }
            External::Unknown(Some(unit)) if implied.is_empty() => effects.unknown.push(Effect {
                unit: Some(unit),
                ..Effect::new(
                    at,
                    format!("{text}, perhaps a function, whose source was not given"),
                )
            }),
            _ => {}
        }
    }
}

/// Whether the name of an entry is no call: `E'Count`, or the target of a requeue.
pub(super) fn is_not_called(tree: &Tree, node: NodeId) -> bool {
    tree.next(node).is_some_and(|n| tree.kind(n) == "tick")
        || tree
            .parent(node)
            .is_some_and(|p| tree.kind(p) == "requeue_statement")
}
