//! Blocks of invocations: a struct for each kind of signature. Signatures that are alike in SR
//! share a struct.

use antiphon_lang::c::Writer;

use super::types::{Class, pointer_to};
use super::unit::Unit;
use crate::program::*;

/// A struct of an invocation's parameters and result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Block {
    /// C declarations of the fields.
    fields: Vec<String>,
    /// Addresses in the block that point into it.
    inside: Vec<String>,
    /// Why the operation cannot be invoked on another virtual machine.
    refused: Option<&'static str>,
    /// Dimensions of a result outside of the block; 0 for a text.
    outside: Option<usize>,
}

impl Unit<'_> {
    /// Returns the C name of a signature's block: `struct q_1`.
    pub(super) fn block_type(&self, signature: SignatureId) -> String {
        let number = self.block_number(signature);
        format!("struct q_{number}")
    }

    /// Returns the function `relocate_q_1` that moves a block, if parameters follow its struct.
    pub(super) fn relocation(&self, signature: SignatureId) -> Option<String> {
        let number = self.block_number(signature);
        let shared = self.shared.borrow();
        let block = &shared.blocks[number - 1];
        (!block.inside.is_empty()).then(|| format!("relocate_q_{number}"))
    }

    /// Returns the number in the C name of a signature's block.
    pub(super) fn block_number(&self, signature: SignatureId) -> usize {
        let block = self.block_of(signature);
        let shared = &mut *self.shared.borrow_mut();
        let number = shared.block_numbers.entry(block.clone());
        *number.or_insert_with(|| {
            shared.blocks.push(block);
            shared.blocks.len()
        })
    }

    fn block_of(&self, signature: SignatureId) -> Block {
        let signature = &self.program.signatures[signature.index()];
        let mut block = Block {
            fields: Vec::new(),
            inside: Vec::new(),
            refused: None,
            outside: None,
        };
        if self.has_machines {
            self.note_reach(signature, &mut block);
        }
        for (n, parameter) in signature.parameters.iter().enumerate() {
            let name = format!("a{}", n + 1);
            let is_reference = parameter.passing == Passing::Reference;
            let class = self.class(parameter.of);
            let c_type = match class {
                Class::Plain if is_reference => pointer_to(&self.plain_type(parameter.of)),
                Class::Plain => self.plain_type(parameter.of),
                _ => self.place_type(parameter.of),
            };
            block.fields.push(self.declare(&c_type, &name));
            match class {
                Class::Text if !is_reference => {
                    block.inside.push(format!("{name}.length"));
                    block.inside.push(format!("{name}.data"));
                }
                Class::Array(_) if !is_reference => block.inside.push(format!("{name}.data")),
                _ => {}
            }
        }
        if let Some(result) = &signature.result {
            block
                .fields
                .push(self.declare(&self.value_type(result.of), "result"));
        }
        block
    }

    /// Notes what a message needs to know of a block.
    fn note_reach(&self, signature: &Signature, block: &mut Block) {
        let types = signature.parameters.iter().map(|p| p.of);
        let mut types = types.chain(signature.result.iter().map(|r| r.of));
        let passes = |p: &Parameter| p.passing == Passing::Reference;
        block.refused = match () {
            () if signature.parameters.iter().any(passes) => {
                Some("the operation takes a ref parameter")
            }
            () if types.any(|of| self.has_pointer(of)) => Some("the operation passes a pointer"),
            () => None,
        };
        block.outside = match signature.result.as_ref().map(|r| self.class(r.of)) {
            Some(Class::Text) => Some(0),
            Some(Class::Array(dimensions)) => Some(dimensions),
            _ => None,
        };
    }

    fn has_pointer(&self, of: TypeId) -> bool {
        match self.program.types.get(of) {
            Type::Pointer(_) => true,
            Type::Array(..) => self.has_pointer(self.program.types.flat(of).1),
            Type::Record(number) => {
                let fields = &self.program.types.records[*number as usize].fields;
                fields.iter().any(|(_, of)| self.has_pointer(*of))
            }
            _ => false,
        }
    }

    /// Returns what a message needs to know of a block: the address of a descriptor, or nothing.
    pub(super) fn reach(&self, signature: SignatureId) -> Option<String> {
        let number = self.block_number(signature);
        let shared = self.shared.borrow();
        let block = &shared.blocks[number - 1];
        let is_needed = block.refused.is_some() || block.outside.is_some();
        is_needed.then(|| format!("&signature_q_{number}"))
    }

    fn write_reach(&self, number: usize, block: &Block, out: &mut Writer) {
        if block.refused.is_none() && block.outside.is_none() {
            return;
        }
        let refused = block.refused.map_or("0".into(), |why| format!("{why:?}"));
        let result = match block.outside {
            None => "0".to_string(),
            Some(dimensions) => {
                out.line(format!(
                    "static const struct sr_field result_q_{number} = {{offsetof(struct q_{number}, result), {dimensions}}};"
                ));
                format!("&result_q_{number}")
            }
        };
        out.line(format!(
            "static const struct sr_signature signature_q_{number} = {{{refused}, {result}}};"
        ));
    }

    /// Writes the structs.
    pub(super) fn write_blocks(&self, out: &mut Writer) {
        for (n, block) in self.shared.borrow().blocks.iter().enumerate() {
            let number = n + 1;
            out.open(format!("struct q_{number} {{"));
            out.line("struct sr_invocation head;");
            for field in &block.fields {
                out.line(format!("{field};"));
            }
            out.close("};");
            self.write_reach(number, block, out);
            if block.inside.is_empty() {
                continue;
            }
            out.open(format!(
                "static void relocate_q_{number}(struct sr_invocation *head, ptrdiff_t by) {{"
            ));
            out.line(format!("struct q_{number} *q = (struct q_{number} *)head;"));
            for address in &block.inside {
                out.line(format!(
                    "q->{address} = (void *)((char *)q->{address} + by);"
                ));
            }
            out.close("}");
        }
    }
}
