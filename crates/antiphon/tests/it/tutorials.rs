//! The commands of the tutorials print what their pages show.
//!
//! Each page is followed from top to bottom in one folder. Its files are written, its commands run,
//! and their output is compared with the page. A line `…` stands for any lines. A line with a
//! measured figure is compared up to the figure.

use crate::common::has;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A step of a page.
#[derive(Debug, PartialEq)]
enum Step {
    /// A file of this name and content.
    File(String, String),
    /// Commands for one shell, each with the lines that the page shows.
    Commands(Vec<(String, Vec<String>)>),
}

/// Returns the steps of a page: fenced blocks after a line that ends in a file's name and a colon,
/// and blocks of the kind `console`.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut before = "";
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            if !line.trim().is_empty() {
                before = line;
            }
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if kind == "console" {
            steps.push(Step::Commands(commands(&block)));
        } else if let Some(name) = file_name(before) {
            steps.push(Step::File(name, block.join("\n") + "\n"));
        }
        before = "";
    }
    steps
}

/// Returns the name in a line that holds nothing else: "`buffer.adb`:".
fn file_name(line: &str) -> Option<String> {
    let name = line.strip_prefix('`')?.strip_suffix("`:")?;
    (!name.contains('`')).then(|| name.to_owned())
}

fn commands(block: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => {
                // A remark of the page is not for the shell.
                let command = command.split("   #").next().unwrap_or_default();
                found.push((command.to_owned(), Vec::new()));
            }
            (None, Some((_, shown))) => shown.push((*line).to_owned()),
            (None, None) => panic!("a block begins with a command: {line}"),
        }
    }
    found
}

/// A reader who follows a page.
struct Reader {
    folder: TempDir,
    /// Words that mark lines whose numbers depend on the machine.
    varying: &'static [&'static str],
    /// Beginnings of commands that are not run.
    skipped: &'static [&'static str],
    /// Whether lines come in any order, with others in between. The order of a measurement depends
    /// on the machine, and it also names what the machine lacks.
    is_loose: bool,
}

impl Reader {
    fn follows(&self, page: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial");
        let text = fs::read_to_string(path.join(page)).unwrap();
        let steps = steps(&text);
        assert!(steps.len() >= 3, "{page}: {steps:?}");
        for step in steps {
            match step {
                Step::File(name, text) => {
                    fs::write(self.folder.path().join("work").join(name), text).unwrap();
                }
                Step::Commands(commands) => self.runs(page, &commands),
            }
        }
    }

    fn runs(&self, page: &str, commands: &[(String, Vec<String>)]) {
        const END: &str = "--- the next command ---";
        let is_run = |command: &str| !self.skipped.iter().any(|one| command.starts_with(one));
        let commands: Vec<_> = commands.iter().filter(|(one, _)| is_run(one)).collect();
        let mut script = "exec 2>&1\n".to_owned();
        for (command, _) in &commands {
            script += &format!("{command}\nended=$?; echo; echo '{END}'; (exit $ended)\n");
        }
        let bin = Path::new(env!("CARGO_BIN_EXE_antiphon")).parent().unwrap();
        let path = env::var("PATH").unwrap_or_default();
        let home = self.folder.path().join("home");
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(self.folder.path().join("work"))
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", &home)
            .env("ANTIPHON_CACHE", cache())
            .env("COLUMNS", "200")
            .env_remove("ANTIPHON_HOME")
            .env_remove("ANTIPHON_STORE")
            .env_remove("XDG_DATA_HOME")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let parts: Vec<&str> = printed.split(&format!("\n{END}\n")).collect();
        assert_eq!(parts.len(), commands.len() + 1, "{page}: {printed}");
        for ((command, shown), part) in commands.iter().zip(parts) {
            if let Err(line) = self.compare(shown, part) {
                panic!("{page}: `{command}` does not print\n  {line}\nbut\n{part}");
            }
        }
    }

