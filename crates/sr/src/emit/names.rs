//! C names for SR names.

use std::collections::HashMap;

use crate::program::*;

/// The C names of a program's variables and operations, by their numbers.
#[derive(Debug)]
pub(super) struct Names {
    variables: Vec<String>,
    operations: Vec<String>,
    components: Vec<String>,
    codes: Vec<String>,
}

/// A namespace in which names must be unique.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Copy)]
enum Space {
    Component(ComponentId),
    Code(CodeId),
    Program,
}

/// The names in use, each with the next number to try behind it.
#[derive(Default)]
struct Taken(HashMap<Space, HashMap<String, usize>>);

impl Taken {
    /// Returns the name, followed by a number if it is in use.
    fn name(&mut self, space: Space, wanted: String) -> String {
        let taken = self.0.entry(space).or_default();
        let Some(&first) = taken.get(&wanted) else {
            taken.insert(wanted.clone(), 2);
            return wanted;
        };
        let mut numbers = first..;
        let free = numbers.find_map(|number| {
            let name = format!("{wanted}_{number}");
            (!taken.contains_key(&name)).then_some(name)
        });
        let name = free.unwrap_or_else(|| wanted.clone());
        taken.insert(wanted, numbers.start);
        taken.insert(name.clone(), 2);
        name
    }
}

/// Returns the component whose instance a variable lives in, if any.
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

    /// Returns the name alone, made unique.
    pub(super) fn component(&self, component: ComponentId) -> &str {
        &self.components[component.index()]
    }

    /// `component_name`, without a letter.
    pub(super) fn code(&self, code: CodeId) -> &str {
        &self.codes[code.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_another() {
        let mut taken = Taken::default();
        let mut name = |wanted: &str| taken.name(Space::Program, wanted.to_owned());
        let wanted = ["a", "a", "a_2", "a", "a_2", "a_2_2", "a"];
        let names = wanted.map(&mut name);
        assert_eq!(names[..4], ["a", "a_2", "a_2_2", "a_3"]);
        let all: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(all.len(), wanted.len(), "{names:?}");
    }
}
