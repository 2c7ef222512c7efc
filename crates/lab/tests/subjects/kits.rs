//! The kits for subjects: in every language, a few tests served by its kit keep the whole protocol.

use crate::drivers::quick_builds;
use antiphon_lab::build::BuildError;
use antiphon_lab::conformance::{Check, check};
use antiphon_lab::subject::Subject;
use antiphon_lab::{Launch, Session};
use antiphon_measure::Role;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A test whose first slice breaks its state, so that its clean-up fails as well until the test is
/// prepared again. It reports the number of failures.
const TORN: [(&str, &str); 3] = [
    ("torn.ads", "package Torn is procedure Register; end Torn;"),
    (
        "torn.adb",
        r#"with Kit;
package body Torn is
   Prepared : Natural := 0;
   Is_Whole : Boolean := False;
   procedure Prepare (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Prepared := Prepared + 1;
      Is_Whole := True;
   end Prepare;
   procedure Give_Back (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      if not Is_Whole then
         raise Program_Error with "nothing is left to give back";
      end if;
   end Give_Back;
   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      pragma Unreferenced (Count);
   begin
      Sum := 0;
   end Control;
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      pragma Unreferenced (Count);
   begin
      if Prepared = 1 then
         Is_Whole := False;
         raise Constraint_Error with "it tears";
      end if;
      Sum := Kit.Checksum (Prepared);
   end Test;
   procedure Register is
   begin
      Kit.Register_Frame ("torn", Control'Access, Test'Access, Prepare => Prepare'Access, Reset => Give_Back'Access);
   end Register;
end Torn;
"#,
    ),
    (
        "serve.adb",
        "with Kit.Protocol; with Torn; procedure Serve is begin Torn.Register; Kit.Protocol.Serve; end Serve;",
    ),
];

/// Builds the subject's first variant and returns the checks that it fails. If the language is not
/// installed, it says so and returns none.
fn broken(name: &str) -> Vec<Check> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let subject = Subject::load(&folder.join(name)).expect("the subject's file is right");
    let variant = &subject.variants[0];
    let never = AtomicBool::new(false);
    let built = match quick_builds("kits").build(&subject, variant, "other", &never) {
        Ok(built) => built,
        Err(missing @ BuildError::Missing { .. }) => {
            eprintln!("skipped: {missing} ({})", missing.help());
            return Vec::new();
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    };
    let mut launch = Launch::new(name, built.run, built.folder);
    launch.env = built.environment;
    let mut checks = check(&launch);
    checks.retain(|check| !check.passed);
    checks
}

#[test]
fn rust_keeps_the_protocol() {
    assert_eq!(broken("rust"), []);
}

#[test]
fn go_keeps_the_protocol() {
    assert_eq!(broken("go"), []);
}

#[test]
fn python_keeps_the_protocol() {
    assert_eq!(broken("python"), []);
}

#[test]
fn cpp_keeps_the_protocol() {
    assert_eq!(broken("cpp"), []);
}

#[test]
fn javascript_keeps_the_protocol() {
    assert_eq!(broken("javascript"), []);
}

#[test]
fn java_keeps_the_protocol() {
    assert_eq!(broken("java"), []);
}

#[test]
fn a_test_of_ada_whose_slice_failed_is_prepared_anew() {
    let folder = tempfile::tempdir().expect("there is room for a build");
    for (name, text) in TORN {
        std::fs::write(folder.path().join(name), text).expect("there is room for a source");
    }
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/ada/kit");
    let kit = kit.canonicalize().expect("the kit is there");
    let built = Command::new("gnatmake")
        .args(["-q", "-gnat12", "serve.adb"])
        .arg(format!("-I{}", kit.display()))
        .arg(format!("-I{}", kit.join("targets/other").display()))
        .current_dir(folder.path())
        .status();
    match built {
        Ok(status) => assert!(status.success(), "gnatmake failed"),
        Err(_) => {
            eprintln!("skipped: `gnatmake` is needed (apt-get install gnat)");
            return;
        }
    }
    let program = folder.path().join("serve").display().to_string();
    let launch = Launch::new("torn", vec![program], folder.path().to_path_buf());
    let mut session = Session::start(&launch).expect("it starts");
    let mut slice = || session.slice("torn", Role::Test, 1, 0, None, Duration::from_secs(60));
    let torn = slice().unwrap_err();
    assert!(
        torn.lives_on() && torn.to_string().contains("it tears"),
        "{torn}"
    );
    assert_eq!(slice().expect("it is whole again").checksum, 2);
}
