//! Our own programs: the texts of verdicts and translations, and the behaviour of both versions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_ada::verify::{self, Agreement, Schedule, Toolchain};
use antiphon_ada::{Analysis, Program, explain, sarif, translate};

use crate::common::{check_golden, folder, programs, read};
use crate::workers;

fn check(name: &str, found: &str) {
    check_golden(&folder("golden").join(name), found);
}

#[test]
fn verdicts_and_translations_read_as_they_should() {
    for path in programs("programs") {
        let program = read(&path);
        let analysis = Analysis::of(&program, translate::Options::default());
        let stem = path.file_stem().unwrap().to_string_lossy();
        check(&format!("{stem}.verdicts"), &explain::text(&analysis));
        check(
            &format!("{stem}.diff"),
            &translate::translate(&analysis).diff(&program),
        );
    }
}

/// Some programs have long delays, because timing events are coarse.
fn is_slow(path: &Path) -> bool {
    ["timeouts.adb", "late.adb", "alarms", "ceilings.adb"]
        .iter()
        .any(|name| path.ends_with(name))
}

/// Programs that never end are stopped early.
fn time_limit(path: &Path) -> Duration {
    Duration::from_secs(if is_slow(path) { 20 } else { 1 })
}

#[test]
fn translations_compile_and_behave_the_same() {
    if Toolchain::find().is_none() {
        eprintln!("GNAT is not installed: nothing can be built");
        return;
    }
    // Without permission to set priorities, GNAT's run-time refuses every protected object under
    // Ceiling_Locking.
    let may_set_priorities = Schedule::Fifo.unavailable().is_none();
    let runs = |p: &PathBuf| may_set_priorities || !p.ends_with("ceilings.adb");
    let mut paths: Vec<PathBuf> = programs("programs").into_iter().filter(runs).collect();
    paths.sort_by_key(|p| !is_slow(p));
    workers::on_each(&paths, |path| {
        let program = read(path);
        let analysis = Analysis::of(&program, translate::Options::default());
        let translation = translate::translate(&analysis);
        let options = verify::Options {
            runs: 2,
            time_limit: time_limit(path),
            ..verify::Options::default()
        };
        workers::check_agreement(path, &program, &translation.files, options);
    });
}

#[test]
fn ceilings_compile() {
    if Toolchain::find().is_none() {
        return;
    }
    let program = read(&folder("programs").join("ceilings.adb"));
    let analysis = Analysis::of(&program, translate::Options::default());
    let translation = translate::translate(&analysis);
    let out = tempfile::tempdir().unwrap();
    antiphon_ada::edit::write_to(&program, &translation.files, out.path()).unwrap();
    let said = std::process::Command::new("gcc")
        .args(["-c", "-gnatwa", "ceilings.adb"])
        .current_dir(out.path())
        .output()
        .unwrap();
    assert!(said.status.success());
    assert_eq!(String::from_utf8_lossy(&said.stderr), "");
}

#[test]
fn ceilings_without_priorities_are_noted() {
    let text = std::fs::read_to_string(folder("programs").join("ceilings.adb")).unwrap();
    let pragma = "pragma Task_Dispatching_Policy (FIFO_Within_Priorities);";
    for (given, notes) in [(text.clone(), 0), (text.replace(pragma, ""), 3)] {
        let named = (PathBuf::from("ceilings.adb"), given.into_bytes());
        let program = Program::parse([named]).unwrap();
        for scheme in [translate::Scheme::Servers, translate::Scheme::Optimised] {
            let options = translate::Options {
                scheme,
                ..translate::Options::default()
            };
            let said = explain::text(&Analysis::of(&program, options));
            let found = said.matches("and not for FIFO_Within_Priorities").count();
            assert_eq!(found, notes, "{said}");
        }
    }
}

