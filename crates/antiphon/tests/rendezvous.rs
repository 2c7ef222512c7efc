//! The programs of the rendezvous suite: both ways of counting switches speak the protocol, and every test runs.

mod common;

use common::Place;
use std::path::Path;
use std::process::{Command, Stdio};

fn has_gnat() -> bool {
    let asked = Command::new("gnatmake")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let found = asked.is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: `gnatmake` is needed (apt-get install gnat)");
    }
    found
}

#[test]
fn the_programs_speak_the_protocol() {
    if !has_gnat() {
        return;
    }
    let subject = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/ada-rendezvous");
    let subject = subject.to_str().expect("the path is text");
    let place = Place::new();
    for variant in ["O2", "counted"] {
        let ran = place.run(&["doctor", "--subject", subject, "--variant", variant]);
        assert!(ran.done().contains("0 broken"), "{}", ran.out);
    }
}
