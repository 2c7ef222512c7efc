//! Packs the suites and the subjects' sources into one archive, which the command embeds, and
//! hashes the code that the command is made of.
//!
//! The archive has the suites, and of each subject its `subject.toml` and what that names: its
//! `sources`, and the files that its commands name as `{source}/…`. Modes and links are kept. Times
//! and owners are not, so equal sources give an equal archive.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::exit;
use tar::HeaderMode;

/// Folders that builds leave in a source folder.
const LEFT_BY_BUILDS: [&str; 3] = ["target", "node_modules", "__pycache__"];

fn main() {
    if let Err(message) = generate() {
        println!("cargo::error={message}");
        exit(1);
    }
}

fn generate() -> Result<(), String> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let root = normal(&here.join("../.."));
    let archive = pack(&root, &contents(&root)?).map_err(|error| format!("packing: {error}"))?;
    let path = out.join("home.tar.gz");
    fs::write(&path, &archive).map_err(at(&path))?;
    println!("cargo::rustc-env=ANTIPHON_HOME_KEY={}", key(&archive));
    println!("cargo::rustc-env=ANTIPHON_CODE_KEY={}", code(&root)?);
    for watched in ["suites", "subjects", "crates/antiphon/build.rs"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    Ok(())
}

// --- The archive -----------------------------------------------------------------------------------

/// Returns the paths of all files and links of the archive, relative to the source folder.
fn contents(root: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    collect(root, Path::new("suites"), &mut found)?;
    let mut count = 0;
    for folder in entries(&root.join("subjects"))? {
        let file = folder.join("subject.toml");
        if !file.is_file() {
            continue;
        }
        count += 1;
        let text = fs::read_to_string(&file).map_err(at(&file))?;
        let document: toml::Table =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let folder = folder.strip_prefix(root).unwrap_or(&folder);
        found.insert(folder.join("subject.toml"));
        for named in named(&document, &text) {
            collect(root, &normal(&folder.join(named)), &mut found)?;
        }
    }
    match count {
        0 => Err(format!("{} has no subjects", root.display())),
        _ => Ok(found),
    }
}

/// Returns the sources of a subject, and the files that its commands name.
fn named(document: &toml::Table, text: &str) -> Vec<String> {
    let sources = document.get("sources").and_then(toml::Value::as_array);
    let sources = sources.into_iter().flatten();
    let sources = sources.filter_map(|source| source.as_str().map(str::to_owned));
    let is_of_path = |sign: char| sign.is_ascii_alphanumeric() || "/._-".contains(sign);
    let commands = text.split("{source}/").skip(1);
    let commands = commands.map(|rest| rest.chars().take_while(|sign| is_of_path(*sign)).collect());
    sources.chain(commands).collect()
}

/// Adds a file or a link, or all of them in a folder. A path that is not there is left to the
/// subject's own check.
fn collect(root: &Path, path: &Path, found: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let whole = root.join(path);
    let Ok(kind) = whole.symlink_metadata() else {
        return Ok(());
    };
    if !kind.is_dir() {
        found.insert(path.to_owned());
        return Ok(());
    }
    for entry in entries(&whole)? {
        let name = entry.file_name().unwrap_or_default();
        if LEFT_BY_BUILDS.iter().all(|left| name != *left) {
            collect(root, &path.join(name), found)?;
        }
    }
    Ok(())
}

fn pack(root: &Path, paths: &BTreeSet<PathBuf>) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    archive.follow_symlinks(false);
    archive.mode(HeaderMode::Deterministic);
    for path in paths {
        archive.append_path_with_name(root.join(path), path)?;
    }
    archive.into_inner()?.finish()
}

// --- The code --------------------------------------------------------------------------------------

/// Returns a hash of the workspace's sources without tests and benchmarks, and of the versions of
/// all other crates.
fn code(root: &Path) -> Result<String, String> {
    let mut paths = BTreeSet::from(["Cargo.toml", "Cargo.lock"].map(PathBuf::from));
    for package in entries(&root.join("crates"))? {
        let package = package.strip_prefix(root).unwrap_or(&package).to_owned();
        for part in ["Cargo.toml", "build.rs", "include", "src", "c"] {
            collect(root, &package.join(part), &mut paths)?;
            let watched = root.join(&package).join(part);
            if watched.exists() {
                println!("cargo::rerun-if-changed={}", watched.display());
            }
        }
    }
    let mut all = Vec::new();
    for path in paths {
        let whole = root.join(&path);
        // A source package of one crate has no lock of the workspace.
        let Ok(bytes) = fs::read(&whole) else {
            continue;
        };
        all.push((path, bytes));
    }
    Ok(key(&all))
}

// --- Both ------------------------------------------------------------------------------------------

/// Returns the entries of a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        paths.push(entry.map_err(at(folder))?.path());
    }
    paths.sort();
    Ok(paths)
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

fn key(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("{name} is not set; this runs under cargo"))
}
