//! Machine-made input. The front end reports errors and ends.

use orca_lang::{Dialect, Sources, parse};

use crate::support::main_unit;

/// A generator of numbers, the same in each run.
pub struct Draw(u64);

impl Draw {
    /// Returns the generator of a seed. Seeds that are close give numbers that are not.
    pub fn new(seed: u64) -> Draw {
        Draw((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn cases() -> usize {
    std::env::var("ORCA_CASES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(300)
}

const WORDS: &[&str] = &[
    "MODULE",
    "IMPLEMENTATION",
    "OBJECT",
    "OPERATION",
    "GUARD",
    "DO",
    "OD",
    "IF",
    "THEN",
    "FI",
    "FOR",
    "IN",
    "BEGIN",
    "END",
    ";",
    ":=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "..",
    "x",
    "1",
    "2.5",
    "'c'",
    "\"s\"",
    "$",
    "$$",
    "!",
    ":",
    ",",
    "=",
    "=>",
    "|",
    "CASE",
    "ESAC",
    "TYPE",
    "RECORD",
    "UNION",
    "GRAPH",
    "NODES",
    "ARRAY",
    "OF",
    "GENERIC",
    "NEW",
    "PARALLEL",
    "FORK",
    "ON",
    "RETURN",
    "-",
    "NOT",
    "\n.ifdef A\n",
];

#[test]
fn random_words_are_parsed_or_refused() {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    for _ in 0..cases() {
        let count = draw.below(60);
        let words: Vec<&str> = (0..count).map(|_| WORDS[draw.below(WORDS.len())]).collect();
        let text = format!("MODULE IMPLEMENTATION m; {}", words.join(" "));
        let mut sources = Sources::default();
        let file = sources.add("m.imp", text.clone().into_bytes());
        let (unit, diagnostics) = parse(&sources, file, &Dialect::default());
        assert!(unit.is_some() || !diagnostics.is_empty(), "{text}");
        for diagnostic in diagnostics {
            assert!(!diagnostic.text(&sources).is_empty());
        }
    }
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    for (open, close) in [("(", ")"), ("NOT ", ""), ("~", ""), ("v[", "]")] {
        let text = format!("i := {}1{};", open.repeat(5000), close.repeat(5000));
        let said = main_unit("", &text).said("main.imp");
        assert!(
            said.iter().any(|line| line.contains("nested more than")),
            "{open}: {said:?}"
        );
    }
    let long = format!("i := 1{};", " + i".repeat(5000));
    let said = main_unit("", &long).said("main.imp");
    assert!(said[0].contains("operators"), "{said:?}");
    let statements = format!("{}{}", "DO ".repeat(5000), "OD;".repeat(5000));
    let said = main_unit("", &statements).said("main.imp");
    assert!(said[0].contains("nested more than"), "{said:?}");
}

#[test]
fn programs_with_a_word_too_few_or_too_many_are_checked_to_the_end() {
    let whole = "i := half(j, i); FOR z IN 1..3 DO v[z] := ORD(c) + g[q].value; OD; \
        CASE i OF 1 => ok := NOT ok; | ELSE o$add(SIZE(n)); ESAC; e := Either:{red, 1};";
    let words: Vec<&str> = whole.split(' ').collect();
    let mut draw = Draw(7);
    for _ in 0..cases() / 6 {
        let mut words = words.clone();
        let at = draw.below(words.len());
        match draw.below(3) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, WORDS[draw.below(WORDS.len())]),
            _ => {
                let other = draw.below(words.len());
                words.swap(at, other);
            }
        }
        // It neither panics nor loops for ever.
        let said = main_unit("", &words.join(" ")).said("main.imp");
        assert!(said.len() < 60, "{said:#?}");
    }
}
