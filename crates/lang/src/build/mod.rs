//! C to an executable: the system's C compiler, a run-time, and a cache of earlier builds.
//!
//! The cache names an executable by its inputs: the source files, the options, the C compiler's
//! version, the run-time. An executable in the cache is complete, because it is built beside its
//! place and then renamed.

mod cache;
mod compiler;

use std::path::{Path, PathBuf};

use antiphon_outside::folder::Distrust;
use antiphon_runner::Error as RunnerError;

use crate::source::Sources;
use cache::Cache;
pub use compiler::Compiler;

/// The folder of a recipe's headers, beside the C file.
const HEADERS: &str = "headers";

/// A language's run-time: a static library, and the headers for generated C.
#[derive(Debug)]
pub struct Runtime {
    /// The language, for messages.
    pub language: &'static str,
    /// The name of the static library among the files.
    pub archive: &'static str,
    /// All files, by name.
    pub files: &'static [(&'static str, &'static [u8])],
    /// A name that changes with any of the files.
    pub key: &'static str,
}

impl Runtime {
    /// Returns a folder in `cache` with the files, which are written unless they are there.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn unpacked(&self, cache: &Path) -> Result<PathBuf, BuildError> {
        let cache = Cache::new(cache);
        cache.ready()?;
        cache.unpacked(self)
    }
}

/// The inputs of a build besides the generated C.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The run-time.
    pub runtime: &'static Runtime,
    /// Flags for the C compiler, after those of every program.
    pub flags: Vec<String>,
    /// C sources, objects, archives and `-l` options that are linked with the program.
    pub with: Vec<String>,
    /// Headers that these C sources may include: names and texts. The C compiler looks for them
    /// last, so that none hides a header of the system.
    pub headers: Vec<(String, String)>,
}

/// Why there is no executable.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no C compiler.
    #[error(
        "there is no C compiler `{command}`, and {language} programs are built with it; `apt install gcc` as root, or set CC to another"
    )]
    NoCompiler {
        /// The command that was looked for.
        command: String,
        /// The language of the program.
        language: &'static str,
    },
    /// The C compiler was started and did not work.
    #[error("the C compiler did not work: {0}")]
    Compiler(#[source] Box<RunnerError>),
    /// The generated text is not valid C.
    #[error(
        "the C compiler refused what was made of the program. This is a fault of antiphon, not of the program; please report it with {}.\n{last_words}",
        kept.display()
    )]
    Refused {
        /// The C file, which is kept.
        kept: PathBuf,
        /// The C compiler's message.
        last_words: String,
    },
    /// The additional files do not link with the program.
    #[error("the program was not linked with what was given beside it:\n{last_words}")]
    NotLinked {
        /// The C compiler's message.
        last_words: String,
    },
    /// The cache may belong to another user.
    #[error(
        "the cache of executables is not trusted: {0}; remove it, or set ANTIPHON_CACHE to another folder"
    )]
    NotOurs(#[source] Distrust),
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

/// An executable, and the warnings of its compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The file.
    pub path: PathBuf,
    /// The warnings, as text.
    pub warnings: String,
}

/// A program that may be in the cache.
pub struct Job {
    cache: Cache,
    compiler: Compiler,
    recipe: Recipe,
    key: String,
}

impl Job {
    /// Finds the C compiler, and names the build of these sources in the cache in `folder`.
    /// `options` are all other inputs of the build.
    ///
    /// # Errors
    /// There is no C compiler, a file to link with cannot be read, or the cache is not this user's
    /// alone.
    pub fn new(
        folder: &Path,
        sources: &Sources,
        options: &str,
        recipe: impl Into<Recipe>,
    ) -> Result<Job, BuildError> {
        let recipe = recipe.into();
        let cache = Cache::new(folder);
        cache.ready()?;
        let compiler = Compiler::of_system(recipe.runtime.language)?;
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
        add(format!("{options}\n{:?}\n{:?}", recipe.flags, recipe.with).as_bytes());
        add(compiler.version().as_bytes());
        add(recipe.runtime.key.as_bytes());
        for file in recipe.with.iter().filter(|word| !word.starts_with('-')) {
            add(&std::fs::read(file).map_err(BuildError::file(Path::new(file)))?);
        }
        Ok(Job {
            cache,
            compiler,
            recipe,
            key: hasher.finalize().to_hex()[..32].to_owned(),
        })
    }

    /// Returns the executable, if it was built before.
    pub fn cached(&self) -> Option<Executable> {
        self.cache.find(&self.key)
    }

    /// Builds the executable from C.
    ///
    /// # Errors
    /// The compiler refuses it, or the cache cannot be written.
    pub fn build(&self, text: &str, warnings: &str) -> Result<Executable, BuildError> {
        let runtime = self.cache.unpacked(self.recipe.runtime)?;
        let folder = self.cache.unfinished()?;
        let source = folder.path().join("program.c");
        std::fs::write(&source, text).map_err(BuildError::file(&source))?;
        self.write_headers(&folder.path().join(HEADERS))?;
        let refused = self.compile(&runtime, folder.path())?;
        if let Some(last_words) = refused {
            return Err(self.refusal(text, last_words));
        }
        self.cache.keep(&self.key, folder, warnings)
    }

    fn write_headers(&self, folder: &Path) -> Result<(), BuildError> {
        if self.recipe.headers.is_empty() {
            return Ok(());
        }
        std::fs::create_dir(folder).map_err(BuildError::file(folder))?;
        for (name, text) in &self.recipe.headers {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(BuildError::file(&path))?;
        }
        Ok(())
    }

    /// Compiles and links `program.c` in a folder; returns the compiler's complaint, if any.
    fn compile(&self, runtime: &Path, folder: &Path) -> Result<Option<String>, BuildError> {
        let mut words = vec!["-I".to_owned(), runtime.display().to_string()];
        if !self.recipe.headers.is_empty() {
            words.push("-idirafter".to_owned());
            words.push(folder.join(HEADERS).display().to_string());
        }
        words.extend(self.recipe.flags.iter().cloned());
        words.push(folder.join("program.c").display().to_string());
        words.extend(self.recipe.with.iter().cloned());
        let archive = runtime.join(self.recipe.runtime.archive);
        words.push(archive.display().to_string());
        words.push("-o".to_owned());
        words.push(folder.join(cache::PROGRAM).display().to_string());
        self.compiler.run(&words)
    }

    /// Decides whether a message is our fault. It is, unless an additional file is wrong, or the
    /// linker misses a function that one should define.
    fn refusal(&self, text: &str, last_words: String) -> BuildError {
        let is_linkers = last_words.contains("undefined reference")
            || last_words.contains("multiple definition")
            || last_words.contains("cannot find");
        let is_of = |file: &String| last_words.contains(&format!("{file}:"));
        if is_linkers || self.recipe.with.iter().any(is_of) {
            return BuildError::NotLinked { last_words };
        }
        match self.cache.keep_refused(&self.key, text) {
            Ok(kept) => BuildError::Refused { kept, last_words },
            Err(error) => error,
        }
    }
}
