//! Calls, followed into what is called.

use super::external::{External, classify, is_in, is_pure, is_standard};
use super::{Effect, Effects, Oracle};
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::{NodeId, Tree};

impl<'p> Oracle<'p> {
    /// A name that is a call without actual parameters.
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
        // What an accept statement accepts is no call either.
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
            effects.identity.push(Effect {
                at,
                what: "Current_Task".into(),
            });
        }
        let last = word.rsplit('.').next();
        if matches!(last, Some("value" | "reference"))
            && matches!(
                &self.names.external_names(self.program, at)[..],
                [only] if is_in(only, &["ada.task_attributes"])
            )
        {
            effects.identity.push(Effect {
                at,
                what: format!("a call of {text} without a task"),
            });
        }
        if self.is_own_time(at, &word) {
            effects.identity.push(Effect {
                at,
                what: "a call of Ada.Execution_Time.Clock".into(),
            });
        }
        if matches!(word.rsplit('.').next(), Some("clock" | "random")) && role != "prefix" {
            effects.impure.push(Effect {
                at,
                what: format!("a call of {word}"),
            });
        }
    }

    /// Whether a name can only mean the clock of the current task's execution time (RM D.14).
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
                if is_procedure
                    && matches!(
                        kind,
                        Kind::Variable | Kind::Parameter | Kind::Component | Kind::Constant
                    )
                {
                    effects.unknown.push(Effect {
                        at,
                        what: format!("a call through {}", source.text(name)),
                    });
                } else {
                    self.known_call(id, at, outer, effects);
                }
            }
            None => self.external_call(name_at, at, effects),
        }
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
                node = tree.role(node, "name").unwrap_or(node);
            }
            let target = At { node, ..entity.at };
            match self.names.meaning(self.program, target) {
                Some(next) => id = next,
                None => return self.external_call(target, at, effects),
            }
        }
        let entity = self.names.entity(id);
        match entity.kind {
            Kind::Entry => effects.blocks.push(Effect {
                at,
                what: format!("a call of entry {}", entity.name),
            }),
            Kind::Subprogram | Kind::GenericSubprogram => {
                // A reference to the subprogram inside its own declaration is no call.
                if let Some(body) = entity.body {
                    self.through(id, body, at, outer, effects);
                } else {
                    let why = self.without_body(entity.at);
                    let what = format!("a call of {}, {why}", entity.name);
                    effects.unknown.push(Effect { at, what });
                }
            }
            _ => {}
        }
    }

    /// Why a subprogram has no body that could be followed.
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

    /// Adds what a subprogram's body does, once for each call.
    pub(super) fn through(&self, id: EntityId, body: At, at: At, outer: At, effects: &mut Effects) {
        if body == outer {
            return;
        }
        let remembered = self.known.borrow().get(&id).cloned();
        let inner = remembered.unwrap_or_else(|| {
            // Recursion finds nothing new below: the empty entry stands until the body is read.
            self.known.borrow_mut().insert(id, Effects::default());
            let found = self.of(body);
            self.known.borrow_mut().insert(id, found.clone());
            found
        });
        let name = &self.names.entity(id).name;
        let relate = |e: &Effect| {
            let place = self.program.sources[e.at.file].place_of(e.at.node);
            let what = if e.what.starts_with("a call of ") && e.what.contains(" which ") {
                e.what.clone()
            } else {
                format!("{} at {}:{}", e.what, place.file.display(), place.line)
            };
            Effect {
                at,
                what: format!("a call of {name}, which does {what}"),
            }
        };
        effects.blocks.extend(inner.blocks.first().map(relate));
        effects.unknown.extend(inner.unknown.first().map(relate));
        effects.io.extend(inner.io.first().map(relate));
        effects.raises.extend(inner.raises.first().map(relate));
        effects.long.extend(inner.long.first().map(relate));
        effects.identity.extend(inner.identity.first().map(relate));
        effects.impure.push(Effect {
            at,
            what: format!("a call of {name}"),
        });
    }

    /// Whether the leftmost part of a name is an object, so that no package's name begins there.
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

    /// The mark of the component type, if a mark is of an array type.
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

    /// `Object.Operation`: the operation's full names, by the external type of the object.
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
        let holder = other
            .child(at.node, "component_definition")
            .unwrap_or(at.node);
        let Some(mark) = other.role(holder, "subtype_mark") else {
            return vec![];
        };
        let mut mark = At { node: mark, ..at };
        if is_indexed {
            mark = self.component_mark(mark).unwrap_or(mark);
        }
        let operation = Names::key(self.program.sources[name.file].text(selector));
        let types = self.names.external_names(self.program, mark);
        types
            .iter()
            .filter_map(|t| t.rsplit_once('.'))
            .map(|(package, _)| format!("{package}.{operation}"))
            .collect()
    }

    /// Whether a call of an operation of `Ada.Task_Attributes` names the task, rather than leave it to the default, `Current_Task`.
    fn names_a_task(&self, name: &str, call: At) -> bool {
        let tree = &self.program.sources[call.file].tree;
        let actuals = tree
            .child(call.node, "actual_parameter_part")
            .map_or(0, |part| tree.all(part, "parameter_association").count());
        let is_set = Names::key(name).ends_with("set_value");
        actuals > usize::from(is_set)
    }

    /// Whether a name is that of a library function whose result depends on its parameters alone.
    pub fn is_pure_function(&self, name: At) -> bool {
        self.names.meaning(self.program, name).is_none()
            && is_pure(&self.names.external_names(self.program, name))
    }

    pub(super) fn external_call(&self, name: At, at: At, effects: &mut Effects) {
        let source = &self.program.sources[name.file];
        let candidates = if self.begins_with_object(name) {
            self.through_object(name)
        } else {
            self.names.external_names(self.program, name)
        };
        let text = source.text(name.node).to_string();
        // The name may stand in a renaming in another file than the call.
        let is_function = self.program.sources[at.file].tree.kind(at.node) == "function_call";
        match classify(&candidates) {
            External::Harmless => {
                if !is_standard(&candidates) && !is_pure(&candidates) {
                    effects.impure.push(Effect {
                        at,
                        what: format!("a call of {text}"),
                    });
                }
            }
            External::Io => {
                effects.io.push(Effect {
                    at,
                    what: format!("a call of {text}"),
                });
                effects.impure.push(Effect {
                    at,
                    what: format!("a call of {text}"),
                });
            }
            External::Blocks => effects.blocks.push(Effect {
                at,
                what: format!("a call of {text}"),
            }),
            External::Identity => effects.identity.push(Effect {
                at,
                what: format!("a call of {text}"),
            }),
            External::Attribute if self.names_a_task(&text, at) => effects.impure.push(Effect {
                at,
                what: format!("a call of {text}"),
            }),
            External::Attribute => effects.identity.push(Effect {
                at,
                what: format!("a call of {text} without a task"),
            }),
            // What looks like a function may be an array or a type of a unit that was not given; what is called for its effect is not.
            External::Unknown
                if is_function && candidates.len() == 1 && !candidates[0].contains('.') =>
            {
                effects.impure.push(Effect {
                    at,
                    what: format!("a call of {text}"),
                });
            }
            External::Unknown => effects.unknown.push(Effect {
                at,
                what: format!("a call of {text}, whose source was not given"),
            }),
        }
    }
}

/// Names of entries that are no calls: `E'Count`, and the target of a requeue.
pub(super) fn is_not_called(tree: &Tree, node: NodeId) -> bool {
    tree.next(node).is_some_and(|n| tree.kind(n) == "tick")
        || tree
            .parent(node)
            .is_some_and(|p| tree.kind(p) == "requeue_statement")
}
