//! Programs with very many parts: no cost grows with the square of their number.

use antiphon_sr::{EmitOptions, Input, emit};

use crate::support::{MODELS, amount, built, ran, ran_again, source};

/// Number of parts of a program; small enough for the tests to take seconds.
fn many() -> usize {
    amount("ANTIPHON_SR_PARTS", 3000) as usize
}

#[test]
fn many_components_are_imported() {
    let mut text = String::new();
    let mut uses = String::new();
    let n = many();
    for i in 1..=n {
        text += &format!(
            "global g{i}\n  const N{i} := {i}\n  op p{i}(x: int; y: int)\nbody g{i}\n  proc p{i}(x, y)\n  end\nend\n"
        );
        uses += &format!("  import g{i}\n  s := s + N{i}\n  p{i}(s, N{i})\n");
    }
    text += &format!("resource main()\n  var s := 0\n{uses}  write(s)\nend\n");
    let mut input = Input::default();
    input.add(std::path::Path::new("imports.sr"), text.into_bytes(), None);
    let checked = input.analyse(None);
    let program = checked.program.expect("it is right");
    let c = emit(&program, &input.sources, &EmitOptions::default());
    assert!(c.contains(&format!("p_g{n}_p{n}(")));
}

#[test]
fn long_constructors_become_tables() {
    let n = 10 * many();
    let list = |value: &dyn Fn(usize) -> String| {
        let values: Vec<String> = (1..=n).map(value).collect();
        values
            .chunks(10)
            .map(|c| c.join(","))
            .collect::<Vec<_>>()
            .join(",\n")
    };
    let text = format!(
        "resource main()\n  var a[1:{n}]: int := ({})\n  var r[1:{n}]: real := ({})\n  var s[1:{n}]: string[8] := ({})\n  \
         var t[2,20]: int := (({}), ({}))\n  var c[20]: char := ({})\n  \
         write(a[1], a[{n}], int(r[{n}]), s[2], s[{n}], t[2,20], c[20])\nend\n",
        list(&|i| format!("-{i}")),
        list(&|i| format!("{i}.0")),
        list(&|i| format!("\"s{i}\"")),
        (1..=20)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join(","),
        (21..=40)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join(","),
        (0..20)
            .map(|i| format!("'{}'", char::from(b'a' + i)))
            .collect::<Vec<_>>()
            .join(","),
    );
    let output = ran("constructors.sr", &text, "stack=8000000");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        printed,
        format!("-1 -{n} {n} s2 s{n} 40 t\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn many_arms_are_compiled() {
    let n = many() / 10;
    let mut operations = String::new();
    let (mut arms, mut guards) = (Vec::new(), Vec::new());
    for i in 1..=n {
        operations += &format!("  op o{i}(x: int)\n");
        arms.push(format!("o{i}(x) -> s := s + x"));
        guards.push(format!("s = {i} -> t := t + {i}"));
    }
    let text = format!(
        "resource main()\n{operations}  var s := 0, t := 0\n  send o1(1); send o{n}({n} - 1)\n  \
         fa i := 1 to 2 ->\n    in {}\n    ni\n  af\n  if {}\n  [] else -> t := -1\n  fi\n  write(s, t)\nend\n",
        arms.join("\n    [] "),
        guards.join("\n  [] "),
    );
    let output = ran("arms.sr", &text, "stack=8000000");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, format!("{n} {n}\n"), "{}", output.stderr);
}

#[test]
fn names_alike_and_signatures_are_numbered() {
    let n = many();
    let mut text = String::from("resource main()\n  var s := 0\n");
    for i in 1..=n {
        text += &format!(
            "  procedure p{i}(x: int)\n    var x1 := x; begin; var x1 := 2; s := s + x1; end; s := s + x1\n  end\n"
        );
    }
    text += "  fa i := 1 to 3 -> begin; var x1 := i; s := s + x1; end af\n";
    text += &(0..n)
        .map(|_| "  begin; var y := 1; s := s + y; end\n")
        .collect::<String>();
    text += "end\n";
    let mut input = Input::default();
    input.add(std::path::Path::new("names.sr"), text.into_bytes(), None);
    let program = input.analyse(None).program.expect("it is right");
    let c = emit(&program, &input.sources, &EmitOptions::default());
    assert!(c.contains(&format!("v_y_{n}")));
}

#[test]
fn an_element_of_an_array_of_operations_has_its_own_queue() {
    // With one queue each receive would pass over all messages to the other elements.
    let text = "resource main()\n  op e[0:1](n: int)\n  var s := 0, k: int\n  \
                fa i := 1 to 100000 -> send e[0](i) af\n  \
                fa i := 1 to 100000 -> send e[1](1); receive e[1](k); s := s + k af\n  \
                fa i := 1 to 100000 -> receive e[0](k); s := s + (k - i) af\n  write(s, ?e[0])\n  \
                procedure local()\n    op f[3](n: int)\n    send f[3](3); send f[2](2)\n    var m: int\n    \
                receive f[2](m); write(m, ?f[3]); in f[3](x) -> write(x) ni\n  end\n  local()\nend\n";
    for model in MODELS {
        let program = built(&[source("queues.sr", text)], model, &[]);
        let program = program.unwrap_or_else(|message| panic!("{message}"));
        let output = ran_again(&program, model.settings);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            printed, "100000 0\n2 1\n3\n",
            "{model:?}: {}",
            output.stderr
        );
    }
}
