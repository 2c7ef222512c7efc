//! Our own programs, and the expected texts of translations.

use std::path::{Path, PathBuf};

use antiphon_ada::Program;

/// Returns the number that a variable of the environment sets, or the default.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

/// Returns a folder of these tests.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// Returns the programs of a folder: each is one file, or the files of a folder.
pub fn programs(folder_name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(folder_name)).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    found.sort();
    found
}

/// Reads a program under paths that are the same on every machine.
pub fn read(path: &Path) -> Program {
    let files = if path.is_dir() {
        antiphon_ada::input::files(path).unwrap()
    } else {
        vec![path.to_path_buf()]
    };
    let named = files.into_iter().map(|f| {
        let name = PathBuf::from(f.file_name().unwrap());
        (name, std::fs::read(&f).unwrap())
    });
    Program::parse(named).unwrap()
}

/// Compares a text with its golden file, or writes that file if `ANTIPHON_BLESS` is set.
pub fn check_golden(path: &Path, found: &str) {
    if std::env::var_os("ANTIPHON_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, found).unwrap();
    }
    let wanted = std::fs::read_to_string(path)
        .unwrap_or_else(|_| panic!("{} is missing: run with ANTIPHON_BLESS=1", path.display()));
    assert!(
        wanted == found,
        "{} differs from what the tool emits:\n{}",
        path.display(),
        similar::TextDiff::from_lines(wanted.as_str(), found).unified_diff()
    );
}
