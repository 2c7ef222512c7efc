//! The layer's examples over simulated networks.

#[path = "../../../panda/examples/counter.rs"]
mod counter;
#[allow(dead_code, reason = "its main is the document's")]
#[path = "../../../panda/examples/language.rs"]
mod language;
#[path = "../../../panda/examples/ping_pong.rs"]
mod ping_pong;
#[path = "../../../panda/examples/work_queue.rs"]
mod work_queue;

use antiphon_panda::{Error, Session};
use antiphon_panda_sim::seeds;

use crate::conforming::{bus, lossy, multicast, streams};

/// Runs a program over the rough networks, with some seeds on each. Its processes join by
/// themselves.
fn runs<E: std::fmt::Display>(
    size: u32,
    program: impl Fn() -> Result<(), E> + Copy + Send + Sync + 'static,
) {
    for simulation in [lossy, multicast, streams, bus] {
        for seed in seeds(3) {
            let run = simulation(size).seed(seed);
            let run = run.run(move |_| program().map_err(|error| error.to_string()));
            let ends = run.expect("fibers").values();
            let ends = ends.unwrap_or_else(|failure| panic!("{failure}"));
            assert!(ends.iter().all(Result::is_ok), "seed {seed}: {ends:?}");
        }
    }
}

#[test]
fn the_replicated_counter() {
    runs(4, counter::main);
}

#[test]
fn the_work_queue() {
    runs(4, work_queue::main);
}

#[test]
fn the_ping_pong() {
    runs(2, ping_pong::main);
}

#[test]
fn the_language() {
    runs(3, || {
        let session = Session::join()?;
        let (rank, all) = (session.rank(), session.size());
        let runtime = language::Runtime::begin(session)?;
        runtime.add("here", 1)?;
        for place in 0..all {
            runtime.wait_for(place, "here", all.into())?;
        }
        runtime.wait_for(rank, "other", 0)?;
        runtime.end()?;
        Ok::<(), Error>(())
    });
}
