//! Calls of unknown source, and calls that are not in the text: neither counts as harmless.

use std::path::PathBuf;

use antiphon_ada::{Analysis, Program, explain, translate};

fn program(files: &[(&str, &str)]) -> Program {
    let named = files
        .iter()
        .map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec()));
    Program::parse(named).unwrap()
}

fn verdicts(files: &[(&str, &str)], assumed: &[&str]) -> String {
    let program = program(files);
    let options = translate::Options {
        assumed: assumed.iter().map(ToString::to_string).collect(),
        ..translate::Options::default()
    };
    explain::text(&Analysis::of(&program, options))
}

/// Returns a server that runs statements in its accept, in a program with a context clause and
/// declarations.
fn server(context: &str, declarations: &str, statements: &str) -> String {
    format!(
        "{context}
procedure App is
   {declarations}
   task Server is
      entry Put (X : Integer);
   end Server;
   task body Server is
      V : Integer := 0;
   begin
      loop
         select
            accept Put (X : Integer) do
               V := X;
               {statements}
            end Put;
         or
            terminate;
         end select;
      end loop;
   end Server;
begin
   Server.Put (1);
end App;
"
    )
}

#[test]
fn a_call_that_an_absent_unit_may_declare_is_unknown() {
    // Each clause makes packages visible that are known not to block, and an unknown one.
    for context in [
        "with Ada.Calendar; use Ada.Calendar; with Lib; use Lib;",
        "with Lib; use Lib; with Ada.Calendar; use Ada.Calendar;",
        "with Ada.Real_Time, Lib; use Ada.Real_Time, Lib;",
        "with Ada.Strings.Unbounded, Lib; use Ada.Strings.Unbounded; use Lib;",
        "with Interfaces; use Interfaces; with Lib; use Lib;",
        "with System; use System; with Lib; use all type Lib.Thing;",
        "with Ada.Exceptions; use Ada.Exceptions; with GNAT.Sockets; use GNAT.Sockets;",
        "with Ada.Text_IO; use Ada.Text_IO; with Lib; use Lib;",
    ] {
        for statement in ["Send (V);", "V := Next (V);", "V := Next;", "Flush_All;"] {
            let text = server(context, "", statement);
            let said = verdicts(&[("app.adb", &text)], &[]);
            assert!(said.contains("[T05]"), "{context} {statement}\n{said}");
            assert!(!said.contains("accepting server"), "{context}\n{said}");
        }
    }
}

#[test]
fn a_package_is_not_blamed_for_a_name_that_it_does_not_declare() {
    for known in ["GNAT.Semaphores", "Ada.Synchronous_Barriers"] {
        let blamed = |context: &str, statement: &str| {
            let text = server(context, "", statement);
            verdicts(&[("app.adb", &text)], &[])
        };
        let alone = blamed(&format!("with {known}; use {known};"), "Send (V);");
        assert!(alone.contains("[T05]"), "{alone}");
        assert!(!alone.contains(known), "{alone}");
        let context = format!("with {known}; use {known}; with Lib; use Lib;");
        let beside = blamed(&context, "Send (V);");
        assert!(beside.contains("Lib may declare it"), "{beside}");
    }
    let waits = server(
        "with Ada.Synchronous_Barriers; use Ada.Synchronous_Barriers;",
        "B : Synchronous_Barrier (2); Last : Boolean;",
        "Wait_For_Release (B, Last);",
    );
    let said = verdicts(&[("app.adb", &waits)], &[]);
    assert!(!said.contains("accepting server"), "{said}");
}

#[test]
fn names_that_only_known_packages_can_declare_are_harmless() {
    let contexts = "with Ada.Text_IO; use Ada.Text_IO; with Ada.Calendar; use Ada.Calendar; with Lib; use Lib;";
    for (context, statement) in [
        (
            "with Ada.Calendar; use Ada.Calendar;",
            "V := Integer (Seconds (Clock));",
        ),
        // A call with a string cannot be Lib's, as it would be ambiguous.
        (contexts, "Put_Line (\"x\" & Integer'Image (V));"),
        (contexts, "Put_Line (V'Image);"),
        (contexts, "New_Line;"),
        (contexts, "V := Integer'Max (V, 3);"),
    ] {
        let text = server(context, "", statement);
        let said = verdicts(&[("app.adb", &text)], &[]);
        assert!(said.contains("accepting server"), "{statement}\n{said}");
    }
}

