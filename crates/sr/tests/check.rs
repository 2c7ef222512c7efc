//! The checker: what it finds wrong, and what it finds out.

use antiphon_sr::program::{Home, Program, Service, StatementKind};
use antiphon_sr::{Checked, Severity, Sources, check, parse};

/// Checks files; the parser must find nothing wrong.
fn checked(files: &[&str]) -> (Sources, Checked) {
    let mut sources = Sources::default();
    let mut components = Vec::new();
    for (at, text) in files.iter().enumerate() {
        let file = sources.add(format!("{}.sr", at + 1), text.as_bytes().to_vec());
        let (parsed, diagnostics) = parse(&sources, file);
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.text(&sources))
            .collect();
        assert_eq!(errors, [""; 0]);
        components.push(parsed);
    }
    let checked = check(&sources, components);
    (sources, checked)
}

/// What is said of files: line, severity, message and mend of each diagnostic.
fn said(files: &[&str]) -> Vec<String> {
    let (sources, checked) = checked(files);
    let has_error = checked
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Error);
    assert_eq!(checked.program.is_none(), has_error);
    let line = |d: &antiphon_sr::Diagnostic| {
        let source = sources.file(d.span.file);
        let (line, _) = source.position(d.span.start);
        let mend = d.mend.as_ref().map(|m| format!(" = {m}"));
        let severity = match d.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        format!(
            "{line}: {severity}{}{}",
            d.message,
            mend.unwrap_or_default()
        )
    };
    checked.diagnostics.iter().map(line).collect()
}

/// What is said of the body of a main resource; its first line is line 2.
fn said_of(body: &str) -> Vec<String> {
    said(&[&format!("resource main()\n{body}\nend\n")])
}

fn program(files: &[&str]) -> Program {
    let (sources, checked) = checked(files);
    let said: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| d.text(&sources))
        .collect();
    checked
        .program
        .unwrap_or_else(|| panic!("no program: {said:?}"))
}

fn service_of(program: &Program, name: &str) -> Service {
    let row = program.operations.iter().find(|o| o.name == name);
    row.unwrap_or_else(|| panic!("no {name}")).service
}

#[test]
fn a_message_shows_the_place_and_the_mend() {
    let text = "resource main()\n  var count := 1\n  write(cuont)\nend\n";
    let (sources, checked) = checked(&[text]);
    let texts: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| d.text(&sources))
        .collect();
    assert_eq!(
        texts.concat(),
        "1.sr:3:9: error: \"cuont\" is not declared\n 3 |   write(cuont)\n   |         ^^^^^\n   = did you mean \"count\"?\n"
    );
}

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

#[test]
fn components_may_import_each_other() {
    let text = "resource A\n op f(b: cap B)\n import B\nbody A()\n proc f(b)\n b.g()\n end\nend\n";
    let good = "resource A\n import B\n op f(b: cap B)\nbody A()\n proc f(b)\n b.g()\n end\nend\n";
    let b = "resource B\n import A\n op g()\nbody B()\n proc g()\n skip\n end\nend\n";
    let main =
        "resource main()\n import A, B\n var a := create A(), b := create B()\n a.f(b)\nend\n";
    assert_eq!(said(&[good, b, main]), [""; 0]);
    assert_eq!(
        said(&[text, b, main])[0],
        "2: \"B\" is not declared = import it: import B"
    );
}

#[test]
fn constants_of_a_resource_are_values_to_others() {
    let text = "resource R\n const a := 2 * 3, b := age(), c: [2] int := (1, a)\nbody R()\n write(a, b, c[1])\nend\nresource main()\n import R\n var x[R.a]: int\n write(R.b, R.c[2])\n x[1] := a\nend\n";
    assert_eq!(said(&[text]), [""; 0]);
    assert_eq!(
        said(&["resource R\n const a := age(), b := a + 1\nend\nresource main()\nend\n"]),
        [
            "2: others cannot see this value: it is made of constants that each instance computes = declare it in the body, or in a global",
        ]
    );
}

#[test]
fn bodies_may_stand_apart() {
    let specification = "resource R\n op f()\nbody R(n: int) separate\n";
    let body = "body R\n proc f()\n write(n)\n end\nend R\n";
    let main = "resource main()\n import R\n var r := create R(1)\n r.f()\nend\n";
    assert_eq!(said(&[specification, body, main]), [""; 0]);
    assert_eq!(said(&[body, specification, main]), [""; 0]);
    assert_eq!(
        said(&[specification, main]),
        ["3: the body of R is missing = name the file that has it on the command line, too"]
    );
    assert_eq!(
        said(&[
            specification,
            "resource main()\n import R\n var r: cap R\n r := null\nend\n"
        ]),
        [""; 0]
    );
    assert_eq!(
        said(&[body, "resource main()\nend\n"]),
        ["1: there is no specification of R = name the file that has it on the command line, too"]
    );
    assert_eq!(
        said(&[specification, body, body, main]),
        ["1: R is there twice = give one of them another name, or leave one of the files out"]
    );
}

