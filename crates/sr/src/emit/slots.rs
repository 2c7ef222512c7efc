//! Slots: operations that a capability of a resource holds by itself, so that the program may
//! replace them. A program that replaces none has no slots, and its capabilities are those of the
//! run-time.

use antiphon_lang::c::Writer;

use super::function::Function;
use super::unit::Unit;
use crate::program::*;

impl Unit<'_> {
    pub(super) fn has_slots(&self) -> bool {
        !self.program.slots.is_empty()
    }

    /// Returns the number of an operation's slot, if it has one.
    pub(super) fn slot(&self, operation: OperationId) -> Option<usize> {
        self.program.slots.get(&operation).copied()
    }

    /// Returns the member of a resource's capability that the run-time knows.
    pub(super) fn instance_member(&self) -> &'static str {
        match self.has_slots() {
            true => ".instance",
            false => "",
        }
    }

    /// Returns the capability of an instance of a component, all slots filled.
    pub(super) fn with_slots(&self, component: ComponentId, instance: String) -> String {
        match self.has_slots() {
            true => format!("slots_{}({instance})", self.names.component(component)),
            false => instance,
        }
    }

    /// Returns null or noop; all slots are the same.
    pub(super) fn constant_resource(&self, constant: &str) -> String {
        match self.has_slots() {
            true => format!("resource_of({constant})"),
            false => constant.into(),
        }
    }

    fn slots(&self) -> impl Iterator<Item = usize> {
        0..self.program.slots.values().max().map_or(0, |last| last + 1)
    }

    /// Writes the struct of a resource's capability.
    pub(super) fn write_slots(&self, out: &mut Writer) {
        if !self.has_slots() {
            return;
        }
        out.open("struct resource {");
        out.line("sr_resource instance;");
        for slot in self.slots() {
            out.line(format!("sr_cap slot_{slot};"));
        }
        out.close("};");
        let equal = self
            .slots()
            .map(|n| format!(" && sr_cap_equal(a.slot_{n}, b.slot_{n})"));
        out.open("SR_INLINE sr_bool resource_equal(struct resource a, struct resource b) {");
        out.line(format!(
            "return sr_resource_equal(a.instance, b.instance){};",
            equal.collect::<String>()
        ));
        out.close("}");
        let empty = self.slots().map(|_| ", empty");
        out.open("SR_INLINE struct resource resource_of(sr_resource instance) {");
        out.line("sr_cap empty = {0, instance.instance ? 0 : instance.serial};");
        out.line(format!(
            "return (struct resource){{instance{}}};",
            empty.collect::<String>()
        ));
        out.close("}");
    }

    /// Writes the functions that fill the slots for an instance of each component.
    pub(super) fn write_fillers(&self, out: &mut Writer) {
        if !self.has_slots() {
            return;
        }
        for (row, component) in self.program.components.iter().zip(0..) {
            if row.body.is_none() {
                continue;
            }
            let name = self.names.component(ComponentId(component));
            out.open(format!(
                "SR_INLINE struct resource slots_{name}(sr_resource instance) {{"
            ));
            out.line("struct resource all = resource_of(instance);");
            for operation in &row.operations {
                if let Some(slot) = self.slot(*operation) {
                    let member = self.names.operation(*operation);
                    out.line(format!(
                        "all.slot_{slot} = sr_cap_in(instance, offsetof(struct c_{name}, {member}));"
                    ));
                }
            }
            out.line("return all;");
            out.close("}");
        }
    }
}

impl Function<'_> {
    /// Returns the instance of a resource's capability.
    pub(super) fn instance_of(&mut self, resource: &Expression) -> String {
        format!("{}{}", self.plain(resource), self.unit.instance_member())
    }

    /// Returns the slot of an operation in a resource's capability.
    pub(super) fn in_slot(&mut self, resource: &Expression, operation: OperationId) -> String {
        let slot = self.unit.slot(operation).unwrap_or_default();
        format!("{}.slot_{slot}", self.plain(resource))
    }
}
