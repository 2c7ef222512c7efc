//! Loops: `do`, `fa`, and the quantifiers of other statements.

use std::collections::HashSet;

use antiphon_lang::c::bare;

use super::function::Function;
use super::jumps::Frame;
use super::views::constant;
use crate::lower::Changes;
use crate::program::*;

impl Function<'_> {
    /// Writes a loop's body. Returns whether there are jumps out of it, and to its end.
    fn loop_body(&mut self, number: usize, write: impl FnOnce(&mut Self)) -> bool {
        self.frames.push(Frame::Loop {
            number,
            exits: false,
            nexts: false,
            leave: Vec::new(),
        });
        self.with_mark(|f| {
            write(f);
            if let Some(Frame::Loop { nexts: true, .. }) = f.frames.last() {
                f.out.label(&format!("next_{number}"));
            }
        });
        matches!(self.frames.pop(), Some(Frame::Loop { exits: true, .. }))
    }

    /// Writes the counter at a loop's head.
    fn count_loop(&mut self) {
        if self.unit.options.loops {
            self.line("SR_LOOP();");
        }
    }

    /// Writes the head of a `do`: it counts, and makes the C compiler read shared variables again.
    /// A loop may wait for other processes without blocking.
    fn do_head(&mut self, arms: &[(Expression, Block)], other: Option<&Block>) {
        self.count_loop();
        if !self.unit.options.loops && reads_shared(self.unit.program, arms, other) {
            self.line("SR_LOOK_AGAIN();");
        }
    }

    /// `do`: repeats until no guard holds.
    pub(super) fn do_statement(&mut self, arms: &[(Expression, Block)], other: Option<&Block>) {
        let number = self.number();
        let is_endless =
            other.is_some() || matches!(arms.first(), Some((guard, _)) if is_true(guard));
        let mut ends = false;
        let simple = match (arms, other) {
            ([(guard, block)], None) if !is_true(guard) => {
                let (written, text) = self.aside(|f| f.plain(guard));
                written.is_empty().then_some((text, block))
            }
            _ => None,
        };
        let is_left = if let Some((guard, block)) = simple {
            self.out.open(format!("while ({}) {{", bare(&guard)));
            self.do_head(arms, other);
            let is_left = self.loop_body(number, |f| f.block(block));
            self.out.close("}");
            is_left
        } else {
            self.out.open("for (;;) {");
            self.do_head(arms, other);
            let is_left = self.loop_body(number, |f| match arms {
                [(guard, block), ..] if is_true(guard) => f.block(block),
                [] => {
                    if let Some(block) = other {
                        f.block(block);
                    }
                }
                _ => f.guarded(arms, |f| match other {
                    Some(block) => {
                        f.block(block);
                        true
                    }
                    None => {
                        ends = true;
                        f.line(format!("goto exit_{number};"));
                        true
                    }
                }),
            });
            self.out.close("}");
            is_left
        };
        debug_assert!(!(is_endless && ends));
        if is_left || ends {
            self.out.label(&format!("exit_{number}"));
        }
    }

    /// `fa`.
    pub(super) fn for_all(&mut self, quantifiers: &[Quantifier], block: &Block) {
        let number = self.number();
        let mut is_left = false;
        let changes = Changes::of(block, quantifiers, self.unit.program);
        self.quantified(quantifiers, &changes, |f| {
            is_left = f.loop_body(number, |f| f.block(block));
        });
        if is_left {
            self.out.label(&format!("exit_{number}"));
        }
    }

    /// Writes `body` inside loops for all values of quantifiers, of which the innermost counts.
    /// `changes` describes the body.
    pub(super) fn quantified(
        &mut self,
        quantifiers: &[Quantifier],
        changes: &Changes,
        body: impl FnOnce(&mut Self),
    ) {
        let mut open = Vec::new();
        for (n, quantifier) in quantifiers.iter().enumerate() {
            let first = self.plain(&quantifier.first);
            let is_last = n + 1 == quantifiers.len();
            self.open_loop(quantifier, &first, is_last, changes);
            let had_range = self.note_range(quantifier, changes);
            let mut closes = 1;
            if let Some(test) = &quantifier.test {
                let test = self.plain(test);
                self.out.open(format!("if ({}) {{", bare(&test)));
                closes += 1;
            }
            open.push((closes, quantifier.variable, had_range));
        }
        body(self);
        for (closes, variable, had_range) in open.into_iter().rev() {
            for _ in 0..closes {
                self.out.close("}");
            }
            match had_range {
                Some(range) => self.ranges.insert(variable, range),
                None => self.ranges.remove(&variable),
            };
        }
    }

    /// Writes the head of the loop of one quantifier. Limit and step are evaluated for every value.
    fn open_loop(&mut self, quantifier: &Quantifier, first: &str, counts: bool, changes: &Changes) {
        if self.is_plain_count(quantifier, changes) {
            self.open_count(quantifier, first, counts);
            return;
        }
        let name = self.unit.names.variable(quantifier.variable).to_string();
        let of = self.unit.program.variables[quantifier.variable.index()].of;
        // A char or bool cannot exceed its last value, so an int counts.
        let is_narrow = matches!(self.types().get(of), Type::Char | Type::Bool);
        let (counter, c_type) = match is_narrow {
            true => (format!("i{}", self.number()), "sr_int".to_string()),
            false => (name.clone(), self.unit.plain_type(of)),
        };
        let (before_limit, limit) = self.aside(|f| f.deeper(|f| f.plain(&quantifier.last)));
        let (before_step, step) =
            self.aside(|f| f.deeper(|f| quantifier.step.as_ref().map(|step| f.plain(step))));
        let change = match (&step, quantifier.is_down) {
            (None, false) => format!("{counter}++"),
            (None, true) => format!("{counter}--"),
            (Some(step), _) => format!("{counter} += {}", bare(step)),
        };
        let condition = match (&quantifier.step, quantifier.is_down) {
            (None, false) => format!("{counter} <= {}", bare(&limit)),
            (None, true) => format!("{counter} >= {}", bare(&limit)),
            (Some(step_expression), is_down) => {
                self.stepped(&counter, &limit, step_expression, is_down)
            }
        };
        let declaration = format!("{c_type} {counter} = {}", bare(first));
        if before_limit.is_empty() && before_step.is_empty() {
            self.out
                .open(format!("for ({declaration}; {condition}; {change}) {{"));
        } else {
            // Statements for the limit or the step are inside the loop. At the loop's end, `next`
            // would skip the step, so it comes first.
            let is_first = format!("is_first_{}", self.number());
            self.line(format!("sr_bool {is_first} = 1;"));
            self.out.open(format!("for ({declaration};;) {{"));
            self.out.open(format!("if (!{is_first}) {{"));
            let step = quantifier.step.as_ref().map(|step| self.plain(step));
            self.line(match (step, quantifier.is_down) {
                (None, false) => format!("{counter}++;"),
                (None, true) => format!("{counter}--;"),
                (Some(step), _) => format!("{counter} += {};", bare(&step)),
            });
            self.out.close("}");
            self.line(format!("{is_first} = 0;"));
            let limit = self.plain(&quantifier.last);
            let condition = match (&quantifier.step, quantifier.is_down) {
                (None, false) => format!("{counter} <= {limit}"),
                (None, true) => format!("{counter} >= {limit}"),
                (Some(step), is_down) => self.stepped(&counter, &limit, step, is_down),
            };
            self.line(format!("if (!({condition}))"));
            self.line("    break;");
        }
        if is_narrow {
            let c_type = self.unit.plain_type(of);
            self.line(format!("{c_type} {name} = ({c_type}){counter};"));
        }
        if counts {
            self.count_loop();
        }
    }

    /// Whether the loop runs over all numbers between two values that are known when it begins.
    fn is_plain_count(&self, quantifier: &Quantifier, changes: &Changes) -> bool {
        let of = self.unit.program.variables[quantifier.variable.index()].of;
        let facts = &self.unit.facts;
        matches!(self.types().get(of), Type::Int | Type::Enum(_))
            && quantifier.step.is_none()
            && !changes.variables.contains(&quantifier.variable)
            && facts.is_steady(
                &quantifier.last,
                changes,
                self.unit.options.loops,
                self.unit.program,
            )
    }

    /// Writes the head of such a loop. It cannot wrap around. Without iteration counting it runs in
    /// 64 bits, so that the C compiler can follow subscripts. With counting, 64 bits gain nothing:
    /// a copied counter beside a decrement in memory took five times as long (Sapphire Rapids).
    fn open_count(&mut self, quantifier: &Quantifier, first: &str, counts: bool) {
        let name = self.unit.names.variable(quantifier.variable).to_string();
        let limit = self.plain(&quantifier.last);
        let number = self.number();
        let (first, limit, last) = (bare(first), bare(&limit), format!("last{number}"));
        let (less, step) = match quantifier.is_down {
            false => ("<", "++"),
            true => (">", "--"),
        };
        if self.unit.options.loops {
            let goes = format!("goes{number}");
            self.out.open(format!(
                "for (sr_int {name} = {first}, {last} = {limit}, {goes} = {name} {less}= {last}; {goes}; {goes} = {name} {less} {last}, {name}{step}) {{"
            ));
        } else {
            let counter = format!("i{number}");
            self.out.open(format!(
                "for (int64_t {counter} = {first}, {last} = {limit}; {counter} {less}= {last}; {counter}{step}) {{"
            ));
            self.line(format!("const sr_int {name} = (sr_int){counter};"));
        }
        if counts {
            self.count_loop();
        }
    }

    /// Returns the test whether a counter with a step is within its limit. The direction is the
    /// written one, whatever the step's sign.
    fn stepped(&mut self, counter: &str, limit: &str, _step: &Expression, is_down: bool) -> String {
        match is_down {
            false => format!("{counter} <= {}", bare(limit)),
            true => format!("{counter} >= {}", bare(limit)),
        }
    }

    /// Notes the values of a loop's variable, if they are known and the body does not change it.
    /// Returns what was known before.
    fn note_range(&mut self, quantifier: &Quantifier, changes: &Changes) -> Option<(i64, i64)> {
        self.within.remove(&quantifier.variable);
        let before = self.ranges.remove(&quantifier.variable);
        if changes.variables.contains(&quantifier.variable) || quantifier.step.is_some() {
            return before;
        }
        if let Some(dimension) = self.dimension_of(quantifier) {
            self.within.insert(quantifier.variable, dimension);
        }
        let (first, last) = (
            self.range_of(&quantifier.first),
            self.range_of(&quantifier.last),
        );
        if let (Some(first), Some(last)) = (first, last) {
            let range = match quantifier.is_down {
                false => (first.0, last.1),
                true => (last.0, first.1),
            };
            self.ranges.insert(quantifier.variable, range);
        }
        before
    }

    /// Returns the dimension of an array within whose bounds a loop stays: from its low bound (or a
    /// higher constant) to its high bound, or back.
    fn dimension_of(&self, quantifier: &Quantifier) -> Option<(VariableId, usize)> {
        let (low, high) = match quantifier.is_down {
            false => (&quantifier.first, &quantifier.last),
            true => (&quantifier.last, &quantifier.first),
        };
        let (array, dimension) = bound_of(high, Predefined::Ub)?;
        let of = self.unit.program.variables[array.index()].of;
        let storage = self.unit.program.variables[array.index()].storage;
        let known_low = match (self.types().flat(of).0.get(dimension)?.low, storage) {
            // A parameter passed by reference has the argument's own bounds.
            (
                _,
                Storage::Parameter(_, Passing::Reference) | Storage::Arm(_, Passing::Reference),
            ) => None,
            (Extent::Known(low), _) => Some(i64::from(low)),
            _ => None,
        };
        let is_low = match (self.range_of(low), known_low) {
            (Some((least, _)), Some(known)) => least >= known,
            _ => bound_of(low, Predefined::Lb) == Some((array, dimension)),
        };
        is_low.then_some((array, dimension))
    }
}

