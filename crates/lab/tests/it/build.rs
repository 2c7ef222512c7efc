//! Builds: kept by content and flags, whole or absent, and every failure reported by name.

use antiphon_lab::Absence;
use antiphon_lab::build::{BuildError, Built, Cache};
use antiphon_lab::subject::Subject;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Creates a subject whose "compiler" copies its source and notes its flags; it counts its runs in
/// `{source}/count`.
fn folder(build: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/main"), "hello").unwrap();
    std::fs::write(folder.path().join("build.sh"), build).unwrap();
    let toml = r#"
name = "toy"
language = "Toy"
version = ["sh", "-c", "echo x >> asked; echo; echo Toy 1.0; echo more"]
needs = [{ command = "sh", package = "dash" }]
sources = ["src"]
build = [["sh", "{source}/build.sh", "{source}", "{build}", "{flags}"]]
build_seconds = 20
run = ["{build}/main"]
[[variant]]
name = "plain"
flags = ["-a", "-b c"]
[[variant]]
name = "other"
flags = ["-o"]
[policy.fifo]
flags = ["-f"]
"#;
    std::fs::write(folder.path().join("subject.toml"), toml).unwrap();
    folder
}

const COPIES: &str =
    "echo x >> $1/count; cp $1/src/main $2/main; shift 2; for f; do echo \"$f\" >> flags; done";

fn build(folder: &Path, cache: &Cache, variant: usize, policy: &str) -> Result<Built, BuildError> {
    let subject = Subject::load(folder).unwrap();
    let never = AtomicBool::new(false);
    cache.build(&subject, &subject.variants[variant], policy, &never)
}

fn builds_made(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("count"))
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn a_build_is_made_once_and_again_when_anything_that_decides_it_changes() {
    let folder = folder(COPIES);
    let place = tempfile::tempdir().unwrap();
    let cache = Cache::at(place.path());
    let first = build(folder.path(), &cache, 0, "other").unwrap();
    assert!(!first.cached);
    assert_eq!(first.record.id, "toy/plain");
    assert_eq!(first.record.compiler, "Toy 1.0");
    assert_eq!(first.record.flags, "-a -b c");
    assert_eq!(std::fs::read_to_string(&first.run[0]).unwrap(), "hello");
    assert_eq!(
        std::fs::read_to_string(first.folder.join("flags")).unwrap(),
        "-a\n-b c\n"
    );
    let again = build(folder.path(), &cache, 0, "other").unwrap();
    assert!(again.cached);
    assert_eq!(again.folder, first.folder);
    assert_eq!(builds_made(folder.path()), 1);

    let fifo = build(folder.path(), &cache, 0, "fifo").unwrap();
    assert_ne!(fifo.folder, first.folder);
    assert_ne!(
        build(folder.path(), &cache, 1, "other").unwrap().folder,
        first.folder
    );
    std::fs::write(folder.path().join("src/main"), "changed").unwrap();
    let changed = build(folder.path(), &cache, 0, "other").unwrap();
    assert_ne!(changed.record.content, first.record.content);
    assert_eq!(std::fs::read_to_string(&changed.run[0]).unwrap(), "changed");
    // The script is named by a command, so it decides too.
    std::fs::write(
        folder.path().join("build.sh"),
        format!("{COPIES} # changed"),
    )
    .unwrap();
    assert!(!build(folder.path(), &cache, 0, "other").unwrap().cached);
    assert_eq!(builds_made(folder.path()), 5);
}

