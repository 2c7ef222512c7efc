//! Generated statements as a tree, so that superfluous jumps at their ends can be removed.

use std::collections::HashSet;

/// A piece of generated code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// Lines in their final form, without the indentation around them.
    Lines(Vec<String>),
    /// `return;` from the entry or procedure.
    Return,
    /// A requeue statement. Nothing follows it either, but it stays.
    Requeue(String),
    /// A compound statement.
    Compound {
        /// A line above the arms that belongs to none (`case X is`).
        open: Option<String>,
        /// A header line and its statements; an empty header is left out (the body of a block).
        arms: Vec<(String, Vec<Code>)>,
        /// The closing line.
        close: String,
        /// Whether the end of an arm ends the statement; false for loops.
        is_tail: bool,
    },
}

impl Code {
    /// Returns one line.
    pub fn line(text: impl Into<String>) -> Code {
        Code::Lines(vec![text.into()])
    }
}

/// Removes each `return` that nothing follows, and unreachable code after one.
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

/// `if C then A; return; end if; B;` at the end, with a short B, reads better as `if C then A; else
/// B; end if;`.
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

/// Writes common code of branches once: equal neighbours become one, and a common end follows them.
pub fn join_branches(code: &mut Vec<Code>) {
    let mut at = 0;
    while at < code.len() {
        let mut tail = Vec::new();
        if let Code::Compound {
            open,
            arms,
            close,
            is_tail: true,
        } = &mut code[at]
        {
            arms.iter_mut().for_each(|(_, body)| join_branches(body));
            match open {
                None if close == "end if;" => join_conditions(arms),
                Some(_) => join_choices(arms),
                None => {}
            }
            let is_exhaustive = open.is_some() || arms.last().is_some_and(|(h, _)| h == "else");
            if is_exhaustive && arms.len() > 1 {
                tail = common_end(arms);
            }
        }
        let count = tail.len();
        code.splice(at + 1..at + 1, tail);
        at += 1 + count;
    }
}

/// `if A then X elsif B then X` is `if A or else B then X`.
fn join_conditions(arms: &mut Vec<(String, Vec<Code>)>) {
    let condition = |header: &str| {
        let after = header
            .strip_prefix("if ")
            .or_else(|| header.strip_prefix("elsif "));
        after
            .and_then(|h| h.strip_suffix(" then"))
            .map(String::from)
    };
    let mut index = 1;
    while index < arms.len() {
        let (first, second) = (&arms[index - 1], &arms[index]);
        let both = condition(&first.0).zip(condition(&second.0));
        let Some((a, b)) = both.filter(|_| first.1 == second.1) else {
            index += 1;
            continue;
        };
        let word = if index == 1 { "if" } else { "elsif" };
        arms[index - 1].0 = format!("{word} {} or else {} then", grouped(&a), grouped(&b));
        arms.remove(index);
    }
}

/// `when A => X` and `when B => X` are `when A | B => X`.
fn join_choices(arms: &mut Vec<(String, Vec<Code>)>) {
    const OTHERS: &str = "when others =>";
    let mut index = 1;
    while index < arms.len() {
        if arms[index - 1].1 != arms[index].1 {
            index += 1;
            continue;
        }
        let own = arms[index].0.clone();
        if own == OTHERS {
            arms[index - 1].0 = own;
        } else {
            let choices = own.strip_prefix("when ").unwrap_or(&own);
            let before = arms[index - 1].0.trim_end_matches("=>").trim_end();
            arms[index - 1].0 = format!("{before} | {choices}");
        }
        arms.remove(index);
    }
}

/// Removes the common end of all branches, unless only the condition would remain.
fn common_end(arms: &mut [(String, Vec<Code>)]) -> Vec<Code> {
    let shortest = arms.iter().map(|(_, body)| body.len()).min().unwrap_or(0);
    let nth = |body: &[Code], n: usize| body[body.len() - 1 - n].clone();
    let is_common = |&n: &usize| {
        let first = nth(&arms[0].1, n);
        first != Code::Return && arms.iter().all(|(_, body)| nth(body, n) == first)
    };
    let count = (0..shortest).take_while(is_common).count();
    let is_all = arms.iter().all(|(_, body)| body.len() == count);
    if count == 0 || is_all {
        return vec![];
    }
    let mut tail = Vec::new();
    for (_, body) in arms {
        tail = body.split_off(body.len() - count);
    }
    tail
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

/// Whether the code can leave before its last line.
pub fn contains_return(code: &[Code]) -> bool {
    code.iter().any(|c| match c {
        Code::Return | Code::Requeue(_) => true,
        Code::Compound { arms, .. } => arms.iter().any(|(_, body)| contains_return(body)),
        Code::Lines(_) => false,
    })
}

/// Whether a statement requeues, in generated or copied code.
pub fn contains_requeue(code: &[Code]) -> bool {
    let has_word = |line: &String| {
        let mut words = pieces(line).filter(|p| p.is_simple_name);
        words.any(|p| p.text.eq_ignore_ascii_case("requeue"))
    };
    code.iter().any(|c| match c {
        Code::Requeue(_) => true,
        Code::Compound { arms, .. } => arms.iter().any(|(_, body)| contains_requeue(body)),
        Code::Lines(lines) => lines.iter().any(has_word),
        Code::Return => false,
    })
}

/// A line in pieces: words, literals, comments, and single characters between them.
pub struct Piece<'a> {
    /// Its text.
    pub text: &'a str,
    /// The text after it.
    pub rest: &'a str,
    /// Whether it is a simple name: no selector, no attribute, not in a comment or literal.
    pub is_simple_name: bool,
}

