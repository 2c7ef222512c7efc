//! Programs with mistakes: parsing and checking end, with messages and without a panic.

use antiphon_sr::{Severity, Sources, check, parse};
use proptest::prelude::*;

use crate::support::amount;

/// Programs that together use the whole language.
const PROGRAMS: &[&str] = &[
    "global G\n const K := 3, S := \"abc\"\n var x: int := 4, a[K]: int\n type pair = rec(a: int; nxt: ptr pair; s: string[K])\n type e = enum(p, q)\n \
     optype t = (n: int) returns m: int\n op put(v: int), get() returns v: int {call}\nbody G\n process server\n do true ->\n \
     in put(v) and v > x by -v -> x := v [] get() returns v st x > 0 -> v := x; reply ni\n od\n end\n final\n write(x)\n end\nend G\n",
    "resource Base\n import G\n op work(n: int; var y: real; ref z: [*] int) {call}\n op stop2(), many[2](c: cap G.t)\nend\n\
     resource R\n extend Base\nbody R(id: int) separate\n\
     body R\n proc work(n, y, z)\n var buf[1:n]: int := ([n] G.K)\n y := buf[1] + id; z :=: z; y--\n end\n \
     receive stop2()\n in (i := 1 to 2) many[i](c) -> write(c(i)) ni\nend R\n\
     resource main()\n import R, Base, G\n op done(int), fwd() returns r: real\n sem s[3] := ([3] 1), t\n external sleep(n: int)\n var c[2]: cap R, b: cap Base\n \
     fa i := 1 to 2 st i != 0, j := i downto 1 by -1 -> c[i] := create R(i) #@ region i\n af\n b := c[1]\n var y := 1.5, z[4]: int := (1, 2, [2] 3)\n \
     co (i := 1 to 2) c[i].work(i, y, z) -> write(i, z[2]) // send done(3) // y := fwd() -> exit oc\n var x0: int\n receive done(x0)\n send c[1].stop2()\n \
     P(s[1]); V(s[2]); P(t); V(t)\n var p := new(G.pair), m: [2] [3] string[5]\n p^.a +:= 3 ** 2 mod 5\n p^.nxt := null\n m[1,2] := \"x\" || 'y'\n \
     if ?done > 0 and not (x0 = 1) -> write(G.get(), int(y), string(2)) [] else -> skip fi\n proc fwd() returns r\n r := sqrt(4); forward fwd()\n end\n \
     procedure f(q: int; w[1:3, *]: char) returns v: string[9]\n begin\n const l := lb(w, 2) + q\n v := m[1,2]; return\n end\n end f\n \
     destroy c[1]\n stop(1)\nend\n",
];

/// Replacements for parts of a program.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "*",
    ":",
    ":=",
    "->",
    "end",
    "op",
    "var",
    "type",
    "ptr",
    "cap",
    "in",
    "ni",
    "co",
    "oc",
    "fa",
    "af",
    "G",
    "R",
    "main",
    "x",
    "1",
    "1.5",
    "'c'",
    "\"s\"",
    "null",
    "noop",
    "st",
    "by",
    "returns",
    "import G",
    "extend Base",
    "const",
    "proc f()",
    "process p",
    "final",
    "rec(",
    "enum(a)",
    "^",
    "@",
    "?",
    "new(",
    ".",
    ",",
    ";",
    "\n",
    "send",
    "call",
    "receive",
    "P(s)",
    "V(x)",
    "forward",
    "reply",
    "exit",
    "sem",
    "union",
    "-",
    "+",
    "||",
    "low(int)",
    "é",
];

/// Returns the words and signs of a text, and the text between them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut was_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric();
        match pieces.last_mut() {
            Some(last) if is_word && was_word => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        was_word = is_word;
    }
    pieces
}

/// Parses and checks files. Returns the errors.
fn errors_of(files: &[String]) -> Vec<String> {
    let mut sources = Sources::default();
    let mut components = Vec::new();
    let mut diagnostics = Vec::new();
    for (at, text) in files.iter().enumerate() {
        let file = sources.add(format!("{at}.sr"), text.clone().into_bytes());
        let (parsed, found) = parse(&sources, file);
        components.push(parsed);
        diagnostics.extend(found);
    }
    let checked = check(&sources, components);
    let has_error = checked
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Error);
    assert_eq!(checked.program.is_none(), has_error);
    diagnostics.extend(checked.diagnostics);
    // Each message's text is made, because that uses places, too.
    let texts = diagnostics.iter().map(|d| (d.severity, d.text(&sources)));
    texts
        .filter(|(severity, _)| *severity == Severity::Error)
        .map(|(_, text)| text)
        .collect()
}

#[test]
fn the_programs_are_right_before_they_are_mutated() {
    let files: Vec<String> = PROGRAMS.iter().map(|p| p.to_string()).collect();
    assert_eq!(errors_of(&files), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(amount("SR_CASES", 2000)))]

    #[test]
    fn no_mistake_makes_the_checker_panic(
        which in 0..PROGRAMS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4, any::<prop::sample::Index>()), 1..6),
    ) {
        let mut files: Vec<String> = PROGRAMS.iter().map(|p| p.to_string()).collect();
        let mut text = pieces(&files[which]);
        for (at, how, other) in changes {
            let from = at.index(text.len());
            match how {
                0 => { text.remove(from); }
                1 => text[from] = other.get(PIECES).to_string(),
                2 => { let copy = other.get(&text).clone(); text.insert(from, copy); }
                _ => { let to = other.index(text.len()); text.swap(from, to); }
            }
            if text.is_empty() {
                break;
            }
        }
        files[which] = text.concat();
        errors_of(&files);
    }
}
