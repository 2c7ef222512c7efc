//! Projects, whose sources come from gprls where it is installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use antiphon_ada::Program;

const ROOT: &str = r#"with "lib.gpr";
project Root is
   type Target is ("small", "large");
   Chosen : Target := external ("ANTIPHON_TEST_TARGET", "small");
   for Source_Dirs use ("src", "src_" & Chosen);
   for Excluded_Source_Files use ("old.adb");
   for Object_Dir use "obj";
   for Main use ("start.adb");
   package Naming is
      for Body ("Named") use "named_body.ada";
      for Spec ("Named") use "named_spec.ada";
   end Naming;
end Root;
"#;

const LIBRARY: &str = r#"project Lib is
   for Source_Dirs use ("lib/**");
   for Object_Dir use "obj";
end Lib;
"#;

const FILES: [(&str, &str); 8] = [
    (
        "src/start.adb",
        "with Named; with Sized; with Deep;\nprocedure Start is begin Named.Act; Sized.Act; Deep.Act; end Start;\n",
    ),
    ("src/old.adb", "procedure Old is begin null; end Old;\n"),
    (
        "src/named_spec.ada",
        "package Named is procedure Act; end Named;\n",
    ),
    (
        "src/named_body.ada",
        "package body Named is procedure Act is null; end Named;\n",
    ),
    (
        "src_small/sized.ads",
        "package Sized is procedure Act is null; end Sized;\n",
    ),
    (
        "src_large/sized.ads",
        "package Sized is procedure Act is null; end Sized;\n",
    ),
    (
        "lib/one/deep.ads",
        "package Deep is procedure Act; end Deep;\n",
    ),
    (
        "lib/two/deep.adb",
        "package body Deep is procedure Act is null; end Deep;\n",
    ),
];

/// Returns whether gprbuild is installed.
fn has_gprls() -> bool {
    let is_here = |name: &str| {
        let asked = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|s| s.success())
    };
    let is_installed = is_here("gprls") && is_here("gprbuild");
    if !is_installed {
        eprintln!("skipped: `gprls` is needed (apt-get install gprbuild)");
    }
    is_installed
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Returns the names of a project's sources below its folder, and what is left out.
fn sources(folder: &Path, project: &str) -> (Vec<String>, Vec<String>) {
    let program = Program::read([folder.join(project)]).unwrap();
    let below = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    let names = program.sources.iter().map(|s| below(&s.path)).collect();
    (names, program.left_out)
}

/// `gprls` lists one source for each unit of a built project, since it reads the compiler's output
/// files. The sources must contain these, and the specifications, without a build.
#[test]
fn the_sources_are_those_that_gprls_lists() {
    if !has_gprls() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[("root.gpr", ROOT), ("lib.gpr", LIBRARY)]);
    write(folder, &FILES);
    let all = [
        "lib/one/deep.ads",
        "lib/two/deep.adb",
        "src/named_body.ada",
        "src/named_spec.ada",
        "src/start.adb",
        "src_small/sized.ads",
    ];
    let unbuilt = sources(folder, "root.gpr");
    assert_eq!(unbuilt.0, all);
    assert_eq!(unbuilt.1, [""; 0]);
    std::fs::create_dir(folder.join("obj")).unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let ran = Command::new(name)
            .args(arguments)
            .args(["-P", "root.gpr"])
            .current_dir(folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{name}: {said}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    run("gprbuild", &["-q"]);
    let listed = run("gprls", &["-U", "-s"]);
    let name = |path: &str| PathBuf::from(path).file_name().unwrap().to_owned();
    let listed: BTreeSet<_> = listed.lines().map(|l| name(l.trim())).collect();
    assert_eq!(listed.len(), 4, "{listed:?}");
    let ours: BTreeSet<_> = all.iter().map(|path| name(path)).collect();
    assert!(listed.is_subset(&ours), "{ours:?} {listed:?}");
    assert_eq!(sources(folder, "root.gpr"), unbuilt);
}

