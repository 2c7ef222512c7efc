//! Servicing: how each operation is serviced, which operations form a class, and which are
//! semaphores.
//!
//! As in the original, operations that occur in one input statement, directly or through others,
//! form a class. An operation is a semaphore if all its uses are possible with a semaphore.

use antiphon_lang::Span;

use crate::program::*;

use super::Checker;
use super::convert::DEPTH;

/// The uses of an operation.
#[derive(Clone, Copy, Default)]
struct Use {
    /// The first input statement or receive that names it.
    input: Option<Span>,
    /// Whether a use is impossible with a semaphore.
    is_hindered: bool,
}

/// Findings about the program. A member of a class is an operation, by its number, or all
/// capabilities that a component takes from. The latter have the component's number after those of
/// the operations.
struct Found {
    uses: Vec<Use>,
    /// For each member, another one of its class, or itself.
    parents: Vec<usize>,
    /// The components that take from several capabilities at once.
    takers: Vec<ComponentId>,
}

impl Found {
    fn root(&mut self, mut of: usize) -> usize {
        while self.parents[of] != of {
            self.parents[of] = self.parents[self.parents[of]];
            of = self.parents[of];
        }
        of
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The class is named after the operation that is declared first.
        let (first, second) = (a.min(b), a.max(b));
        self.parents[second] = first;
    }

    fn input(&mut self, operation: OperationId, span: Span) {
        self.uses[operation.index()].input.get_or_insert(span);
    }

    /// Returns the member of a class for all capabilities that a component takes from.
    fn taken_by(&mut self, component: ComponentId) -> usize {
        if !self.takers.contains(&component) {
            self.takers.push(component);
        }
        self.uses.len() + component.index()
    }

    fn hinder(&mut self, target: &Target) {
        if let Target::Declared(operation, _) = target {
            self.uses[operation.index()].is_hindered = true;
        }
    }
}

/// Finds the uses of operations in some code.
struct Finder<'c, 'a> {
    checker: &'c Checker<'a>,
    code: &'c Code,
    found: &'c mut Found,
}

impl Visitor for Finder<'_, '_> {
    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Call(call) = &expression.kind {
            self.found.hinder(&call.target);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Call(call) | StatementKind::Forward(call) => {
                self.found.hinder(&call.target);
            }
            StatementKind::Concurrent(arms) => {
                for arm in arms {
                    self.found.hinder(&arm.invocation.target);
                }
            }
            StatementKind::Receive(Target::Declared(operation, _), _) => {
                self.found.input(*operation, statement.span);
            }
            StatementKind::Input(arms, _) => self.arms(arms),
            _ => {}
        }
    }
}

impl Finder<'_, '_> {
    fn arms(&mut self, arms: &[Arm]) {
        // A single arm works with any class of the capability's operation.
        let is_one = matches!(arms, [arm] if arm.quantifiers.is_empty());
        let mut first: Option<usize> = None;
        for arm in arms {
            self.found.hinder(&arm.target);
            let mut members = Vec::new();
            match &arm.target {
                Target::Declared(operation, _) => {
                    self.found.input(*operation, arm.span);
                    members.push(operation.index());
                }
                _ if is_one => {}
                target => {
                    members.push(self.found.taken_by(self.code.component));
                    members.extend(self.checker.could_be_meant(self.code.component, target));
                }
            }
            for member in members {
                match first {
                    Some(first) => self.found.join(first, member),
                    None => first = Some(member),
                }
            }
        }
    }
}