#[test]
fn a_wrong_translation_is_found_out() {
    if Toolchain::find().is_none() {
        return;
    }
    let program = read(&folder("programs").join("types.adb"));
    let analysis = Analysis::of(&program, translate::Options::default());
    let mut translation = translate::translate(&analysis);
    translation.files[0].text = translation.files[0]
        .text
        .replace("N := N + 1;", "N := N + 2;");
    let options = verify::Options {
        runs: 2,
        ..verify::Options::default()
    };
    let report = verify::verify(&program, &translation.files, &options).unwrap();
    assert!(!report.agrees());
    assert!(
        report
            .findings
            .iter()
            .any(|f| f.comparison.agreement == Agreement::Text
                && !f.comparison.differences.is_empty())
    );
    translation.files[0].text = translation.files[0]
        .text
        .replace("N := N + 2;", "N := Nowhere;");
    let report = verify::verify(&program, &translation.files, &options).unwrap();
    assert!(
        report
            .build_failure
            .is_some_and(|said| said.contains("Nowhere"))
    );
}

#[test]
fn input_and_output_can_be_refused() {
    let program = read(&folder("programs").join("polling.adb"));
    let options = translate::Options {
        io: translate::Io::Refuse,
        ..translate::Options::default()
    };
    let analysis = Analysis::of(&program, options);
    assert_eq!(translate::translate(&analysis).replaced, ["Turnstile"]);
    assert!(explain::text(&analysis).contains("--io allow"));
}

#[test]
fn one_task_can_be_chosen() {
    let program = read(&folder("programs").join("types.adb"));
    let options = translate::Options {
        only: vec!["cell".into()],
        ..translate::Options::default()
    };
    assert_eq!(
        translate::translate(&Analysis::of(&program, options)).replaced,
        ["Cell"]
    );
}

#[test]
fn sarif_and_json_point_at_places() {
    let program = read(&folder("programs").join("kept.adb"));
    let analysis = Analysis::of(&program, translate::Options::default());
    let log = sarif::log(&analysis);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let delay = results.iter().find(|r| r["ruleId"] == "T09").unwrap();
    assert_eq!(
        delay["locations"][0]["physicalLocation"]["region"]["startLine"],
        21
    );
    let rule = delay["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][rule]["id"], "T09");
    let tasks = explain::json(&analysis);
    assert_eq!(tasks[0]["task"], "Periodic");
    assert_eq!(tasks[0]["reasons"][0]["line"], 21);
}

#[test]
fn sarif_has_a_fix_for_each_server() {
    let program = read(&folder("programs").join("types.adb"));
    let log = sarif::log(&Analysis::of(&program, translate::Options::default()));
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let server = results.iter().find(|r| r["ruleId"] == "T00").unwrap();
    assert_eq!(server["level"], "note");
    let rule = server["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], "T00");
    let replacements = &server["fixes"][0]["artifactChanges"][0]["replacements"];
    let texts = replacements.as_array().unwrap().iter();
    let texts: Vec<&str> = texts
        .map(|r| r["insertedContent"]["text"].as_str().unwrap())
        .collect();
    assert!(
        texts.iter().any(|t| t.contains("protected body ")),
        "{texts:?}"
    );
}

#[test]
fn encodings_and_line_ends_survive_a_translation() {
    let text = std::fs::read_to_string(folder("programs").join("prologue.adb"))
        .unwrap()
        .replace("--  Accepts", "--  Acc\u{e9}pte");
    let latin: Vec<u8> = text
        .replace('\n', "\r\n")
        .chars()
        .map(|c| c as u8)
        .collect();
    let program = Program::parse([(PathBuf::from("prologue.adb"), latin)]).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    let translation = translate::translate(&analysis);
    let bytes = program.sources[0].encode(&translation.files[0].text);
    assert!(bytes.windows(6).any(|w| w == b"Acc\xe9pt"));
    assert_eq!(
        bytes.iter().filter(|&&b| b == b'\n').count(),
        bytes.windows(2).filter(|w| w == b"\r\n").count()
    );
}
