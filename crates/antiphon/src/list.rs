//! `antiphon list`: suites, subjects and rows, what is missing here, and what installs it.

use crate::cli::{Cli, List};
use crate::exit::Exit;
use crate::home::home;
use crate::output::{print, print_document, say};
use crate::subjects;
use antiphon_lab::subject::{Need, Remedy, Subject, Variant, select};
use antiphon_lab::suite::{Group, Suite, names};
use antiphon_outside as outside;
use anyhow::Result;
use serde::Serialize;
use std::path::Path;

/// Lists all suites and subjects, or the rows of the suites that were named.
pub fn run(cli: &Cli, options: &List) -> Result<Exit> {
    let home = home(cli)?;
    match options.suites.is_empty() {
        true => all(&home, options.json),
        false => rows(&home, options),
    }
}

// --- Everything ------------------------------------------------------------------------------------

/// The suites and subjects, as JSON shows them.
#[derive(Serialize)]
struct Found {
    /// The folder with the suites and subjects.
    home: String,
    suites: Vec<SuiteLine>,
    subjects: Vec<SubjectLine>,
    /// Commands, headers and libraries that this machine lacks.
    missing: Vec<String>,
    /// Shell commands that install them.
    install: Vec<String>,
    /// The commands that a first look needs.
    install_for_first_look: Vec<String>,
}

#[derive(Serialize)]
struct SuiteLine {
    name: String,
    title: String,
    /// Rows of a quick run and of a full run.
    rows: [usize; 2],
    /// Subjects that can be measured here.
    ready: usize,
    subjects: usize,
    /// Whether a first look includes a part of it.
    is_in_first_look: bool,
}

#[derive(Serialize)]
struct SubjectLine {
    name: String,
    language: String,
    variants: Vec<VariantLine>,
}

#[derive(Serialize)]
struct VariantLine {
    name: String,
    missing: Vec<String>,
}

fn all(home: &Path, json: bool) -> Result<Exit> {
    let subjects = subjects::all(home)?;
    let found = find(home, &subjects);
    match json {
        true => print_document("antiphon.list", 1, &found)?,
        false => print(&text(&found))?,
    }
    Ok(Exit::Done)
}

/// Returns shell commands that install what a first look lacks on this machine.
pub fn install_for_first_look(home: &Path, subjects: &[Subject]) -> Vec<String> {
    commands_for_first_look(&suites(home), subjects)
}

fn commands_for_first_look(suites: &[Suite], subjects: &[Subject]) -> Vec<String> {
    let looked_at = suites.iter().filter_map(|suite| suite.first_look.as_ref());
    let looked_at = looked_at.flat_map(|first_look| &first_look.subjects);
    let looked_at = looked_at.filter_map(|name| select(subjects, name).ok());
    commands(&lacked(looked_at))
}

fn find(home: &Path, subjects: &[Subject]) -> Found {
    let suites = suites(home);
    let of_all = subjects.iter();
    let of_all = of_all.flat_map(|subject| subject.variants.iter().map(move |one| (subject, one)));
    let missing = lacked(of_all);
    Found {
        home: home.display().to_string(),
        suites: suites
            .iter()
            .map(|suite| suite_line(suite, subjects))
            .collect(),
        subjects: subjects.iter().map(subject_line).collect(),
        install: commands(&missing),
        install_for_first_look: commands_for_first_look(&suites, subjects),
        missing: wanted(&missing),
    }
}

/// Returns what this machine lacks for any of these variants, each once.
fn lacked<'s>(variants: impl Iterator<Item = (&'s Subject, &'s Variant)>) -> Vec<Need> {
    let mut missing: Vec<Need> = Vec::new();
    for need in variants.flat_map(|(subject, variant)| lacks(subject, variant)) {
        if !missing.contains(&need) {
            missing.push(need);
        }
    }
    missing
}

/// Returns the suites that can be read. The others are named on standard error.
fn suites(home: &Path) -> Vec<Suite> {
    let folder = home.join("suites");
    let mut suites = Vec::new();
    for name in names(&folder) {
        match Suite::named(&folder, &name) {
            Ok((suite, _)) => suites.push(suite),
            Err(error) => say(format_args!("antiphon: {error}")),
        }
    }
    suites
}

fn suite_line(suite: &Suite, subjects: &[Subject]) -> SuiteLine {
    let is_ready = |name: &&String| {
        let found = select(subjects, name);
        found.is_ok_and(|(subject, variant)| lacks(subject, variant).is_empty())
    };
    SuiteLine {
        name: suite.name.clone(),
        title: suite.title.clone(),
        rows: [true, false].map(|quick| suite.groups.iter().map(|group| count(group, quick)).sum()),
        ready: suite.subjects.iter().filter(is_ready).count(),
        subjects: suite.subjects.len(),
        is_in_first_look: suite.first_look.is_some(),
    }
}

/// Returns the number of rows of a group in a quick or in a full run.
fn count(group: &Group, quick: bool) -> usize {
    let measured = group.rows.iter().filter(|row| !row.runs(quick).is_empty());
    measured.map(|row| row.instances(quick).len()).sum()
}

