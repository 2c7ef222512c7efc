//! `_if` and `_do` with their guards: which guards belong to which statement, and the SR for each.

use std::collections::HashMap;

use crate::notation::output::Output;
use crate::notation::scan::{self, Use};

/// The guarded statements of a text.
pub(super) struct Guards {
    /// The role of each construct, by its number.
    roles: HashMap<usize, Role>,
}

enum Role {
    /// `_if` or `_do` with the numbers of its guards.
    Opening { is_loop: bool, guards: Vec<usize> },
    /// A guard, by its position in its statement.
    Guard(usize),
    /// `_fi` or `_od`, and whether there are guards.
    Closing { is_loop: bool, has_guards: bool },
    /// A construct without its partner.
    Alone,
}

/// The properties in a guard's name.
struct Kind {
    quantifiers: usize,
    communication: Option<Direction>,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    In,
    Out,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        let rest = name.strip_prefix("_guard")?;
        let (rest, quantifiers) = match rest {
            _ if rest.ends_with("q1") => (&rest[..rest.len() - 2], 1),
            _ if rest.ends_with("q2") => (&rest[..rest.len() - 2], 2),
            _ => (rest, 0),
        };
        let communication = match (rest, quantifiers) {
            ("", 0) | ("_", 1 | 2) => None,
            ("_i", _) => Some(Direction::In),
            ("_o", _) => Some(Direction::Out),
            _ => return None,
        };
        Some(Kind {
            quantifiers,
            communication,
        })
    }

    fn arguments(&self) -> usize {
        let own = if self.communication.is_some() { 4 } else { 1 };
        3 * self.quantifiers + own
    }
}

impl Guards {
    pub(super) fn of(written: &str, uses: &[Use]) -> Guards {
        let mut roles = HashMap::new();
        let mut open: Vec<(usize, bool, Vec<usize>)> = Vec::new();
        for (index, found) in uses.iter().enumerate() {
            let name = &written[found.name.clone()];
            match name {
                "_if" | "_do" => open.push((index, name == "_do", Vec::new())),
                "_fi" | "_od" => {
                    let is_loop = name == "_od";
                    let role = match open.pop_if(|(_, opened, _)| *opened == is_loop) {
                        Some((opening, _, guards)) => {
                            let has_guards = !guards.is_empty();
                            roles.insert(opening, Role::Opening { is_loop, guards });
                            Role::Closing {
                                is_loop,
                                has_guards,
                            }
                        }
                        None => Role::Alone,
                    };
                    roles.insert(index, role);
                }
                _ if Kind::of(name).is_some() => {
                    let role = match open.last_mut() {
                        Some((_, _, guards)) => {
                            guards.push(index);
                            Role::Guard(guards.len())
                        }
                        None => Role::Alone,
                    };
                    roles.insert(index, role);
                }
                _ => {}
            }
        }
        roles.extend(open.into_iter().map(|(index, _, _)| (index, Role::Alone)));
        Guards { roles }
    }

    /// Writes a construct, if it is one of these. Returns the offset where the text continues.
    pub(super) fn write(&self, index: usize, uses: &[Use], output: &mut Output) -> Option<usize> {
        let found = &uses[index];
        match self.roles.get(&index)? {
            Role::Opening { is_loop, guards } => opening(found, *is_loop, guards, uses, output),
            Role::Guard(number) => return Some(guard(found, *number, output)),
            Role::Closing {
                is_loop,
                has_guards,
            } => {
                output.put(if *has_guards { "fi; " } else { "" }, found);
                output.put(
                    if *is_loop {
                        "if csp_arm = 0 -> exit fi; end; od;"
                    } else {
                        "end;"
                    },
                    found,
                );
            }
            Role::Alone => alone(found, output),
        }
        Some(found.range.end)
    }
}

fn alone(found: &Use, output: &mut Output) {
    let message = match output.part(&found.name) {
        name @ ("_if" | "_do") => format!("this {name} does not end"),
        name @ ("_fi" | "_od") => format!("this {name} ends nothing"),
        name => format!("this {name} stands in no _if or _do"),
    };
    output.mistake(
        found,
        message,
        "_if ends with _fi and _do with _od, and guards stand between them",
    );
}

