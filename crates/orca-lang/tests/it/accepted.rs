//! Programs that the language allows.

use crate::support::{Units, program, said_of};

#[track_caller]
fn accepted(declarations: &str, statements: &str) {
    assert_eq!(
        said_of(declarations, statements),
        [""; 0],
        "{declarations}\n{statements}"
    );
}

#[test]
fn all_integers_mix_and_all_reals_do() {
    accepted(
        "",
        "i := l; l := i; l := l + i; i := i % 2 + ORD(c) - ABS(-4);",
    );
    accepted("", "x := FLOAT(i) / 3.0 + ABS(-1.5); i := TRUNC(x);");
}

#[test]
fn operators_are_assigned_with_or_without_a_blank() {
    accepted(
        "",
        "i +:= 1; i %:= 2; ok AND:= ok; i << := 1; i |:= 1; i ^ := 3; ok OR := ok;",
    );
}

#[test]
fn every_statement_has_its_form() {
    let statements = "\
        IF ok THEN i := 1; ELSIF NOT ok THEN i := 2; ELSE i := 3; FI;
        CASE i OF 1 => j := 1; | 2..4, 9 => j := 2; | ELSE j := 3; ESAC;
        CASE c OF 'a'..'z' => j := 1; | 'A' => j := 2; ESAC;
        REPEAT i +:= 1; UNTIL i > 9;
        WHILE i > 0 DO i -:= 1; IF i = 3 THEN EXIT; FI; OD;
        DO EXIT; OD;
        FOR z IN 1..3 DO j +:= z; OD;
        FOR z IN red..blue DO j +:= ORD(z); OD;
        FOR z IN n DO j +:= z; OD;
        FOR z IN b DO Write(z, \" \"); OD;
        FORK worker(o, 1); FORK worker(os[1], 2) ON NCPUS() - 1;
        IF ok THEN RETURN; FI;
        ;";
    accepted("", statements);
}

#[test]
fn every_type_has_its_values() {
    let statements = "\
        p := Point:{1, 2}; v := Vector:[1, 2, 3]; m := Matrix:[[1.0], [2.0]]; n := Numbers:{};
        n := n + Numbers:{1} - n * n / n; ok := 3 IN n; i := FROM(n); DELETE(1, n); i := SIZE(n);
        e := Either:{green, \"s\"}; IF e.which = green THEN s := e.s; FI;
        q := ADDNODE(g); g.first := q; g[q].value := 1; g!first.value := 2; g[q].next := NIL;
        ok := g[g.first].next = NIL; DELETENODE(g, q);
        o := o2; os[0] := os[1]; i := os[0]$value(); Strategy(o, 1, 0);
        c := CHR(10); k := VAL(Color, 1); i := MAX(integer); k := MAX(Color); i := UB(m, 2);
        v := w; ok := v = w; ok := p = p; ok := s = \"abc\"; ok := k <= blue;";
    accepted("", statements);
}

#[test]
fn functions_are_values() {
    let declarations = "FUNCTION add(a, b: integer): integer; BEGIN RETURN a + b; END; \
        FUNCTION apply(f: Binary; a: integer): integer; BEGIN RETURN f(a, a); END;";
    let units = Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main; END;"),
        (
            "main.imp",
            &format!(
                "MODULE IMPLEMENTATION main; TYPE Binary = FUNCTION(integer, integer): integer; \
             {declarations} PROCESS OrcaMain(); f: Binary; BEGIN f := add; Write(f(1, 2), apply(add, 3)); END; END;"
            ),
        ),
    ]);
    assert_eq!(units.said("main.imp"), [""; 0]);
}

#[test]
fn headings_may_come_before_bodies() {
    accepted(
        "FUNCTION odd(n: integer): boolean; \
         FUNCTION even(n: integer): boolean; BEGIN RETURN (n = 0) OR odd(n - 1); END; \
         FUNCTION odd(n: integer): boolean; BEGIN RETURN (n /= 0) AND even(n - 1); END;",
        "ok := even(4);",
    );
}

