//! C to an executable, with the run-time of Orca programs.

use antiphon_lang::build::Recipe;
pub use antiphon_lang::build::{BuildError, Compiler, Executable, Job};

/// The inputs besides the program's text, and the compiler's flags.
#[derive(Debug, Clone, Default)]
pub struct Linking {
    /// C sources, objects, archives and `-l` options that go to the C compiler: functions behind
    /// a specification.
    pub with: Vec<String>,
    /// The units with these functions. A C source may include `UNIT.h`, as in the original.
    pub units_in_c: Vec<String>,
    /// More flags for the C compiler, after ours.
    pub flags: Vec<String>,
}

impl From<Linking> for Recipe {
    fn from(linking: Linking) -> Recipe {
        // `-fexceptions`: unwinding an operation destroys its variables. Type-based aliasing:
        // elements of arrays have types that their bounds do not have. `-O3` unswitches loops,
        // which `-O2` does not do, so that inner loops check bounds once.
        let ours = ["-O3", "-fexceptions", "-fstrict-aliasing"];
        let mut flags: Vec<String> = ours.map(str::to_owned).into();
        flags.extend(linking.flags);
        Recipe {
            runtime: &antiphon_runtimes::ORCA,
            flags,
            with: linking.with,
            headers: linking.units_in_c.iter().map(|it| header(it)).collect(),
        }
    }
}

/// Returns the name and text of a unit's header. It has the types; the C source has the functions.
fn header(unit: &str) -> (String, String) {
    (format!("{unit}.h"), "#include <interface.h>\n".to_owned())
}
