//! Static values of discrete expressions and static bounds of discrete subtypes (RM 4.9), as far as
//! translations need them.

use super::{At, EntityId, Kind, Names};
use crate::source::Program;

/// The least and the greatest value; for an enumeration the positions.
pub type Bounds = (i128, i128);

/// Limit of recursion: declarations that name each other in a cycle do not compile, but may be
/// given.
const DEPTH: usize = 30;

impl Names {
    /// Returns the value of a discrete expression, if it is static and simple: literals, named
    /// numbers, constants, attributes of static subtypes, and sums, differences and products of
    /// these.
    pub fn static_value(&self, program: &Program, at: At) -> Option<i128> {
        Evaluator {
            names: self,
            program,
        }
        .value(at, DEPTH)
    }

    /// Returns the bounds of a range in a loop or a constraint: `First .. Last`, or the range of an
    /// array.
    pub fn range_bounds(&self, program: &Program, range: At) -> Option<Bounds> {
        Evaluator {
            names: self,
            program,
        }
        .range(range, DEPTH)
    }

    /// Returns the bounds after a subtype mark: of its constraint, or of the subtype itself. Mark
    /// and constraint are children of `at`, as in the declaration of an object or a loop parameter.
    pub fn subtype_bounds(&self, program: &Program, at: At) -> Option<Bounds> {
        Evaluator {
            names: self,
            program,
        }
        .indication(at, DEPTH)
    }

    /// Returns the bounds of the subtype that a name means.
    pub fn mark_bounds(&self, program: &Program, mark: At) -> Option<Bounds> {
        Evaluator {
            names: self,
            program,
        }
        .mark(mark, DEPTH)
    }

    /// Returns bounds for the value of an expression, from its value or from the subtype of its
    /// name.
    pub fn value_bounds(&self, program: &Program, at: At) -> Option<Bounds> {
        let evaluator = Evaluator {
            names: self,
            program,
        };
        let value = evaluator.value(at, DEPTH);
        value
            .map(|v| (v, v))
            .or_else(|| evaluator.name_bounds(at, DEPTH))
    }
}

struct Evaluator<'a> {
    names: &'a Names,
    program: &'a Program,
}