#[test]
fn ancestors_that_were_not_given_may_declare_what_is_called() {
    let inner = server("", "", "Send (V);")
        .replace("procedure App is", "package body Lib.App is")
        .replace("   Server.Put (1);\n", "   null;\n");
    let context = "with Ada.Calendar; use Ada.Calendar;\n";
    let said = verdicts(&[("lib-app.adb", &format!("{context}{inner}"))], &[]);
    assert!(said.contains("[T05]"), "{said}");
    assert!(said.contains("Lib"), "{said}");
    let subunit =
        server("", "", "Send (V);").replace("procedure App", "separate (Lib)\nprocedure App");
    let said = verdicts(&[("lib-app.adb", &format!("{context}{subunit}"))], &[]);
    assert!(said.contains("[T05]"), "{said}");
}

#[test]
fn inherited_operations_are_found() {
    let inherited = "package Lib is type T is tagged null record; procedure Send (X : T); end Lib;";
    let body = "package body Lib is procedure Send (X : T) is begin delay 1.0; end Send; end Lib;";
    let text = server(
        "with Ada.Calendar; use Ada.Calendar; with Lib;",
        "type D is new Lib.T with null record; Dog : D;",
        "Send (Dog);",
    );
    let said = verdicts(
        &[
            ("app.adb", &text),
            ("lib.ads", inherited),
            ("lib.adb", body),
        ],
        &[],
    );
    assert!(
        said.contains("a call of Send, which does a delay statement"),
        "{said}"
    );
    // If its source is not given, it is unknown.
    let said = verdicts(&[("app.adb", &text)], &[]);
    assert!(said.contains("Lib may declare it"), "{said}");
    // Called through the object.
    let text = text.replace("Send (Dog)", "Dog.Send");
    let said = verdicts(
        &[
            ("app.adb", &text),
            ("lib.ads", inherited),
            ("lib.adb", body),
        ],
        &[],
    );
    assert!(said.contains("which does a delay statement"), "{said}");
    let harmless = body.replace("delay 1.0;", "null;");
    let said = verdicts(
        &[
            ("app.adb", &text),
            ("lib.ads", inherited),
            ("lib.adb", &harmless),
        ],
        &[],
    );
    assert!(said.contains("accepting server"), "{said}");
}

#[test]
fn a_dispatching_call_may_be_of_an_overriding_operation() {
    let lib = "package Lib is
   type T is tagged null record;
   procedure Send (X : T) is null;
   type D is new T with null record;
   procedure Send (X : D);
end Lib;";
    let body = "package body Lib is procedure Send (X : D) is begin delay 1.0; end Send; end Lib;";
    let files = |object: &str| {
        let declared = format!("function Make return {object}; Dog : {object} := Make;");
        server("with Lib; use Lib;", &declared, "Send (Dog);")
    };
    let said = verdicts(
        &[
            ("app.adb", &files("T'Class")),
            ("lib.ads", lib),
            ("lib.adb", body),
        ],
        &[],
    );
    assert!(said.contains("which does a delay statement"), "{said}");
    let said = verdicts(
        &[
            ("app.adb", &files("T")),
            ("lib.ads", lib),
            ("lib.adb", body),
        ],
        &[],
    );
    assert!(said.contains("accepting server"), "{said}");
}

