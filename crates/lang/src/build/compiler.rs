//! The system's C compiler.

use std::time::Duration;

use antiphon_runner::{Error as RunnerError, Program};

use super::BuildError;

/// The longest that a C compiler may take to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// The longest that the compilation of a program may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Lines of the compiler's messages that are shown.
const SHOWN: usize = 20;

/// Every program's flags. Integers wrap, and objects are reached through views of other types.
/// Run-times switch fibers on the stack below a function's frame, where the red zone would be.
/// Warnings about generated C are no use to a user. A frame that is larger than the guard below a
/// fiber's stack must not jump over it, also in C that is linked. A call at a function's end stays
/// a call: endless recursion as a loop would never run into the guard.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-w",
    "-pipe",
    "-fstack-clash-protection",
    "-fno-optimize-sibling-calls",
    #[cfg(target_arch = "x86_64")]
    "-mno-red-zone",
];

/// Every program's libraries. The linker leaves out functions that are never called.
const LIBRARIES: &[&str] = &["-lm", "-lpthread", "-ldl", "-Wl,--gc-sections"];

/// The system's C compiler.
#[derive(Debug, Clone)]
pub struct Compiler {
    command: String,
    version: String,
    /// The language of the programs, for messages.
    language: &'static str,
}

impl Compiler {
    /// Finds the command in `CC`, else `cc`.
    ///
    /// # Errors
    /// There is none, or it does not print its version.
    pub fn of_system(language: &'static str) -> Result<Compiler, BuildError> {
        let command = std::env::var("CC")
            .ok()
            .filter(|c| !c.trim().is_empty())
            .unwrap_or_else(|| "cc".to_owned());
        let mut compiler = Compiler {
            command,
            version: String::new(),
            language,
        };
        let asked = compiler
            .program(&["--version".to_owned()])
            .time_limit(VERSION_LIMIT);
        let output = asked.run().and_then(|output| output.success());
        compiler.version = output
            .and_then(|output| Ok(output.text()?.to_owned()))
            .map_err(|error| compiler.failed(error))?;
        Ok(compiler)
    }

    /// Returns its own description.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles and links; returns the compiler's complaint, if it has one.
    pub(super) fn run(&self, words: &[String]) -> Result<Option<String>, BuildError> {
        let mut all: Vec<String> = FLAGS.iter().map(|&flag| flag.to_owned()).collect();
        all.extend(words.iter().cloned());
        all.extend(LIBRARIES.iter().map(|&word| word.to_owned()));
        let output = self.program(&all).time_limit(LIMIT).run();
        let output = output.map_err(|error| self.failed(error))?;
        match output.success() {
            Ok(_) => Ok(None),
            Err(RunnerError::Exited { last_words, .. }) => {
                let lines: Vec<&str> = last_words.lines().take(SHOWN).collect();
                Ok(Some(lines.join("\n")))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Prepares a call. `CC` may hold more than a name: `ccache gcc`.
    fn program(&self, words: &[String]) -> Program {
        let mut parts = self.command.split_whitespace();
        let program = Program::new(parts.next().unwrap_or("cc"));
        // `refusal` looks for English messages.
        program.args(parts).args(words).env("LC_ALL", "C")
    }

    fn failed(&self, error: RunnerError) -> BuildError {
        match error {
            RunnerError::Missing { program } => BuildError::NoCompiler {
                command: program,
                language: self.language,
            },
            other => BuildError::Compiler(Box::new(other)),
        }
    }
}
