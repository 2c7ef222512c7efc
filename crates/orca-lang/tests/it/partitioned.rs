//! Partitioned objects: what machines exchange for an operation, and what does not run.

use orca_lang::{EmitOptions, Search, check, emit, load};

use crate::support::Units;

/// Returns the units of a program with a partitioned object.
fn units(operations: &str, implementation: &str, main: &str) -> Units {
    let specification = format!(
        "OBJECT SPECIFICATION G[integer]; TYPE R = ARRAY[integer] OF real; {operations} END;"
    );
    let data = "DATA MODULE IMPLEMENTATION D; BEGIN k := 1; END;";
    let main = format!("MODULE IMPLEMENTATION main; IMPORT G, D, IntObject; {main} END;");
    Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main; END;"),
        ("main.imp", &main),
        (
            "D.spf",
            "DATA MODULE SPECIFICATION D; TYPE P = ARRAY[integer] OF integer; k: integer; p: P[1..9]; END;",
        ),
        ("D.imp", data),
        ("G.spf", &specification),
        ("G.imp", implementation),
    ])
}

/// Returns the C of a program, or the messages with their lines.
fn emitted(units: &Units) -> Result<String, Vec<String>> {
    let loaded = load(&[units.path("main.imp")], &Search::default()).expect("files");
    let checked = check(&loaded, true);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:#?}", units.said("main.imp")));
    emit(&program, &loaded.sources, &EmitOptions::default())
        .map_err(|all| crate::support::lines(&loaded, &all))
}

const MAIN: &str = "PROCESS OrcaMain(); g: G[1..9]; BEGIN g$$partition(3); END;";

/// Returns the exchange for an operation with this body.
fn exchange(dependencies: &str, body: &str, main: &str) -> String {
    let implementation = format!(
        "OBJECT IMPLEMENTATION G[integer l..h]; FROM D IMPORT k, p; x: real; \
         PARALLEL OPERATION[i] f(n: integer); t: real; {dependencies} BEGIN t := x; {body} END; END;"
    );
    let units = units("OPERATION f(n: integer);", &implementation, main);
    let text = emitted(&units).expect("it runs");
    let row = text.lines().find(|line| line.contains("{\"f\", true"));
    let row = row.expect("the operation's row");
    let (_, rest) = row.split_once("ORCA_READS_").expect("what it reads");
    rest.split(',').next().unwrap_or_default().into()
}

#[test]
fn machines_exchange_what_an_operation_can_read() {
    for (dependencies, body, expected) in [
        ("", "x := t + 1.0;", "OWN"),
        ("", "x := x[i] * 2.0;", "OWN"),
        ("", "x := x[i + 1];", "DECLARED"),
        ("", "x := x[h - i + l] + x[i + 2 * k];", "DECLARED"),
        ("", "IF i > 3 THEN t := x[i / 2]; FI;", "RECORDED"),
        ("", "x := x[p[i]];", "RECORDED"),
        ("", "x := x[i + n];", "WHOLE"),
        ("", "FOR j IN l..h DO t := x[j]; OD;", "WHOLE"),
        ("DEPENDENCIES ACCESS[i]; END;", "x := x[n];", "DECLARED"),
        (
            "DEPENDENCIES ACCESS[n]; END;",
            "x := x[n];",
            "DECLARED_BY_CALL",
        ),
        (
            "DEPENDENCIES IF x > 1.0 THEN ACCESS[n]; FI; END;",
            "x := x[n];",
            "ON_DEMAND",
        ),
    ] {
        assert_eq!(exchange(dependencies, body, MAIN), expected, "{body}");
    }
    let directive = "PROCESS OrcaMain(); g: G[1..9]; \
        BEGIN g$$clear_dependencies(f); g$$add_dependency(f, 1, 2); g$$set_dependencies(f); END;";
    assert_eq!(exchange("", "x := x[i + n];", directive), "ON_DEMAND");
}

/// Checks that a program is refused at this line with this message.
#[track_caller]
fn refused(units: &Units, expected: &str) {
    let said = emitted(units).expect_err("it is refused");
    assert!(
        said.iter().any(|line| line.starts_with(expected)),
        "{expected}: {said:#?}"
    );
}

fn object(operations: &str, state: &str, implementation: &str) -> Units {
    let text = format!(
        "OBJECT IMPLEMENTATION G[integer l..h]; IMPORT IntObject;\n{state}\n{implementation}\nEND;"
    );
    units(operations, &text, MAIN)
}

#[test]
fn parts_that_do_not_run_are_refused_at_their_lines() {
    refused(
        &object("", "x: IntObject;", ""),
        "2: objects within the elements of a partitioned object do not run yet",
    );
    refused(
        &object(
            "OPERATION f(r: OUT R);",
            "x: real;",
            "PARALLEL OPERATION[i] f(r: OUT GATHER R); BEGIN END;",
        ),
        "3: GATHER of an OUT parameter does not run yet",
    );
    refused(
        &object(
            "OPERATION f(): real;",
            "x: real;",
            "PARALLEL OPERATION[i] f(): real; BEGIN RETURN x; END;",
        ),
        "3: each element gives a result, and nothing says how to combine them",
    );
    let plain = "OBJECT IMPLEMENTATION G[integer l..h]; x: real; OPERATION s(); BEGIN END; END;";
    for (main, expected) in [
        (
            "TYPE All = ARRAY[integer] OF G;\nPROCESS OrcaMain(); a: All[1..2][1..9]; BEGIN a[1]$$partition(1); END;",
            "2: bounds of partitioned objects in an array do not run yet",
        ),
        (
            "PROCESS OrcaMain(); g: G[1..9]; BEGIN\nStrategy(g, 1, 0); END;",
            "2: a partitioned object has no strategy",
        ),
        (
            "PROCESS OrcaMain(); g: G[1..9]; BEGIN\ng$$statistics(); END;",
            "2: statistics of a partitioned object are not kept yet",
        ),
        (
            "PROCESS OrcaMain(); g: G[1..9]; BEGIN\ng$$clear_dependencies(s); END;",
            "2: a directive about dependencies names no parallel operation",
        ),
    ] {
        refused(&units("OPERATION s();", plain, main), expected);
    }
}

#[test]
fn directives_have_the_arguments_of_their_dimensions() {
    let plain = "OBJECT IMPLEMENTATION G[integer l..h]; x: real; PARALLEL OPERATION[i] f(); BEGIN END; OPERATION s(); BEGIN END; END;";
    for (directive, expected) in [
        (
            "g$$partition(1, 2);",
            "\"partition\" has too many arguments for 1 dimensions",
        ),
        (
            "g$$distribute_on_n(2);",
            "\"distribute_on_n\" has too few arguments",
        ),
        ("g$$distribute();", "\"distribute\" has too few arguments"),
        ("g$$distribute(3);", "a list of machines is expected"),
        ("g$$partition(1.5);", "integer is expected, this is real"),
        ("g$$parition(1);", "did you mean partition?"),
    ] {
        let main = format!("PROCESS OrcaMain(); g: G[1..9]; BEGIN {directive} END;");
        let said = units("OPERATION f(); OPERATION s();", plain, &main).said("main.imp");
        assert!(
            said.len() == 1 && said[0].contains(expected),
            "{directive}: {said:?}"
        );
    }
}
