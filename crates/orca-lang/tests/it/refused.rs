//! Mistakes: each is reported once, at its line, in the language's own words.

use crate::support::said_of;

/// Checks that a mistake in the statements, on line 5, is reported once with this message.
#[track_caller]
fn statement(text: &str, expected: &str) {
    told("", text, 5, expected);
}

/// Checks that a mistake in the declarations, on line 2, is reported once with this message.
#[track_caller]
fn declaration(text: &str, expected: &str) {
    told(text, "", 2, expected);
}

#[track_caller]
fn told(declarations: &str, statements: &str, line: u32, expected: &str) {
    let said = said_of(declarations, statements);
    let [only] = &said[..] else {
        panic!("{declarations}{statements}: {said:#?}");
    };
    assert!(
        only.starts_with(&format!("{line}: ")),
        "{declarations}{statements}: {only}"
    );
    assert!(
        only.contains(expected),
        "{declarations}{statements}: {only}"
    );
}

#[test]
fn values_of_other_types_are_not_assigned() {
    let wrong = "type incompatibility in assignment";
    for text in [
        "i := p;",
        "k := apple;",
        "e := 1;",
        "o := 3;",
        "x := 1;",
        "i := 2.5;",
        "c := 65;",
        "v := m;",
        "ok := 0;",
        "s := 'c';",
        "q := 0;",
        "n := b;",
    ] {
        statement(text, wrong);
    }
    statement("x := i;", "FLOAT(n)");
    statement("i := k;", "ORD(x)");
}

#[test]
fn operators_have_their_operands() {
    statement(
        "s := \"a\" + \"b\";",
        "illegal operand type(s) in +: string and string",
    );
    statement("IF o = o2 THEN i := 1; FI;", "illegal operand type(s) in =");
    statement("ok := g = g;", "illegal operand type(s) in =");
    statement(
        "x := x * i;",
        "illegal operand type(s) in *: real and integer",
    );
    statement("ok := s < s;", "illegal operand type(s) in <");
    statement("i := i & ok;", "illegal operand type(s) in &");
    statement("ok := i = 1 AND ok;", "AND and OR bind tighter");
    statement("ok := s IN n;", "illegal operand type(s) in IN");
    statement("ok := NOT i;", "illegal operand type in NOT");
    statement("n +:= b;", "illegal operand type(s) in +");
    statement("x := 1.0 / 0.0;", "division by 0.0");
}

#[test]
fn conditions_are_boolean() {
    for text in [
        "IF i THEN j := 1; FI;",
        "WHILE x DO j := 1; OD;",
        "REPEAT j := 1; UNTIL c;",
        "ASSERT(i);",
    ] {
        statement(text, "a boolean expression is expected");
    }
}

#[test]
fn names_are_declared_before_they_are_used() {
    statement("i := cuont;", "identifier \"cuont\" is not declared");
    statement("reapeat := 1;", "identifier \"reapeat\" is not declared");
    statement("p.z := 1;", "Point has no field \"z\"");
    statement("g[q].valeu := 1;", "did you mean value?");
    statement(
        "o$vale();",
        "\"vale\" is no operation of IntObject = did you mean value?",
    );
    declaration("FUNCTION red(); BEGIN END;", "\"red\" is already declared");
    declaration(
        "FUNCTION h(); TYPE T = Later; BEGIN END;",
        "identifier \"Later\" is not declared",
    );
    declaration(
        "FUNCTION h(); TYPE N = NODENAME OF Vector; BEGIN END;",
        "\"Vector\" is no graph type",
    );
}

#[test]
fn results_are_used_where_there_are_some_and_only_there() {
    statement("half(i, j);", "unexpected function result");
    statement("o$value();", "unexpected operation result");
    statement("i := o$inc();", "this operation has no result");
    statement("i := swap(i, j);", "this function has no result");
    statement("i := NCPUS;", "\"NCPUS\" is called with parentheses");
    statement("MYCPU := 3;", "\"MYCPU\" is called with parentheses");
}

