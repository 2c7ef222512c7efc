//! Names of loops and blocks, and labels, in code with several copies in one body. A name may be
//! declared only once (RM 5.1 (12); GNAT includes nested blocks), so further copies get names of
//! their own. Such a name is only used inside its statement. Labels are an exception, and are
//! refused.

use std::collections::HashSet;

use super::code::{self, Code};

/// Gives each piece that declares a used name another one: `Scan`, `Scan_2`, `Scan_3`.
pub fn keep_apart(code: &[Code]) -> Vec<Code> {
    apart(code, &mut HashSet::new())
}

fn apart(code: &[Code], taken: &mut HashSet<String>) -> Vec<Code> {
    code.iter()
        .map(|piece| one_apart(piece.clone(), taken))
        .collect()
}

fn one_apart(mut piece: Code, taken: &mut HashSet<String>) -> Code {
    let names = match &piece {
        Code::Lines(lines) => declared(lines.iter()),
        Code::Compound { open, arms, .. } => {
            declared(open.iter().chain(arms.iter().map(|(header, _)| header)))
        }
        Code::Return | Code::Requeue(_) => Vec::new(),
    };
    for name in names {
        if !taken.insert(name.to_lowercase()) {
            let free = (2..)
                .map(|n| format!("{name}_{n}"))
                .find(|n| taken.insert(n.to_lowercase()));
            piece = renamed(&piece, &name, &free.unwrap_or_default());
        }
    }
    if let Code::Compound { arms, .. } = &mut piece {
        arms.iter_mut()
            .for_each(|(_, body)| *body = apart(body, taken));
    }
    piece
}

fn renamed(piece: &Code, name: &str, new: &str) -> Code {
    let line = |text: &String| in_line(text, name, new);
    match piece {
        Code::Lines(lines) => Code::Lines(lines.iter().map(line).collect()),
        Code::Compound {
            open,
            arms,
            close,
            is_tail,
        } => Code::Compound {
            open: open.as_ref().map(line),
            arms: arms
                .iter()
                .map(|(header, body)| {
                    (
                        line(header),
                        body.iter().map(|p| renamed(p, name, new)).collect(),
                    )
                })
                .collect(),
            close: line(close),
            is_tail: *is_tail,
        },
        other => other.clone(),
    }
}

/// Returns lines for another place in the same body: the names that they declare get an ending.
pub fn for_copy(lines: Vec<String>, ending: &str) -> Vec<String> {
    declared(lines.iter()).iter().fold(lines, |lines, name| {
        let new = format!("{name}_{ending}");
        lines.iter().map(|l| in_line(l, name, &new)).collect()
    })
}

/// Replaces a name in a line.
fn in_line(line: &str, name: &str, new: &str) -> String {
    let is_it = |piece: &code::Piece| piece.is_simple_name && piece.text.eq_ignore_ascii_case(name);
    code::pieces(line)
        .map(|piece| if is_it(&piece) { new } else { piece.text })
        .collect()
}

/// Returns the names of statements in lines.
fn declared<'a>(lines: impl Iterator<Item = &'a String>) -> Vec<String> {
    lines
        .flat_map(|l| l.split('\n'))
        .filter_map(declares)
        .collect()
}

fn declares(line: &str) -> Option<String> {
    let (name, rest) = line.trim().split_once(':')?;
    let name = name.trim();
    let is_name = name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let next = rest
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let is_statement = matches!(
        next.as_str(),
        "" | "loop" | "for" | "while" | "declare" | "begin"
    );
    (is_name && is_statement).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::code::print;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
    }

    #[test]
    fn copies_get_names_of_their_own() {
        let copy = Code::Lines(lines(
            "Round :\nloop\n   exit Round; -- Round\nend loop Round;",
        ));
        let branch = Code::Compound {
            open: None,
            arms: vec![("if A then".into(), vec![copy.clone()])],
            close: "end if;".into(),
            is_tail: true,
        };
        let code = [branch, Code::line("X := 1;"), copy.clone()];
        let printed = print(&keep_apart(&code), "   ");
        assert_eq!(printed[1], "   Round :");
        assert_eq!(
            printed[7..],
            lines("Round_2 :\nloop\n   exit Round_2; -- Round\nend loop Round_2;")
        );
        assert_eq!(keep_apart(std::slice::from_ref(&copy)), [copy]);
    }

    #[test]
    fn a_name_is_not_looked_for_in_literals_and_selectors() {
        assert_eq!(
            in_line("Put (\"Round\", X.Round, Round.I);", "round", "Turn"),
            "Put (\"Round\", X.Round, Turn.I);"
        );
    }

    #[test]
    fn declarations_and_assignments_are_no_names_of_statements() {
        for line in [
            "X := 1;",
            "   N : Integer;",
            "case X is",
            "when A | B =>",
            "Put (\"a: loop\");",
        ] {
            assert_eq!(declares(line), None, "{line}");
        }
        assert_eq!(
            declares("Outer : for I in 1 .. 2 loop"),
            Some("Outer".into())
        );
    }
}