#[test]
fn one_reason_names_each_absent_unit_and_the_user_may_know_better() {
    let context = "with Lib, Net.Sockets; use Lib; with Ada.Calendar; use Ada.Calendar;";
    let text = server(
        context,
        "",
        "Send (V); Send (V + 1); Net.Sockets.Close; V := Lib.Next;",
    );
    let files = [("app.adb", text.as_str())];
    let said = verdicts(&files, &[]);
    assert_eq!(said.matches("[T05]").count(), 2, "{said}");
    assert!(said.contains("--assume-nonblocking Net.Sockets"), "{said}");
    let said = verdicts(&files, &["Lib"]);
    assert_eq!(said.matches("[T05]").count(), 1, "{said}");
    let said = verdicts(&files, &["lib", "NET"]);
    assert!(said.contains("accepting server"), "{said}");
    // A subprogram whose body was not given.
    let lib = (
        "lib.ads",
        "package Lib is procedure Send (X : Integer); function Next return Integer; end Lib;",
    );
    let text = server("with Lib; use Lib;", "", "Send (V);");
    let files = [("app.adb", text.as_str()), lib];
    assert!(verdicts(&files, &[]).contains("[T05]"));
    assert!(verdicts(&files, &["Lib.Send"]).contains("accepting server"));
    assert!(verdicts(&files, &["Lib.Next"]).contains("[T05]"));
}

#[test]
fn what_the_language_calls_counts() {
    let cases = [
        // Activation of tasks.
        (
            "type R is record T : W; end record; type Ref is access R; P : Ref;",
            "P := new R;",
        ),
        (
            "type R is record T : W; end record;",
            "declare L : R; begin null; end;",
        ),
        (
            "type R is array (1 .. 2) of W;",
            "declare L : R; begin null; end;",
        ),
        ("", "declare L : array (1 .. 2) of W; begin null; end;"),
        (
            "type R is limited record T : W; end record; type S is new R;",
            "declare L : S; begin null; end;",
        ),
        // Defaults.
        (
            "function F return Integer; function F return Integer is begin delay 1.0; return 1; end F; type R is record I : Integer := F; end record;",
            "declare L : R; begin null; end;",
        ),
        (
            "function F return Integer; function F return Integer is begin delay 1.0; return 1; end F; type R is record I : Integer := F; end record; type Ref is access R; P : Ref;",
            "P := new R;",
        ),
        (
            "function F return Integer; function F return Integer is begin delay 1.0; return 1; end F; procedure Q (I : Integer := F) is begin null; end Q;",
            "Q;",
        ),
        // Operators.
        (
            "type N is new Integer; function \"+\" (L, R : N) return N is begin delay 1.0; return L; end \"+\";",
            "declare L : N := 1; begin L := L + L; end;",
        ),
        // Streams and images.
        (
            "type R is null record; procedure Wr (S : not null access Ada.Streams.Root_Stream_Type'Class; X : R); for R'Write use Wr; procedure Wr (S : not null access Ada.Streams.Root_Stream_Type'Class; X : R) is begin delay 1.0; end Wr; O : Ada.Text_IO.Text_Streams.Stream_Access;",
            "declare L : R; begin R'Output (O, L); end;",
        ),
        (
            "type R is null record with Put_Image => Im; procedure Im (B : in out Ada.Strings.Text_Buffers.Root_Buffer_Type'Class; X : R) is begin delay 1.0; end Im;",
            "declare L : R; begin V := R'Image (L)'Length; end;",
        ),
        // Contracts.
        (
            "function Ok return Boolean is begin delay 1.0; return True; end Ok; procedure Q with Pre => Ok; procedure Q is begin null; end Q;",
            "Q;",
        ),
        // Access to functions.
        (
            "type G is access function (I : Integer) return Integer; H : G;",
            "V := H (V);",
        ),
        (
            "type G is access procedure (I : Integer); H : G;",
            "H.all (V);",
        ),
    ];
    for (declarations, statement) in cases {
        let given = format!("task type W; task body W is begin null; end W; {declarations}");
        let context = "with Ada.Streams, Ada.Text_IO.Text_Streams, Ada.Strings.Text_Buffers;";
        let text = server(context, &given, statement);
        let said = verdicts(&[("app.adb", &text)], &[]);
        let server = said.split("task Server").nth(1).unwrap_or_default();
        assert!(
            server.contains("[T04]") || server.contains("[T05]"),
            "{statement}\n{said}"
        );
        let harmless = text.replace("delay 1.0;", "null;");
        if harmless != text {
            let said = verdicts(&[("app.adb", &harmless)], &[]);
            assert!(
                said.contains("Server: accepting server"),
                "{statement}\n{said}"
            );
        }
    }
}