/// Returns the array and dimension whose bound an expression is.
fn bound_of(e: &Expression, function: Predefined) -> Option<(VariableId, usize)> {
    let ExpressionKind::Predefined(asked, arguments) = &e.kind else {
        return None;
    };
    match (&arguments.first()?.kind, &arguments.get(1)?.kind) {
        (ExpressionKind::Variable(array), ExpressionKind::Constant(Constant::Ordinal(n)))
            if *asked == function =>
        {
            Some((*array, usize::try_from(*n).ok()?.checked_sub(1)?))
        }
        _ => None,
    }
}

/// Whether a guard is the constant true.
fn is_true(guard: &Expression) -> bool {
    matches!(
        guard.kind,
        ExpressionKind::Constant(Constant::Ordinal(value)) if value != 0
    )
}

/// Returns an ordinal constant in C.
pub(super) fn ordinal(e: &Expression) -> Option<String> {
    match e.kind {
        ExpressionKind::Constant(Constant::Ordinal(value)) => Some(constant(value)),
        _ => None,
    }
}

/// Collects variables.
#[derive(Default)]
pub(super) struct Uses(pub(super) HashSet<VariableId>);

impl Visitor for Uses {
    fn expression(&mut self, e: &Expression) {
        if let ExpressionKind::Variable(variable) = &e.kind {
            self.0.insert(*variable);
        }
    }
}

