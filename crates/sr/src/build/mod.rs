//! C to an executable: the system's C compiler, the run-time, and a cache of what was built.
//!
//! An executable is kept under a name made of all that decides what comes out: the source files, the options, the C compiler's version, the run-time.
//! One that is there is whole: it was built beside its place and renamed to it.

mod cache;
mod compiler;
mod runtime;

use std::path::{Path, PathBuf};

use antiphon_runner::Error as RunnerError;

use crate::source::Sources;
use cache::Cache;
pub use compiler::Compiler;
use runtime::Runtime;

/// What is built besides the program's text, and how.
#[derive(Debug, Clone, Default)]
pub struct Linking {
    /// Whether the program may run on several processors: then its run-time has atomic operations.
    pub is_parallel: bool,
    /// Whether loops have a check, as iteration counting needs it.
    pub has_loop_checks: bool,
    /// What the program takes for `ANTIPHON_SR` where that does not say otherwise.
    pub settings: String,
    /// C sources, objects, archives and `-l` options that go to the C compiler: what `external` operations are.
    pub with: Vec<String>,
    /// More flags for the C compiler, after ours.
    pub flags: Vec<String>,
}

/// Why there is no executable.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no C compiler.
    #[error(
        "there is no C compiler `{command}`, and SR programs are built with it; `apt install gcc` as root, or set CC to another"
    )]
    NoCompiler {
        /// The command that was looked for.
        command: String,
    },
    /// The C compiler was started and did not work.
    #[error("the C compiler did not work: {0}")]
    Compiler(#[source] Box<RunnerError>),
    /// What we wrote is no C.
    #[error(
        "the C compiler refused what was made of the program. This is a fault of antiphon, not of the program; please report it with {}.\n{last_words}",
        kept.display()
    )]
    Refused {
        /// The C file, which is kept.
        kept: PathBuf,
        /// What the C compiler said.
        last_words: String,
    },
    /// What was given to be linked with the program does not fit it.
    #[error("the program was not linked with what was given beside it:\n{last_words}")]
    NotLinked {
        /// What the C compiler said.
        last_words: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl BuildError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> BuildError {
        let path = path.to_owned();
        move |source| BuildError::File { path, source }
    }
}

/// An executable, and what was said when it was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The file.
    pub path: PathBuf,
    /// The warnings that came with it.
    pub warnings: String,
}

/// A program that may be in the cache.
pub struct Job {
    cache: Cache,
    compiler: Compiler,
    runtime: Runtime,
    linking: Linking,
    key: String,
}

impl Job {
    /// Looks around: the C compiler, the cache in `folder`, and a name for what is to be built of these sources. `options` is all else that decides
    /// what comes out.
    ///
    /// # Errors
    /// There is no C compiler, or a file to link with cannot be read.
    pub fn new(
        folder: &Path,
        sources: &Sources,
        options: &str,
        linking: Linking,
    ) -> Result<Job, BuildError> {
        let compiler = Compiler::of_system()?;
        let runtime = Runtime::default();
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        for source in sources.iter() {
            add(source.path.as_os_str().as_encoded_bytes());
            add(source.text.as_bytes());
        }
        add(format!("{options}\n{linking:?}").as_bytes());
        add(compiler.version().as_bytes());
        add(runtime.key().as_bytes());
        for file in linking.with.iter().filter(|word| !word.starts_with('-')) {
            add(&std::fs::read(file).map_err(BuildError::file(Path::new(file)))?);
        }
        Ok(Job {
            cache: Cache::new(folder),
            compiler,
            runtime,
            linking,
            key: hasher.finalize().to_hex()[..32].to_owned(),
        })
    }

    /// The executable, if it was built before.
    pub fn cached(&self) -> Option<Executable> {
        self.cache.find(&self.key)
    }

    /// Builds it from C.
    ///
    /// # Errors
    /// The compiler refuses it, or the cache cannot be written.
    pub fn build(&self, text: &str, warnings: &str) -> Result<Executable, BuildError> {
        let runtime = self.runtime.unpacked(&self.cache)?;
        let folder = self.cache.unfinished()?;
        let source = folder.path().join("program.c");
        std::fs::write(&source, text).map_err(BuildError::file(&source))?;
        let refused = self.compile(&runtime, folder.path())?;
        if let Some(last_words) = refused {
            return Err(self.refusal(text, last_words));
        }
        self.cache.keep(&self.key, folder, warnings)
    }

    /// What the compiler says if it does not want it.
    fn compile(&self, runtime: &Path, folder: &Path) -> Result<Option<String>, BuildError> {
        let mut words = vec!["-I".to_owned(), runtime.display().to_string()];
        words.extend(self.linking.flags.iter().cloned());
        if self.linking.is_parallel {
            words.push("-DSR_MANY".to_owned());
        }
        if self.linking.has_loop_checks {
            words.push("-DSR_LOOPS".to_owned());
        }
        words.push(format!("-DSR_DEFAULTS={:?}", self.linking.settings));
        words.push(folder.join("program.c").display().to_string());
        words.extend(self.linking.with.iter().cloned());
        words.push(runtime.join(runtime::ARCHIVE).display().to_string());
        words.push("-o".to_owned());
        words.push(folder.join(cache::PROGRAM).display().to_string());
        self.compiler.run(&words)
    }

    /// Whose fault it is: ours, unless the linker misses what should have come with the program.
    fn refusal(&self, text: &str, last_words: String) -> BuildError {
        let is_linkers = last_words.contains("undefined reference")
            || last_words.contains("multiple definition")
            || last_words.contains("cannot find");
        if is_linkers {
            return BuildError::NotLinked { last_words };
        }
        match self.cache.keep_refused(&self.key, text) {
            Ok(kept) => BuildError::Refused { kept, last_words },
            Err(error) => error,
        }
    }
}
