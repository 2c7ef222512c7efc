//! Blocks of invocations: a struct for each kind of signature. Signatures that the language holds to be alike have the same struct.

use antiphon_lang::c::Writer;

use super::types::{Class, pointer_to};
use super::unit::Unit;
use crate::program::*;

/// A struct of an invocation's parameters and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// C declarations of the fields.
    fields: Vec<String>,
    /// Addresses in the block that point into it.
    inside: Vec<String>,
}

impl Unit<'_> {
    /// The C name of a signature's block: `struct q_1`.
    pub(super) fn block_type(&self, signature: SignatureId) -> String {
        let number = self.block_number(signature);
        format!("struct q_{number}")
    }

    /// Whether a block has parameters that stand behind its struct; then the function that moves them is `relocate_q_1`.
    pub(super) fn relocation(&self, signature: SignatureId) -> Option<String> {
        let number = self.block_number(signature);
        let shared = self.shared.borrow();
        let block = &shared.blocks[number - 1];
        (!block.inside.is_empty()).then(|| format!("relocate_q_{number}"))
    }

    /// The number in the C name of a signature's block.
    pub(super) fn block_number(&self, signature: SignatureId) -> usize {
        let block = self.block_of(signature);
        let mut shared = self.shared.borrow_mut();
        let found = shared.blocks.iter().position(|b| *b == block);
        match found {
            Some(at) => at + 1,
            None => {
                shared.blocks.push(block);
                shared.blocks.len()
            }
        }
    }

    fn block_of(&self, signature: SignatureId) -> Block {
        let signature = &self.program.signatures[signature.index()];
        let mut block = Block {
            fields: Vec::new(),
            inside: Vec::new(),
        };
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