#[test]
fn the_last_resource_with_a_body_is_the_main_one() {
    let p = program(&[
        "resource a()\nend\nresource b()\nend\n",
        "resource c\n op f()\nend\n",
    ]);
    let main = p.main.map(|id| p.components[id.index()].name.as_str());
    assert_eq!(main, Some("b"));
    assert_eq!(
        said(&["resource a(n: int)\n write(n)\nend\n"]),
        [
            "1: a is the main resource, since it is the last one, and cannot have parameters = put the main resource last, and give it ()",
        ]
    );
    assert_eq!(
        said(&["global g\nend\n"]),
        [
            "1: the program has no resource that could be its main one = the last resource with a body is the main one: write resource main() … end",
        ]
    );
}

#[test]
fn extending_inherits_operations_and_all_else() {
    let base = "resource Base\n type t = rec(a: int)\n const N := 3\n op f(x: t), g[N]()\nend\n";
    let derived = "resource D\n extend Base\n op h()\nbody D()\n proc f(x)\n write(x.a, N)\n end\n proc h()\n skip\n end\n receive g[1]()\nend\n";
    let main = "resource main()\n import Base, D\n var b: cap Base := create D()\n b.f(Base.t(4))\n send b.g[2]()\nend\n";
    let p = program(&[base, derived, main]);
    let inherited: Vec<&str> = p
        .operations
        .iter()
        .filter(|o| o.inherits.is_some())
        .map(|o| o.name.as_str())
        .collect();
    assert_eq!(inherited, ["f", "g"]);
    assert_eq!(service_of(&p, "f"), Service::Nobody);
    assert_eq!(
        said(&[
            base,
            "resource main()\n import Base\n var b := create Base()\nend\n"
        ]),
        ["3: \"Base\" has no body: it is there to be extended"]
    );
    let constants = "resource A\n const X := EOF\nend\nresource main\n const EOF := 'x'\n extend A\nbody main()\n var c: char := X\n c := X\nend\n";
    assert_eq!(said(&[constants]), [""; 0]);
    assert_eq!(
        said(&["global G\nend\nresource main\n extend G\nbody main()\nend\n"]),
        ["4: \"G\" is a global, and only a resource can be extended = import it: import G"]
    );
}

#[test]
fn an_operation_of_a_resource_needs_an_instance() {
    let text = "resource R\n op f()\nbody R()\n proc f()\n skip\n end\nend\nresource main()\n import R\n f()\nend\n";
    assert_eq!(
        said(&[text]),
        [
            "10: \"f\" is an operation of instances of R, and it is not said whose = write it after a capability: c.f, where c is of type cap R",
        ]
    );
}

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

#[test]
fn the_specification_comes_before_the_body_and_processes_start_where_they_stand() {
    let p = program(&[
        "resource main\n const N := 2\nbody main()\n var x := N\n process q(i := 1 to x) #@ region i\n write(i)\n end\n x++\nend\n",
    ]);
    let body = p.components[0].body.map(|id| &p.codes[id.index()].block);
    let kinds: Vec<&str> = body
        .map(|block| &block.statements)
        .into_iter()
        .flatten()
        .map(|statement| match &statement.kind {
            StatementKind::Declare { .. } => "declare",
            StatementKind::DeclareOperation { .. } => "declare operation",
            StatementKind::Start { region, .. } if region.is_some() => "start in a region",
            StatementKind::Expression(_) => "expression",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "declare",
            "declare operation",
            "start in a region",
            "expression"
        ]
    );
}

#[test]
fn resources_are_alike_that_export_operations_of_the_same_kinds() {
    let resource = |name: &str, operation: &str| {
        format!(
            "resource {name}\n op {operation}(x: int), g()\nbody {name}()\n proc {operation}(x)\n write(x)\n end\n proc g()\n skip\n end\nend\n"
        )
    };
    let main = "resource main()\n import A, B, C\n var a: cap A := create B(), c: cap C\n c := a\n c.h(1)\nend\n";
    let p = program(&[
        &resource("A", "f"),
        &resource("B", "e"),
        &resource("C", "h"),
        main,
    ]);
    let name = |id: antiphon_sr::program::OperationId| {
        let row = &p.operations[id.index()];
        format!("{}.{}", p.components[row.component.index()].name, row.name)
    };
    let mut pairs: Vec<String> = p
        .counterparts
        .iter()
        .map(|pair| format!("{} for {}", name(pair.stands_for_it), name(pair.wanted)))
        .collect();
    pairs.sort();
    assert_eq!(
        pairs,
        [
            "A.f for C.h",
            "A.g for C.g",
            "B.e for A.f",
            "B.e for C.h",
            "B.g for A.g",
            "B.g for C.g",
        ]
    );
    let other = "resource D\n op f(x: char)\nbody D()\n proc f(x)\n write(x)\n end\nend\nresource main()\n import A, D\n var a: cap A := create D()\nend\n";
    assert_eq!(
        said(&[&resource("A", "f"), other]),
        ["10: cap A is needed here, and this is cap D"]
    );
}
