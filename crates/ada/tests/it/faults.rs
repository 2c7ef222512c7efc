//! Inputs that were parsed wrongly, or that made a report fail.

use std::path::PathBuf;

use antiphon_ada::source::Source;
use antiphon_ada::{Analysis, Program, explain, translate};

#[cfg(unix)]
#[test]
fn names_of_files_need_not_be_unicode() {
    use std::os::unix::ffi::OsStringExt;
    let name = std::ffi::OsString::from_vec(b"caf\xe9.adb".to_vec());
    let text = "procedure P is task T is entry E; end T; task body T is begin accept E; end T; begin T.E; end P;";
    let program = Program::parse([(PathBuf::from(name), text.into())]).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    let tasks = explain::json(&analysis);
    assert_eq!(tasks[0]["task"], "T");
    assert_eq!(tasks[0]["file"], "caf\u{fffd}.adb");
    serde_json::to_string(&antiphon_ada::sarif::log(&analysis)).unwrap();
}

#[test]
fn pragmas_and_letters_that_the_grammar_does_not_know_are_read() {
    for text in [
        "procedure P is begin case N is pragma Style_Checks (Off); when others => null; end case; end P;",
        "procedure P is task T is entry E; end T; task body T is begin loop select pragma Warnings (Off, \";\"); accept E; or terminate; end select; end loop; end T; begin null; end P;",
        "package P is procedure Q (N : String) with Pre'class => N'Length > 0; end P;",
        "package body P is protected body O is pragma Style_Checks (Off); procedure Q is begin null; end Q; end O; end P;",
    ] {
        let (source, errors) = Source::parse("p.adb", text.as_bytes());
        assert_eq!(errors, [], "{text}");
        assert_eq!(source.text, text);
    }
    // The error is still reported at its place.
    let text = "procedure P is begin case N is pragma X; when others => X := ; end case; end P;";
    let (_, errors) = Source::parse("p.adb", text.as_bytes());
    assert!(!errors.is_empty());
}

#[test]
fn one_unreadable_file_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let good = "procedure P is task T is entry E; end T; task body T is begin accept E; end T; begin T.E; end P;";
    std::fs::write(folder.path().join("p.adb"), good).unwrap();
    std::fs::write(
        folder.path().join("q.adb"),
        "procedure Q is begin X := ; end Q;",
    )
    .unwrap();
    std::fs::write(folder.path().join("lib.a"), "!<arch>\n").unwrap();
    let program = Program::read([folder.path()]).unwrap();
    assert_eq!(program.sources.len(), 1);
    assert_eq!(program.left_out.len(), 1, "{:?}", program.left_out);
    assert!(
        program.left_out[0].contains("q.adb:1:"),
        "{:?}",
        program.left_out
    );
    assert!(Program::read([folder.path().join("q.adb")]).is_err());
}

#[test]
fn a_body_without_its_declaration_is_told() {
    let text = "package body P is task body T is begin accept E; end T; end P;";
    let program = Program::parse([(PathBuf::from("p.adb"), text.into())]).unwrap();
    let said = explain::text(&Analysis::of(&program, translate::Options::default()));
    assert!(said.contains("task body T: nothing can be said"), "{said}");
}

#[test]
fn an_exception_that_ends_the_main_program_is_no_difference() {
    if antiphon_ada::verify::Toolchain::find().is_none() {
        return;
    }
    let text = |statement: &str| {
        format!(
            "procedure P is
   task Server is entry Put; end Server;
   task body Server is begin loop accept Put; end loop; end Server;
begin
   Server.Put;
   {statement}
end P;
"
        )
    };
    let options = antiphon_ada::verify::Options {
        runs: 1,
        time_limit: std::time::Duration::from_secs(2),
        schedules: vec![antiphon_ada::verify::Schedule::OneProcessor],
        ..antiphon_ada::verify::Options::default()
    };
    let program =
        Program::parse([(PathBuf::from("p.adb"), text("raise Program_Error;").into())]).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    let mut translation = translate::translate(&analysis);
    let report = antiphon_ada::verify::verify(&program, &translation.files, &options).unwrap();
    assert!(report.agrees(), "{}", report.text());
    // Another exception is a difference.
    translation.files[0].text = translation.files[0]
        .text
        .replace("raise Program_Error;", "raise Constraint_Error;");
    let report = antiphon_ada::verify::verify(&program, &translation.files, &options).unwrap();
    assert!(!report.agrees(), "{}", report.text());
}

/// Returns the translation of one file.
fn translated(text: &str) -> String {
    let program = Program::parse([(PathBuf::from("p.adb"), text.into())]).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    let translation = translate::translate(&analysis);
    let edited = translation.files.into_iter().next();
    edited.map_or_else(|| explain::text(&analysis), |e| e.text)
}

#[test]
fn two_open_alternatives_of_one_entry_leave_no_empty_condition() {
    let text = translated(
        "procedure P is
   task T is
      entry E (N : out Integer);
   end T;
   task body T is
   begin
      loop
         select
            accept E (N : out Integer) do
               N := 1;
            end E;
         or
            accept E (N : out Integer) do
               N := 2;
            end E;
         or
            terminate;
         end select;
      end loop;
   end T;
   N : Integer;
begin
   T.E (N);
end P;
",
    );
    assert!(text.contains("procedure E (N : out Integer) is"), "{text}");
    assert!(text.contains("N := 1;"), "{text}");
    assert!(!text.contains("if "), "{text}");
}

#[test]
fn a_type_does_not_move_where_it_would_hide_another() {
    let text = |between: &str| {
        format!(
            "procedure P is
   subtype Index is Integer range 1 .. 3;
   procedure Q is
      task T is
         entry E;
      end T;
{between}      type Index is range 1 .. 9;
      task body T is
         N : Index := 1;
      begin
         loop
            accept E;
            N := N + 1;
         end loop;
      end T;
   begin
      T.E;
   end Q;
begin
   Q;
end P;
"
        )
    };
    let moved = translated(&text(""));
    assert!(moved.contains("protected T is"), "{moved}");
    let refused = translated(&text("      X : Index := 2;\n"));
    assert!(refused.contains("[T13]"), "{refused}");
}

#[test]
fn servers_that_call_each_other_stay_tasks() {
    let text = translated(
        "procedure P is
   task A is
      entry E;
   end A;
   task B is
      entry E;
   end B;
   task body A is
   begin
      loop
         select
            accept E do
               B.E;
            end E;
         or
            terminate;
         end select;
      end loop;
   end A;
   task body B is
   begin
      loop
         select
            accept E do
               A.E;
            end E;
         or
            terminate;
         end select;
      end loop;
   end B;
begin
   null;
end P;
",
    );
    assert_eq!(text.matches("[T04]").count(), 2, "{text}");
}
