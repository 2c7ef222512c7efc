//! Builds the run-time of SR programs as a static library and puts it, with its header, where the library embeds it.
//!
//! It has a profile of its own, whatever this crate is built with: it is what SR programs run on. A cargo inside cargo needs a target folder of its
//! own, and an environment without what concerns this build alone.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// Settings of the run-time's profile.
const PROFILE: [&str; 6] = [
    "profile.release.opt-level=3",
    "profile.release.lto=\"fat\"",
    "profile.release.codegen-units=1",
    "profile.release.panic=\"abort\"",
    "profile.release.debug=false",
    "profile.release.strip=\"debuginfo\"",
];

/// What the outer cargo, clippy or a sanitizer's run set for this crate and not for the run-time.
const OURS: [&str; 9] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_BUILD_DIR",
    "CLIPPY_ARGS",
];

const ARCHIVE: &str = "libantiphon_sr_rt.a";

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let crates = here.parent().unwrap_or(&here).to_owned();
    for part in [
        "sr-rt/src",
        "sr-rt/include",
        "sr-rt/Cargo.toml",
        "fiber/src",
        "fiber/Cargo.toml",
        "../Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed={}", crates.join(part).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let built = build(&crates.join("sr-rt"), &out.join("runtime-target"));
    copy(&built, &out.join(ARCHIVE));
    shrink(&out.join(ARCHIVE));
    let mut files = vec![out.join(ARCHIVE)];
    files.extend(headers(&crates.join("sr-rt/include")));
    list(&files, &out.join("runtime_files.rs"));
}

fn headers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| fail(&format!("{}: {error}", folder.display())));
    let mut headers: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    headers.retain(|path| path.extension().is_some_and(|end| end == "h"));
    headers.sort();
    headers
}

/// Writes an expression of all files with their contents, for the library to embed, and a key that changes with any of them.
fn list(files: &[PathBuf], to: &Path) {
    let mut hasher = DefaultHasher::new();
    let mut text = "&[\n".to_owned();
    for path in files {
        match fs::read(path) {
            Ok(bytes) => bytes.hash(&mut hasher),
            Err(error) => fail(&format!("{}: {error}", path.display())),
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        text += &format!(
            "({name:?}, include_bytes!({:?})),\n",
            path.display().to_string()
        );
    }
    text += "]\n";
    if let Err(error) = fs::write(to, text) {
        fail(&format!("{}: {error}", to.display()));
    }
    println!(
        "cargo::rustc-env=ANTIPHON_SR_RUNTIME={:016x}",
        hasher.finish()
    );
}

/// Builds the static library; its path.
fn build(runtime: &Path, target: &Path) -> PathBuf {
    let (host, machine) = (variable("HOST"), variable("TARGET"));
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .current_dir(runtime)
        .args([
            "rustc",
            "--package",
            "antiphon-sr-rt",
            "--lib",
            "--crate-type",
            "staticlib",
            "--release",
            "--locked",
            "--target-dir",
        ])
        .arg(target);
    for setting in PROFILE {
        cargo.args(["--config", setting]);
    }
    let mut folder = target.to_owned();
    if host != machine {
        cargo.arg("--target").arg(&machine);
        folder.push(&machine);
    }
    for name in OURS {
        cargo.env_remove(name);
    }
    let status = cargo.status();
    match status {
        Ok(status) if status.success() => folder.join("release").join(ARCHIVE),
        Ok(status) => fail(&format!(
            "the run-time of SR programs (crates/sr-rt) was not built: its cargo ended with {status}; its messages are above"
        )),
        Err(error) => fail(&format!(
            "cargo, which builds the run-time of SR programs (crates/sr-rt), was not started: {error}"
        )),
    }
}

/// Takes out what no program is linked with: what remains of debugging information, and intermediate code. It is linked a little faster then; where
/// there is no objcopy it stays as it is.
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
