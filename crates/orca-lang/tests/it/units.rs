//! Units: their files, imports and instances.

use orca_lang::{Dialect, Keywords, Search, check, load};

use crate::support::{Units, lines};

const MAIN: (&str, &str) = ("main.spf", "MODULE SPECIFICATION main; END;");

fn main_with(imports: &str, body: &str) -> String {
    format!("MODULE IMPLEMENTATION main; {imports}\nPROCESS OrcaMain();\n{body}\nEND;\nEND;\n")
}

#[test]
fn a_unit_is_found_under_ten_characters_of_its_name_and_in_other_folders() {
    let main = main_with(
        "FROM VeryLongName IMPORT K; FROM there IMPORT L;",
        "i: integer; BEGIN i := K + L;",
    );
    let units = Units::new(&[
        MAIN,
        ("main.imp", &main),
        (
            "VeryLongNa.spf",
            "MODULE SPECIFICATION VeryLongName; CONST K = 1; END;",
        ),
        (
            "lib/there.spf",
            "MODULE SPECIFICATION there; CONST L = 2; END;",
        ),
    ]);
    let search = Search {
        folders: vec![units.path("lib")],
        ..Search::default()
    };
    let (loaded, checked) = units.check_with("main.imp", &search);
    assert_eq!(lines(&loaded, &checked.diagnostics), [""; 0]);
    let said = units.said("main.imp");
    assert!(said[0].contains("there is no unit \"there\""), "{said:?}");
}

#[test]
fn a_unit_beside_the_program_hides_a_standard_one() {
    let main = main_with("IMPORT IntObject;", "o: IntObject; BEGIN o$mine();");
    let own = "OBJECT SPECIFICATION IntObject; OPERATION mine(); END;";
    let body =
        "OBJECT IMPLEMENTATION IntObject; x: integer; OPERATION mine(); BEGIN x := 1; END; END;";
    let files = [
        MAIN,
        ("main.imp", &*main),
        ("IntObject.spf", own),
        ("IntObject.imp", body),
    ];
    assert_eq!(Units::new(&files).said("main.imp"), [""; 0]);
}

#[test]
fn unknown_units_are_told_with_those_that_are_like_them() {
    let main = main_with("IMPORT IntObjekt;", "BEGIN");
    let said = Units::new(&[MAIN, ("main.imp", &main)]).said("main.imp");
    assert_eq!(
        said,
        ["1: there is no unit \"IntObjekt\" = did you mean IntObject?"]
    );
}

#[test]
fn specifications_do_not_need_each_other_in_a_circle() {
    let main = main_with("IMPORT A;", "BEGIN");
    let units = Units::new(&[
        MAIN,
        ("main.imp", &main),
        ("A.spf", "MODULE SPECIFICATION A; IMPORT B; END;"),
        ("B.spf", "MODULE SPECIFICATION B; IMPORT A; END;"),
    ]);
    let said = units.said("main.imp");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("the specification of A needs itself"),
        "{said:?}"
    );
}

#[test]
fn implementations_may_import_each_other() {
    let main = main_with("IMPORT A, B;", "BEGIN A.a(1);");
    let body = |own: &str, other: &str, f: &str, g: &str| {
        format!(
            "MODULE IMPLEMENTATION {own}; IMPORT {other}; FUNCTION {f}(n: integer);
             BEGIN IF n > 0 THEN {other}.{g}(n - 1); FI; END; END;"
        )
    };
    let (a, b) = (body("A", "B", "a", "b"), body("B", "A", "b", "a"));
    let units = Units::new(&[
        MAIN,
        ("main.imp", &main),
        (
            "A.spf",
            "MODULE SPECIFICATION A; FUNCTION a(n: integer); END;",
        ),
        ("A.imp", &a),
        (
            "B.spf",
            "MODULE SPECIFICATION B; FUNCTION b(n: integer); END;",
        ),
        ("B.imp", &b),
    ]);
    assert_eq!(units.said("main.imp"), [""; 0]);
}

