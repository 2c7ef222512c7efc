//! What a platform does not need is not in the program: the executable of one over reliable platforms holds no function of the retransmission protocol, or of frames for several peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use antiphon_panda_sim::{Kind, Scenario, run};

/// Functions of the retransmission protocol in an executable, and of frames for several peers, by its symbols.
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
        symbols.contains("antiphon_panda::protocol"),
        "{} has no symbols of this library",
        executable.display()
    );
    symbols
        .lines()
        .filter(|line| line.contains("link::retransmit") || line.contains("link::multicast"))
        // How values of the same shape are dropped is one function, under the name of any of them.
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

#[test]
fn reliable_platforms_carry_no_retransmission() {
    let found = retransmission(&example("reliable_only"));
    assert!(found.is_empty(), "{found:#?}");
}

/// The same look finds it where it is: in this test, which simulates datagrams.
#[test]
fn the_look_finds_it_where_it_is() {
    assert!(
        run(Scenario {
            kind: Kind::Datagrams,
            seed: 1,
            members: None,
            tells: false
        })
        .frames
            > 0
    );
    let own = std::env::current_exe().expect("a running program has a path");
    assert!(!retransmission(&own).is_empty());
}
