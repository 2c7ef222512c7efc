//! Builds the run-times of languages as static libraries, and puts them where this crate embeds
//! them, with their headers.
//!
//! A program's run-time is either shipped or quick. The shipped one is optimised as a whole, which
//! takes a minute; the quick one has debug assertions.
//! The release profile embeds the shipped one. Other profiles embed the quick one, unless
//! `ANTIPHON_RUNTIME_PROFILE=ship` asks for the other.
//!
//! A cargo inside cargo needs a target folder of its own, and an environment without what concerns
//! the outer build alone.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// A run-time that is built.
struct Archive {
    /// The name of its constant in this crate.
    name: &'static str,
    /// The language, for messages and comments.
    language: &'static str,
    /// The package. Its folder `include` has the headers.
    package: &'static str,
    /// The folder of the package below `crates`.
    folder: &'static str,
    /// Features of the package.
    features: &'static [&'static str],
    /// The library's name for programs.
    library: &'static str,
    /// Whether every program uses nearly all of it.
    is_whole: bool,
}

/// All run-times. The packages that they share are compiled once.
const ARCHIVES: &[Archive] = &[
    Archive {
        name: "SR",
        language: "SR",
        package: "antiphon-sr-rt",
        folder: "sr-rt",
        features: &[],
        library: "libantiphon_sr_rt.a",
        is_whole: false,
    },
    // For programs that create virtual machines: the others have nothing of panda.
    Archive {
        name: "SR_MACHINES",
        language: "SR",
        package: "antiphon-sr-rt",
        folder: "sr-rt",
        features: &["machines"],
        library: "libantiphon_sr_machines.a",
        is_whole: false,
    },
    Archive {
        name: "ORCA",
        language: "Orca",
        package: "antiphon-orca-rt",
        folder: "orca-rt",
        features: &[],
        library: "libantiphon_orca_rt.a",
        is_whole: true,
    },
];

/// What a run-time is compiled for: a profile that cargo is given beside those of the workspace.
struct Profile {
    name: &'static str,
    settings: &'static [&'static str],
}

/// Settings of both profiles. A panic of a run-time ends the program.
const SETTINGS: [&str; 4] = [
    "inherits=\"release\"",
    "panic=\"abort\"",
    "debug=false",
    "strip=\"debuginfo\"",
];

const SHIPPED: Profile = Profile {
    name: "shipped",
    settings: &["opt-level=3", "lto=\"fat\"", "codegen-units=1"],
};

/// Only what runs on fibers' small stacks is optimised fully.
const QUICK: Profile = Profile {
    name: "quick",
    settings: &[
        "opt-level=1",
        "lto=false",
        "codegen-units=16",
        "debug-assertions=true",
        "overflow-checks=true",
        "package.antiphon-fiber.opt-level=3",
        "package.antiphon-sr-rt.opt-level=3",
        "package.corosensei.opt-level=3",
    ],
};

/// The variable that asks for a profile: `ship` or `quick`.
const VARIABLE: &str = "ANTIPHON_RUNTIME_PROFILE";

/// What the outer cargo, clippy or a sanitizer's run set for this crate and not for run-times.
const OURS: [&str; 10] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_BUILD_DIR",
    "CLIPPY_ARGS",
];

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let crates = here.parent().unwrap_or(&here);
    let profile = profile();
    let target = target_folder(&out);
    let mut watched = BTreeSet::from([
        here.join("build.rs"),
        crates.join("../Cargo.toml"),
        crates.join("../Cargo.lock"),
    ]);
    let mut text = String::new();
    for archive in ARCHIVES {
        let package = crates.join(archive.folder);
        let built = build(archive, &package, &profile, &target);
        watched.extend(sources(&built.with_extension("d")));
        watched.insert(package.join("include"));
        let library = out.join(archive.library);
        copy(&built, &library);
        shrink(&library);
        if archive.is_whole {
            join(&library, archive.package);
        }
        let mut files = vec![library];
        files.extend(headers(&package.join("include")));
        text += &constant(archive, &files);
    }
    let to = out.join("runtimes.rs");
    fs::write(&to, text).unwrap_or_else(|error| fail(&format!("{}: {error}", to.display())));
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    for path in watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// Returns the profile that was asked for, or else the one that fits the outer profile.
fn profile() -> Profile {
    let is_shipped = match env::var(VARIABLE).as_deref() {
        Ok("ship") => true,
        Ok("quick") => false,
        Ok("") | Err(env::VarError::NotPresent) => variable("PROFILE") == "release",
        _ => fail(&format!("{VARIABLE} is neither ship nor quick")),
    };
    if is_shipped { SHIPPED } else { QUICK }
}

/// Returns the target folder of the cargo inside. It is beside this package's folders in the outer
/// target folder, since clippy has other folders than the tests for the same run-times.
fn target_folder(out: &Path) -> PathBuf {
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    build.and_then(Path::parent).unwrap_or(out).join("runtimes")
}

/// The name that cargo gives the static library.
fn file_name(archive: &Archive) -> String {
    format!("lib{}.a", archive.package.replace('-', "_"))
}