impl Uses {
    /// Returns the variables of a block.
    pub(super) fn of(block: &Block) -> HashSet<VariableId> {
        let mut uses = Uses::default();
        walk_block(block, &mut uses);
        uses.0
    }
}

/// Whether guards or blocks read variables that outlive the code's own, or reference parameters.
fn reads_shared(program: &Program, arms: &[(Expression, Block)], other: Option<&Block>) -> bool {
    struct Reads<'p> {
        program: &'p Program,
        found: bool,
    }
    impl Visitor for Reads<'_> {
        fn expression(&mut self, expression: &Expression) {
            self.found |= match &expression.kind {
                ExpressionKind::Variable(id) => {
                    let variable = &self.program.variables[id.index()];
                    !variable.is_constant
                        && match variable.storage {
                            Storage::Component(_) => true,
                            Storage::Local(_) => variable.has_address,
                            Storage::Parameter(_, passing) | Storage::Arm(_, passing) => {
                                passing == Passing::Reference
                            }
                        }
                }
                ExpressionKind::Dereference(_) => true,
                _ => false,
            };
        }
    }
    let mut reads = Reads {
        program,
        found: false,
    };
    for (guard, block) in arms {
        walk_expression(guard, &mut reads);
        walk_block(block, &mut reads);
    }
    if let Some(block) = other {
        walk_block(block, &mut reads);
    }
    reads.found
}
