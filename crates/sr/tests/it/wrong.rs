//! Programs with errors: each message is at a line with a matching comment, and every such line has
//! a message.

use std::path::Path;

use antiphon_sr::{Input, Severity};

fn files() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn what_is_wrong_is_said_at_its_line() {
    let mut failures = String::new();
    let all = files();
    assert!(!all.is_empty());
    for file in all {
        let text = std::fs::read_to_string(&file).unwrap();
        let expected: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .filter_map(|(index, line)| {
                Some((
                    index + 1,
                    line.split_once("wrong: ")?.1.trim_end_matches(" */"),
                ))
            })
            .collect();
        let input = Input::read(std::slice::from_ref(&file), None).unwrap();
        let checked = input.analyse(None);
        let sources = &input.sources;
        let errors: Vec<(usize, String)> = checked
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error)
            .map(|one| {
                (
                    sources.file(0).position(one.span.start).0,
                    one.text(sources),
                )
            })
            .collect();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (line, part) in &expected {
            if !errors
                .iter()
                .any(|(at, text)| at == line && text.contains(part))
            {
                failures += &format!("{name}:{line}: no error with {part:?}\n");
            }
        }
        for (line, text) in &errors {
            if !expected.iter().any(|(at, _)| at == line) {
                failures += &format!("{name}:{line}: not expected: {text}");
            }
        }
        assert!(checked.program.is_none(), "{name} was accepted");
    }
    assert!(failures.is_empty(), "{failures}");
}
