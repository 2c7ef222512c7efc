//! The kits for subjects: in every language, a few tests that are served by its kit keep the whole protocol.

use antiphon_lab::Launch;
use antiphon_lab::build::{BuildError, Cache};
use antiphon_lab::conformance::{Check, check};
use antiphon_lab::subject::Subject;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The subject's first variant, built in a cache of its own and checked; nothing where the language is not installed, which is said.
fn broken(name: &str) -> Vec<Check> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let subject = Subject::load(&folder.join(name)).expect("the subject's file is right");
    let cache = tempfile::tempdir().expect("there is room for a build");
    let variant = &subject.variants[0];
    let never = AtomicBool::new(false);
    let built = match Cache::at(cache.path()).build(&subject, variant, "other", &never) {
        Ok(built) => built,
        Err(missing @ BuildError::Missing { .. }) => {
            eprintln!("skipped: {missing} ({})", missing.mend());
            return Vec::new();
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    };
    let mut launch = Launch::new(name, built.run, built.folder);
    launch.env = built.environment;
    let mut checks = check(&launch);
    checks.retain(|check| !check.passed);
    checks
}

#[test]
fn rust_keeps_the_protocol() {
    assert_eq!(broken("rust"), []);
}

#[test]
fn go_keeps_the_protocol() {
    assert_eq!(broken("go"), []);
}

#[test]
fn python_keeps_the_protocol() {
    assert_eq!(broken("python"), []);
}

#[test]
fn cpp_keeps_the_protocol() {
    assert_eq!(broken("cpp"), []);
}

#[test]
fn javascript_keeps_the_protocol() {
    assert_eq!(broken("javascript"), []);
}

#[test]
fn java_keeps_the_protocol() {
    assert_eq!(broken("java"), []);
}