/// Our own reader takes both bodies in the first project, and also the body that is replaced in the
/// second.
#[test]
fn gprls_decides_which_file_has_a_unit() {
    if !has_gprls() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let body = "package body P is procedure X is null; end P;\n";
    let specification = "package P is procedure X; end P;\n";
    let naming = "package Naming is for Body (\"P\") use \"p_other.ada\"; end Naming;";
    write(
        folder,
        &[
            ("s/p.ads", specification),
            ("s/p.adb", body),
            ("s/p_other.ada", body),
            ("t/p_other.ada", body),
            ("t/q.ads", "package Q is end Q;\n"),
            (
                "s.gpr",
                &format!("project S is for Source_Dirs use (\"s\"); {naming} end S;"),
            ),
            (
                "base.gpr",
                "project Base is for Source_Dirs use (\"s\"); for Object_Dir use \"no\"; end Base;",
            ),
            (
                "more/t.gpr",
                &format!(
                    "project T extends \"../base.gpr\" is for Source_Dirs use (\"../t\"); \
                     for Object_Dir use \"none\"; {naming} end T;"
                ),
            ),
            (
                "all.gpr",
                "aggregate project All_Of_Them is for Project_Files use (\"more/*.gpr\"); \
                 end All_Of_Them;",
            ),
        ],
    );
    let found = |project: &str| {
        let (names, left_out) = sources(folder, project);
        assert_eq!(left_out, [""; 0], "{project}");
        names.join(" ")
    };
    assert_eq!(found("s.gpr"), "s/p.ads s/p_other.ada");
    let program = Program::read([folder.join("more/t.gpr")]).unwrap();
    let names = program.sources.iter().map(|s| s.path.file_name().unwrap());
    let names: BTreeSet<_> = names.collect();
    assert!(
        names.iter().eq(["p.ads", "p_other.ada", "q.ads"].iter()),
        "{names:?}"
    );
    let program = Program::read([folder.join("all.gpr")]).unwrap();
    assert_eq!(program.sources.len(), 3, "{:?}", program.left_out);
}

/// A project names the programs of its compiler, and may have folders made for what it builds.
#[test]
fn a_project_runs_no_program_and_makes_no_folder() {
    if !has_gprls() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tools = folder.join("tools");
    let ran = folder.join("ran");
    for name in ["gnatls", "gnatmake", "gcc", "gprconfig"] {
        let script = format!("#!/bin/sh\necho $0 >> {}\n", ran.display());
        write(&tools, &[(name, &script)]);
        let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(tools.join(name), may_run).unwrap();
    }
    let at = tools.display();
    let runs = format!(
        "project Runs is for Source_Dirs use (\"s\"); for Object_Dir use \"made\";
   for Toolchain_Path (\"Ada\") use \"{at}\";
   package Ide is for Compiler_Command (\"Ada\") use \"{at}/gnatmake\"; end Ide;
   package Naming is for Body (\"P\") use \"p_other.ada\"; end Naming;
end Runs;"
    );
    let makes = runs.replace("Runs", "Makes").replace(
        "package Ide",
        "for Create_Missing_Dirs use \"True\"; package Ide",
    );
    let body = "package body P is procedure X is null; end P;\n";
    write(
        folder,
        &[
            ("s/p.ads", "package P is procedure X; end P;\n"),
            ("s/p.adb", body),
            ("s/p_other.ada", body),
            ("runs.gpr", &runs),
            ("makes.gpr", &makes),
        ],
    );
    // The list without the replaced body is that of gprls.
    let (names, left_out) = sources(folder, "runs.gpr");
    assert_eq!(names, ["s/p.ads", "s/p_other.ada"], "{left_out:?}");
    let (names, left_out) = sources(folder, "makes.gpr");
    assert_eq!(names.len(), 3);
    assert!(left_out[0].contains("Create_Missing_Dirs"), "{left_out:?}");
    assert!(!ran.exists());
    assert!(!folder.join("made").exists());
}

#[test]
fn an_error_that_gprls_finds_is_told() {
    if !has_gprls() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(
        folder,
        &[
            ("s/p.ads", "package P is end P;\n"),
            ("t/p.ads", "package P is end P;\n"),
            ("v.gpr", "project V is for Source_Dirs use (\"t\"); end V;"),
            (
                "w.gpr",
                "with \"v.gpr\"; project W is for Source_Dirs use (\"s\"); end W;",
            ),
        ],
    );
    let (names, left_out) = sources(folder, "w.gpr");
    assert_eq!(names.len(), 1, "{names:?}");
    let said = left_out.join("\n");
    assert!(
        said.contains("unit \"p\" cannot belong to several projects"),
        "{said}"
    );
    assert!(
        said.contains("the sources are those that antiphon finds"),
        "{said}"
    );
}