fn subject_line(subject: &Subject) -> SubjectLine {
    let variant = |variant: &Variant| VariantLine {
        name: variant.name.clone(),
        missing: wanted(&lacks(subject, variant)),
    };
    SubjectLine {
        name: subject.name.clone(),
        language: subject.language.clone(),
        variants: subject.variants.iter().map(variant).collect(),
    }
}

/// Returns what this machine lacks for a variant of a subject.
fn lacks(subject: &Subject, variant: &Variant) -> Vec<Need> {
    let own = subject.missing().into_iter().cloned();
    own.chain(variant.missing()).collect()
}

/// Returns the names of the missing things, each once, in plain text.
fn wanted(missing: &[Need]) -> Vec<String> {
    let names = missing.iter().map(|need| need.wanted().replace('`', ""));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Returns shell commands that install the missing things: one for all packages, then a line for
/// each other thing.
fn commands(missing: &[Need]) -> Vec<String> {
    let Remedy {
        packages,
        lines,
        newer,
    } = Remedy::of(missing);
    // The package of a database server is listed with others that it needs.
    let mut words: Vec<&str> = packages.iter().flat_map(|names| names.split(' ')).collect();
    words.sort_unstable();
    words.dedup();
    let installed = (!words.is_empty()).then(|| format!("apt-get install {}", words.join(" ")));
    let made = lines.into_iter().map(str::to_owned);
    installed.into_iter().chain(made).chain(newer).collect()
}

fn text(found: &Found) -> String {
    let mut text = "Suites                 rows  quick  subjects ready\n".to_owned();
    for suite in &found.suites {
        let [quick, full] = suite.rows;
        let mark = if suite.is_in_first_look { "*" } else { " " };
        let ready = format!("{} of {}", suite.ready, suite.subjects);
        let (name, title) = (outside::line(&suite.name), outside::line(&suite.title));
        text += &format!("{mark} {name:18} {full:>6} {quick:>6}  {ready:10} {title}\n");
    }
    text += "* is part of a first look: `antiphon measure` without a suite\n\nSubjects\n";
    for subject in &found.subjects {
        text += &subject_text(subject);
    }
    if !found.missing.is_empty() {
        text += &format!("\nMissing here: {}\n", found.missing.join(", "));
        for command in &found.install {
            text += &format!("  {command}\n");
        }
    }
    if !found.install_for_first_look.is_empty() {
        let commands = found.install_for_first_look.join("; ");
        text += &format!("For a first look: {commands}\n");
    }
    text + &format!(
        "\nSuites and subjects stand in {}\nRows of a suite: antiphon list SUITE\nMeasure:         antiphon measure SUITE --quick\n",
        outside::line(&found.home)
    )
}

fn subject_text(subject: &SubjectLine) -> String {
    let name = outside::line(&subject.name);
    let language = outside::line(&subject.language);
    let first = &subject.variants[0].missing; // a subject has at least one variant
    let is_alike = subject.variants.iter().all(|one| one.missing == *first);
    let mut text = format!(
        "  {name:20} {language:10} {}",
        variant_names(&subject.variants)
    );
    if is_alike && !first.is_empty() {
        text += &format!("\n  {:20} {:10} needs {}", "", "", first.join(", "));
    } else if !is_alike {
        for variant in subject
            .variants
            .iter()
            .filter(|one| !one.missing.is_empty())
        {
            let needs = variant.missing.join(", ");
            text += &format!("\n  {:20} {:10} {} needs {needs}", "", "", variant.name);
        }
    }
    text + "\n"
}

/// Returns the names of variants. Of many it returns the first ones.
fn variant_names(variants: &[VariantLine]) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = variants.iter().map(|one| &*one.name).collect();
    match names.len() {
        count if count > SHOWN => {
            format!("{} and {} more", names[..SHOWN].join(" "), count - SHOWN)
        }
        _ => names.join(" "),
    }
}

// --- The rows of suites ------------------------------------------------------------------------------

/// A group of rows, as JSON shows it.
#[derive(Serialize)]
struct GroupLine {
    suite: String,
    id: String,
    title: String,
    /// Names of tests, as `--only` takes them.
    tests: Vec<String>,
}

fn rows(home: &Path, options: &List) -> Result<Exit> {
    let folder = home.join("suites");
    let mut groups = Vec::new();
    for name in &options.suites {
        let (suite, _) = Suite::named(&folder, name)?;
        groups.extend(suite.groups.iter().map(|group| group_line(&suite, group)));
    }
    if options.json {
        print_document("antiphon.rows", 1, serde_json::json!({ "groups": groups }))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for group in &groups {
        let (id, title) = (outside::line(&group.id), outside::line(&group.title));
        text += &format!("{id}: {title}\n");
        for test in &group.tests {
            text += &format!("  {}\n", outside::line(test));
        }
    }
    if let [name] = &options.suites[..] {
        text += &format!(
            "\nMeasure some: antiphon measure {name} --quick --only 'GROUP,TEST,…' (`*` stands for anything)\n"
        );
    }
    print(&text)?;
    Ok(Exit::Done)
}

fn group_line(suite: &Suite, group: &Group) -> GroupLine {
    let instances = group.rows.iter().flat_map(|row| row.instances(false));
    let mut tests: Vec<String> = instances.map(|instance| instance.test).collect();
    tests.dedup();
    GroupLine {
        suite: suite.name.clone(),
        id: group.id.clone(),
        title: group.title.clone(),
        tests,
    }
}