/// Writes the beginning of a statement: all guards are evaluated before any arm.
fn opening(found: &Use, is_loop: bool, guards: &[usize], uses: &[Use], output: &mut Output) {
    output.put(if is_loop { "do true -> " } else { "" }, found);
    output.put(
        "begin; var csp_with := 0, csp_arm := 0, csp_q1 := 0, csp_q2 := 0, csp_any := false\n",
        found,
    );
    for (number, index) in guards.iter().enumerate() {
        let guard = &uses[*index];
        if let Some(kind) = fitting(guard, output) {
            output.template(&offer(&kind, number + 1), guard);
        }
    }
    output.put(
        "if csp_arm != 0 -> csp_drop(csp_me)\n[] csp_arm = 0 and csp_any -> csp_match(csp_me, csp_with, csp_arm, csp_q1, csp_q2)\nfi\n",
        found,
    );
}

/// Returns the guard's kind, if it has suitable arguments.
fn fitting(guard: &Use, output: &mut Output) -> Option<Kind> {
    let kind = Kind::of(output.part(&guard.name))?;
    output.fits(guard, kind.arguments()).then_some(kind)
}

/// Returns an argument's place in a template.
fn placeholder(argument: usize) -> String {
    format!("${argument:x}")
}

fn offer(kind: &Kind, number: usize) -> String {
    let first = 3 * kind.quantifiers + 1;
    let (process, port) = (placeholder(first + 1), placeholder(first + 2));
    let (q1, q2) = match kind.quantifiers {
        0 => ("0", "0"),
        1 => ("$1", "0"),
        _ => ("$1", "$4"),
    };
    let action = match kind.communication {
        None => format!("csp_q1 := {q1}; csp_q2 := {q2}; csp_arm := {number}"),
        Some(direction) => format!(
            "csp_any := true; csp_offer(csp_me, {process}, {}, csp_port_{port}, {number}, {q1}, {q2})",
            direction == Direction::In
        ),
    };
    // The first true guard without communication ends the search.
    let leave = if kind.communication.is_none() {
        "; exit"
    } else {
        ""
    };
    let body = match kind.quantifiers {
        0 => format!("if ${first} -> {action} fi"),
        1 => format!("fa $1 := $2 to $3 st ${first} -> {action}{leave} af"),
        _ => format!("fa $1 := $2 to $3, $4 := $5 to $6 st ${first} -> {action}{leave} af"),
    };
    format!("if csp_arm = 0 -> {body} fi\n")
}

/// Writes an arm. The value that is received or sent follows the guard's own arrow.
fn guard(found: &Use, number: usize, output: &mut Output) -> usize {
    let kind = Kind::of(output.part(&found.name))
        .filter(|kind| found.is_closed && found.arguments.len() == kind.arguments());
    let Some(kind) = kind else {
        // This was reported at the statement's beginning.
        return found.range.end;
    };
    output.put(if number == 1 { "if " } else { "[] " }, found);
    output.put(&format!("csp_arm = {number}"), found);
    let Some(end) = scan::after_arrow(output.written, found.range.end) else {
        output.mistake(
            found,
            "a guard needs an arrow and what is done".to_owned(),
            "write \"->\" after it",
        );
        return found.range.end;
    };
    output.copy_plain(found.range.end..end);
    let variables = match kind.quantifiers {
        0 => "",
        1 => " var $1 := csp_q1;",
        _ => " var $1 := csp_q1; var $4 := csp_q2;",
    };
    let first = 3 * kind.quantifiers + 1;
    let (port, arguments) = (placeholder(first + 2), placeholder(first + 3));
    let communication = match kind.communication {
        None => String::new(),
        Some(Direction::In) => {
            format!(" receive {port}[csp_i1[csp_me],csp_i2[csp_me]]{arguments};")
        }
        Some(Direction::Out) => {
            format!(" send {port}[csp_i1[csp_with],csp_i2[csp_with]]{arguments};")
        }
    };
    output.template(&format!("{variables}{communication}"), found);
    end
}
