//! Analyses of a checked program before C is written. They determine which procs need a process of
//! their own, which variables keep their first value, and which expressions have effects.

mod effects;
mod steady;
mod walk;

use std::collections::HashSet;

use crate::program::*;

pub(crate) use effects::{has_effects, has_effects_itself};
pub(crate) use steady::Changes;

/// Facts about a program.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Procs that reply or forward. They outlive the call, and so need a process of their own even
    /// when called.
    separate: HashSet<CodeId>,
    /// Codes that reply or forward in an arm of an input statement, so that the invocation taken by
    /// the arm may be replaced.
    replying: HashSet<CodeId>,
    /// Variables that are changed after their declaration, or whose address is known elsewhere.
    assigned: HashSet<VariableId>,
    /// Those of them that are changed outside of a component's body.
    assigned_in_procs: HashSet<VariableId>,
    /// Variables whose address is taken.
    addressed: HashSet<VariableId>,
    /// Operations that are serviced, sent to, or used in other ways than by plain calls.
    reified: HashSet<OperationId>,
    /// Resources with an instance that is created in a region.
    in_regions: HashSet<ComponentId>,
    /// Codes that set the priority of the process that runs them.
    sets_priority: HashSet<CodeId>,
    /// Operations in input statements that search a queue for a suitable invocation.
    scanned: HashSet<OperationId>,
    /// Resources that others extend, or whose capabilities may be for instances of others.
    extended: HashSet<ComponentId>,
}

impl Facts {
    /// Analyses a program.
    pub(crate) fn of(program: &Program) -> Facts {
        let mut facts = Facts::default();
        for (number, code) in program.codes.iter().enumerate() {
            let mut seen = walk::Finder::new(program);
            walk_block(&code.block, &mut seen);
            let code = CodeId(number as u32);
            if seen.replies_outside {
                facts.separate.insert(code);
            }
            if seen.replies_inside {
                facts.replying.insert(code);
            }
            if seen.sets_priority {
                facts.sets_priority.insert(code);
            }
            if program.codes[code.index()].kind != CodeKind::Body {
                facts.assigned_in_procs.extend(&seen.assigned);
            }
            facts.assigned.extend(seen.assigned);
            facts.addressed.extend(seen.addressed);
            facts.reified.extend(seen.reified);
            facts.scanned.extend(seen.scanned);
            facts.in_regions.extend(seen.in_regions);
        }
        for pair in &program.counterparts {
            let wanted = &program.operations[pair.wanted.index()];
            facts.extended.insert(wanted.component);
        }
        for operation in &program.operations {
            if let Some(of) = operation.inherits {
                facts
                    .extended
                    .insert(program.operations[of.index()].component);
            }
        }
        facts
    }

    /// Whether a proc needs a process of its own when it is called.
    pub(crate) fn is_separate(&self, code: CodeId) -> bool {
        self.separate.contains(&code)
    }

    /// Whether the elements of an array of operations have queues of their own. This requires that
    /// no input statement looks at several of them, directly or through capabilities.
    pub(crate) fn has_queues(&self, operation: OperationId, program: &Program) -> bool {
        let row = &program.operations[operation.index()];
        let Service::Input(class) = row.service else {
            return false;
        };
        !row.dimensions.is_empty()
            && !row.has_capability
            && !row.is_exported
            && !self.scanned.contains(&operation)
            && program.classes[class.index()].operations.len() == 1
    }

    /// Whether a code sets the priority of the process that runs it.
    pub(crate) fn sets_priority(&self, code: CodeId) -> bool {
        self.sets_priority.contains(&code)
    }

    /// Whether an arm of an input statement in this code replies or forwards.
    pub(crate) fn replies_in_arms(&self, code: CodeId) -> bool {
        self.replying.contains(&code)
    }

    /// Whether a variable may change its first value.
    pub(crate) fn is_assigned(&self, variable: VariableId) -> bool {
        self.assigned.contains(&variable)
    }

    /// Whether an operation must exist as an object, not only as a C function.
    pub(crate) fn is_reified(&self, operation: OperationId) -> bool {
        self.reified.contains(&operation)
    }

    /// Whether some instance of a resource is created in a region.
    pub(crate) fn has_regions(&self, component: ComponentId) -> bool {
        self.in_regions.contains(&component)
    }

    /// Whether capabilities for this resource may be for instances of others, which extend it or
    /// are like it.
    pub(crate) fn is_extended(&self, component: ComponentId) -> bool {
        self.extended.contains(&component)
    }
}

/// Returns the variables that a block may change, or let other code change.
pub(crate) fn assigned_in(block: &Block, program: &Program) -> HashSet<VariableId> {
    let mut seen = walk::Finder::new(program);
    walk_block(block, &mut seen);
    seen.assigned
}
