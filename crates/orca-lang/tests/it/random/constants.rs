//! An expression of constants has the value that it has when its parts are variables.

use crate::support::{Units, lines};
use crate::wild::Draw;
use orca_lang::{Search, check, load};

/// Names of variables, their types and their values.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("zero", "integer", "0"),
    ("seven", "integer", "7"),
    ("less", "integer", "(-3)"),
    ("most", "integer", "MAX(integer)"),
    ("least", "integer", "MIN(integer)"),
    ("longest", "longint", "MAX(longint)"),
    ("lowest", "longint", "MIN(longint)"),
    ("short", "shortint", "MAX(shortint)"),
    ("shorter", "shortint", "MIN(shortint)"),
    ("wide", "integer", "70000"),
];

const REALS: &[(&str, &str, &str)] = &[
    ("half", "real", "0.5"),
    ("tenth", "real", "0.1"),
    ("large", "real", "4.0E9"),
    ("below", "real", "(-2.75)"),
];

const OTHERS: &[(&str, &str, &str)] = &[
    ("yes", "boolean", "true"),
    ("no", "boolean", "false"),
    ("letter", "char", "'q'"),
    ("capital", "char", "'Q'"),
    ("last", "char", "MAX(char)"),
];

/// An expression of constants, and the same one of variables.
type Pair = (String, String);

fn one_of(from: &[(&str, &str, &str)], draw: &mut Draw) -> Pair {
    let (name, _, value) = from[draw.below(from.len())];
    (value.into(), name.into())
}

/// Replaces `{}` in a pattern by parts of both expressions.
fn filled(pattern: &str, parts: &[Pair]) -> Pair {
    let fill = |pick: fn(&Pair) -> &str| {
        let mut parts = parts.iter();
        let mut pieces = pattern.split("{}");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            text += pick(parts.next().expect("a part"));
            text += piece;
        }
        text
    };
    (fill(|it| &it.0), fill(|it| &it.1))
}

fn integer(depth: usize, draw: &mut Draw) -> Pair {
    if depth == 0 {
        return one_of(VARIABLES, draw);
    }
    let a = integer(depth - 1, draw);
    let unary = [
        "(-{})",
        "(~{})",
        "(+{})",
        "ABS({})",
        "VAL(shortint, {})",
        "VAL(integer, {})",
        "VAL(longint, {})",
        "ORD({})",
    ];
    let binary = [
        "({} + {})",
        "({} - {})",
        "({} * {})",
        "({} & {})",
        "({} | {})",
        "({} ^ {})",
        "({} << {})",
        "({} >> {})",
        "({} / (({} & 7) + 1))",
        "({} % (({} & 7) + 1))",
        "({} / (({} & 7) - 9))",
    ];
    match draw.below(6) {
        0 => filled(unary[draw.below(unary.len())], &[a]),
        1 => filled("TRUNC({})", &[real(depth - 1, draw)]),
        2 => filled("ORD({})", &[other(depth - 1, draw)]),
        _ => {
            let b = integer(depth - 1, draw);
            filled(binary[draw.below(binary.len())], &[a, b])
        }
    }
}

fn real(depth: usize, draw: &mut Draw) -> Pair {
    if depth == 0 {
        return one_of(REALS, draw);
    }
    let a = real(depth - 1, draw);
    match draw.below(6) {
        0 => filled("(-{})", &[a]),
        1 => filled("ABS({})", &[a]),
        2 => filled("FLOAT({})", &[integer(depth - 1, draw)]),
        kind => {
            let b = real(depth - 1, draw);
            filled(["({} + {})", "({} - {})", "({} * {})"][kind - 3], &[a, b])
        }
    }
}

fn other(depth: usize, draw: &mut Draw) -> Pair {
    if depth == 0 {
        return one_of(OTHERS, draw);
    }
    let sign = ["=", "/=", "<", "<=", ">", ">="][draw.below(6)];
    let compared = format!("({{}} {sign} {{}})");
    match draw.below(5) {
        0 => filled("CHR({} & 255)", &[integer(depth - 1, draw)]),
        1 => filled("ODD({})", &[integer(depth - 1, draw)]),
        2 => {
            let (a, b) = (real(depth - 1, draw), real(depth - 1, draw));
            filled(&compared, &[a, b])
        }
        3 => filled("CAP({})", &[filled("CHR({} & 127)", &[integer(0, draw)])]),
        _ => {
            let (a, b) = (integer(depth - 1, draw), integer(depth - 1, draw));
            filled(&compared, &[a, b])
        }
    }
}

/// Returns a program that writes each expression whose two values differ.
fn program(count: usize, draw: &mut Draw) -> String {
    let all = || VARIABLES.iter().chain(REALS).chain(OTHERS);
    let mut text = "MODULE IMPLEMENTATION main;\nPROCESS OrcaMain();\n".to_owned();
    text.extend(all().map(|(name, ty, _)| format!("{name}: {ty};\n")));
    text += "BEGIN\n";
    text.extend(all().map(|(name, _, value)| format!("{name} := {value};\n")));
    for _ in 0..count {
        let (constant, running) = match draw.below(3) {
            0 => real(3, draw),
            1 => filled("ORD({})", &[other(3, draw)]),
            _ => integer(3, draw),
        };
        let shown = running.replace('\'', "\"");
        text += &format!(
            "IF {constant} /= {running} THEN WriteLine(\"{shown}: \", {constant}, \" \", {running}); FI;\n"
        );
    }
    text + "END;\nEND;\n"
}

#[test]
fn constants_are_computed_as_variables_are() {
    let text = program(300, &mut Draw::new(48));
    let units = Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main;\nEND;\n"),
        ("main.imp", &text),
    ]);
    let main = units.path("main.imp");
    let loaded = load(std::slice::from_ref(&main), &Search::default()).expect("the files are read");
    let checked = check(&loaded, true);
    let said = lines(&loaded, &checked.diagnostics);
    assert!(checked.program.is_some(), "{said:#?}");
    let executable = crate::programs::built(&main, &["-O1"]).expect("it is compiled");
    let child = antiphon_runner::Program::new(&executable.path).input(&b""[..]);
    let output = child.run().expect("it starts");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "",
        "{}",
        output.stderr
    );
}