impl Evaluator<'_> {
    fn kind(&self, at: At) -> &str {
        self.program.sources[at.file].tree.kind(at.node)
    }

    fn text(&self, at: At) -> &str {
        self.program.sources[at.file].text(at.node)
    }

    fn children(&self, at: At) -> Vec<At> {
        let tree = &self.program.sources[at.file].tree;
        tree.children(at.node)
            .map(|node| At { node, ..at })
            .collect()
    }

    fn child(&self, at: At, kind: &str) -> Option<At> {
        let tree = &self.program.sources[at.file].tree;
        tree.child(at.node, kind).map(|node| At { node, ..at })
    }

    fn role(&self, at: At, role: &str) -> Option<At> {
        let tree = &self.program.sources[at.file].tree;
        tree.role(at.node, role).map(|node| At { node, ..at })
    }

    fn value(&self, at: At, depth: usize) -> Option<i128> {
        let depth = depth.checked_sub(1)?;
        match self.kind(at) {
            "numeric_literal" => self.text(at).replace('_', "").parse().ok(),
            "expression" | "term" | "parenthesized_expression" => {
                self.sum(&self.children(at), depth)
            }
            "factor_power" => {
                let left = self.value(self.role(at, "left")?, depth)?;
                let right = self.value(self.role(at, "right")?, depth)?;
                left.checked_pow(u32::try_from(right).ok()?)
            }
            "identifier" | "selected_component" => {
                self.constant(self.names.meaning(self.program, at)?, depth)
            }
            _ => None,
        }
    }

    fn constant(&self, id: EntityId, depth: usize) -> Option<i128> {
        let entity = self.names.entity(id);
        match entity.kind {
            Kind::Constant => self.value(self.child(entity.at, "expression")?, depth),
            Kind::Literal => {
                let names = self
                    .children(self.child(entity.at, "enumeration_type_definition")?)
                    .into_iter()
                    .filter(|&c| matches!(self.kind(c), "identifier" | "character_literal"));
                let mut names = names.enumerate();
                let (position, _) = names.find(|&(_, c)| c == entity.ident)?;
                i128::try_from(position).ok()
            }
            _ => None,
        }
    }

    /// Adds operands and operators in a row, as in expressions, terms and ranges.
    fn sum(&self, parts: &[At], depth: usize) -> Option<i128> {
        if let [prefix, tick, attribute] = parts
            && self.kind(*tick) == "tick"
        {
            let (first, last) = self.prefix_bounds(*prefix, depth)?;
            return match Names::key(self.text(*attribute)).as_str() {
                "first" => Some(first),
                "last" => Some(last),
                _ => None,
            };
        }
        let parts: Vec<At> = parts
            .iter()
            .copied()
            .filter(|&p| !matches!(self.kind(p), "(" | ")"))
            .collect();
        let (operands, operators): (Vec<At>, Vec<At>) =
            parts.iter().partition(|&&p| !self.is_operator(p));
        let is_signed = parts.first().is_some_and(|&p| self.is_operator(p));
        let mut signs = operators.into_iter();
        let mut found: Option<i128> = None;
        for operand in operands {
            let value = self.value(operand, depth)?;
            let sign = match found {
                None if !is_signed => None,
                _ => signs.next(),
            };
            let before = found.unwrap_or(0);
            found = Some(match sign.map(|s| self.text(s).trim()) {
                None => value,
                Some("+") => before.checked_add(value)?,
                Some("-") => before.checked_sub(value)?,
                Some("*") => before.checked_mul(value)?,
                _ => return None,
            });
        }
        found
    }

    fn is_operator(&self, at: At) -> bool {
        matches!(
            self.kind(at),
            "binary_adding_operator" | "unary_adding_operator" | "multiplying_operator"
        )
    }

    fn range(&self, range: At, depth: usize) -> Option<Bounds> {
        let depth = depth.checked_sub(1)?;
        let parts = self.children(range);
        let parts: Vec<At> = parts
            .into_iter()
            .filter(|&p| self.kind(p) != "range" && self.kind(p) != ";")
            .collect();
        let Some(dots) = parts.iter().position(|&p| self.kind(p) == "..") else {
            let is_range = parts
                .last()
                .is_some_and(|&p| Names::key(self.text(p)) == "range");
            return self.prefix_bounds(*parts.first().filter(|_| is_range)?, depth);
        };
        Some((
            self.sum(&parts[..dots], depth)?,
            self.sum(&parts[dots + 1..], depth)?,
        ))
    }

    /// Returns the bounds of `Prefix'Range`: of a scalar subtype, or of an array's first index.
    fn prefix_bounds(&self, prefix: At, depth: usize) -> Option<Bounds> {
        let id = self.names.meaning(self.program, prefix);
        let Some(id) = id else {
            return standard(self.text(prefix));
        };
        let ty = self.names.type_of(self.program, id);
        if let Some(array) = self
            .names
            .definition(self.program, ty, "array_type_definition")
        {
            let index = self.children(array).into_iter().find(|&c| {
                self.kind(c) == "range_g"
                    || self.program.sources[c.file].tree.field(c.node) == "subtype_mark"
            })?;
            return match self.kind(index) {
                "range_g" => self.range(index, depth),
                _ => self.mark(index, depth),
            };
        }
        matches!(self.names.entity(id).kind, Kind::Type | Kind::Subtype)
            .then(|| self.declared(id, depth))?
    }

    fn mark(&self, mark: At, depth: usize) -> Option<Bounds> {
        match self.names.meaning(self.program, mark) {
            Some(id) => self.declared(id, depth),
            None => standard(self.text(mark)),
        }
    }

    /// Returns the bounds of a declared type or subtype.
    fn declared(&self, id: EntityId, depth: usize) -> Option<Bounds> {
        let depth = depth.checked_sub(1)?;
        let at = self.names.entity(id).at;
        if self.kind(at) == "subtype_declaration" {
            return self.indication(at, depth);
        }
        if let Some(derived) = self.child(at, "derived_type_definition") {
            return self.indication(derived, depth);
        }
        if let Some(range) = self.child(at, "signed_integer_type_definition") {
            return self.range(range, depth);
        }
        if let Some(modular) = self.child(at, "modular_type_definition") {
            let modulus = self.value(self.child(modular, "expression")?, depth)?;
            return Some((0, modulus.checked_sub(1)?));
        }
        let literals = self.child(at, "enumeration_type_definition")?;
        let count = self
            .children(literals)
            .into_iter()
            .filter(|&c| matches!(self.kind(c), "identifier" | "character_literal"))
            .count();
        Some((0, i128::try_from(count).ok()? - 1))
    }

    fn indication(&self, at: At, depth: usize) -> Option<Bounds> {
        let constraint = self.child(at, "range_constraint");
        let range = constraint
            .and_then(|c| self.child(c, "range_g"))
            .or_else(|| self.child(at, "range_g"));
        match range {
            Some(range) => self.range(range, depth),
            None => self.mark(self.role(at, "subtype_mark")?, depth),
        }
    }

    /// Returns the bounds of the subtype of a name's value: an object, an element of an array, a
    /// function's result.
    fn name_bounds(&self, at: At, depth: usize) -> Option<Bounds> {
        let depth = depth.checked_sub(1)?;
        match self.kind(at) {
            "expression" | "term" => match self.children(at)[..] {
                [only] => self.name_bounds(only, depth),
                _ => None,
            },
            "identifier" | "selected_component" => {
                let id = self.names.meaning(self.program, at)?;
                let entity = self.names.entity(id);
                let holds = matches!(
                    entity.kind,
                    Kind::Variable
                        | Kind::Constant
                        | Kind::Parameter
                        | Kind::Component
                        | Kind::Discriminant
                        | Kind::LoopParameter
                );
                let inner = self.child(entity.at, "component_definition");
                holds.then(|| self.indication(inner.unwrap_or(entity.at), depth))?
            }
            "function_call" => {
                let id = self.names.meaning(self.program, self.role(at, "name")?)?;
                let ty = self.names.type_of(self.program, id);
                let array = self
                    .names
                    .definition(self.program, ty, "array_type_definition")?;
                let is_element = self.names.entity(id).kind != Kind::Subprogram;
                let element = self.child(array, "component_definition")?;
                is_element.then(|| self.indication(element, depth))?
            }
            _ => None,
        }
    }
}

/// Returns the bounds of the standard subtypes, as in GNAT (RM A.1).
fn standard(mark: &str) -> Option<Bounds> {
    match Names::key(mark).as_str() {
        "natural" => Some((0, i128::from(i32::MAX))),
        "positive" => Some((1, i128::from(i32::MAX))),
        "integer" => Some((i128::from(i32::MIN), i128::from(i32::MAX))),
        "boolean" => Some((0, 1)),
        "character" => Some((0, 255)),
        _ => None,
    }
}

/// Returns the number of values between bounds.
pub fn count((first, last): Bounds) -> i128 {
    (last - first + 1).max(0)
}
