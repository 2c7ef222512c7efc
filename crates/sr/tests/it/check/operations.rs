//! Operations: how they are serviced, and how they may be used.

use antiphon_sr::program::{Home, Service};

use super::{program, said_of, service_of};

#[test]
fn procs_match_their_operations() {
    assert_eq!(
        said_of(
            "op f(x: int) returns y: int\nproc f(a, b)\n skip\nend\nproc f(a) returns b\n b := a\nend\nproc g()\n skip\nend"
        ),
        [
            "3: \"f\" has 1 parameter, and 2 are named here",
            "3: the operation has a result, and it has no name here = write \"returns\" and a name after the parameters; the result is assigned to it",
            "6: \"f\" is implemented twice = the other proc begins in line 3: remove one of the two",
            "9: no operation \"g\" is declared = declare it: op g(…); or write procedure g(…), which does that, too",
        ]
    );
}

#[test]
fn operations_are_serviced_in_one_way() {
    assert_eq!(
        said_of("op f()\nop g()\nsem s\nproc f()\n skip\nend\nin f() -> skip ni"),
        [
            "8: \"f\" is implemented twice: by a proc, and by this = the proc begins in line 5: service the operation in one way",
        ]
    );
    assert_eq!(
        said_of("op f()\nop g()\nsem s\nreceive f()\nproc f()\n skip\nend"),
        [
            "3: the operation \"g\" is declared but not implemented = write proc g(…) … end, or service it with in or receive",
            "4: nothing does P on the semaphore \"s\" = write P(s) where it is waited for, or remove it",
            "5: \"f\" is implemented twice: by a proc, and by this = the proc begins in line 6: service the operation in one way",
        ]
    );
}

#[test]
fn an_operation_is_a_semaphore_if_nothing_else_is_done_with_it() {
    let body = "op plain(), called(), taken(), in_co(), held(), quiet()\nsem s := 1, t[2] := ([2] 0)\n\
        receive plain()\nV(plain)\nreceive called()\ncall called()\nreceive taken()\nvar c := taken\nP(in_co)\nco send in_co() oc\n\
        in held() -> skip ni\nP(quiet)\nwrite(?quiet)\nP(s)\nV(t[1])\nP(t[2])\nbegin\n sem local\n P(local)\nend\n";
    let p = program(&[&format!("resource main()\n{body}end\n")]);
    for name in ["plain", "quiet", "s", "t", "local"] {
        assert_eq!(service_of(&p, name), Service::Semaphore, "{name}");
    }
    for name in ["called", "taken", "in_co", "held"] {
        assert!(matches!(service_of(&p, name), Service::Input(_)), "{name}");
    }
}

#[test]
fn operations_of_one_input_statement_are_a_class() {
    let p = program(&[
        "resource main()\nop a(), b(), c(), d()\nin a() -> skip [] b() -> skip ni\nin b() -> skip [] c() -> skip ni\nin d() -> skip ni\nbegin\n op e()\n in e() -> skip [] a() -> skip ni\nend\nend\n",
    ]);
    let class = |name: &str| match service_of(&p, name) {
        Service::Input(class) => class,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(class("a"), class("b"));
    assert_eq!(class("a"), class("c"));
    assert_eq!(class("a"), class("e"));
    assert_ne!(class("a"), class("d"));
    assert_eq!(p.classes[class("e").index()].home, Home::Component);
    assert_eq!(p.components[0].classes.len(), p.classes.len());
}

#[test]
fn capabilities_that_one_input_statement_takes_from_are_a_class() {
    let p = program(&[
        "resource main()\nop a(int), b(int), c()\nvar x: cap (int) := a, y := new(op (int))\nreceive b(z0)\nin x(i) -> skip [] y(i) -> skip ni\nreceive c()\nend\n"
            .replace("receive b(z0)", "var z0: int; receive b(z0)")
            .as_str(),
    ]);
    let Service::Input(class) = service_of(&p, "a") else {
        panic!("a is serviced otherwise");
    };
    assert_eq!(p.components[0].dynamic, Some(class));
    assert_ne!(service_of(&p, "b"), Service::Input(class));
    let one = "resource main()\nvar y := new(op (int))\nin y(i) -> skip ni\nend\n";
    assert_eq!(program(&[one]).components[0].dynamic, None);
    let many = "resource main()\nvar y[3]: cap (int)\nin (j := 1 to 3) y[j](i) -> skip ni\nend\n";
    let p = program(&[many]);
    assert!(p.components[0].dynamic.is_some());
    assert_eq!(p.components[0].classes.len(), 1);
}

#[test]
fn receive_and_forward_and_restrictions() {
    assert_eq!(
        said_of(
            "op f(var x: int), g() returns y: int, h(a, b: int)\nvar v: int, w: char\nreceive f(v)\nreceive g()\nreceive h(v)\nreceive h(v, w)\nin g() returns y -> y := 1 ni\nforward h(1, 2)"
        ),
        [
            "4: receive cannot take a parameter that is passed back = write in … ni, and assign the parameter there",
            "5: receive cannot take an invocation that waits for a result = write in … ni, and assign the result there",
            "6: the operation has 2 parameters, and receive takes 1",
            "7: the parameter is int, and this is a variable of type char",
            "9: there is no invocation here that could be forwarded = \"forward\" belongs into a proc or an arm of \"in\"",
        ]
    );
    assert_eq!(
        said_of(
            "op f(x: int), g(x: char)\nproc f(x)\n forward g('a')\nend\nproc g(x)\n skip\nend\nprocedure q()\n skip\nend\nsend q()\nsem s\nP(s)\ncall s()"
        ),
        [
            "4: the operation that this is forwarded to has other parameters or another result = both must be alike, since the result goes back to the first caller",
            "12: the operation is restricted to {call}: it cannot be sent to",
            "15: the operation is restricted to {send}: it cannot be called",
        ]
    );
}
