//! Projects, compared with the lists of gprls where it is installed.

use std::collections::BTreeSet;
use std::path::PathBuf;
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

/// `gprls` lists one source for each unit of a built project, since it reads the compiler's output
/// files. Our reader must find these, and the specifications, without a build.
#[test]
fn our_reader_finds_the_sources_that_gprls_lists() {
    let is_here = |name: &str| {
        let asked = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|s| s.success())
    };
    if !is_here("gprls") || !is_here("gprbuild") {
        eprintln!("skipped: `gprls` is needed (apt-get install gprbuild)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("root.gpr", ROOT);
    write("lib.gpr", LIBRARY);
    FILES.iter().for_each(|(name, text)| write(name, text));
    std::fs::create_dir(folder.path().join("obj")).unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let ran = Command::new(name)
            .args(arguments)
            .args(["-P", "root.gpr"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{name}: {said}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    run("gprbuild", &["-q"]);
    let names = |paths: Vec<PathBuf>| -> BTreeSet<String> {
        let name = |p: &PathBuf| p.file_name().unwrap().to_string_lossy().into_owned();
        paths.iter().map(name).collect()
    };
    let listed = run("gprls", &["-U", "-s"]);
    let listed = names(listed.lines().map(|l| PathBuf::from(l.trim())).collect());
    let program = Program::read([folder.path().join("root.gpr")]).unwrap();
    let ours = names(program.sources.iter().map(|s| s.path.clone()).collect());
    assert_eq!(listed.len(), 4, "{listed:?}");
    assert!(listed.is_subset(&ours), "{ours:?} {listed:?}");
    let all = [
        "deep.adb",
        "deep.ads",
        "named_body.ada",
        "named_spec.ada",
        "sized.ads",
        "start.adb",
    ];
    assert!(ours.iter().eq(all.iter()), "{ours:?}");
}
