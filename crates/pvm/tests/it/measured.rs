//! The subject of the suite `layer`, built with this library. Each kind of its tests runs once.

use std::process::Command;

use crate::support::{Place, libraries, root, run};

/// Requests of the subject protocol. The last one ends the subject.
const REQUESTS: [&str; 3] = [
    "batch roundtrip iterations=5 blocks=1 reference=0 warmup=1 arg=70003",
    "batch broadcast.4 iterations=5 blocks=1 reference=0 warmup=1 arg=64",
    "quit",
];

#[test]
fn the_programs_that_are_measured_run_in_all_encodings() {
    let place = Place::ours();
    let folder = place.programs();
    let (include, library) = (root().join("include"), libraries());
    let compiler = format!("cc -I{} -L{}", include.display(), library.display());
    run(Command::new("make")
        .current_dir(&folder)
        .arg("-s")
        .arg("-f")
        .arg(root().join("../../subjects/layer-pvm-panda/Makefile"))
        .arg(format!("CC={compiler}")));
    for packing in ["raw", "in-place", "xdr"] {
        let leader = place.program(folder.join("leader"));
        let leader = leader
            .env("LAYER_ROUTE", "direct")
            .env("LAYER_PACKING", packing);
        let mut leader = leader.spawn().expect("the leader");
        // Tasks begin in the same way for all kinds of messages.
        let first = ["hello 1"].into_iter();
        let spawn = (packing == "raw").then_some("latency spawn.16 count=2 interval=0");
        for request in first.chain(spawn).chain(REQUESTS) {
            leader.write_line(request).expect("the leader listens");
            loop {
                let line = leader.read_line().expect("an answer");
                assert!(
                    !line.starts_with("@@ error"),
                    "{packing}, {request}: {line}"
                );
                if line == "@@ ok" {
                    break;
                }
            }
        }
    }
}
