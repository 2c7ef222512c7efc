//! `antiphon translate`: the effects of its options.

use crate::common::{Place, Ran, has};
use std::path::Path;
use std::process::Command;

/// A program that needs a compiler for Ada 2022.
const PROGRAM: &str = "with Ada.Text_IO; use Ada.Text_IO;
procedure Adding is
   task Server is
      entry Add (N : in Integer);
      entry Read (N : out Integer);
   end Server;
   task body Server is
      Sum : Integer := 0;
   begin
      loop
         select
            accept Add (N : in Integer) do
               Sum := @ + N;
            end Add;
         or
            accept Read (N : out Integer) do
               N := Sum;
            end Read;
         or
            terminate;
         end select;
      end loop;
   end Server;
   N : Integer;
begin
   Server.Add (3);
   Server.Read (N);
   Put_Line (N'Image);
end Adding;
";

const PROJECT: &str = "project Adding is
   for Main use (\"adding.adb\");
   package Compiler is
      for Default_Switches (\"Ada\") use (\"-gnat2022\");
   end Compiler;
end Adding;
";

#[test]
fn switches_of_the_command_and_of_the_project_reach_the_check() {
    if !has("gnatmake", "gnat") {
        return;
    }
    let place = Place::new();
    place.write("adding.adb", PROGRAM);
    place.write("adding.gpr", PROJECT);
    let (source, project) = (place.path("adding.adb"), place.path("adding.gpr"));
    let verify = |file: &Path, more: &[&str]| {
        let path = file.to_str().unwrap();
        let fixed = ["translate", "--verify", "--runs", "1"];
        place.run(&[&fixed[..], more, &[path]].concat())
    };
    let without = verify(&source, &[]);
    assert_ne!(without.code, Some(0), "{}{}", without.out, without.err);
    for ran in [
        verify(&source, &["--switches=-gnat2022"]),
        verify(&project, &[]),
    ] {
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("context switches"), "{}", ran.out);
    }
}

#[test]
fn a_profile_decides_how_barriers_are_written() {
    let place = Place::new();
    let text = PROGRAM.replace("@", "Sum").replace(
        "            accept Read",
        "            when Sum > 0 =>\n            accept Read",
    );
    place.write("cell.adb", &text);
    let source = place.path("cell.adb");
    let path = source.to_str().unwrap();
    let plain = place.run(&["translate", "--diff", path]);
    assert!(plain.out.contains("when Sum > 0 is"), "{}", plain.out);
    let profile = ["translate", "--diff", "--profile", "ravenscar", path];
    let simple = place.run(&profile);
    assert!(
        simple.out.contains("when Read_Is_Open is"),
        "{}",
        simple.out
    );
    assert!(!simple.out.contains("Simple_Barriers"), "{}", simple.out);
}

/// Programs in C in place of `gprls`, and what is told of them.
const GPRLS: [(&str, &str); 5] = [
    (
        "fputs(\"p.gpr:1:2: units differ\\n\", stderr); return 4;",
        "it refuses the project: p.gpr:1:2: units differ",
    ),
    (
        "fputs(\"gprls: no compiler\\n\", stderr); return 7;",
        "it refuses the project: gprls: no compiler",
    ),
    (
        "for (int i = 0; i < 100000; i++) putchar(i); return 0;",
        "its report has an unknown form",
    ),
    ("abort();", "it was ended by SIGABRT"),
    ("for (;;) pause();", "it was killed after its 10s were over"),
];

/// Translates a project with a program in place of `gprls`.
fn translated_with(body: &str) -> Ran {
    let place = Place::new();
    place.write("adding.adb", &PROGRAM.replace('@', "Sum"));
    place.write("adding.gpr", PROJECT);
    let source = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void) {{ {body} }}\n"
    );
    place.write("bin/gprls.c", &source);
    let built = Command::new("cc")
        .arg("-o")
        .args([place.path("bin/gprls"), place.path("bin/gprls.c")])
        .status();
    assert!(built.unwrap().success());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [place.path("bin")].into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let mut command = place.command(&["translate", "adding.gpr"]);
    Ran::of(command.env("PATH", path).output().unwrap())
}

#[test]
fn a_gprls_that_fails_is_told_and_its_projects_are_read() {
    if !has("cc", "gcc") {
        return;
    }
    for (body, told) in GPRLS {
        let ran = translated_with(body);
        assert_eq!(ran.code, Some(0), "{body}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("Server"), "{body}: {}", ran.out);
        assert!(ran.err.contains(told), "{body}: {}", ran.err);
    }
}
