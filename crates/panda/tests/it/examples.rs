//! Examples as programs: the functions in their executables, and their cost.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the functions of the retransmission protocol in an executable, and those of frames for
/// several peers, by its symbols.
fn retransmission(executable: &Path) -> Vec<String> {
    let listed = Command::new("nm")
        .arg("--demangle")
        .arg(executable)
        .output()
        .expect("nm comes with the C compiler that Rust links with");
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let symbols = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        symbols.contains("antiphon_panda_core::protocol"),
        "{} has no symbols of this library",
        executable.display()
    );
    symbols
        .lines()
        .filter(|line| line.contains("link::retransmit") || line.contains("link::multicast"))
        // The linker merges drop functions of values of the same shape, under the name of any of
        // them.
        .filter(|line| !line.contains("drop_in_place<"))
        .map(str::to_string)
        .collect()
}

fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    own.parent()
        .and_then(Path::parent)
        .expect("target/PROFILE/deps")
        .join("examples")
        .join(name)
}

/// A program contains no code for platforms that it does not use. One over reliable platforms holds
/// no function of the retransmission protocol, or of frames for several peers.
#[test]
fn reliable_platforms_carry_no_retransmission() {
    let found = retransmission(&example("reliable_only"));
    assert!(found.is_empty(), "{found:#?}");
}

/// The same search finds the functions in this executable, which has tests over datagrams.
#[test]
fn the_look_finds_it_where_it_is() {
    let own = std::env::current_exe().expect("a running program has a path");
    assert!(!retransmission(&own).is_empty());
}

/// Measures the memory of an idle peer, also of one that sent a long message before. It compares
/// many idle peers with one.
#[test]
fn idle_peers_take_little_memory() {
    const MOST: u64 = 64 << 10;
    for platform in ["shm", "tcp", "udp"] {
        let mut command = Command::new(example("idle_peers"));
        let output = command.args([platform, "9"]).output().expect("started");
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        let each = said.strip_suffix(" for each more\n");
        let each = each.and_then(|said| said.rsplit(' ').next()?.parse::<u64>().ok());
        assert!(
            each.is_some_and(|each| each < MOST),
            "{platform}: {output:?}"
        );
    }
}
