//! Components: their specifications, parameters and bodies, and which is the main one.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::{ComponentKind, Item, ItemKind, Passing};

use super::scope::{Meaning, Scopes};
use super::{Checker, NO_CODE, Place, Progress};

impl Checker<'_> {
    /// Makes rows for the components.
    pub(super) fn components(&mut self) {
        for unit in self.units {
            let is_global = unit.head.kind == ComponentKind::Global;
            let id = ComponentId(self.program.components.len() as u32);
            let name = unit.head.name.text.clone();
            self.named.entry(name).or_insert(id);
            self.program.components.push(Component {
                name: unit.head.name.text.clone(),
                span: unit.head.name.span,
                is_global,
                is_abstract: unit.body.is_none(),
                imports: Vec::new(),
                parameters: Vec::new(),
                variables: Vec::new(),
                operations: Vec::new(),
                classes: Vec::new(),
                dynamic: None,
                procs: Vec::new(),
                body: None,
                last: None,
            });
        }
    }

    /// Declares the items of a specification, once; imported specifications come before.
    pub(super) fn specification(&mut self, id: ComponentId) {
        if self.states[id.index()].progress != Progress::Untouched {
            return;
        }
        self.states[id.index()].progress = Progress::Busy;
        let unit = &self.units[id.index()];
        let code = unit.body.map(|_| {
            let span = unit.head.name.span;
            self.new_code(id, CodeKind::Body, "body", span)
        });
        let scopes = std::mem::take(&mut self.scopes);
        let place = std::mem::take(&mut self.place);
        let (component, outer) = (self.component, self.code);
        self.component = id;
        self.code = code.unwrap_or(NO_CODE);

        self.scopes.open();
        self.define(&unit.head.name, Meaning::Component(id));
        self.place.is_specification = true;
        self.items(&unit.head.specification);
        self.place.is_specification = false;
        self.component_parameters(&unit.head.parameters);
        let state = &mut self.states[id.index()];
        state.progress = Progress::Declared;
        state.code = code;
        state.statements = std::mem::take(&mut self.place.statements);
        state.scopes = std::mem::replace(&mut self.scopes, scopes);
        self.program.components[id.index()].body = code;
        self.place = place;
        self.component = component;
        self.code = outer;
    }

    /// Declares a resource's parameters, which its body and procs see.
    fn component_parameters(&mut self, parameters: &[syntax::Parameter]) {
        self.scopes.open();
        let mut all = Vec::new();
        for parameter in parameters {
            if parameter.passing != Passing::Value {
                self.error_with(
                    parameter.of.span,
                    "a resource's parameters are passed by value",
                    "leave out \"var\", \"res\" or \"ref\"; pass a capability or a pointer for what comes back",
                );
            }
            all.push(self.parameter(parameter));
            if let Some(declarator) = &parameter.declarator {
                self.scopes.formal(&declarator.name.text);
            }
        }
        self.scopes.close();
        for (parameter, checked) in parameters.iter().zip(all) {
            let (name, span) = match &parameter.declarator {
                Some(declarator) => (declarator.name.text.clone(), declarator.name.span),
                None => (String::new(), parameter.of.span),
            };
            // Without a body there is no code that the parameter could belong to.
            let storage = match self.code {
                NO_CODE => Storage::Component(self.component),
                code => Storage::Parameter(code, Passing::Value),
            };
            let variable = self.variable(Variable {
                name,
                span,
                of: checked.of,
                storage,
                is_constant: false,
                has_address: false,
            });
            let component = &mut self.program.components[self.component.index()];
            component.parameters.push(variable);
            if let Some(declarator) = &parameter.declarator {
                self.define(&declarator.name, Meaning::Variable(variable));
            }
        }
    }

    /// Checks a component's body.
    pub(super) fn body(&mut self, id: ComponentId) {
        let Some(items) = self.units[id.index()].body else {
            return;
        };
        let state = &mut self.states[id.index()];
        let Some(code) = state.code else {
            return;
        };
        self.scopes = std::mem::take(&mut state.scopes);
        self.place = Place {
            statements: std::mem::take(&mut state.statements),
            ..Place::default()
        };
        self.component = id;
        self.code = code;
        self.items(items);
        let statements = std::mem::take(&mut self.place.statements);
        self.program.codes[code.index()].block = Block { statements };
        self.scopes = Scopes::default();
    }

    /// Chooses the main resource: the last one that has a body.
    pub(super) fn main(&mut self) {
        let resources = self.units.iter().enumerate().filter_map(|(at, unit)| {
            let is_resource = unit.head.kind == ComponentKind::Resource;
            unit.order.filter(|_| is_resource).map(|order| (order, at))
        });
        let Some((_, at)) = resources.max() else {
            if self.is_part {
                return;
            }
            let nowhere = Span {
                file: 0,
                start: 0,
                end: 0,
            };
            let span = self.units.last().map_or(nowhere, |u| u.head.name.span);
            self.error_with(
                span,
                "the program has no resource that could be its main one",
                "the last resource with a body is the main one: write resource main() … end",
            );
            return;
        };
        let main = &self.program.components[at];
        if !main.parameters.is_empty() {
            if self.is_part {
                return;
            }
            let message = format!(
                "{} is the main resource, since it is the last one, and cannot have parameters",
                main.name
            );
            self.error_with(
                main.span,
                message,
                "put the main resource last, and give it ()",
            );
        }
        self.program.main = Some(ComponentId(at as u32));
    }

    /// Adds a new, empty body of code.
    pub(super) fn new_code(
        &mut self,
        component: ComponentId,
        kind: CodeKind,
        name: &str,
        span: Span,
    ) -> CodeId {
        self.program.codes.push(Code {
            component,
            kind,
            name: name.to_string(),
            span,
            parameters: Vec::new(),
            result: None,
            block: Block::default(),
        });
        CodeId(self.program.codes.len() as u32 - 1)
    }

    /// Checks items one after the other, in the innermost scope.
    pub(super) fn items(&mut self, items: &[Item]) {
        self.scopes.announce(items);
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        // An implementation of an operation inside a block is wrong, and the parser has reported
        // it.
        let is_misplaced = self.place.is_block;
        match &item.kind {
            ItemKind::Import(names) => self.import(names),
            ItemKind::Extend(names) => {
                if self.place.is_specification {
                    self.extend(names);
                } else {
                    self.error_with(
                        item.span,
                        "\"extend\" belongs into the specification",
                        "write it after the resource's name, before \"body\"",
                    );
                }
            }
            ItemKind::Type(name, of) => self.type_declaration(name, of),
            ItemKind::Optype(name, prototype) => {
                let signature = self.bare_signature();
                self.define(name, Meaning::Optype(signature));
                self.fill_signature(signature, prototype);
            }
            ItemKind::Objects {
                is_constant,
                groups,
            } => self.objects(*is_constant, groups, item.span),
            ItemKind::Operations {
                is_external,
                groups,
            } => self.operations(*is_external, groups, item.span),
            ItemKind::Semaphores(declared) => self.semaphores(declared, item.span),
            ItemKind::Statement(statement) => self.statement(statement, item.span),
            _ if is_misplaced || self.place.is_specification => {}
            ItemKind::Proc(proc) => self.proc(proc, item.span),
            ItemKind::Procedure(name, prototype, block) => {
                self.procedure(name, prototype, block, item.span);
            }
            ItemKind::Process(name, quantifiers, block, region) => {
                self.process(name, quantifiers, block, region.as_ref(), item.span);
            }
            ItemKind::Final(block) => self.last(block, item.span),
        }
    }
}