/// Splits a line into pieces, which together are the line.
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

/// Returns the simple names in lines, in lower case, except for choices of associations.
pub fn names_in(lines: &[String]) -> HashSet<String> {
    let is_choice = |piece: &Piece| piece.rest.trim_start().starts_with("=>");
    lines
        .iter()
        .flat_map(|line| pieces(line))
        .filter(|piece| piece.is_simple_name && !is_choice(piece))
        .map(|piece| piece.text.to_lowercase())
        .collect()
}

/// Inserts a statement before each exit from the middle.
pub fn before_returns(code: &mut Vec<Code>, statement: &Code) {
    let mut at = 0;
    while at < code.len() {
        match &mut code[at] {
            Code::Return | Code::Requeue(_) => {
                code.insert(at, statement.clone());
                at += 1;
            }
            Code::Compound { arms, .. } => arms
                .iter_mut()
                .for_each(|(_, body)| before_returns(body, statement)),
            Code::Lines(_) => {}
        }
        at += 1;
    }
}

/// Whether the end of the code is unreachable.
pub fn always_returns(code: &[Code]) -> bool {
    matches!(code.last(), Some(Code::Return | Code::Requeue(_)))
}

/// Whether the code does more than assign names and literals.
pub fn may_raise(code: &[Code]) -> bool {
    let is_harmless = |line: &String| {
        let value = line
            .trim()
            .strip_suffix(';')
            .and_then(|l| l.split_once(" := "));
        let is_word = |w: &str| w.chars().all(|c| c.is_alphanumeric() || c == '_');
        line.trim().is_empty() || value.is_some_and(|(to, from)| is_word(to) && is_word(from))
    };
    code.iter().any(|c| match c {
        Code::Lines(lines) => !lines.iter().all(is_harmless),
        Code::Compound { .. } => true,
        Code::Return | Code::Requeue(_) => false,
    })
}

/// Whether nothing would be printed.
pub fn is_empty(code: &[Code]) -> bool {
    code.iter()
        .all(|c| matches!(c, Code::Lines(lines) if lines.iter().all(|l| l.is_empty())))
}

/// Returns the number of lines that would be printed.
pub fn size(code: &[Code]) -> usize {
    print(code, "").len()
}

/// Returns the lines of code; nested statements are indented by `step`.
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

/// Returns the negation of a condition's text.
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

/// Puts a text in parentheses if an operator around it could split it.
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

/// Puts a text in parentheses unless it is one word.
pub fn enclosed(text: &str) -> String {
    if is_simple(text) {
        text.to_string()
    } else {
        format!("({text})")
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
    fn equal_branches_become_one() {
        let arm = |header: &str, lines: &[&str]| {
            let code = lines.iter().map(|l| Code::line(*l)).collect();
            (header.to_string(), code)
        };
        let compound = |open: Option<&str>, arms, close: &str| {
            vec![Code::Compound {
                open: open.map(String::from),
                arms,
                close: close.into(),
                is_tail: true,
            }]
        };
        let arms = vec![
            arm("if A then", &["X;", "Z;"]),
            arm("elsif B or C then", &["X;", "Z;"]),
            arm("else", &["Y;", "Z;"]),
        ];
        let mut code = compound(None, arms, "end if;");
        join_branches(&mut code);
        assert_eq!(
            print(&code, "  "),
            [
                "if A or else (B or C) then",
                "  X;",
                "else",
                "  Y;",
                "end if;",
                "Z;"
            ]
        );
        let arms = vec![
            arm("when 1 =>", &["X;"]),
            arm("when 2 | 3 =>", &["X;"]),
            arm("when others =>", &["Y;"]),
        ];
        let mut code = compound(Some("case N is"), arms, "end case;");
        join_branches(&mut code);
        assert_eq!(
            print(&code, " "),
            [
                "case N is",
                " when 1 | 2 | 3 =>",
                "  X;",
                " when others =>",
                "  Y;",
                "end case;"
            ]
        );
        // The condition may have effects, so it stays where both branches are alike.
        let arms = vec![arm("if F then", &["X;"]), arm("else", &["X;"])];
        let mut code = compound(None, arms, "end if;");
        let before = code.clone();
        join_branches(&mut code);
        assert_eq!(code, before);
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
