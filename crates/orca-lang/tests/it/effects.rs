//! Effects of operations on their objects, found over the whole program.

use orca_lang::program::{Program, Routine};

use crate::support::{Units, program, said_of};

const OBJECT: &str = "OBJECT IMPLEMENTATION A; IMPORT IntObject;
    TYPE Numbers = SET OF integer;
    x: integer; s: Numbers; inner: IntObject;
    FUNCTION bump(v: SHARED integer): boolean; BEGIN v +:= 1; RETURN v > 3; END;
    FUNCTION look(v: SHARED integer): boolean; BEGIN RETURN v > 3; END;
    FUNCTION spoil(v: Numbers): boolean; BEGIN INSERT(1, v); RETURN 1 IN v; END;
    FUNCTION wait(o: SHARED IntObject); BEGIN o$AwaitValue(1); END;
    OPERATION reads(): integer; y: integer; BEGIN y := x; RETURN y + inner$value(); END;
    OPERATION assigns(); BEGIN x := 1; END;
    OPERATION inserts(); BEGIN INSERT(1, s); END;
    OPERATION passes(): boolean; BEGIN RETURN bump(x); END;
    OPERATION shows(): boolean; BEGIN RETURN look(x); END;
    OPERATION copies(): boolean; BEGIN RETURN spoil(s); END;
    OPERATION nests(); BEGIN inner$inc(); END;
    OPERATION waits(); BEGIN wait(inner); END;
    OPERATION calls(); BEGIN SELF$assigns(); END;
    OPERATION guarded(): integer; BEGIN GUARD x > 3 DO RETURN 1; OD; GUARD x = 0 DO x := 1; RETURN 2; OD; END;
    OPERATION prints(); BEGIN Write(x); END;
    END;";

fn compiled() -> Program {
    let spec = "OBJECT SPECIFICATION A; OPERATION reads(): integer; OPERATION assigns(); OPERATION inserts();
        OPERATION passes(): boolean; OPERATION shows(): boolean;
        OPERATION copies(): boolean; OPERATION nests(); OPERATION waits();
        OPERATION calls(); OPERATION guarded(): integer; OPERATION prints(); END;";
    let units = Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main; END;"),
        (
            "main.imp",
            "MODULE IMPLEMENTATION main; IMPORT A; PROCESS OrcaMain(); a: A; BEGIN a$calls(); END; END;",
        ),
        ("A.spf", spec),
        ("A.imp", OBJECT),
    ]);
    program(&units, "main.imp")
}

fn operation<'p>(program: &'p Program, name: &str) -> &'p Routine {
    program
        .routines
        .iter()
        .find(|routine| routine.name == name)
        .expect("the operation")
}

#[test]
fn what_changes_the_state_writes() {
    let program = compiled();
    for (name, writes) in [
        ("reads", false),
        ("assigns", true),
        ("inserts", true),
        ("passes", true),
        ("shows", false),
        ("copies", false),
        ("nests", true),
        ("waits", false),
        ("calls", true),
        ("guarded", true),
        ("prints", false),
    ] {
        assert_eq!(
            operation(&program, name).effects.writes_state,
            writes,
            "{name}"
        );
    }
}

#[test]
fn alternatives_read_or_write_by_themselves() {
    let program = compiled();
    let alternatives = operation(&program, "guarded")
        .body
        .as_ref()
        .expect("a body");
    let writes: Vec<bool> = alternatives.iter().map(|it| it.writes).collect();
    assert_eq!(writes, [false, true]);
}

#[test]
fn blocking_comes_through_functions() {
    let program = compiled();
    for (name, blocks) in [
        ("reads", false),
        ("waits", true),
        ("guarded", true),
        ("calls", false),
    ] {
        assert_eq!(operation(&program, name).effects.blocks, blocks, "{name}");
    }
    let waits = operation(&program, "waits").body.as_ref().expect("a body");
    assert!(waits[0].may_block);
}

#[test]
fn output_keeps_an_object_in_one_place() {
    let program = compiled();
    assert!(operation(&program, "prints").effects.does_io);
    assert!(!operation(&program, "reads").effects.does_io);
}

#[test]
fn a_routine_that_changes_its_copy_of_an_object_is_told() {
    let said = said_of(
        "FUNCTION bump(o: SHARED IntObject); BEGIN o$inc(); END; \
         FUNCTION spoil(c: IntObject); BEGIN bump(c); END; \
         FUNCTION look(c: IntObject): integer; BEGIN RETURN c$value(); END; \
         PROCESS own(c: IntObject); BEGIN c$inc(); END;",
        "bump(o); spoil(o); i := look(o); FORK own(o);",
    );
    assert_eq!(
        said,
        [
            "2: warning: \"c\" is a copy, and the caller's object does not change with it \
             = pass it SHARED to a function, or give --objects-by-reference"
        ]
    );
}
