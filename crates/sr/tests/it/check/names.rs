//! Names: their meanings and scopes.

use super::{said, said_of};

#[test]
fn names_are_declared_before_they_are_used() {
    assert_eq!(
        said_of("f()\nprocedure f()\n g()\n end\n procedure g()\n skip\n end"),
        [
            "2: \"f\" is not declared = it is declared further down, in line 3: declare it before it is used",
            "4: \"g\" is not declared = it is declared further down, in line 6: declare it before it is used",
        ]
    );
}

#[test]
fn a_name_that_is_not_declared_is_told_once() {
    assert_eq!(
        said_of("zzzz := 1\nzzzz := 2\nwrite(zzzz)"),
        ["2: \"zzzz\" is not declared"]
    );
}

#[test]
fn what_a_block_declares_ends_with_it() {
    assert_eq!(
        said_of(
            "begin\n var inside := 1\n inside++\nend\nwrite(inside)\nfa i := 1 to 2 -> skip af\ni := 3"
        ),
        ["6: \"inside\" is not declared", "8: \"i\" is not declared"]
    );
}

#[test]
fn names_are_declared_once_in_a_scope_and_may_be_hidden_in_another() {
    assert_eq!(
        said_of("var a := 1\nvar a := 2\nbegin\n var a := 3\n write(a)\nend"),
        ["3: \"a\" is declared twice = give one of them another name"]
    );
    assert_eq!(
        said_of("type e = enum(x, y)\nprocedure f(x: int)\n skip\nend"),
        ["3: \"x\" is a literal of an enumeration = a literal cannot be hidden: take another name"]
    );
}

#[test]
fn predefined_names_can_be_hidden_and_come_before_imported_ones() {
    assert_eq!(
        said_of("procedure max(a: int)\n skip\nend\nmax(1)"),
        [""; 0]
    );
    let global =
        "global G\n op get() returns x: int\nbody G\n proc get() returns x\n x := 1\n end\nend\n";
    assert_eq!(
        said(&[
            global,
            "resource main()\n import G\n var x := G.get()\n x := get()\nend\n"
        ]),
        [
            "4: get has 1 to 2 arguments, and 0 are given = predefined names come before imported ones: write G.get",
        ]
    );
}

#[test]
fn imported_names_are_visible_unless_they_are_ambiguous() {
    let globals = "global A\n var x := 1, y := 2\nend\nglobal B\n var x := 3\nend\n";
    assert_eq!(
        said(&[
            globals,
            "resource main()\n import A, B\n write(A.x, B.x, y)\n write(x)\nend\n"
        ]),
        ["4: \"x\" is ambiguous: several imported components have it = write A.x or B.x"]
    );
    assert_eq!(
        said(&[globals, "resource main()\n write(A.x)\nend\n"]),
        ["2: \"A\" is not declared = import it: import A"]
    );
    assert_eq!(
        said(&[
            globals,
            "resource main()\n import A\n write(A.z)\n import C\nend\n"
        ]),
        [
            "3: the specification of A declares no \"z\" = did you mean \"x\"?",
            "4: there is no component \"C\" = name the file that has it on the command line, too",
        ]
    );
}
