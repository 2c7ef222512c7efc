//! Names in C for what has a name in SR.

use std::collections::{HashMap, HashSet};

use crate::program::*;

/// The C names of a program's variables and operations, by their numbers.
#[derive(Debug)]
pub(super) struct Names {
    variables: Vec<String>,
    operations: Vec<String>,
    components: Vec<String>,
    codes: Vec<String>,
}

/// Where a name must be the only one.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Copy)]
enum Space {
    Component(ComponentId),
    Code(CodeId),
    Program,
}

#[derive(Default)]
struct Taken(HashMap<Space, HashSet<String>>);

impl Taken {
    /// The name, with a number behind it if it is taken.
    fn name(&mut self, space: Space, wanted: String) -> String {
        let taken = self.0.entry(space).or_default();
        let mut name = wanted.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}

/// The component that a variable lives in, if it lives in an instance.
pub(super) fn instance_of(program: &Program, variable: VariableId) -> Option<ComponentId> {
    match program.variables[variable.index()].storage {
        Storage::Component(component) => Some(component),
        Storage::Parameter(code, _) => {
            let component = program.codes[code.index()].component;
            program.components[component.index()]
                .parameters
                .contains(&variable)
                .then_some(component)
        }
        Storage::Local(_) | Storage::Arm(..) => None,
    }
}

impl Names {
    pub(super) fn of(program: &Program) -> Names {
        let mut taken = Taken::default();
        let variables = (0..program.variables.len() as u32).map(|n| {
            let variable = &program.variables[n as usize];
            let space = match variable.storage {
                Storage::Component(component) => Space::Component(component),
                Storage::Local(code) | Storage::Parameter(code, _) | Storage::Arm(code, _) => {
                    match instance_of(program, VariableId(n)) {
                        Some(component) => Space::Component(component),
                        None => Space::Code(code),
                    }
                }
            };
            (space, format!("v_{}", variable.name))
        });
        let variables = variables.map(|(space, name)| taken.name(space, name));
        let variables = variables.collect();
        let operations = program.operations.iter().map(|operation| {
            let space = match operation.home {
                Home::Component => Space::Component(operation.component),
                Home::Block(code) => Space::Code(code),
                Home::External => return operation.name.clone(),
            };
            taken.name(space, format!("o_{}", operation.name))
        });
        let operations = operations.collect();
        let components = program.components.iter();
        let components = components
            .map(|c| taken.name(Space::Program, c.name.clone()))
            .collect::<Vec<_>>();
        let codes = program.codes.iter().map(|code| {
            let component = &components[code.component.index()];
            taken.name(Space::Program, format!("{component}_{}", code.name))
        });
        let codes = codes.collect();
        Names {
            variables,
            operations,
            components,
            codes,
        }
    }

    /// `v_name`.
    pub(super) fn variable(&self, variable: VariableId) -> &str {
        &self.variables[variable.index()]
    }

    /// `o_name`; a C function's own name.
    pub(super) fn operation(&self, operation: OperationId) -> &str {
        &self.operations[operation.index()]
    }

    /// The name alone, made unique.
    pub(super) fn component(&self, component: ComponentId) -> &str {
        &self.components[component.index()]
    }

    /// `component_name`, without a letter.
    pub(super) fn code(&self, code: CodeId) -> &str {
        &self.codes[code.index()]
    }
}
