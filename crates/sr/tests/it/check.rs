//! The checker: its messages, and the program that it makes.

mod components;
mod names;
mod operations;
mod statements;
mod types;

use antiphon_sr::program::{Program, Service};
use antiphon_sr::{Checked, Severity, Sources, check, parse};

/// Checks files; the parser must find nothing wrong.
fn checked(files: &[&str]) -> (Sources, Checked) {
    let mut sources = Sources::default();
    let mut components = Vec::new();
    for (at, text) in files.iter().enumerate() {
        let file = sources.add(format!("{}.sr", at + 1), text.as_bytes().to_vec());
        let (parsed, diagnostics) = parse(&sources, file);
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.text(&sources))
            .collect();
        assert_eq!(errors, [""; 0]);
        components.push(parsed);
    }
    let checked = check(&sources, components);
    (sources, checked)
}

/// Returns the messages for files: line, severity, text and help of each diagnostic.
fn said(files: &[&str]) -> Vec<String> {
    let (sources, checked) = checked(files);
    let has_error = checked
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Error);
    assert_eq!(checked.program.is_none(), has_error);
    let line = |d: &antiphon_sr::Diagnostic| {
        let source = sources.file(d.span.file);
        let (line, _) = source.position(d.span.start);
        let help = d.help.as_ref().map(|m| format!(" = {m}"));
        let severity = match d.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        format!(
            "{line}: {severity}{}{}",
            d.message,
            help.unwrap_or_default()
        )
    };
    checked.diagnostics.iter().map(line).collect()
}

/// Returns the messages for the body of a main resource; its first line is line 2.
fn said_of(body: &str) -> Vec<String> {
    said(&[&format!("resource main()\n{body}\nend\n")])
}

fn program(files: &[&str]) -> Program {
    let (sources, checked) = checked(files);
    let said: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| d.text(&sources))
        .collect();
    checked
        .program
        .unwrap_or_else(|| panic!("no program: {said:?}"))
}

fn service_of(program: &Program, name: &str) -> Service {
    let row = program.operations.iter().find(|o| o.name == name);
    row.unwrap_or_else(|| panic!("no {name}")).service
}

#[test]
fn a_message_shows_the_place_and_the_mend() {
    let text = "resource main()\n  var count := 1\n  write(cuont)\nend\n";
    let (sources, checked) = checked(&[text]);
    let texts: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| d.text(&sources))
        .collect();
    assert_eq!(
        texts.concat(),
        "1.sr:3:9: error: \"cuont\" is not declared\n 3 |   write(cuont)\n   |         ^^^^^\n   = did you mean \"count\"?\n"
    );
}
