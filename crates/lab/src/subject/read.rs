//! Reading of a `subject.toml` into a checked subject.

use super::least::is_version;
use super::{Least, Need, Origin, Subject, Thing, Variant};
use crate::document::{Document, Faults, Item, Section, did_you_mean};
use antiphon_service::Kind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The longest slices of turns that a file may ask for, ms: a turn has two, and a test many turns.
const SLICE_MOST_MS: u64 = 200;

const POLICIES: [&str; 2] = ["other", "fifo"];

pub(super) fn subject(file: &str, text: &str, folder: PathBuf) -> Result<Subject, Faults> {
    Document::read(file, text, |top| read_subject(top, folder))
}

fn read_subject(top: Section<'_>, folder: PathBuf) -> Subject {
    let version = command(top.require("version"), &["source", "self"]);
    let subject = Subject {
        name: name(&top),
        language: top.required_string("language"),
        description: top.string("description").unwrap_or_default(),
        needs: needs(&top, &folder, &version),
        sources: sources(&top, &folder),
        build: builds(&top),
        build_seconds: top.count("build_seconds").unwrap_or(600),
        run: command(top.require("run"), run_placeholders(&top)),
        programs: programs(&top),
        serves: serves(&top),
        warms: top
            .get("warms")
            .and_then(|item| item.boolean())
            .unwrap_or_default(),
        slice_ms: slice_ms(&top),
        looks_for_work: top
            .get("looks_for_work")
            .and_then(|item| item.boolean())
            .unwrap_or_default(),
        variants: variants(&top, &folder, &version),
        policies: policies(&top),
        version,
        folder,
    };
    top.finish();
    subject
}

/// Reads a name that can stand before and after the `/` of `name/variant`.
fn name(section: &Section<'_>) -> String {
    let Some(item) = section.require("name") else {
        return String::new();
    };
    let Some(name) = item.string() else {
        return String::new();
    };
    let permitted = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(permitted) {
        item.fault(
            format!("`{name}` is no name"),
            "use letters, digits, `_`, `-`, `+` and dots, not a dot first",
        );
    }
    name
}

/// Reads a command as a list of words whose first is not empty.
fn command(item: Option<Item<'_>>, placeholders: &[&str]) -> Vec<String> {
    let Some(item) = item else { return Vec::new() };
    let Some(list) = item.list() else {
        return Vec::new();
    };
    if list
        .first()
        .is_none_or(|first| first.as_string() == Some(""))
    {
        item.fault(
            "a command needs at least a program",
            "write its words as a list",
        );
    }
    words(&list, placeholders)
}

fn words(list: &[Item<'_>], placeholders: &[&str]) -> Vec<String> {
    let mut words = Vec::new();
    for item in list {
        let Some(word) = item.string() else { continue };
        check_placeholders(item, &word, placeholders);
        words.push(word);
    }
    words
}

/// Braces that look like a placeholder must be a known one.
fn check_placeholders(item: &Item<'_>, word: &str, known: &[&str]) {
    for (at, _) in word.match_indices('{') {
        let Some(length) = word[at..].find('}') else {
            continue;
        };
        let name = &word[at + 1..at + length];
        let looks = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if looks && !known.contains(&name) {
            item.fault(
                format!("`{{{name}}}` is no placeholder here"),
                did_you_mean(name, known.iter().copied()),
            );
        }
    }
}

fn needs(top: &Section<'_>, folder: &Path, version: &[String]) -> Vec<Need> {
    let sections = top
        .get("needs")
        .map(|item| item.sections())
        .unwrap_or_default();
    let need = |section: Section<'_>| {
        let thing = thing(&section);
        let need = Need {
            origin: origin(&section, folder),
            least: least(&section, &thing, folder, version),
            thing,
        };
        section.finish();
        need
    };
    sections.into_iter().map(need).collect()
}

fn thing(section: &Section<'_>) -> Thing {
    if let Some(header) = section.string("header") {
        return Thing::Header(header);
    }
    if let Some(module) = section.string("module") {
        return Thing::Module(module);
    }
    match section.string("project") {
        Some(project) => Thing::Project(project),
        None => Thing::Command(section.required_string("command")),
    }
}

fn origin(section: &Section<'_>, folder: &Path) -> Origin {
    let Some(item) = section.get("get") else {
        return Origin::Package(section.required_string("package"));
    };
    let line = item.string().unwrap_or_default();
    check_placeholders(&item, &line, &["source"]);
    Origin::Line(line.replace("{source}", &folder.to_string_lossy()))
}

/// Reads the least version of a command, if it matters. The subject's own `version` asks its
/// compiler, `--version` asks others.
fn least(section: &Section<'_>, thing: &Thing, folder: &Path, version: &[String]) -> Option<Least> {
    let Thing::Command(name) = thing else {
        return None;
    };
    let item = section.get("least")?;
    let text = item.string()?;
    if !is_version(&text) {
        item.fault(
            format!("`{text}` is no version"),
            "write numbers with dots between them, such as \"1.25\"",
        );
    }
    let newer = section.required_string("newer");
    let asked = match version.first() == Some(name) {
        true => version.to_vec(),
        false => vec![name.clone(), "--version".to_owned()],
    };
    let source = folder.to_string_lossy();
    let asked = asked.iter().map(|word| word.replace("{source}", &source));
    Some(Least::new(text, newer, asked.collect(), folder.to_owned()))
}

