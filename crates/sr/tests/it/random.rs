//! Random programs without races print the same under every model, on two processors, and without
//! the C compiler's optimizer.
//!
//! Processes compute with their own variables, add to a shared sum under a semaphore, call a server
//! and procedures, and yield. The program's output does not depend on their order.

use std::fmt::Write;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRng, TestRunner};

use crate::support::{Expected, MODELS, Model, amount, built, run};

/// Default number of programs; `SR_PROGRAMS` overrides it.
const PROGRAMS: u32 = 12;

/// Returns an integer expression over the variables of a process.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["a", "b", "c", "me"]).prop_map(str::to_owned),
        (-50..50_i32).prop_map(|n| format!("({n})")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "and", "or", "xor"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(x, o, y)| format!("({x} {o} {y})")),
            // A divisor is from 1 to 7.
            (
                inner.clone(),
                prop::sample::select(vec!["/", "%", "mod"]),
                inner.clone()
            )
                .prop_map(|(x, o, y)| format!("({x} {o} ({y} mod 7 + 1))")),
            inner.clone().prop_map(|x| format!("t[{x} mod 8]")),
            inner.clone().prop_map(|x| format!("({x} << 3)")),
            inner.clone().prop_map(|x| format!("abs({x})")),
            inner.clone().prop_map(|x| format!("twice({x})")),
            inner.clone().prop_map(|x| format!("serve({x})")),
            (inner.clone(), inner).prop_map(|(x, y)| format!("max({x}, {y}, a)")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let comparison = prop::sample::select(vec!["<", "<=", "=", "!=", ">", ">="]);
    let compared =
        (expression(), comparison, expression()).prop_map(|(x, o, y)| format!("{x} {o} {y}"));
    compared.prop_recursive(2, 4, 2, |inner| {
        (
            inner.clone(),
            prop::sample::select(vec!["and", "or"]),
            inner,
        )
            .prop_map(|(x, o, y)| format!("(({x}) {o} not ({y}))"))
    })
}

fn variable() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c"])
}

fn statements() -> impl Strategy<Value = String> {
    let simple = prop_oneof![
        (variable(), expression()).prop_map(|(v, e)| format!("{v} := {e}")),
        (variable(), expression()).prop_map(|(v, e)| format!("{v} +:= {e}")),
        (expression(), expression()).prop_map(|(i, e)| format!("t[{i} mod 8] := {e}")),
        (variable(), variable()).prop_map(|(v, w)| format!("if {v} != {w} -> {v} :=: {w} fi")),
        expression().prop_map(|e| format!("P(mutex); sum +:= {e} mod 1000; V(mutex)")),
        expression().prop_map(|e| format!("change({e}, a, b)")),
        Just("nap(0)".to_owned()),
        Just("t[2:4] := t[5:7]".to_owned()),
    ];
    simple.prop_recursive(3, 24, 4, |inner| {
        let block = prop::collection::vec(inner, 1..4).prop_map(|all| all.join("\n"));
        prop_oneof![
            (condition(), block.clone(), block.clone())
                .prop_map(|(c, x, y)| format!("if {c} -> {x}\n[] else -> {y}\nfi")),
            (1..12_i32, block.clone())
                .prop_map(|(n, x)| format!("fa i := 1 to {n} -> {x}\na +:= i\naf")),
            (1..8_i32, 1..3_i32, condition(), block.clone())
                .prop_map(|(n, s, c, x)| format!("fa i := {n} downto 1 by -{s} st {c} -> {x}\naf")),
            (1..9_i32, condition(), block.clone()).prop_map(|(n, c, x)| format!(
                "begin\nvar n := {n}\ndo n > 0 -> n--\nif {c} -> next fi\n{x}\nod\nend"
            )),
            block.prop_map(|x| format!("begin\nvar c := a\n{x}\nb := c\nend")),
        ]
    })
}

/// Returns a program of some processes, each with its statements.
fn program(processes: &[Vec<String>]) -> String {
    let count = processes.len();
    let mut text = "resource main()\n\
         sem mutex := 1\nvar sum := 0\n\
         op serve(x: int) returns y: int, finished(who: int; result: int)\n\
         procedure twice(x: int) returns y: int\n y := x * 2\n end\n\
         procedure change(val x: int; var y: int; res z: int)\n z := y - x\n y := x\n end\n\
         process server\n do true -> in serve(x) returns y -> y := x * x + 1 ni od\n end\n"
        .to_owned();
    for (index, statements) in processes.iter().enumerate() {
        let me = index + 1;
        let _ = writeln!(
            text,
            "process p{me}\nconst me := {me}\nvar a := {me}, b := 2, c := 3, t[0:7]: int := ([8] {me})\n{}\n\
             fa i := 0 to 7 -> a := a * 31 + t[i] af\nsend finished(me, a xor b xor c)\nend",
            statements.join("\n")
        );
    }
    let _ = writeln!(
        text,
        "var results[{count}]: int, who: int, result: int\n\
         fa i := 1 to {count} -> receive finished(who, result); results[who] := result af\n\
         fa i := 1 to {count} -> write(i, results[i]) af\nwrite(sum)\nstop\nend"
    );
    text
}

/// Returns a program's output, or its error.
fn printed(file: &PathBuf, model: Model, flags: &[&str]) -> String {
    match built(std::slice::from_ref(file), model, flags) {
        Ok(executable) => {
            let output = run(&executable.path, model, &Expected::default());
            format!(
                "{}{}{}",
                String::from_utf8_lossy(&output.stdout),
                output.stderr,
                output.end
            )
        }
        Err(message) => message,
    }
}

#[test]
fn programs_without_races_print_the_same_however_they_are_run() {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let strategy = prop::collection::vec(prop::collection::vec(statements(), 1..6), 1..4);
    for case in 0..amount("SR_PROGRAMS", PROGRAMS) {
        let processes = strategy.new_tree(&mut runner).unwrap().current();
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("random-{case}.sr"));
        std::fs::write(&file, program(&processes)).unwrap();
        let plain = printed(&file, MODELS[0], &["-O0"]);
        assert!(
            plain.ends_with("with exit code 0"),
            "{}: {plain}",
            file.display()
        );
        for model in MODELS {
            let other = printed(&file, model, &[]);
            assert_eq!(plain, other, "{}, {}", file.display(), model.settings);
        }
    }
}
