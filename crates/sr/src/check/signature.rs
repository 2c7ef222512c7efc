//! Prototypes: parameters, results and restrictions.

use crate::program::*;
use crate::syntax;

use super::Checker;

impl Checker<'_> {
    /// Checks parameters, result and restriction.
    pub(super) fn prototype(&mut self, prototype: &syntax::Prototype) -> SignatureId {
        let signature = self.bare_signature();
        self.fill_signature(signature, prototype);
        signature
    }

    /// Gives a signature, whose number is known already, its parameters, result and restriction.
    pub(super) fn fill_signature(&mut self, signature: SignatureId, prototype: &syntax::Prototype) {
        self.scopes.open();
        let is_block = std::mem::replace(&mut self.place.is_block, true);
        let mut parameters = Vec::new();
        for parameter in &prototype.parameters {
            parameters.push(self.parameter(parameter));
            if let Some(declarator) = &parameter.declarator {
                self.scopes.formal(&declarator.name.text);
            }
        }
        let result = prototype.result.as_ref().map(|result| {
            let checked = self.parameter(result);
            let of = self.no_stars(checked.of, result.of.span);
            Parameter { of, ..checked }
        });
        self.place.is_block = is_block;
        self.scopes.close();
        self.program.signatures[signature.index()] = Signature {
            parameters,
            result,
            restriction: prototype.restriction,
        };
    }

    /// Checks a parameter, or a result.
    pub(super) fn parameter(&mut self, parameter: &syntax::Parameter) -> Parameter {
        let element = self.type_expression(&parameter.of);
        let dimensions = parameter.declarator.as_ref().map(|d| &*d.dimensions);
        let (of, shape) = self.with_dimensions(dimensions.unwrap_or_default(), element);
        Parameter {
            passing: parameter.passing,
            of,
            shape: self.has_bounds(of).then_some(shape),
        }
    }

    /// Whether a type has a bound or length other than `*`, apart from the lower bound 1 of `[*]`.
    fn has_bounds(&self, of: TypeId) -> bool {
        let (dimensions, element) = self.program.types.flat(of);
        let in_dimensions = dimensions.iter().any(|d| {
            let is_open = matches!(d.low, Extent::Any | Extent::Known(1)) && d.high == Extent::Any;
            !is_open
        });
        in_dimensions || matches!(self.kind(element), Type::Text(most) if *most != Extent::Any)
    }

    /// Adds a signature.
    pub(super) fn signature(&mut self, signature: Signature) -> SignatureId {
        self.program.signatures.push(signature);
        SignatureId(self.program.signatures.len() as u32 - 1)
    }

    /// Returns the signature of semaphores.
    pub(super) fn bare_signature(&mut self) -> SignatureId {
        self.signature(Signature {
            parameters: Vec::new(),
            result: None,
            restriction: Restriction::Send,
        })
    }
}