/// Builds a static library and returns its path.
fn build(archive: &Archive, package: &Path, profile: &Profile, target: &Path) -> PathBuf {
    let (host, machine) = (variable("HOST"), variable("TARGET"));
    let mut cargo = Command::new(variable("CARGO"));
    // With another crate type beside it, a static library is not optimised as a whole.
    cargo
        .current_dir(package)
        .args(["rustc", "--package", archive.package, "--lib"])
        .args(["--crate-type", "staticlib", "--locked"])
        .args(["--profile", profile.name])
        .args(["--features", &archive.features.join(",")])
        .arg("--target-dir")
        .arg(target);
    for setting in SETTINGS.iter().chain(profile.settings) {
        let setting = format!("profile.{}.{setting}", profile.name);
        cargo.args(["--config", &setting]);
    }
    let mut folder = target.to_owned();
    if host != machine {
        cargo.arg("--target").arg(&machine);
        folder.push(&machine);
    }
    for name in OURS {
        cargo.env_remove(name);
    }
    let whose = format!("the run-time of {} programs", archive.language);
    match cargo.status() {
        Ok(status) if status.success() => folder.join(profile.name).join(file_name(archive)),
        Ok(status) => fail(&format!(
            "{whose} (crates/{}) was not built: its cargo ended with {status}; its messages are above",
            archive.folder
        )),
        Err(error) => fail(&format!(
            "cargo, which builds {whose}, was not started: {error}"
        )),
    }
}

/// Returns what a library was compiled from, by the list that cargo writes beside it, and the
/// manifests of these packages.
fn sources(list: &Path) -> BTreeSet<PathBuf> {
    let text = fs::read_to_string(list)
        .unwrap_or_else(|error| fail(&format!("{}: {error}", list.display())));
    // One rule, as in a makefile, in which a blank of a name has a backslash before it.
    let names = text.split_once(": ").map_or("", |(_, names)| names);
    let escaped = names.trim_end().replace("\\ ", "\0");
    let names = escaped.split(' ').filter(|name| !name.is_empty());
    let mut paths: BTreeSet<PathBuf> = names
        .map(|name| PathBuf::from(name.replace('\0', " ")))
        .collect();
    if paths.is_empty() {
        fail(&format!("{} names no source", list.display()));
    }
    let manifests = paths.iter().filter_map(|path| {
        let folders = path.ancestors().skip(1);
        folders
            .map(|folder| folder.join("Cargo.toml"))
            .find(|manifest| manifest.is_file())
    });
    let manifests: Vec<PathBuf> = manifests.collect();
    paths.extend(manifests);
    paths
}

fn headers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| fail(&format!("{}: {error}", folder.display())));
    let mut headers: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    headers.retain(|path| path.extension().is_some_and(|end| end == "h"));
    headers.sort();
    headers
}

/// Returns the constant of a run-time in Rust: all files with their contents, and a key that
/// changes with any of them.
fn constant(archive: &Archive, files: &[PathBuf]) -> String {
    let mut hasher = DefaultHasher::new();
    let mut list = String::new();
    for path in files {
        match fs::read(path) {
            Ok(bytes) => bytes.hash(&mut hasher),
            Err(error) => fail(&format!("{}: {error}", path.display())),
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.display().to_string();
        list += &format!("        ({name:?}, include_bytes!({path:?})),\n");
    }
    format!(
        "/// What {language} programs are linked with.\n\
         pub static {name}: Runtime = Runtime {{\n    language: {language:?},\n    \
         archive: {archive:?},\n    files: &[\n{list}    ],\n    key: \"{key:016x}\",\n}};\n",
        name = archive.name,
        language = archive.language,
        archive = archive.library,
        key = hasher.finish(),
    )
}

/// Takes out what no program is linked with: debugging information, which the standard library
/// has, and intermediate code. Where there is no objcopy, programs are linked a little slower.
fn shrink(archive: &Path) {
    let _ = Command::new("objcopy")
        .args([
            "--strip-debug",
            "--remove-section=.llvmbc",
            "--remove-section=.llvmcmd",
        ])
        .arg(archive)
        .status();
}

/// Sections that `join` makes, for the linker.
const SECTIONS: &str = "SECTIONS {
  .text : { *(.text .text.*) }
  .rodata : { *(.rodata .rodata.*) }
  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) }
  .data : { *(.data .data.*) }
  .bss : { *(.bss .bss.*) }
  .tdata : { *(.tdata .tdata.*) }
  .tbss : { *(.tbss .tbss.*) }
  .gcc_except_table : { *(.gcc_except_table .gcc_except_table.*) }
}
";

/// Joins the thousands of sections of the package's own objects. Programs are then linked in half
/// the time, but get all of these objects. Where there are no tools for it, the archive stays.
fn join(archive: &Path, package: &str) {
    let folder = archive.with_extension("joined");
    let _ = fs::remove_dir_all(&folder);
    let written =
        fs::create_dir(&folder).and_then(|()| fs::write(folder.join("sections"), SECTIONS));
    let members = members(archive, package);
    if written.is_err() || members.is_empty() {
        return;
    }
    let run = |tool: &str, words: &[&str], members: &[&str]| {
        let mut command = Command::new(tool);
        command.current_dir(&folder).args(words).args(members);
        command.status().is_ok_and(|status| status.success())
    };
    let joined = folder.join("joined.a");
    copy(archive, &joined);
    let own: Vec<&str> = members.iter().map(String::as_str).collect();
    let is_joined = run("ar", &["x", "joined.a"], &own)
        && run("ld", &["-r", "-T", "sections", "-o", "joined.o"], &own)
        && run("ar", &["d", "joined.a"], &own)
        && run("ar", &["r", "joined.a", "joined.o"], &[]);
    if is_joined {
        copy(&joined, archive);
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Returns the members of an archive that are the package's own.
fn members(archive: &Path, package: &str) -> Vec<String> {
    let own = package.replace('-', "_");
    let listed = Command::new("ar").arg("t").arg(archive).output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let names = String::from_utf8_lossy(&listed);
    let names = names.lines().filter(|name| name.starts_with(&own));
    names.map(str::to_owned).collect()
}

fn copy(from: &Path, to: &Path) {
    if let Err(error) = fs::copy(from, to) {
        fail(&format!(
            "{} was not copied to {}: {error}",
            from.display(),
            to.display()
        ));
    }
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| fail(&format!("{name} is not set; this runs under cargo")))
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}
