//! The examples, over each platform, and built by a user of the installed library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{is_there, over_all};
use crate::support::{Linked, compiled, folder, library, root, run, session};
use antiphon_launch::Over;

fn example(name: &str) -> PathBuf {
    compiled(&format!("examples/c/{name}.c"), Linked::Dynamically)
}

#[test]
fn ping_pong() {
    over_all(2, &example("ping_pong"), &["200"], |over, said| {
        let is_right = matches!(said, [messages, call] if messages.starts_with("messages: ") && call.starts_with("call: "));
        assert!(is_right, "{over:?}: {said:?}");
    });
}

#[test]
fn replicated_counter() {
    // 40 additions of 0 to 6 from each of 4 processes.
    let sum: u64 = 4 * (0..40).map(|n| n % 7).sum::<u64>();
    let expected = format!("4 copies, value {sum}, one order");
    over_all(4, &example("counter"), &["40"], |over, said| {
        assert_eq!(said, [expected.as_str()], "{over:?}");
    });
}

#[test]
fn work_queue() {
    // 97 has the longest Collatz sequence below 100.
    let program = example("work_queue");
    over_all(3, &program, &["100"], |over, said| {
        assert_eq!(said, ["100 jobs, longest 97 with 118 steps"], "{over:?}");
    });
    over_all(2, &program, &["0"], |over, said| {
        assert_eq!(said, ["0 jobs, longest 0 with 0 steps"], "{over:?}");
    });
}

/// The document's program compiles, and prints the documented text.
#[test]
fn the_program_in_the_documentation() {
    let document =
        fs::read_to_string(root().join("../../docs/tutorial/panda.md")).expect("the document");
    let begin = document.find("```c\n").expect("a program in C") + "```c\n".len();
    let length = document[begin..].find("```").expect("its end");
    let source = folder().join("document.c");
    fs::write(&source, &document[begin..begin + length]).expect("written");
    let program = compiled(source.to_str().expect("a path"), Linked::Dynamically);
    over_all(3, &program, &[], |over, said| {
        assert_eq!(said, ["3 processes, sum of ranks 3"], "{over:?}");
    });
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let entries = entries.map(|entry| entry.path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// `make install` puts library, header and the file for pkg-config where they are found, and
/// `make uninstall` removes them.
#[test]
fn an_installed_library() {
    if !is_there("make", "make") || !is_there("pkg-config", "pkg-config") {
        return;
    }
    let place = folder().join("installed");
    let make = |target: &str| {
        let libraries = library("libpanda.a");
        let libraries = libraries.parent().expect("its folder").display();
        run(Command::new("make")
            .arg("-C")
            .arg(root().join("../.."))
            .args([target, "PREFIX=/opt/panda"])
            .arg(format!("DESTDIR={}", place.display()))
            .arg(format!("LIBRARIES={libraries}")));
    };
    make("install-panda");
    let own = place.join("opt/panda");
    let builds = folder().join("examples");
    fs::create_dir_all(&builds).expect("a folder");
    let mut build = Command::new("make");
    run(build
        .arg("-C")
        .arg(&builds)
        .arg("-f")
        .arg(root().join("examples/c/Makefile"))
        .env("PKG_CONFIG_PATH", own.join("lib/pkgconfig"))
        .env("PKG_CONFIG_SYSROOT_DIR", &place)
        .env(
            "LDFLAGS",
            format!("-Wl,-rpath,{}", own.join("lib").display()),
        ));
    let ran = session(Over::Shm, 2, &builds.join("counter"), &["7"]).expect("it needs nothing");
    assert_eq!(
        (ran.summary, ran.said),
        (None, vec!["2 copies, value 42, one order".into()])
    );
    let needed = run(Command::new("ldd").arg(builds.join("counter")));
    let known = concat!("libpanda.so.", env!("CARGO_PKG_VERSION_MAJOR"), " => ");
    assert!(
        needed.contains(&format!("{known}{}", own.display())),
        "{needed}"
    );

    make("uninstall-panda");
    let left = files(&place);
    assert!(left.is_empty(), "{left:?}");
}