#[test]
fn each_instance_of_a_generic_unit_has_types_of_its_own() {
    let generic = "GENERIC (NUMERIC TYPE T; FUNCTION f(a: T): T; CONST N: integer)
        MODULE SPECIFICATION Sums; TYPE Row = ARRAY[integer 1..N] OF T;
        FUNCTION sum(r: Row): T; END GENERIC;";
    let body = "GENERIC MODULE IMPLEMENTATION Sums;
        FUNCTION sum(r: Row): T; s: T; BEGIN FOR i IN 1..N DO s := s + f(r[i]); OD; RETURN s; END;
        END GENERIC;";
    let functions = "FUNCTION i2(a: integer): integer; BEGIN RETURN 2 * a; END;
        FUNCTION r2(a: real): real; BEGIN RETURN 2.0 * a; END;";
    let spec = "MODULE SPECIFICATION fs; FUNCTION i2(a: integer): integer; FUNCTION r2(a: real): real; END;";
    let functions = format!("MODULE IMPLEMENTATION fs; {functions} END;");
    let imports = "FROM fs IMPORT i2, r2; MODULE A = NEW Sums(integer, i2, 3);
        MODULE B = NEW Sums(integer, i2, 3); MODULE C = NEW Sums(real, r2, 2);";
    let check = |imports: &str, body_of_main: &str| {
        let main = main_with(imports, body_of_main);
        let units = Units::new(&[
            MAIN,
            ("main.imp", &main),
            ("Sums.spf", generic),
            ("Sums.imp", body),
            ("fs.spf", spec),
            ("fs.imp", &functions),
        ]);
        units.said("main.imp")
    };
    let use_all = "a: A.Row; c: C.Row; BEGIN Write(A.sum(a), C.sum(c));";
    assert_eq!(check(imports, use_all), [""; 0]);
    let mixed = check(imports, "a: A.Row; b: B.Row; BEGIN a := b;");
    assert!(
        mixed[0].contains("type incompatibility in assignment"),
        "{mixed:?}"
    );
    for (instance, expected) in [
        (
            "MODULE D = NEW Sums(string, i2, 3);",
            "has to be a NUMERIC TYPE, and string is none",
        ),
        (
            "MODULE D = NEW Sums(real, i2, 3);",
            "parameter \"f\" is a FUNCTION(real): real",
        ),
        (
            "MODULE D = NEW Sums(integer, i2);",
            "has 3 parameters, not 2",
        ),
        (
            "MODULE D = NEW Sums(integer, i2, 1.0);",
            "parameter \"N\" is integer",
        ),
        (
            "OBJECT D = NEW Sums(integer, i2, 3);",
            "\"Sums\" is a generic module",
        ),
        ("IMPORT Sums;", "\"Sums\" is generic and cannot be imported"),
    ] {
        let said = check(&format!("FROM fs IMPORT i2; {instance}"), "BEGIN");
        assert!(said[0].contains(expected), "{instance}: {said:?}");
    }
}

#[test]
fn a_generic_unit_is_checked_by_itself() {
    let main = main_with("OBJECT A = NEW G(integer);", "a: A; BEGIN a$set(1);");
    let units = Units::new(&[
        MAIN,
        ("main.imp", &main),
        (
            "G.spf",
            "GENERIC (TYPE T) OBJECT SPECIFICATION G; OPERATION set(v: T); END GENERIC;",
        ),
        (
            "G.imp",
            "GENERIC OBJECT IMPLEMENTATION G; x: T;\nOPERATION set(v: T); BEGIN IF x = v THEN x := v; FI; END; END GENERIC;",
        ),
    ]);
    let said = units.said("main.imp");
    assert_eq!(said, ["2: illegal operand type(s) in =: T and T"]);
}

#[test]
fn opaque_types_are_known_in_their_unit_alone() {
    let main = main_with(
        "FROM lists IMPORT List, make;",
        "a, b: List; BEGIN a := make(); b := a; IF a = b THEN a := NIL; FI;",
    );
    let units = Units::new(&[
        MAIN,
        ("main.imp", &main),
        ("lists.spf", "MODULE SPECIFICATION lists; TYPE List; FUNCTION make(): List; END;"),
        (
            "lists.imp",
            "MODULE IMPLEMENTATION lists; TYPE List = NODENAME OF Lists;
             TYPE Lists = GRAPH first: List; NODES v: integer; END;
             FUNCTION make(): List; g: Lists; BEGIN g.first := ADDNODE(g); IF g.first /= NIL THEN g[g.first].v := 1; FI; RETURN g.first; END; END;",
        ),
    ]);
    let said = units.said("main.imp");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("illegal operand type(s) in =: List and List"),
        "{said:?}"
    );
}

#[test]
fn state_and_private_operations_are_hidden() {
    let object = (
        "A.spf",
        "OBJECT SPECIFICATION A; FUNCTION f(a: SHARED A); OPERATION get(): integer; END;",
    );
    let body = "OBJECT IMPLEMENTATION A; x: integer;
        OPERATION hidden(); BEGIN x := 1; END;
        OPERATION get(): integer; BEGIN SELF$hidden(); RETURN x; END;
        FUNCTION f(a: SHARED A); BEGIN a$hidden(); Write(x); END;
        END;";
    let main = main_with("IMPORT A;", "a: A; BEGIN a$hidden(); a$f(); A.f(a);");
    let units = Units::new(&[MAIN, ("main.imp", &main), object, ("A.imp", body)]);
    let said = units.said("main.imp");
    let has = |text: &str| said.iter().any(|line| line.contains(text));
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(has("\"hidden\" is no operation of A"), "{said:?}");
    assert!(has("\"x\" is a part of the object's state"), "{said:?}");
    assert!(has("it is a function: A.f(..)"), "{said:?}");
}

