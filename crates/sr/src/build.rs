//! C to an executable, with the run-time of SR programs.

use antiphon_lang::build::Recipe;
pub use antiphon_lang::build::{BuildError, Compiler, Executable, Job};

/// What is built besides the program's text, and how.
#[derive(Debug, Clone, Default)]
pub struct Linking {
    /// Whether the program may run on several processors: then its run-time has atomic operations.
    pub is_parallel: bool,
    /// Whether loops have a check, as iteration counting needs it.
    pub has_loop_checks: bool,
    /// What the program takes for `ANTIPHON_SR` where that does not say otherwise.
    pub settings: String,
    /// C sources, objects, archives and `-l` options that go to the C compiler: what `external`
    /// operations are.
    pub with: Vec<String>,
    /// More flags for the C compiler, after ours.
    pub flags: Vec<String>,
}

impl From<Linking> for Recipe {
    fn from(linking: Linking) -> Recipe {
        let mut flags = linking.flags;
        if linking.is_parallel {
            flags.push("-DSR_MANY".to_owned());
        }
        if linking.has_loop_checks {
            flags.push("-DSR_LOOPS".to_owned());
        }
        flags.push(format!("-DSR_DEFAULTS={:?}", linking.settings));
        Recipe {
            runtime: &antiphon_runtimes::SR,
            flags,
            with: linking.with,
        }
    }
}
