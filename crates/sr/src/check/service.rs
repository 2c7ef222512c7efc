//! Who services each operation, which operations are serviced together, and which are semaphores.
//!
//! As in the original, operations that occur in one input statement, directly or by way of others, form a class; and an operation is a semaphore if all that is ever done
//! with it can be done with a semaphore.

use crate::program::*;
use crate::source::Span;

use super::Checker;
use super::walk::{Node, each};

/// What is done with an operation.
#[derive(Clone, Copy, Default)]
struct Use {
    /// Where it is first named in an input statement or receive.
    input: Option<Span>,
    /// Whether something is done that cannot be done with a semaphore.
    is_hindered: bool,
}

/// What is found in the program.
struct Found {
    uses: Vec<Use>,
    /// For each operation another one of its class, or itself.
    parents: Vec<usize>,
}

impl Found {
    fn root(&mut self, mut of: usize) -> usize {
        while self.parents[of] != of {
            self.parents[of] = self.parents[self.parents[of]];
            of = self.parents[of];
        }
        of
    }

    fn join(&mut self, a: OperationId, b: OperationId) {
        let (a, b) = (self.root(a.index()), self.root(b.index()));
        // The class is named after the operation that is declared first.
        let (first, second) = (a.min(b), a.max(b));
        self.parents[second] = first;
    }

    fn input(&mut self, operation: OperationId, span: Span) {
        self.uses[operation.index()].input.get_or_insert(span);
    }

    fn hinder(&mut self, target: &Target) {
        if let Target::Declared(operation, _) = target {
            self.uses[operation.index()].is_hindered = true;
        }
    }
}

impl Checker<'_> {
    /// Finds out for each operation who services it; nobody doing so is an error.
    pub(super) fn services(&mut self) {
        let count = self.program.operations.len();
        let mut found = Found {
            uses: vec![Use::default(); count],
            parents: (0..count).collect(),
        };
        for code in &self.program.codes {
            each(&code.block, &mut |node| self.see(code, node, &mut found));
        }
        for at in 0..count {
            self.serviced(OperationId(at as u32), &found.uses[at]);
        }
        if !self.has_errors() {
            self.classes(&mut found);
            self.counterparts();
        }
    }

    fn see(&self, code: &Code, node: Node<'_>, found: &mut Found) {
        match node {
            Node::Expression(expression) => {
                if let ExpressionKind::Call(call) = &expression.kind {
                    found.hinder(&call.target);
                }
            }
            Node::Statement(statement) => match &statement.kind {
                StatementKind::Call(call) | StatementKind::Forward(call) => {
                    found.hinder(&call.target);
                }
                StatementKind::Concurrent(arms) => {
                    for arm in arms {
                        found.hinder(&arm.invocation.target);
                    }
                }
                StatementKind::Receive(Target::Declared(operation, _), _) => {
                    found.input(*operation, statement.span);
                }
                StatementKind::Input(arms, _) => self.see_arms(code, arms, found),
                _ => {}
            },
        }
    }

    fn see_arms(&self, code: &Code, arms: &[Arm], found: &mut Found) {
        let mut first: Option<OperationId> = None;
        for arm in arms {
            found.hinder(&arm.target);
            let members = match &arm.target {
                Target::Declared(operation, _) => {
                    found.input(*operation, arm.span);
                    vec![*operation]
                }
                // A single arm takes whatever class the capability's operation has.
                _ if arms.len() == 1 => Vec::new(),
                Target::Of(_, operation, _) => {
                    let signature = self.program.operations[operation.index()].signature;
                    self.could_be_meant(code.component, signature)
                }
                Target::Value(value) => match *self.kind(value.of) {
                    Type::Operation(signature) => self.could_be_meant(code.component, signature),
                    _ => Vec::new(),
                },
            };
            for member in members {
                match first {
                    Some(first) => found.join(first, member),
                    None => first = Some(member),
                }
            }
        }
    }

    /// The operations of a component that a capability of a signature may be for.
    fn could_be_meant(&self, component: ComponentId, signature: SignatureId) -> Vec<OperationId> {
        let operations = self.program.operations.iter().enumerate();
        operations
            .filter(|(_, row)| {
                row.component == component
                    && row.has_capability
                    && !matches!(row.service, Service::Proc(_) | Service::External)
                    && self.is_signature_alike(row.signature, signature, 8)
            })
            .map(|(at, _)| OperationId(at as u32))
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
        // An exported operation, or one of which there are capabilities, may be serviced by way of these.
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
        let roots: Vec<usize> = (0..count).map(|at| found.root(at)).collect();
        let mut members = vec![0; count];
        for &root in &roots {
            members[root] += 1;
        }
        let mut of_root: Vec<Option<ClassId>> = vec![None; count];
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

    /// A class lives where the outermost of its operations does: in a global, in an instance, or in a block.
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
