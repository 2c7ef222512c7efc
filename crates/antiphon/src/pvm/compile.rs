//! `antiphon pvm cc` and `antiphon pvm fc`: compilers with the flags for PVM, like `mpicc`.

use super::Compiler;
use crate::exit::{Exit, Missing};
use anyhow::Result;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names a folder with `include/` and `lib/`.
const HOME: &str = "ANTIPHON_PVM_HOME";
/// That folder of an installed command, relative to the folder above the command's.
const INSTALLED: &str = "lib/antiphon/pvm";

/// Replaces this process by the compiler.
pub fn run(variable: &str, otherwise: &str, options: &Compiler) -> Result<Exit> {
    let home = home()?;
    let named = env::var(variable).unwrap_or_default();
    let words = compiler(&named, otherwise);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command.args(arguments(&home, &options.args));
    let error = command.exec();
    let name = words.join(" ");
    Err(Missing(format!(
        "cannot run the compiler `{name}`: {error}; install it, or name another one in {variable}"
    ))
    .into())
}

/// Returns the compiler that a variable names, with its options. The variable may name this
/// command, as `make CC="antiphon pvm cc"` sets it for all that it runs. Then it is `otherwise`,
/// the default compiler with its options.
fn compiler<'a>(named: &'a str, otherwise: &'a str) -> Vec<&'a str> {
    let words: Vec<&str> = named.split_whitespace().collect();
    match words.as_slice() {
        [] | [.., "pvm", "cc" | "fc"] => otherwise.split_whitespace().collect(),
        _ => words,
    }
}

/// Returns the compiler's arguments: the folders of header and library, the user's arguments, and
/// the library.
fn arguments(home: &Path, given: &[OsString]) -> Vec<OsString> {
    let (include, lib) = (home.join("include"), home.join("lib"));
    let with = |flag: &str, path: &Path| {
        let mut word = OsString::from(flag);
        word.push(path);
        word
    };
    let mut arguments = vec![with("-I", &include)];
    let links = !given.iter().any(|word| {
        ["-c", "-E", "-S", "-M", "-MM"]
            .iter()
            .any(|stops| word == OsStr::new(stops))
    });
    if links {
        arguments.push(with("-L", &lib));
        arguments.push(with("-Wl,-rpath,", &lib));
    }
    arguments.extend_from_slice(given);
    if links {
        arguments.push("-lpvm3".into());
    }
    arguments
}

/// Returns the folder with header and library: the given one, the one beside the command where it
/// was built, or the installed one.
fn home() -> Result<PathBuf> {
    let given = env::var_os(HOME)
        .filter(|home| !home.is_empty())
        .map(PathBuf::from);
    let exe = env::current_exe().ok();
    let beside = exe.as_ref().and_then(|exe| Some(exe.parent()?.join("pvm")));
    let installed = exe
        .as_ref()
        .and_then(|exe| Some(exe.parent()?.parent()?.join(INSTALLED)));
    let candidates = match given {
        Some(given) => vec![given],
        None => beside.into_iter().chain(installed).collect(),
    };
    let found = candidates
        .into_iter()
        .find(|home| home.join("include/pvm3.h").is_file());
    found.ok_or_else(|| {
        Missing(format!(
            "there are no PVM libraries in {INSTALLED} beside this command: `make install` in the source folder installs them; or name a folder with include/ and lib/ in {HOME}"
        ))
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(given: &[&str]) -> Vec<String> {
        let given: Vec<OsString> = given.iter().map(OsString::from).collect();
        let arguments = arguments(Path::new("/p"), &given);
        arguments
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_compiler_that_is_this_command_is_the_usual_one() {
        for named in ["", " ", "antiphon pvm cc", "/opt/bin/antiphon pvm fc"] {
            let found = compiler(named, "gfortran -std=legacy");
            assert_eq!(found, ["gfortran", "-std=legacy"], "{named}");
        }
        assert_eq!(compiler("ccache gcc -m64", "cc"), ["ccache", "gcc", "-m64"]);
    }

    #[test]
    fn a_program_is_linked_with_the_library_and_an_object_is_not() {
        let linked = [
            "-I/p/include",
            "-L/p/lib",
            "-Wl,-rpath,/p/lib",
            "a.c",
            "-lgpvm3",
            "-lpvm3",
        ];
        assert_eq!(said(&["a.c", "-lgpvm3"]), linked);
        assert_eq!(said(&["-c", "a.c"]), ["-I/p/include", "-c", "a.c"]);
    }
}
