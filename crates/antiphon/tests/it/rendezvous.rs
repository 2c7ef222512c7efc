//! The programs of the rendezvous suite. Both ways to count switches speak the protocol, and every
//! test runs.

use crate::common::{Place, has};
use std::path::Path;

#[test]
fn the_programs_speak_the_protocol() {
    if !has("gnatmake", "gnat") {
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
