//! `measure --with-sr`: which compiler the subject in the original SR is built by, and what is said
//! of one that will not do.

use crate::common::{Place, Ran, has_cc, subjects};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const SUITE: &str = r#"
name = "original"
title = "The original"
subjects = ["layer-sr-original/tcp"]
[quick]
seconds_per_row = 0.05
relative_half_width = 0.9
[full]
seconds_per_row = 0.05
relative_half_width = 0.9
[[group]]
id = "calls"
title = "Calls"
runs = ["other.same"]
row = [{ test = "rpc.fiber", label = "call", arg = 8 }]
"#;

/// Returns a place with the subject, and a script in the place of a compiler.
fn with_compiler(place_of_it: &str, script: &str) -> Place {
    let place = Place::new();
    place.write("suites/original.toml", SUITE);
    place.link("layer-sr-original");
    place.write(place_of_it, &format!("#!/bin/sh\n{script}\n"));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(place_of_it), executable).unwrap();
    place
}

fn measure(place: &Place) -> Ran {
    place.run(&["measure", "original", "--quick", "--with-sr", "there"])
}

#[test]
fn a_folder_without_a_compiler_is_refused_by_its_name() {
    let place = with_compiler("there/srl", "exit 0");
    let compiler = place.path("there/bin/sr").display().to_string();
    measure(&place).fails(3, &[&compiler, "SR 2.3.3"]);
}

#[test]
fn another_program_of_that_name_is_left_out_by_its_path() {
    if !has_cc() {
        return;
    }
    let place = with_compiler("there/sr", "echo surfing");
    let named = format!("{} is not the compiler", place.path("there/sr").display());
    measure(&place).fails(3, &["is left out", &named, "--with-sr"]);
}

/// The compiler stands where installations with folders of their own for commands have it.
#[test]
fn its_compiler_gets_the_sources_of_the_subject_in_sr() {
    if !has_cc() {
        return;
    }
    let script =
        "[ \"$1\" = -v ] && { echo 'SR version 2.3.3' >&2; exit; }\necho \"asked: $*\" >&2\nexit 1";
    let place = with_compiler("there/bin/sr", script);
    let source = subjects().join("layer-sr-original/../layer-sr");
    let source = source.display();
    let asked = format!("asked: -q -c -O -T {source}/partner.sr {source}/layer.sr");
    measure(&place).fails(3, &["is left out", &asked]);
}

#[test]
fn operations_of_the_original_keep_the_protocol() {
    let version = Command::new("sr").arg("-v").output();
    let is_original = version.is_ok_and(|ran| ran.stderr.starts_with(b"SR version"));
    if !is_original || !has_cc() {
        eprintln!(
            "skipped: `sr` of SR 2.3.3 is needed in PATH (subjects/layer-sr-original/get.sh)"
        );
        return;
    }
    let folder = subjects().join("layer-sr-original").display().to_string();
    let ran = Place::new().run(&["doctor", "--subject", &folder]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}
