//! Our name resolution against GNAT's cross-references (`.ali` files), where GNAT is installed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use antiphon_ada::Program;
use antiphon_ada::names::{At, Names};

/// A place in GNAT's form: file name, line, column.
type Spot = (String, usize, usize);

fn gnat_is_here() -> bool {
    Command::new("gcc")
        .args(["-print-prog-name=gnat1"])
        .output()
        .is_ok_and(|o| o.stdout.starts_with(b"/"))
}

/// References by place, each with the place of its declaration, from the cross-reference section of
/// an `.ali` file.
fn references(ali: &str) -> HashMap<Spot, Spot> {
    let files: Vec<String> = ali
        .lines()
        .filter_map(|l| l.strip_prefix("D "))
        .filter_map(|l| l.split_whitespace().next())
        .map(String::from)
        .collect();
    let name = |number: usize| files.get(number - 1).cloned().unwrap_or_default();
    let mut found = HashMap::new();
    let mut current = 1;
    let mut declared: Option<Spot> = None;
    for line in ali.lines() {
        let rest = if let Some(header) = line.strip_prefix("X ") {
            current = header
                .split_whitespace()
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(1);
            continue;
        } else if let Some(more) = line.strip_prefix(". ") {
            more
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let mut words = line.split_whitespace();
            let (Some((number, _, column)), Some(_)) = (words.next().and_then(split), words.next())
            else {
                continue;
            };
            declared = Some((name(current), number, column));
            line.split_once(' ').map_or("", |x| x.1)
        } else {
            continue;
        };
        let Some(declared) = declared.clone() else {
            continue;
        };
        let mut file = current;
        for word in rest.split_whitespace() {
            let word = match word.split_once('|') {
                Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                    file = number.parse().unwrap_or(current);
                    rest
                }
                _ => word,
            };
            if let Some((number, kind, column)) = split(word)
                && matches!(kind, 'r' | 'm' | 's' | 'b' | 'R')
            {
                found.insert((name(file), number, column), declared.clone());
            }
        }
    }
    found
}

/// `12r34` and `12U34*`: line, kind, column.
fn split(word: &str) -> Option<(usize, char, usize)> {
    let at = word.find(|c: char| !c.is_ascii_digit())?;
    let kind = word[at..].chars().next().filter(char::is_ascii)?;
    let rest = &word[at + 1..];
    let rest = if rest.starts_with('<') {
        rest.split_once('>')?.1
    } else {
        rest
    };
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    Some((word[..at].parse().ok()?, kind, rest[..end].parse().ok()?))
}

fn own(program: &Program) -> HashMap<Spot, Spot> {
    let names = Names::of(program);
    let spot = |at: At| {
        let place = program.sources[at.file].place_of(at.node);
        (
            place
                .file
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned(),
            place.line,
            place.column,
        )
    };
    names
        .all()
        .flat_map(|(id, _)| {
            let declared = spot(names.entity(names.first_declaration(id)).ident);
            names
                .uses_of(id)
                .iter()
                .map(move |&at| (spot(at), declared.clone()))
        })
        .collect()
}

fn compare(files: &[PathBuf], include: &Path) -> (usize, usize, Vec<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let program = Program::read(files).unwrap();
    let ours = own(&program);
    let (mut agreed, mut unknown, mut wrong) = (0, 0, Vec::new());
    let given: Vec<String> = files
        .iter()
        .map(|f| f.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for file in files {
        let file = std::fs::canonicalize(file).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-c", "-gnatc", "-gnatws"])
            .arg("-I")
            .arg(include)
            .arg(&file)
            .current_dir(&scratch);
        if !gcc
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
        {
            continue;
        }
        let ali = scratch
            .path()
            .join(file.with_extension("ali").file_name().unwrap());
        for (at, declared) in references(&std::fs::read_to_string(ali).unwrap()) {
            if !given.contains(&at.0) || !given.contains(&declared.0) || at == declared {
                continue;
            }
            match ours.get(&at) {
                Some(found) if *found == declared => agreed += 1,
                Some(found) => wrong.push(format!(
                    "{}:{}:{}: GNAT {declared:?}, here {found:?}",
                    at.0, at.1, at.2
                )),
                None => unknown += 1,
            }
        }
    }
    (agreed, unknown, wrong)
}

/// Programs come from the tests' own folder; `ANTIPHON_ADA_CORPUS` names another folder, for manual
/// runs.
#[test]
fn names_agree_with_gnat() {
    if !gnat_is_here() {
        eprintln!("GNAT is not installed: nothing to compare with");
        return;
    }
    let corpus = std::env::var_os("ANTIPHON_ADA_CORPUS");
    let folder = corpus.clone().map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"),
        PathBuf::from,
    );
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "adb" || e == "ads"));
    files.sort();
    let (mut agreed, mut unknown, mut wrong) = (0, 0, Vec::new());
    let mut units: Vec<Vec<PathBuf>> = Vec::new();
    for file in files {
        match units.last_mut() {
            Some(unit) if unit[0].file_stem() == file.file_stem() => unit.push(file),
            _ => units.push(vec![file]),
        }
    }
    for unit in units {
        if corpus.is_some() && Program::read(&unit).is_err() {
            continue;
        }
        let (a, u, w) = compare(&unit, &folder);
        agreed += a;
        unknown += u;
        wrong.extend(w);
    }
    eprintln!(
        "{agreed} agree, {unknown} unknown here, {} differ",
        wrong.len()
    );
    for line in wrong.iter().take(40) {
        eprintln!("{line}");
    }
    let all = agreed + unknown + wrong.len();
    assert!(agreed > 0);
    assert!(
        wrong.len() * 500 <= all && unknown * 50 <= all,
        "{agreed} agree, {unknown} unknown here, {} differ",
        wrong.len()
    );
}
