//! C to an executable, with the run-time of SR programs.

use antiphon_lang::build::Recipe;
pub use antiphon_lang::build::{BuildError, Compiler, Executable, Job};

/// How to build an executable from the program's C.
#[derive(Debug, Clone, Default)]
pub struct Linking {
    /// Whether the program may run on several processors: then its run-time has atomic operations.
    pub is_parallel: bool,
    /// Whether loops have a check, as iteration counting needs it.
    pub has_loop_checks: bool,
    /// Whether there are points at which a schedule drawn from a seed may switch.
    pub has_points: bool,
    /// Whether the program creates virtual machines: then its run-time has panda in it.
    pub has_machines: bool,
    /// Default for the settings in `ANTIPHON_SR`.
    pub settings: String,
    /// C sources, objects, archives and `-l` options for the C compiler, which define `external`
    /// operations.
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
        if linking.has_points {
            flags.push("-DSR_POINTS".to_owned());
        }
        flags.push(format!("-DSR_DEFAULTS={:?}", linking.settings));
        Recipe {
            runtime: match linking.has_machines {
                true => &antiphon_runtimes::SR_MACHINES,
                false => &antiphon_runtimes::SR,
            },
            flags,
            with: linking.with,
            headers: Vec::new(),
        }
    }
}