    /// Returns the first line of the page that is not printed.
    fn compare<'l>(&self, shown: &'l [String], printed: &str) -> Result<(), &'l str> {
        if shown.is_empty() {
            return Ok(());
        }
        let gists = printed.trim_end_matches('\n').lines();
        let gists: Vec<String> = gists.map(|line| self.gist(line)).collect();
        let mut rest = gists.iter();
        let mut is_gap = false;
        for line in shown.iter().filter(|line| !line.starts_with("built ")) {
            let wanted = self.gist(line);
            let is_printed = match &**line {
                "…" => true,
                _ if self.is_loose => gists.contains(&wanted),
                _ if is_gap => rest.any(|found| *found == wanted),
                _ => rest.next() == Some(&wanted),
            };
            if !is_printed {
                return Err(line);
            }
            is_gap = line == "…";
        }
        match is_gap || self.is_loose || rest.next().is_none() {
            true => Ok(()),
            false => Err("(nothing more)"),
        }
    }

    /// Returns a line without the parts that depend on the machine.
    fn gist(&self, line: &str) -> String {
        if line.starts_with("Report: ") {
            return "Report: ".to_owned();
        }
        // Not every machine permits FIFO scheduling.
        let line = &*line.replace("fifo.same", "other.same");
        let is_figure = [" ns", " µs", " ms", " about "];
        if is_figure.iter().any(|unit| line.contains(unit)) {
            let digit =
                |at: &usize| line[*at + 1..].starts_with(|sign: char| sign.is_ascii_digit());
            let at = line.match_indices(' ').map(|(at, _)| at).find(digit);
            return line[..at.unwrap_or(line.len())].to_owned();
        }
        if self.varying.iter().any(|word| line.contains(word)) {
            return line.chars().filter(|sign| !sign.is_ascii_digit()).collect();
        }
        line.to_owned()
    }
}

/// Returns a folder for all tests, which keeps builds of subjects.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn reader(varying: &'static [&'static str], skipped: &'static [&'static str]) -> Reader {
    let folder = tempfile::tempdir().unwrap();
    for name in ["work", "home"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    Reader {
        folder,
        varying,
        skipped,
        is_loose: false,
    }
}

#[test]
fn an_sr_program_under_four_models_does_what_its_page_shows() {
    if !has("cc", "gcc") {
        return;
    }
    // Five million meals are for human readers.
    let skipped = &[
        "antiphon sr run dining.sr 1000000",
        "antiphon sr run ordered.sr 1000000",
    ];
    reader(&[], skipped).follows("sr-models.md");
}

#[test]
fn an_sr_program_over_three_machines_does_what_its_page_shows() {
    if !has("cc", "gcc") || !has("mpirun", "openmpi-bin") {
        return;
    }
    // It needs other hosts.
    let skipped = &["antiphon sr run worker.sr workers.sr --hosts"];
    reader(&[], skipped).follows("sr-machines.md");
}

#[test]
fn a_rendezvous_server_becomes_a_protected_object_as_its_page_shows() {
    if !has("gnatmake", "gnat") {
        return;
    }
    let varying = &["context switches a run"];
    // The page does not depend on real time, or on several processors.
    reader(varying, &["antiphon translate --verify"]).follows("protected-objects.md");
}

#[test]
fn an_orca_program_does_what_its_page_shows() {
    if !has("cc", "gcc") {
        return;
    }
    // Objects are numbered by their places in the order.
    reader(&["waits in get"], &[]).follows("orca-language.md");
}

#[test]
fn a_first_measurement_prints_what_its_page_shows() {
    if !has("gnatmake", "gnat") || !has("cc", "gcc") {
        return;
    }
    // The page describes another machine.
    let mut reader = reader(&[], &["antiphon doctor", "antiphon runs"]);
    reader.is_loose = true;
    reader.follows("first-measurement.md");
}

#[test]
fn what_is_not_printed_is_found() {
    let reader = reader(&["switches"], &[]);
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let page = lines("one\n…\nfour 4\nswitches 16");
    assert_eq!(
        reader.compare(&page, "one\ntwo\nfour 4\nswitches 9\n"),
        Ok(())
    );
    assert_eq!(reader.compare(&page, "one\ntwo\nfour 5\n"), Err("four 4"));
    assert_eq!(reader.compare(&page, "two\nfour 4\n"), Err("one"));
    let more = "one\nfour 4\nswitches 1\nmore\n";
    assert_eq!(reader.compare(&page, more), Err("(nothing more)"));
    let figure = lines("entry, no contention ada/O2 120.60 ± 0.19 ns");
    let other = "entry, no contention ada/O2 98.1 ns (97 to 99), outliers";
    assert_eq!(reader.compare(&figure, other), Ok(()));
    assert!(reader.compare(&figure, "entry ada/O2 98.1 ns").is_err());
}

#[test]
fn a_page_is_read_as_files_and_commands() {
    let page = "`one.sr`:\n\n```text\na\n```\n\ntext\n\n```console\n$ run x   # so\nout\n$ echo $?\n1\n```\n";
    let commands = vec![
        ("run x".to_owned(), vec!["out".to_owned()]),
        ("echo $?".to_owned(), vec!["1".to_owned()]),
    ];
    let file = Step::File("one.sr".to_owned(), "a\n".to_owned());
    assert_eq!(steps(page), [file, Step::Commands(commands)]);
}
