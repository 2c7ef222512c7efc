//! Generated statements as a tree, so that jumps at their ends can be left out.

use std::collections::HashSet;

/// A piece of generated code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// Lines as they are to stand, without the indentation around them.
    Lines(Vec<String>),
    /// `return;` from the entry or procedure.
    Return,
    /// A requeue statement: nothing follows it either, but it stays.
    Requeue(String),
    /// A compound statement.
    Compound {
        /// A line above the arms that is not part of one (`case X is`).
        open: Option<String>,
        /// A header line and its statements; an empty header is left out (the body of a block).
        arms: Vec<(String, Vec<Code>)>,
        /// The closing line.
        close: String,
        /// Whether what ends an arm ends the statement: not so for loops.
        is_tail: bool,
    },
}

impl Code {
    /// One line.
    pub fn line(text: impl Into<String>) -> Code {
        Code::Lines(vec![text.into()])
    }
}

/// Leaves out each `return` after which nothing follows, and what cannot be reached after one.
pub fn trim_returns(code: &mut Vec<Code>) {
    cut_after_return(code);
    match code.last_mut() {
        Some(Code::Return) => {
            code.pop();
            trim_returns(code);
        }
        Some(Code::Compound {
            arms,
            is_tail: true,
            ..
        }) => arms.iter_mut().for_each(|(_, body)| trim_returns(body)),
        _ => {}
    }
}

/// `if C then A; return; end if; B;` at the end, with a short B, reads better as `if C then A; else B; end if;`.
pub fn prefer_else(code: &mut Vec<Code>) {
    let returns = |c: &Code| {
        matches!(c, Code::Compound { open: None, arms, close, is_tail: true }
            if close == "end if;" && arms.len() == 1 && arms[0].1.last() == Some(&Code::Return))
    };
    if let Some(at) = code.iter().position(returns)
        && (1..=4).contains(&size(&code[at + 1..]))
    {
        let rest = code.split_off(at + 1);
        if let Some(Code::Compound { arms, .. }) = code.last_mut() {
            arms.push(("else".into(), rest));
        }
        trim_returns(code);
    }
    if let Some(Code::Compound {
        arms,
        is_tail: true,
        ..
    }) = code.last_mut()
    {
        arms.iter_mut().for_each(|(_, body)| prefer_else(body));
    }
}

fn cut_after_return(code: &mut Vec<Code>) {
    let leaves = |c: &Code| matches!(c, Code::Return | Code::Requeue(_));
    if let Some(at) = code.iter().position(leaves) {
        code.truncate(at + 1);
    }
    for piece in code {
        if let Code::Compound { arms, .. } = piece {
            arms.iter_mut().for_each(|(_, body)| cut_after_return(body));
        }
    }
}

/// Whether the code can end before its last line.
pub fn contains_return(code: &[Code]) -> bool {
    code.iter().any(|c| match c {
        Code::Return | Code::Requeue(_) => true,
        Code::Compound { arms, .. } => arms.iter().any(|(_, body)| contains_return(body)),
        Code::Lines(_) => false,
    })
}

/// A line in pieces: words, literals, comments, and single characters between them.
pub struct Piece<'a> {
    /// Its text.
    pub text: &'a str,
    /// What follows it.
    pub rest: &'a str,
    /// Whether it is a name by itself: no selector, no attribute, nothing in comments and literals.
    pub is_simple_name: bool,
}

/// The pieces of a line, which together are the line.
pub fn pieces(line: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = line;
    let mut before = ' ';
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |n| n + 2)
        } else if first.is_alphanumeric() {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let text = &rest[..length];
        rest = &rest[length..];
        let is_simple_name = first.is_alphabetic() && before != '.' && before != '\'';
        before = first;
        Some(Piece {
            text,
            rest,
            is_simple_name,
        })
    })
}

/// The simple names that lines mention, in lower case; choices of associations are none.
pub fn names_in(lines: &[String]) -> HashSet<String> {
    let is_choice = |piece: &Piece| piece.rest.trim_start().starts_with("=>");
    lines
        .iter()
        .flat_map(|line| pieces(line))
        .filter(|piece| piece.is_simple_name && !is_choice(piece))
        .map(|piece| piece.text.to_lowercase())
        .collect()
}

/// Whether nothing would be printed.
pub fn is_empty(code: &[Code]) -> bool {
    code.iter()
        .all(|c| matches!(c, Code::Lines(lines) if lines.iter().all(|l| l.is_empty())))
}

/// The number of lines that would be printed.
pub fn size(code: &[Code]) -> usize {
    print(code, "").len()
}

/// The lines of code; nested statements are indented by `step`.
pub fn print(code: &[Code], step: &str) -> Vec<String> {
    let mut out = Vec::new();
    for piece in code {
        match piece {
            Code::Lines(lines) => out.extend(lines.iter().cloned()),
            Code::Requeue(line) => out.push(line.clone()),
            Code::Return => out.push("return;".into()),
            Code::Compound {
                open, arms, close, ..
            } => print_compound(open.as_ref(), arms, close, step, &mut out),
        }
    }
    while out.first().is_some_and(String::is_empty) {
        out.remove(0);
    }
    out
}