impl Checker<'_> {
    /// Determines how each operation is serviced. An operation that is not serviced is an error.
    pub(super) fn services(&mut self) {
        let count = self.program.operations.len();
        let mut found = Found {
            uses: vec![Use::default(); count],
            parents: (0..count + self.program.components.len()).collect(),
            takers: Vec::new(),
        };
        for code in &self.program.codes {
            let mut finder = Finder {
                checker: self,
                code,
                found: &mut found,
            };
            walk_block(&code.block, &mut finder);
        }
        for at in 0..count {
            self.serviced(OperationId(at as u32), &found.uses[at]);
        }
        if !self.has_errors() {
            self.classes(&mut found);
            self.counterparts();
            self.slots();
        }
    }

    /// Returns the operations of a component that a capability may be for.
    fn could_be_meant(&self, component: ComponentId, target: &Target) -> Vec<usize> {
        let signature = match target {
            Target::Of(_, operation, _) | Target::Declared(operation, _) => {
                self.program.operations[operation.index()].signature
            }
            Target::Value(value) => match *self.kind(value.of) {
                Type::Operation(signature) => signature,
                _ => return Vec::new(),
            },
        };
        let operations = self.program.operations.iter().enumerate();
        operations
            .filter(|(_, row)| {
                row.component == component
                    && row.has_capability
                    && !matches!(row.service, Service::Proc(_) | Service::External)
                    && self.is_signature_alike(row.signature, signature, DEPTH)
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// Checks that an operation is serviced, and in one way.
    fn serviced(&mut self, operation: OperationId, usage: &Use) {
        let row = &self.program.operations[operation.index()];
        let name = row.name.clone();
        if let (Service::Proc(code), Some(input)) = (row.service, usage.input) {
            let proc = self.program.codes[code.index()].span;
            self.serviced_by_proc(&name, proc, input);
            return;
        }
        // An exported operation, or one with capabilities, may be serviced through these.
        let is_serviced = !matches!(row.service, Service::Nobody)
            || usage.input.is_some()
            || row.is_exported
            || row.has_capability;
        if is_serviced {
            return;
        }
        let signature = &self.program.signatures[row.signature.index()];
        let (span, is_semaphore) = (row.span, signature.is_bare());
        let is_semaphore = is_semaphore && signature.restriction == Restriction::Send;
        if is_semaphore {
            self.error_with(
                span,
                format!("nothing does P on the semaphore \"{name}\""),
                format!("write P({name}) where it is waited for, or remove it"),
            );
        } else {
            self.error_with(
                span,
                format!("the operation \"{name}\" is declared but not implemented"),
                format!("write proc {name}(…) … end, or service it with in or receive"),
            );
        }
    }

    /// Gives each operation that input statements service its class, or makes it a semaphore.
    fn classes(&mut self, found: &mut Found) {
        let count = self.program.operations.len();
        let all = count + self.program.components.len();
        let roots: Vec<usize> = (0..all).map(|at| found.root(at)).collect();
        let mut members = vec![0; all];
        for &root in &roots {
            members[root] += 1;
        }
        let mut of_root: Vec<Option<ClassId>> = vec![None; all];
        for at in 0..count {
            let row = &self.program.operations[at];
            let component = &self.program.components[row.component.index()];
            if component.is_abstract || !matches!(row.service, Service::Nobody) {
                continue;
            }
            let is_alone = members[roots[at]] == 1;
            if is_alone && self.is_semaphore(OperationId(at as u32), &found.uses[at]) {
                self.program.operations[at].service = Service::Semaphore;
                continue;
            }
            let class = match of_root[roots[at]] {
                Some(class) => class,
                None => self.new_class(OperationId(at as u32)),
            };
            of_root[roots[at]] = Some(class);
            self.program.operations[at].service = Service::Input(class);
            self.join_class(class, OperationId(at as u32));
        }
        for &component in &found.takers {
            let root = &mut of_root[roots[count + component.index()]];
            let class = *root.get_or_insert_with(|| {
                self.program.classes.push(Class {
                    operations: Vec::new(),
                    home: Home::Component,
                    component,
                });
                ClassId(self.program.classes.len() as u32 - 1)
            });
            self.program.components[component.index()].dynamic = Some(class);
            // An operation made by `new` may outlive blocks.
            let class = &mut self.program.classes[class.index()];
            if class.home != Home::Component {
                class.home = Home::Component;
                class.component = component;
            }
        }
        for at in 0..self.program.classes.len() {
            let class = &self.program.classes[at];
            if class.home == Home::Component {
                let component = class.component.index();
                let classes = &mut self.program.components[component].classes;
                classes.push(ClassId(at as u32));
            }
        }
    }

    fn is_semaphore(&self, operation: OperationId, usage: &Use) -> bool {
        let row = &self.program.operations[operation.index()];
        usage.input.is_some()
            && !usage.is_hindered
            && !row.is_exported
            && !row.has_capability
            && self.program.signatures[row.signature.index()].is_bare()
    }

    fn new_class(&mut self, first: OperationId) -> ClassId {
        let row = &self.program.operations[first.index()];
        self.program.classes.push(Class {
            operations: Vec::new(),
            home: row.home,
            component: row.component,
        });
        ClassId(self.program.classes.len() as u32 - 1)
    }

    /// Moves a class to the place of its outermost operation: a global, an instance, or a block.
    fn join_class(&mut self, class: ClassId, operation: OperationId) {
        let row = &self.program.operations[operation.index()];
        let is_global = |c: ComponentId| self.program.components[c.index()].is_global;
        let is_outer = is_global(row.component);
        let has_outer = is_global(self.program.classes[class.index()].component);
        let class = &mut self.program.classes[class.index()];
        class.operations.push(operation);
        if row.home == Home::Component && class.home != Home::Component {
            class.home = Home::Component;
            class.component = row.component;
        }
        if row.home == Home::Component && is_outer && !has_outer {
            class.component = row.component;
        }
    }
}
