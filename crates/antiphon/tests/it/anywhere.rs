//! The command brings its suites and subjects, so it works outside the source folder.

use crate::common::{Ran, has_cc};
use antiphon_lab::subject::Subject;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A user's machine that has only the command, and nothing else of this project.
struct Bare {
    folder: TempDir,
}

impl Bare {
    fn new() -> Bare {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Bare { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
        command.args(arguments).current_dir(self.path("work"));
        command.env("HOME", self.path("home")).stdin(Stdio::null());
        for variable in ["HOME", "STORE", "CACHE"] {
            command.env_remove(format!("ANTIPHON_{variable}"));
        }
        for variable in ["XDG_CACHE_HOME", "XDG_DATA_HOME", "COLUMNS"] {
            command.env_remove(variable);
        }
        Ran::of(command.output().unwrap())
    }

    /// Returns the folder with the unpacked suites and subjects.
    fn unpacked(&self) -> PathBuf {
        let homes = self.path("home/.cache/antiphon/home");
        let entries = fs::read_dir(homes).unwrap().flatten();
        let mut folders = entries
            .map(|entry| entry.path())
            .filter(|path| path.is_dir());
        let only = folders.next().expect("they are unpacked");
        assert_eq!(folders.next(), None, "they are unpacked once");
        only
    }
}

fn source() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The content of a file with its executable bit, or the target of a link.
#[derive(Debug, PartialEq)]
enum Content {
    File(Vec<u8>, bool),
    Link(PathBuf),
}

/// Finds all files and links below a folder or at a path, by their paths below `root`.
fn contents(root: &Path, path: &Path, found: &mut BTreeMap<PathBuf, Content>) {
    let data = path.symlink_metadata().unwrap();
    let name = path.strip_prefix(root).unwrap().to_owned();
    if data.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            let left = ["target", "node_modules", "__pycache__"];
            if left.iter().all(|left| entry.file_name() != *left) {
                contents(root, &entry.path(), found);
            }
        }
    } else if data.is_symlink() {
        found.insert(name, Content::Link(fs::read_link(path).unwrap()));
    } else {
        let executable = data.mode() & 0o111 != 0;
        found.insert(name, Content::File(fs::read(path).unwrap(), executable));
    }
}

#[test]
fn what_the_command_brings_is_what_the_source_folder_has() {
    let bare = Bare::new();
    bare.run(&["measure", "features", "--check"]).done();
    let unpacked = bare.unpacked();
    let (subjects, errors) = Subject::discover(&unpacked.join("subjects"));
    assert!(errors.is_empty(), "{errors:?}");
    let (ours, _) = Subject::discover(&source().join("subjects"));
    let names = |subjects: &[Subject]| -> Vec<String> {
        subjects
            .iter()
            .map(|subject| subject.name.clone())
            .collect()
    };
    assert_eq!(names(&subjects), names(&ours));
    let of_home = |root: &Path, subjects: &[Subject]| {
        let mut found = BTreeMap::new();
        contents(root, &root.join("suites"), &mut found);
        for subject in subjects {
            for source in &subject.sources {
                let path = subject.folder.join(source).canonicalize().unwrap();
                contents(root, &path, &mut found);
            }
        }
        found
    };
    let (brought, ours) = (of_home(&unpacked, &subjects), of_home(&source(), &ours));
    assert!(brought.len() > 300, "{}", brought.len());
    for (path, content) in &ours {
        assert!(brought.get(path) == Some(content), "{}", path.display());
    }
    assert_eq!(brought.len(), ours.len());
    let mode = unpacked.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o022, 0, "{mode:o}");
}

#[test]
fn a_suite_is_measured_outside_the_source_folder() {
    if !has_cc() {
        return;
    }
    let bare = Bare::new();
    let only = ["--only", "alloc.new_free.*", "--subjects", "c/O0"];
    let ran = bare.run(&[&["measure", "features", "--quick"], &only[..]].concat());
    assert!(ran.done().contains("antiphon report 1"), "{}", ran.out);
    bare.run(&["report", "--markdown", "-"]).done();
}

#[test]
fn a_folder_of_suites_and_subjects_wins_over_what_the_command_brings() {
    let bare = Bare::new();
    for folder in ["suites", "subjects"] {
        fs::create_dir(bare.path("work").join(folder)).unwrap();
    }
    bare.run(&["measure", "features", "--check"])
        .fails(1, &["no suite `features`"]);
    assert!(!bare.path("home/.cache/antiphon/home").exists());
    let named = bare.path("work").display().to_string();
    fs::create_dir(bare.path("else")).unwrap();
    bare.run(&["measure", "features", "--check", "--home", &named])
        .fails(1, &["no suite `features`"]);
    let nothing = bare.path("else").display().to_string();
    bare.run(&["measure", "features", "--check", "--home", &nothing])
        .fails(3, &[&nothing, "without --home"]);
}

#[test]
fn nothing_is_unpacked_where_others_may_write() {
    let bare = Bare::new();
    let cache = bare.path("home/.cache");
    fs::create_dir(&cache).unwrap();
    fs::create_dir(bare.path("planted")).unwrap();
    symlink(bare.path("planted"), cache.join("antiphon")).unwrap();
    bare.run(&["measure", "features", "--check"])
        .fails(3, &["not trusted", "is a link", "ANTIPHON_CACHE"]);
    assert_eq!(fs::read_dir(bare.path("planted")).unwrap().count(), 0);
}

#[test]
fn builds_by_the_command_itself_are_told_apart_by_version_code_and_run_time() {
    let bare = Bare::new();
    let ran = bare.run(&["subject", "identity"]);
    let lines: Vec<&str> = ran.done().lines().collect();
    let [version, code, runtime] = lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(version, format!("antiphon {}", env!("CARGO_PKG_VERSION")));
    assert!(code.starts_with("code ") && runtime.starts_with("run-time of SR "));
}