#[test]
fn controlled_values_count() {
    let lib = |operation: &str| {
        let operations: String = ["Initialize", "Adjust", "Finalize"]
            .iter()
            .map(|o| {
                let wait = if *o == operation {
                    "delay 1.0;"
                } else {
                    "null;"
                };
                format!("procedure {o} (X : in out T) is begin {wait} end {o};\n")
            })
            .collect();
        format!("package body Lib is {operations} end Lib;")
    };
    let spec = "with Ada.Finalization; package Lib is
   type T is new Ada.Finalization.Controlled with null record;
   procedure Initialize (X : in out T);
   procedure Adjust (X : in out T);
   procedure Finalize (X : in out T);
   type R is record C : T; end record;
   type D is new T with null record;
   type Ref is access R;
   A, B : R;
   P : Ref;
   procedure Free is new Ada.Unchecked_Deallocation (R, Ref);
end Lib;";
    for (statement, called) in [
        (
            "declare L : T; begin null; end;",
            &["Initialize", "Finalize"][..],
        ),
        (
            "declare L : R; begin null; end;",
            &["Initialize", "Finalize"],
        ),
        (
            "declare L : D; begin null; end;",
            &["Initialize", "Finalize"],
        ),
        (
            "declare L : R := A; begin null; end;",
            &["Adjust", "Finalize"],
        ),
        ("A := B;", &["Adjust", "Finalize"]),
        ("P := new R;", &["Initialize"]),
        ("P := new R'(A);", &["Adjust"]),
        ("Free (P);", &["Finalize"]),
        ("V := V + 1;", &[]),
    ] {
        let text = server("with Lib; use Lib;", "", statement);
        for operation in ["Initialize", "Adjust", "Finalize"] {
            let body = lib(operation);
            let files = [
                ("app.adb", text.as_str()),
                ("lib.ads", spec),
                ("lib.adb", &body),
            ];
            let said = verdicts(&files, &[]);
            if called.contains(&operation) {
                assert!(said.contains("[T04]"), "{statement} {operation}\n{said}");
            }
            if called.is_empty() {
                assert!(said.contains("accepting server"), "{statement}\n{said}");
            }
        }
    }
}

#[test]
fn a_long_chain_of_calls_is_followed() {
    // Each procedure calls the next, and the last one waits. They are all declared before, so that
    // they can come in any order.
    for (count, reversed) in [(20_000, false), (20_000, true)] {
        let mut declared = String::new();
        let order: Vec<usize> = if reversed {
            (0..count).rev().collect()
        } else {
            (0..count).collect()
        };
        (0..count).for_each(|i| declared.push_str(&format!("procedure P{i};\n")));
        for i in order {
            let rest = if i + 1 == count {
                "delay 1.0".into()
            } else {
                format!("P{}", i + 1)
            };
            declared.push_str(&format!("procedure P{i} is begin {rest}; end P{i};\n"));
        }
        let said = verdicts(&[("app.adb", &server("", &declared, "P0;"))], &[]);
        let reported = "a call of P0, which by further calls does a delay statement at app.adb:";
        assert!(said.contains(reported), "{said}");
    }
}

#[test]
fn subprograms_that_call_each_other_in_a_circle_do_what_each_does() {
    let declared = "procedure A (N : Integer); procedure B (N : Integer);
   procedure A (N : Integer) is begin B (N - 1); delay 1.0; end A;
   procedure B (N : Integer) is begin if N > 0 then A (N - 1); end if; end B;";
    for call in ["A (1);", "B (1);", "A (1); B (1);", "B (1); A (1);"] {
        let said = verdicts(&[("app.adb", &server("", declared, call))], &[]);
        let calls = call.matches(';').count();
        assert_eq!(said.matches("[T04]").count(), calls, "{call}\n{said}");
    }
}
