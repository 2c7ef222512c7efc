//! Links between the repository's documents have targets, and the book has all of its pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    normal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// Resolves `..` without asking the file system.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// Finds all Markdown files below a folder. Builds and hidden folders are left out.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let kind = entry.file_type().expect("its kind");
        if kind.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) {
                documents(&path, found);
            }
        } else if kind.is_file() && name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Returns the lines outside of fenced code, with code spans emptied, each with its number from 1.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fence: Option<String> = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start().trim_start_matches("> ");
        let marks: String = trimmed.chars().take_while(|mark| *mark == '`').collect();
        match &fence {
            Some(open) if marks.len() >= open.len() && trimmed.trim_end() == marks => fence = None,
            Some(_) => {}
            None if marks.len() >= 3 => fence = Some(marks),
            None => lines.push((number, without_code(line))),
        }
    }
    lines
}

/// Replaces code spans by dots of the same length.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let is_even = parts.len() % 2 == 1;
    let mut result = String::new();
    for (at, part) in parts.iter().enumerate() {
        match is_even && at % 2 == 1 {
            true => result.extend(part.chars().map(|_| '.')),
            false => result.push_str(part),
        }
    }
    result
}

/// Returns the targets of the links in a line: `[words](target)` and `![words](target)`.
fn links(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        let Some(end) = rest.find(')') else { break };
        let target = rest[..end].split_whitespace().next().unwrap_or_default();
        found.push(target.trim_matches(['<', '>']).to_string());
    }
    found
}

/// Returns the anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    let mut found = BTreeSet::new();
    let numbers: BTreeSet<usize> = prose(text).into_iter().map(|(number, _)| number).collect();
    for (number, line) in (1..).zip(text.lines()) {
        let heading = line.trim_start_matches('#');
        if !numbers.contains(&number) || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug: String = heading
            .trim()
            .to_lowercase()
            .chars()
            .filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'))
            .map(|sign| if sign == ' ' { '-' } else { sign })
            .collect();
        let count = counts.entry(slug.clone()).or_default();
        found.insert(match *count {
            0 => slug,
            again => format!("{slug}-{again}"),
        });
        *count += 1;
    }
    found
}

/// Returns the fault of a link in a document, or `None` if its target exists or is outside of the
/// repository.
fn fault(document: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let path = match file {
        "" => document.to_path_buf(),
        file => normal(&document.parent()?.join(file)),
    };
    if !path.exists() {
        return Some(format!("there is no {target}"));
    }
    let anchor = anchor?;
    let other = match file {
        "" => text.to_string(),
        _ => fs::read_to_string(&path).unwrap_or_default(),
    };
    (!anchors(&other).contains(anchor)).then(|| format!("{target}: there is no such heading"))
}

#[test]
fn every_link_leads_somewhere() {
    let mut all = Vec::new();
    documents(&root(), &mut all);
    assert!(all.len() > 20, "documents were not found: {all:?}");
    let (mut faults, mut count) = (Vec::new(), 0);
    for document in &all {
        let text = fs::read_to_string(document).expect("UTF-8");
        for (number, line) in prose(&text) {
            for target in links(&line) {
                count += 1;
                if let Some(why) = fault(document, &text, &target) {
                    let name = document.strip_prefix(root()).expect("below the root");
                    faults.push(format!("{}:{number}: {why}", name.display()));
                }
            }
        }
    }
    assert!(count > 50, "{count} links were found");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_book_has_all_of_its_pages() {
    let folder = root().join("docs");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("the book's contents");
    let named: BTreeSet<PathBuf> = prose(&summary)
        .iter()
        .flat_map(|(_, line)| links(line))
        .map(|target| normal(&folder.join(target)))
        .collect();
    let mut pages = Vec::new();
    documents(&folder, &mut pages);
    let missing: Vec<_> = pages
        .iter()
        .filter(|page| !named.contains(*page) && !page.ends_with("SUMMARY.md"))
        .collect();
    assert!(
        missing.is_empty(),
        "add to docs/SUMMARY.md, or remove: {missing:#?}"
    );
}

#[test]
fn a_broken_link_is_found() {
    let document = root().join("docs/SUMMARY.md");
    let text = "# One `two` -- three\n\n```text\n# Four\n[a](none.md)\n```\n`[b](none.md)`\n";
    let found = |target| fault(&document, text, target);
    assert_eq!(found("#one-two----three"), None);
    assert!(found("#four").is_some());
    assert!(found("none.md").is_some());
    assert!(found("../README.md#no-such-heading").is_some());
    assert_eq!(found("https://example.org/none"), None);
    let all: Vec<_> = prose(text)
        .iter()
        .flat_map(|(_, line)| links(line))
        .collect();
    assert!(all.is_empty(), "{all:?}");
}