fn print_compound(
    open: Option<&String>,
    arms: &[(String, Vec<Code>)],
    close: &str,
    step: &str,
    out: &mut Vec<String>,
) {
    let outer = if open.is_some() { step } else { "" };
    out.extend(open.cloned());
    let arms = without_empty_branches(arms);
    for (header, body) in &arms {
        if !header.is_empty() {
            out.extend(header.split('\n').map(|h| format!("{outer}{h}")));
        }
        let mut lines = print(body, step);
        if lines.is_empty() {
            lines.push("null;".into());
        }
        let indent = if header == "exception" { "" } else { step };
        out.extend(lines.into_iter().map(|l| {
            if l.is_empty() {
                l
            } else {
                format!("{outer}{indent}{l}")
            }
        }));
    }
    out.push(close.to_string());
}

/// `if C then null; else S` reads better as `if not C then S`; an empty `else` is left out.
fn without_empty_branches(arms: &[(String, Vec<Code>)]) -> Vec<(String, Vec<Code>)> {
    let mut arms = arms.to_vec();
    if arms.len() > 1
        && arms
            .last()
            .is_some_and(|(h, body)| h == "else" && is_empty(body))
    {
        arms.pop();
    }
    if let [(first, empty), (other, body)] = &arms[..]
        && other == "else"
        && is_empty(empty)
        && let Some(condition) = first
            .strip_prefix("if ")
            .and_then(|h| h.strip_suffix(" then"))
    {
        return vec![(format!("if {} then", negate(condition)), body.clone())];
    }
    arms
}

/// The negation of a condition's text.
pub fn negate(condition: &str) -> String {
    let condition = condition.trim();
    if let Some(inner) = condition.strip_prefix("not ")
        && is_simple(inner)
    {
        return inner.to_string();
    }
    for (operator, opposite) in [
        (" /= ", " = "),
        (" <= ", " > "),
        (" >= ", " < "),
        (" = ", " /= "),
        (" < ", " >= "),
        (" > ", " <= "),
    ] {
        if let Some((left, right)) = condition.split_once(operator)
            && is_operand(left)
            && is_operand(right)
        {
            return format!("{left}{opposite}{right}");
        }
    }
    if is_simple(condition) {
        format!("not {condition}")
    } else {
        format!("not ({condition})")
    }
}

/// In parentheses, if an operator around it could take it apart.
pub fn grouped(text: &str) -> String {
    let lower = format!(" {} ", text.to_ascii_lowercase().replace(['(', ')'], " "));
    let is_compound = [" and ", " or ", " xor ", " if ", " not in ", " in "]
        .iter()
        .any(|w| lower.contains(w));
    if is_compound {
        format!("({text})")
    } else {
        text.to_string()
    }
}

fn is_simple(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
}

fn is_operand(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '+' | '-' | ' ' | '(' | ')'))
        && !text.split([' ', '(', ')']).any(|w| {
            [
                "and", "or", "xor", "not", "in", "then", "else", "mod", "rem",
            ]
            .contains(&w.to_ascii_lowercase().as_str())
        })
        && text.matches('(').count() == text.matches(')').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negations_read_well() {
        assert_eq!(negate("Done"), "not Done");
        assert_eq!(negate("not Done"), "Done");
        assert_eq!(negate("Count = 0"), "Count /= 0");
        assert_eq!(negate("A (I) < B"), "A (I) >= B");
        assert_eq!(negate("A and then B"), "not (A and then B)");
        assert_eq!(negate("A = 0 or B"), "not (A = 0 or B)");
    }

    #[test]
    fn a_short_rest_becomes_an_else() {
        let branch = Code::Compound {
            open: None,
            arms: vec![(
                "if A then".to_string(),
                vec![Code::line("X;"), Code::Return],
            )],
            close: "end if;".into(),
            is_tail: true,
        };
        let mut short = vec![branch.clone(), Code::line("Y;")];
        prefer_else(&mut short);
        assert_eq!(
            print(&short, "  "),
            ["if A then", "  X;", "else", "  Y;", "end if;"]
        );
        let mut long = vec![branch];
        long.extend((0..5).map(|_| Code::line("Y;")));
        let before = long.clone();
        prefer_else(&mut long);
        assert_eq!(long, before);
    }

    #[test]
    fn returns_at_the_end_go() {
        let arm = |body: Vec<Code>| ("if A then".to_string(), body);
        let branch = Code::Compound {
            open: None,
            arms: vec![arm(vec![Code::line("X;"), Code::Return])],
            close: "end if;".into(),
            is_tail: true,
        };
        let mut last = vec![branch.clone()];
        trim_returns(&mut last);
        assert_eq!(print(&last, "  "), ["if A then", "  X;", "end if;"]);
        let mut early = vec![branch, Code::line("Y;"), Code::Return];
        trim_returns(&mut early);
        assert_eq!(
            print(&early, "  "),
            ["if A then", "  X;", "  return;", "end if;", "Y;"]
        );
    }
}