#[test]
fn arguments_fit_their_parameters() {
    statement("i := half(i);", "\"half\" has 2 parameters, not 1");
    statement(
        "i := half(x, j);",
        "type incompatibility in parameter \"n\" of \"half\"",
    );
    statement("i := half(1, 2);", "a designator is expected");
    statement(
        "swap(i, l);",
        "type incompatibility in parameter \"b\" of \"swap\"",
    );
    statement(
        "swap(i, red);",
        "a designator is expected, and this is a value of an enumeration",
    );
    statement(
        "o$add(x);",
        "type incompatibility in parameter \"v\" of \"add\"",
    );
}

#[test]
fn arguments_by_reference_have_no_part_in_common() {
    statement("swap(i, i);", "illegal alias");
    statement("swap(v[2], v[2]);", "illegal alias");
    statement("i := half(1, i);  swap(v[i], v[i]);", "illegal alias");
    statement(
        "swap(v[i], v[j]);",
        "warning: this may be the same variable",
    );
    assert_eq!(
        said_of(
            "",
            "swap(v[1], v[2]); swap(p.x, p.y); swap(v[1], w[1]); i := half(i, i);"
        ),
        [""; 0]
    );
}

#[test]
fn only_variables_are_written() {
    statement(
        "red := green;",
        "a designator is expected, and this is a value of an enumeration",
    );
    statement(
        "half := swap;",
        "a designator is expected, and this is a function",
    );
    statement(
        "FOR z IN 1..3 DO z := 1; OD;",
        "assignment to loop variable \"z\" is illegal",
    );
    statement(
        "FOR z IN n DO swap(z, i); OD;",
        "assignment to loop variable \"z\" is illegal",
    );
    statement(
        "e.which := red;",
        "assignment to a union tag field is illegal",
    );
    statement(
        "TEN := 2;",
        "a designator is expected, and this is a constant",
    );
}

#[test]
fn statements_stand_where_they_mean_something() {
    statement("EXIT;", "EXIT is not in a loop");
    statement("IF ok THEN EXIT; FI;", "EXIT is not in a loop");
    statement(
        "GUARD ok DO OD;",
        "GUARD stands at the beginning of an operation's body",
    );
    statement(
        "FORK swap(i, j);",
        "a process is expected, and \"swap\" is a function",
    );
    statement(
        "FORK worker(o, 1) ON x;",
        "an integer expression is expected behind ON",
    );
    statement("worker(o, 1);", "\"worker\" is a process = start it: FORK");
    statement("RETURN 1;", "has no result, and returns a value");
    declaration(
        "FUNCTION h(); BEGIN FORK worker(1); END;",
        "FORK is only allowed within a process",
    );
}

#[test]
fn choices_have_each_value_once() {
    statement(
        "CASE i OF 1 => j := 1; | 0..3 => j := 2; ESAC;",
        "multiple case entry for value 1",
    );
    statement(
        "CASE k OF red => j := 1; | apple => j := 2; ESAC;",
        "type incompatibility",
    );
    statement(
        "CASE i OF j => i := 1; ESAC;",
        "a constant expression is expected",
    );
    statement("CASE x OF 1 => i := 1; ESAC;", "do not select in CASE");
}

#[test]
fn functions_return_what_their_headings_say() {
    declaration(
        "FUNCTION h(): integer; BEGIN END;",
        "\"h\" should return a value, but does not",
    );
    declaration(
        "FUNCTION h(): integer; BEGIN RETURN; END;",
        "\"h\" must return a value",
    );
    declaration(
        "FUNCTION h(): integer; BEGIN RETURN 1.0; END;",
        "type incompatibility in RETURN",
    );
    declaration(
        "FUNCTION h(a: integer); FUNCTION h(a: real); BEGIN END;",
        "inconsistent declaration for \"h\"",
    );
    declaration("FUNCTION h(a: integer);", "function \"h\" has no body");
}

#[test]
fn parameters_are_passed_as_their_routine_can() {
    declaration(
        "PROCESS h(a: SHARED integer); BEGIN END;",
        "only objects and arrays of objects may be shared",
    );
    declaration(
        "PROCESS h(a: OUT integer); BEGIN END;",
        "no OUT parameters are allowed in a process",
    );
    declaration(
        "FUNCTION h(a: OUT Counters); BEGIN END;",
        "warning: an OUT parameter holds objects",
    );
    declaration(
        "FUNCTION h(a: Vector[1..2]); BEGIN END;",
        "only OUT parameters have initial bounds",
    );
}

