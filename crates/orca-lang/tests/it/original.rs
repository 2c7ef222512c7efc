//! Small mistakes, and what looks like one, that the original compiler was asked about. It gives the
//! same verdict, except on an assignment to a value of an enumeration, which it lets pass.

use crate::support::Units;

const REFUSED: &[(&str, &str)] = &[
    ("i := u;", "type incompatibility in assignment"),
    ("v := y1;", "type incompatibility in assignment"),
    ("u := 1;", "type incompatibility in assignment"),
    ("i := f(i, i);", "illegal alias"),
    ("i := f(i, 3);", "a designator is expected"),
    (
        "f(i, j);",
        "unexpected function result: nothing is done with it",
    ),
    (
        "FOR k IN 1..3 DO k := 1; OD;",
        "assignment to loop variable \"k\" is illegal",
    ),
    ("EXIT;", "EXIT is not in a loop"),
    ("i := zz;", "identifier \"zz\" is not declared"),
    ("o := 3;", "type incompatibility in assignment"),
    ("o$foo();", "\"foo\" is no operation of IntObject"),
    ("i := o$inc();", "a value is expected"),
    (
        "o$value();",
        "unexpected operation result: nothing is done with it",
    ),
    ("IF i THEN FI;", "a boolean expression is expected"),
    (
        "IF o = o2 THEN FI;",
        "illegal operand type(s) in =: IntObject and IntObject",
    ),
    (
        "CASE i OF 1 => i := 2; | 1 => i := 3; ESAC;",
        "multiple case entry for value 1",
    ),
    ("FORK g(o);", "a process is expected"),
    (
        "FORK p(o) ON u;",
        "an integer expression is expected behind ON",
    ),
    ("Write(b);", "\"Write\": unexpected parameter type boolean"),
    ("Write(a);", "\"Write\": unexpected parameter type IA"),
    ("i := 7 % -1;", "expected an operand"),
    ("q := r:{1};", "the record aggregate has too few members"),
    (
        "a := IA:[1,2.0];",
        "type incompatibility in an array aggregate",
    ),
    ("i := (1,2);", "expected \")\" after the expression"),
    ("i := 1 i := 2;", "expected \";\" after the statement"),
    ("IF b THEN i := 1 FI;", "expected \";\" after the statement"),
    (
        "s := \"a\" + \"b\";",
        "illegal operand type(s) in +: string and string",
    ),
    ("i := CAP(3);", "\"CAP\": unexpected parameter type integer"),
    ("i := LB(a, 2);", "\"LB\": illegal second argument"),
    ("DELETE(1, a);", "\"DELETE\": unexpected parameter type IA"),
    ("begin;", "expected \":=\" or arguments"),
    ("a_ := 1;", "\"a_\" is no identifier"),
    (
        "GUARD b DO OD;",
        "GUARD stands at the beginning of an operation's body",
    ),
    ("i := ORD(u);", "\"ORD\": unexpected parameter type real"),
    ("x1 := x2;", "a designator is expected"),
    (
        "i := a[1][2];",
        "[ is only allowed on graphs and arrays, not on integer",
    ),
    ("NCPUS := 3;", "\"NCPUS\" is called with parentheses"),
    ("i := NCPUS;", "\"NCPUS\" is called with parentheses"),
    (
        "b := NOT b AND b OR b; b := i = 1 AND b;",
        "illegal operand type(s) in AND",
    ),
    ("b := 1 < 2 < 3;", "expected \";\" after the statement"),
    ("i := - - 1;", "expected an operand"),
    ("i := -1 + -2;", "expected an operand"),
    ("i := 2 * -3;", "expected an operand"),
];

/// Declarations behind others.
const REFUSED_DECLARATIONS: &[(&str, &str)] = &[
    (
        "FUNCTION h(); BEGIN FORK p(1); END;",
        "FORK is only allowed within a process",
    ),
    (
        "PROCESS pp(x: SHARED integer); BEGIN END;",
        "only objects and arrays of objects may be shared",
    ),
    (
        "PROCESS pp(x: OUT integer); BEGIN END;",
        "no OUT parameters are allowed in a process",
    ),
    (
        "FUNCTION h(): integer; BEGIN END;",
        "\"h\" should return a value, but does not",
    ),
    (
        "FUNCTION h(): integer; BEGIN RETURN; END;",
        "\"h\" must return a value",
    ),
    (
        "x: integer;",
        "this declaration stands behind a function or operation",
    ),
    (
        "TYPE t = SET OF IntObject;",
        "this declaration stands behind a function or operation",
    ),
    (
        "FUNCTION h(); FUNCTION k(); BEGIN END; BEGIN END;",
        "this body belongs to no heading",
    ),
];

const ACCEPTED: &[&str] = &[
    "i := l; l := i;",
    "o := o2;",
    "i := i / 0;",
    "i := 08; i := 0FFH; i := 17B;",
    "i +:= 1; i %:= 2; b AND:= b; i <<:= 1; i << := 1; i |:= 1;",
];

/// Returns the errors of a program with a declaration and a statement.
fn errors(declaration: &str, statement: &str) -> Vec<String> {
    let text = format!(
        "MODULE IMPLEMENTATION main;
IMPORT IntObject;
TYPE IA = ARRAY[integer] OF integer;
TYPE r = RECORD a: integer; b: real; END;
TYPE e1 = (x1, x2);
TYPE e2 = (y1, y2);
FUNCTION f(a: SHARED integer; b: OUT integer): integer; BEGIN b := a; RETURN 1; END;
FUNCTION g(o: SHARED IntObject); BEGIN END;
PROCESS p(o: SHARED IntObject); BEGIN END;
{declaration}
PROCESS OrcaMain();
  i, j: integer; l: longint; u: real; v: e1; o, o2: IntObject; b: boolean; a: IA; q: r; s: string;
BEGIN
{statement}
END;
END;
"
    );
    let specification = "MODULE SPECIFICATION main;\nEND;\n";
    let units = Units::new(&[("main.spf", specification), ("main.imp", &text)]);
    let said = units.said("main.imp").into_iter();
    said.filter(|it| !it.contains(": warning: ")).collect()
}

#[test]
fn the_same_is_refused_as_by_the_original() {
    let statements = REFUSED
        .iter()
        .map(|(text, part)| (errors("", text), text, part));
    let declarations = REFUSED_DECLARATIONS.iter();
    let declarations = declarations.map(|(text, part)| (errors(text, ""), text, part));
    for (said, text, part) in statements.chain(declarations) {
        let is_said = said.first().is_some_and(|it| it.contains(part));
        assert!(is_said, "{text}: {said:?}, not {part:?}");
    }
}

#[test]
fn the_same_is_accepted_as_by_the_original() {
    for text in ACCEPTED {
        assert_eq!(errors("", text), [""; 0], "{text}");
    }
    let objects = "FUNCTION h(a: OUT IntObject); BEGIN END;";
    assert_eq!(errors(objects, ""), [""; 0], "{objects}");
}
