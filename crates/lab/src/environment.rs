//! Environment variables that do not reach subjects: settings of compilers, run-time systems and
//! drivers.
//!
//! Each of them would change the figures of one language alone. A build made with one would also be
//! reused without it. A setting to be measured belongs into a variant, so that the run's record has
//! it.

use crate::patterns::Patterns;
use antiphon_runner::Program;
use std::sync::LazyLock;

/// Variables that compilers read beside the command line, including that of SR. A `*` stands for
/// any text in its place.
const OF_COMPILERS: [&str; 20] = [
    "CC",
    "CXX",
    "CC_*",
    "CFLAGS",
    "CFLAGS_*",
    "CPPFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
    "CARGO_BUILD_*",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_PROFILE_*",
    "CARGO_TARGET_*_RUSTFLAGS",
    "CGO_*",
    "GOAMD64",
    "GOARM64",
    "GOEXPERIMENT",
    "GOFLAGS",
    "JDK_JAVAC_OPTIONS",
    "ANTIPHON_SR_CFLAGS",
];

/// Variables of the C library, run-time systems, virtual machines, servers, database drivers and
/// the portability layer.
const OF_PROGRAMS: [&str; 33] = [
    "GLIBC_TUNABLES",
    "LD_AUDIT",
    "LD_BIND_NOW",
    "LD_PRELOAD",
    "MALLOC_*",
    "VALGRIND_OPTS",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PG_FORCE_NATIVE",
    "NODE_V8_COVERAGE",
    "UV_THREADPOOL_SIZE",
    "UV_USE_IO_URING",
    "PYTHONASYNCIODEBUG",
    "PYTHONDEVMODE",
    "PYTHONMALLOC",
    "PYTHONOPTIMIZE",
    "PYTHONPERFSUPPORT",
    "PYTHONTRACEMALLOC",
    "PYTHON_GIL",
    "PYTHON_JIT",
    "TOKIO_WORKER_THREADS",
    "UVICORN_*",
    "WEB_CONCURRENCY",
    "PG*",
    "MARIADB_*",
    "MYSQL_*",
    "ANTIPHON_SPIN",
];

static BY_COMPILERS: LazyLock<Patterns> = LazyLock::new(|| patterns(&OF_COMPILERS));
static BY_PROGRAMS: LazyLock<Patterns> = LazyLock::new(|| patterns(&OF_PROGRAMS));

fn patterns(written: &[&str]) -> Patterns {
    let written: Vec<_> = written.iter().map(|name| (*name).to_owned()).collect();
    Patterns::new(&written).expect("names and stars alone")
}

/// Removes the variables of compilers from a build command.
pub(crate) fn of_build(program: Program) -> Program {
    without(program, &BY_COMPILERS)
}

/// Removes all tuning variables from a subject's process.
pub(crate) fn of_subject(program: Program) -> Program {
    without(program, &BY_PROGRAMS)
}

fn without(program: Program, left_out: &Patterns) -> Program {
    let names = names().filter(|name| left_out.fit(name));
    names.fold(program, |program, name| program.env_remove(name))
}

/// Names that are no text are none of those above.
fn names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// Says which variables are set that subjects do not get.
pub(crate) fn warning() -> Option<String> {
    warning_of(names())
}

fn warning_of(names: impl Iterator<Item = String>) -> Option<String> {
    let is_left_out = |name: &String| BY_COMPILERS.fit(name) || BY_PROGRAMS.fit(name);
    let mut left_out: Vec<String> = names.filter(is_left_out).collect();
    left_out.sort();
    let (last, others) = left_out.split_last()?;
    let (list, verb) = match others {
        [] => (last.clone(), "tunes"),
        _ => (format!("{} and {last}", others.join(", ")), "tune"),
    };
    Some(format!(
        "not passed on to subjects and their builds: {list} of the environment, which {verb} some of them (what is to be measured so is a variant's `flags` or \
         `environment` in its subject.toml)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(names: &[&str]) -> Option<String> {
        warning_of(names.iter().map(|name| (*name).to_owned()))
    }

    #[test]
    fn what_tunes_no_subject_is_passed_on_without_a_word() {
        let passed_on = ["PATH", "HOME", "LD_LIBRARY_PATH", "GOPATH", "PYTHONPATH"];
        assert_eq!(warning(&passed_on), None);
        assert_eq!(
            warning(&["CARGO_TARGET_DIR", "CARGO_TARGET_RUSTFLAGS"]),
            None
        );
        assert_eq!(warning(&["GOGCC", "MALLOC", "XPGHOST", "cflags"]), None);
    }

    #[test]
    fn what_is_left_out_is_named_in_order() {
        let one = warning(&["HOME", "GOGC"]).unwrap();
        assert!(
            one.contains(": GOGC of the environment, which tunes"),
            "{one}"
        );
        let set = ["PGSSLMODE", "CARGO_TARGET_X_RUSTFLAGS", "CC"];
        let three = warning(&set).unwrap();
        let list = ": CARGO_TARGET_X_RUSTFLAGS, CC and PGSSLMODE of the environment, which tune";
        assert!(three.contains(list), "{three}");
    }

    #[test]
    fn no_name_stands_twice() {
        let all: Vec<_> = OF_COMPILERS.iter().chain(&OF_PROGRAMS).collect();
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