fn sources(top: &Section<'_>, folder: &Path) -> Vec<String> {
    let Some(item) = top.require("sources") else {
        return Vec::new();
    };
    let mut sources = Vec::new();
    for element in item.list().unwrap_or_default() {
        let Some(source) = element.string() else {
            continue;
        };
        if !folder.join(&source).exists() {
            element.fault(
                format!("there is no `{source}` in {}", folder.display()),
                "name files and folders beside `subject.toml`",
            );
        }
        sources.push(source);
    }
    sources
}

fn builds(top: &Section<'_>) -> Vec<Vec<String>> {
    let list = top.require("build").and_then(|item| item.list());
    let list = list.unwrap_or_default();
    let placeholders = ["source", "build", "flags", "self"];
    let builds = list
        .into_iter()
        .map(|item| command(Some(item), &placeholders));
    builds.collect()
}

fn variants(top: &Section<'_>, folder: &Path, version: &[String]) -> Vec<Variant> {
    let sections = top
        .require("variant")
        .map(|item| item.sections())
        .unwrap_or_default();
    let mut variants: Vec<Variant> = Vec::new();
    for section in sections {
        let variant = Variant {
            name: name(&section),
            flags: flags(&section),
            needs: needs(&section, folder, version),
            service: service(&section),
            environment: environment(&section, "environment"),
            counting: environment(&section, "counting"),
        };
        if variants.iter().any(|other| other.name == variant.name) {
            section.fault(
                format!("another variant has the name `{}`", variant.name),
                "choose another",
            );
        }
        section.finish();
        variants.push(variant);
    }
    if variants.is_empty() {
        top.fault(
            "a subject needs at least one variant",
            "add `[[variant]]` with a `name` and `flags`",
        );
    }
    variants
}

/// Reads the database of a variant.
fn service(section: &Section<'_>) -> Option<Kind> {
    let item = section.get("service")?;
    let name = item.string()?;
    let kind = Kind::named(&name);
    if kind.is_none() {
        let known = Kind::ALL.map(Kind::name);
        item.fault(
            format!("`{name}` is no service"),
            did_you_mean(&name, known.into_iter()),
        );
    }
    kind
}

fn flags(section: &Section<'_>) -> Vec<String> {
    let list = section.get("flags").and_then(|item| item.list());
    words(&list.unwrap_or_default(), &["source", "build"])
}

/// Reads the names of whole programs, which are parts of paths and of tests' names.
fn programs(top: &Section<'_>) -> Vec<String> {
    let Some(item) = top.get("programs") else {
        return Vec::new();
    };
    let mut programs = Vec::new();
    for element in item.list().unwrap_or_default() {
        let Some(name) = element.string() else {
            continue;
        };
        let permitted = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(permitted) || programs.contains(&name) {
            element.fault(
                format!("`{name}` is no name of a program, or comes twice"),
                "use lower-case letters, digits, `_` and `-`, and each name once",
            );
        }
        programs.push(name);
    }
    programs
}

/// Reads the protocol of a server.
fn serves(top: &Section<'_>) -> bool {
    const SERVED: [&str; 1] = ["http"];
    let Some(item) = top.get("serves") else {
        return false;
    };
    let word = item.string().unwrap_or_default();
    if !SERVED.contains(&word.as_str()) {
        item.fault(
            format!("`{word}` is nothing that a subject serves"),
            did_you_mean(&word, SERVED.into_iter()),
        );
    }
    if top.get("programs").is_some() {
        item.fault(
            "a subject has whole programs or serves, not both",
            "remove `serves` or `programs`",
        );
    }
    true
}

/// Reads the length of its turns' slices.
fn slice_ms(top: &Section<'_>) -> Option<u64> {
    let item = top.get("slice_ms")?;
    let slice_ms = item.count()?;
    if slice_ms > SLICE_MOST_MS {
        item.fault(
            format!("slices of {slice_ms} ms would leave a quick run no time for its rounds"),
            format!("use up to {SLICE_MOST_MS} (16 holds the work of V8's collector; without the key slices are as in other subjects)"),
        );
    }
    if top.get("programs").is_some() || top.get("serves").is_some() {
        item.fault(
            "only a subject that speaks the protocol takes turns in slices",
            "remove `slice_ms`",
        );
    }
    Some(slice_ms)
}

fn run_placeholders(top: &Section<'_>) -> &'static [&'static str] {
    match (top.get("programs"), top.get("serves")) {
        (Some(_), _) => &["source", "build", "self", "program"],
        (None, Some(_)) => &["source", "build", "self", "port"],
        (None, None) => &["source", "build", "self"],
    }
}

fn environment(section: &Section<'_>, key: &'static str) -> Vec<(String, String)> {
    let Some(table) = section.get(key).and_then(|item| item.section()) else {
        return Vec::new();
    };
    let value = |(name, item): (&str, Item<'_>)| Some((name.to_owned(), item.string()?));
    table.entries().filter_map(value).collect()
}

fn policies(top: &Section<'_>) -> BTreeMap<String, Vec<String>> {
    let mut policies = BTreeMap::new();
    let Some(table) = top.get("policy").and_then(|item| item.section()) else {
        return policies;
    };
    for (name, item) in table.entries() {
        if !POLICIES.contains(&name) {
            item.fault(
                format!("`{name}` is no policy"),
                did_you_mean(name, POLICIES.into_iter()),
            );
        }
        let Some(section) = item.section() else {
            continue;
        };
        policies.insert(name.to_owned(), flags(&section));
        section.finish();
    }
    policies
}
