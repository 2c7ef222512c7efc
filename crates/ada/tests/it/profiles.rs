//! Translations for a profile: barriers are Boolean components, and each object has one entry.

use std::path::Path;
use std::process::Command;

use antiphon_ada::names::Names;
use antiphon_ada::profile::{Profile, violations};
use antiphon_ada::verify::{self, Toolchain};
use antiphon_ada::{Analysis, Program, translate};

use crate::common::{check_golden, folder, programs, read};
use crate::workers;

fn translated(program: &Program, profile: Option<Profile>) -> translate::Translation {
    let options = translate::Options {
        profile,
        ..translate::Options::default()
    };
    translate::translate(&Analysis::of(program, options))
}

fn restrictions(translated: &Program, profile: Profile) -> Vec<&'static str> {
    let found = violations(translated, &Names::of(translated), profile);
    found.into_iter().map(|v| v.restriction).collect()
}

#[test]
fn barriers_are_components_where_a_profile_wants_it() {
    for path in programs("profiles") {
        let program = read(&path);
        let stem = path.file_stem().unwrap().to_string_lossy();
        for (profile, name) in [
            (Profile::Ravenscar, "ravenscar"),
            (Profile::Jorvik, "jorvik"),
        ] {
            let translation = translated(&program, Some(profile));
            let golden = folder("golden/profiles").join(format!("{stem}.{name}.diff"));
            check_golden(&golden, &translation.diff(&program));
            let left = restrictions(&translation.program(&program).unwrap(), profile);
            assert!(!left.contains(&"Simple_Barriers"), "{left:?}");
            assert!(!left.contains(&"Pure_Barriers"), "{left:?}");
        }
    }
}

#[test]
fn open_entries_meet_the_rule_of_one_entry() {
    let program = read(&folder("profiles").join("cells.adb"));
    let translation = translated(&program, Some(Profile::Ravenscar));
    let found = restrictions(&translation.program(&program).unwrap(), Profile::Ravenscar);
    let rule = "Max_Protected_Entries => 1";
    // The server that keeps an order has two entries that are closed in turn.
    assert_eq!(found.iter().filter(|&&r| r == rule).count(), 1, "{found:?}");
}

#[test]
fn gnat_takes_the_barriers_and_both_versions_agree() {
    if Toolchain::find().is_none() {
        eprintln!("GNAT is not installed: nothing can be built");
        return;
    }
    for path in programs("profiles") {
        let program = read(&path);
        let translation = translated(&program, Some(Profile::Ravenscar));
        compile(
            &program,
            &translation,
            "pragma Restrictions (Simple_Barriers);\n",
        );
        let pure = translated(&program, Some(Profile::Jorvik));
        compile(&program, &pure, "pragma Restrictions (Pure_Barriers);\n");
        let options = verify::Options {
            runs: 2,
            time_limit: std::time::Duration::from_secs(5),
            ..verify::Options::default()
        };
        workers::check_agreement(&path, &program, &translation.files, options);
    }
}

/// Compiles a translation under a configuration pragma, without warnings.
fn compile(program: &Program, translation: &translate::Translation, pragma: &str) {
    let out = tempfile::tempdir().unwrap();
    antiphon_ada::edit::write_to(program, &translation.files, out.path()).unwrap();
    let name = program.sources[0].path.clone();
    let path = out.path().join(&name);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{pragma}{text}")).unwrap();
    let said = Command::new("gcc")
        .args([Path::new("-c"), Path::new("-gnatwa"), &name])
        .current_dir(out.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{errors}");
    assert_eq!(errors, "");
}