#[test]
fn data_modules_are_written_by_their_own_unit() {
    let main = main_with("FROM table IMPORT t, n;", "BEGIN Write(t[1]); n := 3;");
    let units = Units::new(&[
        MAIN,
        ("main.imp", &main),
        (
            "table.spf",
            "DATA MODULE SPECIFICATION table; TYPE V = ARRAY[integer] OF integer; t: V[1..3]; n: integer; END;",
        ),
        (
            "table.imp",
            "DATA MODULE IMPLEMENTATION table; FUNCTION fill(v: SHARED V); BEGIN v[1] := n; END; BEGIN n := 3; fill(t); END;",
        ),
    ]);
    let said = units.said("main.imp");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("assignment to data-module field \"n\" is illegal"),
        "{said:?}"
    );
}

#[test]
fn parallel_operations_write_their_own_element() {
    let main = main_with("IMPORT g;", "a: g[1..9]; BEGIN a$step();");
    let check = |body: &str| {
        let text = format!(
            "OBJECT IMPLEMENTATION g[integer l..h]; x: real; PARALLEL OPERATION[i] step(); BEGIN {body} END; OPERATION one(); BEGIN x[l] := 1.0; END; END;"
        );
        let spec = "OBJECT SPECIFICATION g[integer]; OPERATION step(); OPERATION one(); END;";
        let files = [
            MAIN,
            ("main.imp", &*main),
            ("g.spf", spec),
            ("g.imp", &text),
        ];
        Units::new(&files).said("main.imp")
    };
    assert_eq!(check("x := x[i + 1]; x[i] := 1.0;"), [""; 0]);
    for (body, expected) in [
        (
            "x[i + 1] := 1.0;",
            "assignment to a non-owned object field is illegal",
        ),
        ("i := 1;", "assignment to partition index \"i\" is illegal"),
        ("SELF$one();", "a parallel operation uses no other object"),
    ] {
        let said = check(body);
        assert!(
            said.len() == 1 && said[0].contains(expected),
            "{body}: {said:?}"
        );
    }
}

#[test]
fn words_may_be_small_and_files_conditional() {
    let text = "module implementation main;\n.ifdef FAST\nconst K = 1;\n.else\nconst K = nothing;\n.endif\nprocess OrcaMain();\nbegin\nWrite(K);\nend;\nend;\n";
    let units = Units::new(&[
        ("main.spf", "module specification main; end;"),
        ("main.imp", text),
    ]);
    let mut dialect = Dialect {
        keywords: Keywords::Small,
        ..Dialect::default()
    };
    dialect.defined.insert("FAST".into());
    let search = Search {
        dialect,
        ..Search::default()
    };
    let (loaded, checked) = units.check_with("main.imp", &search);
    assert_eq!(lines(&loaded, &checked.diagnostics), [""; 0]);
}

#[test]
fn a_program_begins_with_orca_main_in_the_unit_that_is_named() {
    let units = Units::new(&[MAIN, ("main.imp", "MODULE IMPLEMENTATION main; END;")]);
    let loaded = load(&[units.path("main.imp")], &Search::default()).expect("files");
    assert!(check(&loaded, false).program.is_some());
    let said = lines(&loaded, &check(&loaded, true).diagnostics);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("process \"OrcaMain\" is not defined"),
        "{said:?}"
    );
}

#[test]
fn instances_of_instances_have_an_end() {
    let main = main_with("OBJECT A = NEW G(integer);", "a: A; BEGIN a$set(1);");
    let spec = |again: &str| {
        format!(
            "GENERIC (TYPE T) OBJECT SPECIFICATION G; {again} OPERATION set(v: T); END GENERIC;"
        )
    };
    let body = |again: &str| {
        format!(
            "GENERIC OBJECT IMPLEMENTATION G; {again} x: T; OPERATION set(v: T); BEGIN x := v; END; END GENERIC;"
        )
    };
    let again = "OBJECT Again = NEW G(T);";
    for (spec, body) in [(spec(again), body("")), (spec(""), body(again))] {
        let files = [
            MAIN,
            ("main.imp", &*main),
            ("G.spf", &*spec),
            ("G.imp", &*body),
        ];
        let said = Units::new(&files).said("main.imp");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("makes instances of itself without end"),
            "{said:?}"
        );
    }
}
