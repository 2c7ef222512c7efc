//! Resources and globals: imports, separate bodies, and inheritance.

use antiphon_sr::program::{Service, StatementKind};

use super::{program, said, service_of};

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