#[test]
fn aggregates_have_the_parts_of_their_type() {
    statement(
        "p := Point:{1};",
        "the record aggregate has too few members",
    );
    statement(
        "v := Vector:[1, 2.0];",
        "type incompatibility in an array aggregate",
    );
    statement(
        "m := Matrix:[[1.0, 2.0], [3.0]];",
        "this row has 1 elements, the one before 2",
    );
    statement("m := Matrix:[1.0, 2.0];", "a row in brackets is expected");
    statement("e := Either:{blue, 1};", "no alternative for this tag");
    statement(
        "v := Vector:{1};",
        "the elements of an array stand in brackets",
    );
    statement("i := (1, 2);", "expected \")\"");
}

#[test]
fn predefined_functions_have_their_types() {
    statement(
        "Write(ok);",
        "\"Write\": unexpected parameter type boolean = write its number",
    );
    statement(
        "WriteLine(v);",
        "\"WriteLine\": unexpected parameter type Vector",
    );
    statement("Read(k);", "\"Read\": unexpected parameter type Color");
    statement("c := CAP(3);", "\"CAP\": unexpected parameter type integer");
    statement(
        "i := LB(v, 2);",
        "illegal second argument: the array has 1 dimensions",
    );
    statement("i := LB(n);", "\"LB\": unexpected parameter type Numbers");
    statement(
        "DELETE(1, v);",
        "\"DELETE\": unexpected parameter type Vector",
    );
    statement("INSERT(x, n);", "type incompatibility in \"INSERT\"");
    statement("i := ORD(e);", "\"ORD\": unexpected parameter type Either");
    statement("DELETENODE(g, i);", "a NODENAME OF Net is expected");
    statement("i := MAX(i);", "\"MAX\" has a type as its parameter");
    statement("i := ABS(1, 2);", "\"ABS\" has 1 parameters, not 2");
}

#[test]
fn designators_follow_the_types() {
    statement(
        "i := v[1][2];",
        "[ is only allowed on graphs and arrays, not on integer",
    );
    statement("i := m[1];", "1 indices for 2 dimensions");
    statement("i := v[x];", "type incompatibility in an index");
    statement("i := i.x;", "values of integer have no fields");
    statement("q := g[q];", "a node is no value");
    statement("i := o.x;", "the state of IntObject is hidden");
    statement("v$inc();", "values of Vector have no operations");
}

#[test]
fn syntax_errors_tell_what_was_expected() {
    statement(
        "i := 1 j := 2;",
        "expected \";\" after the statement, found \"j\"",
    );
    statement(
        "IF ok THEN i := 1 FI;",
        "expected \";\" after the statement, found \"FI\"",
    );
    statement("i := 7 % -1;", "a sign stands only before the first term");
    statement("i := - - 1;", "a sign stands only before the first term");
    statement("i := 2 * -3;", "write parentheses");
    statement("ok := 1 < 2 < 3;", "relations do not chain");
    statement("begin;", "reserved words are written in capitals: BEGIN");
    statement("i = 1;", "= compares, := assigns");
    statement("a_ := 1;", "\"a_\" is no identifier");
    statement("s := \"abc;", "this string does not end on its line");
    declaration("z: integer;", "behind a function or operation");
    declaration(
        "FUNCTION h(); FUNCTION k(); BEGIN END; BEGIN END;",
        "this body belongs to no heading",
    );
    declaration("GUARD;", "expected a declaration");
}

#[test]
fn several_mistakes_are_told_in_one_run() {
    let said = said_of("", "i := ;\nIF i THEN j := FI;\nx := 1 +;\nEXIT");
    assert_eq!(
        said.iter().filter(|line| line.contains("expected")).count(),
        4,
        "{said:#?}"
    );
    let said = said_of("", "i := x;\nEXIT;\nj := nothing;");
    let lines: Vec<&str> = said.iter().map(|line| &line[..2]).collect();
    assert_eq!(lines, ["5:", "6:", "7:"], "{said:#?}");
}
