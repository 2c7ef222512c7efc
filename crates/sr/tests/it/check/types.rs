//! Types that are composed of others, and their bounds.

use super::said_of;

#[test]
fn types_may_be_made_of_what_comes_later_behind_pointers() {
    assert_eq!(
        said_of(
            "type list = ptr node\ntype node = rec(v: int; nxt: list; all: ptr table)\ntype table = [10] list\nvar l: list := new(node)\nl^.nxt := null\nl^.all := null\nl^.v++"
        ),
        [""; 0]
    );
    assert_eq!(
        said_of("type node = rec(v: int; nxt: node)"),
        ["2: the record contains itself = let the field be a pointer: ptr and the record's type"]
    );
    assert_eq!(
        said_of("type a = ptr b\ntype b = ptr a"),
        ["3: the type \"a\" is made of itself"]
    );
    assert_eq!(
        said_of("var p: ptr nothing_of_that_name"),
        ["2: \"nothing_of_that_name\" is not declared"]
    );
}

#[test]
fn bounds_are_computed_except_in_records() {
    assert_eq!(
        said_of("var n := 3\nvar a[n, 0:n+1]: string[n]\na[1,0] := \"x\"\ntype t = rec(b[n]: int)"),
        [
            "5: bounds and lengths in a record must be known to the compiler = use numbers, or constants that have numbers for values",
        ]
    );
    assert_eq!(
        said_of("var a[*]: int"),
        [
            "2: \"*\" leaves the size open, and here it must be known = write the bounds; only parameters take theirs from the argument",
        ]
    );
    assert_eq!(
        said_of("var a[1.5]: int\nvar b['a':3]: int"),
        [
            "2: int is needed here, and this is real = convert it: int(…)",
            "3: the bounds are of two types, char and int",
        ]
    );
    assert_eq!(
        said_of("op f(n: int; a[n]: int)\nproc f(n, a)\n skip\nend"),
        [
            "2: the parameter \"n\" has no value in its own declaration = use * as the bound, and lb() and ub() where the operation is serviced",
        ]
    );
}