#[test]
fn out_parameters_may_have_bounds_of_other_parameters() {
    accepted(
        "FUNCTION make(size: integer; made: OUT Vector[1..size]); BEGIN made[1] := size; END;",
        "make(3, v);",
    );
}

#[test]
fn all_standard_units_are_found_and_sound() {
    let units = Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main; END;"),
        (
            "main.imp",
            "MODULE IMPLEMENTATION main;
             IMPORT InOut, IntObject, Random, barrier, PollSequence, RowCollection, distributions;
             FROM args IMPORT Argc, Argv; FROM conversions IMPORT StringToInt;
             FROM Time IMPORT SysMilli; FROM Finish IMPORT Finish; FROM Math IMPORT sqrt, PI;
             IMPORT unix;
             TYPE Job = RECORD n: integer; END;
             OBJECT Queue = NEW GenericJobQueue(Job);
             OBJECT Bin = NEW GenericBin(integer);
             PROCESS OrcaMain();
               q: Queue; b: Bin; job: Job; n: integer; r: Random; wall: barrier;
               polls: PollSequence; rows: RowCollection; row: RowCollection.RowType;
             BEGIN
               q$AddJob(Job:{1}); q$NoMoreJobs();
               IF q$GetJob(job) THEN n := job.n; FI;
               b$put(n); b$get(n); r$init(3); n := r$val(); wall$init(1); barrier.sync(wall);
               polls$init(1); polls$vote(0, true); IF polls$AwaitDecision(0) THEN n := 1; FI;
               rows$init(3); rows$AddRow(1, row); row := rows$AwaitRow(1);
               InOut.WriteInt(n); Write(sqrt(PI), Argc(), Argv(0), SysMilli());
               n := StringToInt(\"12\", n);
               Finish();
             END;
             END;",
        ),
    ]);
    assert_eq!(units.said("main.imp"), [""; 0]);
    assert!(program(&units, "main.imp").main.is_some());
}

#[test]
fn partitioned_objects_have_parallel_operations() {
    let units = Units::new(&[
        (
            "grid.spf",
            "OBJECT SPECIFICATION grid[integer, integer];
             TYPE Field = ARRAY[integer, integer] OF real;
             OPERATION start(value: real); OPERATION step(): real; OPERATION all(): Field;
             END;",
        ),
        (
            "grid.imp",
            "OBJECT IMPLEMENTATION grid[integer r..R, integer c..C];
             G: real;
             FUNCTION larger(a, b: SHARED real); BEGIN IF b > a THEN a := b; FI; END;
             OPERATION start(value: real);
             BEGIN FOR i IN r..R DO FOR j IN c..C DO G[i, j] := value; OD; OD; END;
             PARALLEL OPERATION[i, j] step(): REDUCE real WITH larger;
               before: real;
             DEPENDENCIES ACCESS[i - 1, j]; ACCESS[i + 1, j]; END;
             BEGIN
               before := G;
               IF (i > r) AND (i < R) THEN G := (G[i - 1, j] + G[i + 1, j]) / 2.0; G[i, j] := G; FI;
               RETURN ABS(G - before);
             END;
             PARALLEL OPERATION[i, j] all(): GATHER Field;
             BEGIN RETURN G[i, j]; END;
             END;",
        ),
        ("main.spf", "MODULE SPECIFICATION main; END;"),
        (
            "main.imp",
            "MODULE IMPLEMENTATION main; IMPORT grid; FROM distributions IMPORT BLOCK;
             PROCESS OrcaMain();
               g: grid[0..9, 0..4]; f: grid.Field; x: real;
             BEGIN
               g$$partition(2, 1); g$$distribute_on_n(NCPUS(), BLOCK, 1, BLOCK);
               g$start(1.0); x := g$step(); f := g$all(); WriteLine(x, f[0, 0], UB(g, 2));
             END;
             END;",
        ),
    ]);
    assert_eq!(units.said("main.imp"), [""; 0]);
}

#[test]
fn the_operators_of_all_statements_together_are_not_limited() {
    accepted("", &"p.x := p.x + 1; v[1] := v[i - 1] + 2; ".repeat(700));
}