#[test]
fn what_is_built_may_be_shared_with_a_neighbour() {
    let parent = tempfile::tempdir().unwrap();
    let (own, kit) = (parent.path().join("own"), parent.path().join("kit"));
    let first = folder(COPIES);
    let copied = std::process::Command::new("cp")
        .arg("-R")
        .args([first.path(), &own])
        .status();
    assert!(copied.unwrap().success());
    std::fs::create_dir(&kit).unwrap();
    std::fs::write(kit.join("kit.c"), "one").unwrap();
    let file = own.join("subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let sources = "sources = [";
    assert!(text.contains(sources));
    std::fs::write(&file, text.replace(sources, "sources = [\"../kit\", ")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let cache = Cache::at(place.path());
    let before = build(&own, &cache, 0, "other").unwrap();
    assert!(build(&own, &cache, 0, "other").unwrap().cached);
    std::fs::write(kit.join("kit.c"), "another").unwrap();
    let after = build(&own, &cache, 0, "other").unwrap();
    assert!(!after.cached);
    assert_ne!(after.record.content, before.record.content);
}

#[test]
fn a_build_that_fails_says_the_compilers_last_words_and_leaves_nothing() {
    let folder = folder("echo made > half; echo 'main.toy:3: unknown word' >&2; exit 1");
    let place = tempfile::tempdir().unwrap();
    let error = build(folder.path(), &Cache::at(place.path()), 0, "other").unwrap_err();
    assert!(error.to_string().contains("toy/plain"), "{error}");
    let Absence {
        reason, last_words, ..
    } = error.absence();
    assert!(reason.contains("exit code 1"), "{reason}");
    assert_eq!(last_words, "main.toy:3: unknown word");
    let left: Vec<_> = std::fs::read_dir(place.path().join("builds/toy"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_build_that_takes_too_long_is_ended() {
    let folder = folder("sleep 600");
    let file = folder.path().join("subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        text.replace("build_seconds = 20", "build_seconds = 1"),
    )
    .unwrap();
    let place = tempfile::tempdir().unwrap();
    let error = build(folder.path(), &Cache::at(place.path()), 0, "other").unwrap_err();
    assert!(error.to_string().contains("did not finish"), "{error}");
    assert!(error.help().contains("build_seconds"), "{}", error.help());
}

#[test]
fn a_missing_compiler_or_library_is_told_with_the_command_that_installs_it() {
    let folder = folder(COPIES);
    let file = folder.path().join("subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let needs = "[{ command = \"no-such-compiler\", package = \"gnat\" }, { header = \"nor/this.h\", package = \"gcc\" }, \
                 { project = \"nor_this.gpr\", get = \"sh {source}/get.sh\" }]";
    std::fs::write(
        &file,
        text.replace("[{ command = \"sh\", package = \"dash\" }]", needs),
    )
    .unwrap();
    let error = build(
        folder.path(),
        &Cache::at(tempfile::tempdir().unwrap().path()),
        0,
        "other",
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`no-such-compiler` and `nor/this.h` and `nor_this.gpr`"),
        "{error}"
    );
    let source = folder.path().canonicalize().unwrap();
    let line = format!("sh {}/get.sh", source.display());
    assert_eq!(
        error.help(),
        format!("`apt install gcc gnat` as root, then `{line}`")
    );
}

#[test]
fn a_compiler_that_is_too_old_is_told_with_what_is_needed_what_is_here_and_how_it_is_got() {
    let folder = folder(COPIES);
    let file = folder.path().join("subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once("version = ").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    let text = format!("{before}version = [\"sh\", \"-c\", \"echo toy 1.9\"]\n{after}");
    let needs =
        "[{ command = \"sh\", package = \"dash\", least = \"1.10\", newer = \"`make toy`\" }]";
    let text = text.replace("[{ command = \"sh\", package = \"dash\" }]", needs);
    std::fs::write(&file, text).unwrap();
    let place = tempfile::tempdir().unwrap();
    let error = build(folder.path(), &Cache::at(place.path()), 0, "other").unwrap_err();
    let said = error.to_string();
    assert!(said.contains("`sh` 1.10 or newer (1.9 is here)"), "{said}");
    assert_eq!(error.help(), "for `sh` 1.10 or newer: `make toy`");
}

#[test]
fn many_that_want_the_same_build_make_it_once() {
    let folder = folder(COPIES);
    let place = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| build(folder.path(), &Cache::at(place.path()), 0, "other").unwrap());
        }
    });
    assert_eq!(builds_made(folder.path()), 1);
}

/// Waits until a file is there.
fn wait_for(file: &Path) {
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn folders(place: &Path) -> Vec<String> {
    std::fs::read_dir(place.join("builds/toy"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn an_interrupted_build_is_ended_with_all_that_it_started_and_leaves_nothing() {
    // The compiler's own child, which holds the pipe open and would keep the build waiting for it.
    let folder =
        folder("sh -c 'echo $$ > \"$0\"/id; mv \"$0\"/id \"$0\"/child; exec sleep 600' $1 & wait");
    let place = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let subject = Subject::load(folder.path()).unwrap();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&folder.path().join("child"));
            stop.store(true, Ordering::Relaxed);
        });
        let cache = Cache::at(place.path());
        cache.build(&subject, &subject.variants[0], "other", &stop)
    });
    let error = error.unwrap_err();
    assert!(matches!(error, BuildError::Interrupted { .. }), "{error}");
    assert!(!error.help().is_empty());
    assert!(folders(place.path()).is_empty());
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let state = Path::new("/proc").join(child.trim());
    assert!(!state.exists(), "{} lives on", child.trim());
    // No lock delays the next build.
    std::fs::write(folder.path().join("build.sh"), COPIES).unwrap();
    build(folder.path(), &Cache::at(place.path()), 0, "other").unwrap();
}

#[test]
fn who_waits_for_anothers_build_can_be_interrupted_too() {
    let folder =
        folder("echo > $1/begun; until [ -e $1/go ]; do sleep 0.01; done; cp $1/src/main $2/main");
    let place = tempfile::tempdir().unwrap();
    let subject = Subject::load(folder.path()).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| build(folder.path(), &Cache::at(place.path()), 0, "other"));
        wait_for(&folder.path().join("begun"));
        std::fs::remove_file(folder.path().join("asked")).unwrap();
        scope.spawn(|| {
            // Once it knows the compiler's version, nothing but the lock keeps it.
            wait_for(&folder.path().join("asked"));
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let cache = Cache::at(place.path());
        let waiting = cache.build(&subject, &subject.variants[0], "other", &stop);
        assert!(matches!(waiting, Err(BuildError::Interrupted { .. })));
        std::fs::write(folder.path().join("go"), "").unwrap();
        first.join().unwrap().unwrap();
    });
}

#[test]
fn what_a_killed_build_left_is_cleared_away() {
    let folder = folder(COPIES);
    let place = tempfile::tempdir().unwrap();
    let cache = Cache::at(place.path());
    let made = build(folder.path(), &cache, 0, "other").unwrap().folder;
    let name = made.file_name().unwrap().to_str().unwrap().to_owned();
    std::fs::remove_dir_all(&made).unwrap();
    let left = place
        .path()
        .join(format!("builds/toy/unfinished-{name}-x1"));
    std::fs::create_dir_all(left.join("half")).unwrap();
    build(folder.path(), &cache, 0, "other").unwrap();
    assert_eq!(folders(place.path()), [name]);
}

#[test]
fn variables_set_for_builds_reach_their_commands_and_part_their_builds() {
    let folder = folder("echo hello > $2/main; echo \"$OPT_LEVEL\" > level");
    let place = tempfile::tempdir().unwrap();
    let plain = Cache::at(place.path());
    let level = |cache: &Cache| {
        let built = build(folder.path(), cache, 0, "other").unwrap();
        std::fs::read_to_string(built.folder.join("level")).unwrap()
    };
    assert_eq!(level(&plain), "\n");
    let little = plain.clone().with_environment([("OPT_LEVEL", "0")]);
    assert_eq!(level(&little), "0\n");
    assert_eq!(level(&plain), "\n");
}
