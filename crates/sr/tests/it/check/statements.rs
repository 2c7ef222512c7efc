//! Statements that are only allowed inside others, and statements that are probably mistakes.

use super::said_of;

#[test]
fn exit_and_next_belong_into_loops() {
    assert_eq!(
        said_of(
            "exit\ndo true -> if true -> exit fi od\nco f() -> next oc\nprocedure f()\nend\nprocess p\n do true -> next od\n next\nend"
        ),
        [
            "2: there is no loop around \"exit\" = it belongs into do, fa or co; \"return\" leaves a proc",
            "4: \"f\" is not declared = it is declared further down, in line 5: declare it before it is used",
            "9: there is no loop around \"next\" = it belongs into do, fa or co; \"return\" leaves a proc",
        ]
    );
}

#[test]
fn an_arm_of_co_is_an_invocation() {
    assert_eq!(
        said_of(
            "procedure f() returns x: int\n x := 1\nend\nprocedure p()\nend\nvar r: real, c: char\nco r := f() // c := f() // r := p() // sqrt(2.0) // 1 + 2 oc"
        ),
        [
            "8: the result is int, and this is a variable of type char",
            "8: the operation has no result",
            "8: the predefined function \"sqrt\" cannot be called by co = call it from a procedure, and that by co",
            "8: an arm of co begins with an invocation = call or send an operation, or assign the result of calling one",
        ]
    );
}

#[test]
fn what_is_probably_a_mistake_is_a_warning() {
    assert_eq!(
        said_of(
            "var a := 1, b := true\na = 2\na + 1\nif b := false -> skip fi\nprocedure f(int)\nend\nf"
        ),
        [
            "3: warning: this compares, and nothing is done with the result = \":=\" assigns",
            "4: warning: this does nothing: its value is not used = remove it, or assign the value to a variable",
            "5: warning: this guard assigns = \"=\" compares; put parentheses around what is meant to assign, and compare that",
            "6: warning: the parameter has no name, so nothing can be done with it = write a name and a colon before the type",
            "8: warning: this names an operation and does not call it = write its arguments in parentheses, () if there are none",
        ]
    );
}
