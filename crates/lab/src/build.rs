//! Builds of subjects, kept in a cache by content, compiler and flags.
//!
//! A build runs in its own folder beside its final place. The folder is renamed after the last
//! command has succeeded, so a folder with the final name is always complete. A lock makes other
//! processes wait that want the same build. An interrupted build ends with all its child processes
//! and leaves nothing. The next build clears the rest of a killed one.

mod cache;
mod content;

pub use cache::{Cache, FillError};

use crate::environment;
use crate::record::{Absence, SubjectRecord};
use crate::services;
use crate::subject::{Need, Remedy, Subject, Variant};
use antiphon_outside::folder::Distrust;
use antiphon_runner::{Error as RunnerError, Program, before_last_words, help_for_lack};
use antiphon_service::Kind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A built subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// Its folder.
    pub folder: PathBuf,
    /// The command that runs it.
    pub run: Vec<String>,
    /// The whole programs that it has; `{program}` in `run` stands for one of them.
    pub programs: Vec<String>,
    /// Whether the subject is a server; `{port}` in `run` stands for its port.
    pub serves: bool,
    /// Whether the subject's language compiles at run time, so that it must be warmed.
    pub warms: bool,
    /// Processor time due to a slice of its turns, ms, if the subject's file says so.
    pub slice_ms: Option<u64>,
    /// Whether the subject's run-time looks for other work before a thread waits.
    pub looks_for_work: bool,
    /// Environment variables that it runs with.
    pub environment: Vec<(String, String)>,
    /// Database whose address it also gets.
    pub service: Option<Kind>,
    /// Environment variables under which its programs count.
    pub counting: Vec<(String, String)>,
    /// Identity of the subject, for the run's record.
    pub record: SubjectRecord,
    /// Whether the build was in the cache already.
    pub cached: bool,
}

/// Reason for a missing build.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Commands, headers or libraries that it needs are not there.
    #[error("`{subject}` needs {}, which this machine does not have", names(.missing))]
    Missing {
        /// `name/variant`.
        subject: String,
        /// Needs that this machine lacks.
        missing: Vec<Need>,
    },
    /// A command failed.
    #[error("building `{subject}`: {error}")]
    Failed {
        /// `name/variant`.
        subject: String,
        /// The failed command, its end and its last output.
        error: Box<RunnerError>,
        /// Last output of the command, from both streams.
        last_words: String,
    },
    /// The user stopped it.
    #[error("building `{subject}` was interrupted")]
    Interrupted {
        /// `name/variant`.
        subject: String,
    },
    /// The cache may hold another user's files.
    #[error("building `{subject}`: the cache of builds is not trusted: {why}")]
    NotOurs {
        /// `name/variant`.
        subject: String,
        /// Cause.
        why: Distrust,
    },
    /// A file could not be read or written.
    #[error("building `{subject}`: {}: {source}", path.display())]
    File {
        /// `name/variant`.
        subject: String,
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

fn names(missing: &[Need]) -> String {
    let names: Vec<_> = missing.iter().map(Need::wanted).collect();
    names.join(" and ")
}

impl BuildError {
    /// Returns advice for the user.
    pub fn help(&self) -> String {
        match self {
            BuildError::Missing { missing, .. } => {
                let Remedy { packages, lines, newer } = Remedy::of(missing);
                let installed = (!packages.is_empty()).then(|| format!("`apt install {}` as root", packages.join(" ")));
                let made = lines.into_iter().map(|line| format!("`{line}`"));
                let steps: Vec<_> = installed.into_iter().chain(made).collect();
                let steps = (!steps.is_empty()).then(|| steps.join(", then "));
                let all: Vec<_> = steps.into_iter().chain(newer).collect();
                all.join("; ")
            }
            BuildError::Failed { error, .. } if matches!(**error, RunnerError::TimedOut { .. }) => {
                "run the command by hand to see where it stays, or raise `build_seconds` in its subject.toml".to_owned()
            }
            BuildError::Failed { error, .. } => {
                let help = help_for_lack(&error.to_string());
                help.unwrap_or("mend what its last words name").to_owned()
            }
            BuildError::Interrupted { .. } => {
                "ask again: builds that were whole before are in the cache".to_owned()
            }
            BuildError::NotOurs { .. } => {
                "remove the cache, or set ANTIPHON_CACHE to another folder".to_owned()
            }
            BuildError::File { .. } => {
                "make room or give access, or set ANTIPHON_CACHE to another folder".to_owned()
            }
        }
    }

    /// Returns the compiler's last output; empty for other errors.
    pub fn last_words(&self) -> &str {
        match self {
            BuildError::Failed { last_words, .. } => last_words,
            _ => "",
        }
    }

    /// Returns the absence that this error means for every test of the subject.
    pub fn absence(&self) -> Absence {
        let reason = match self {
            // The last words have a place of their own.
            BuildError::Failed { subject, error, .. } => {
                let text = error.to_string();
                format!("building `{subject}`: {}", before_last_words(&text))
            }
            other => other.to_string(),
        };
        Absence::new(reason, self.help()).with_last_words(self.last_words())
    }
}

/// A time limit of the version command. A virtual machine may start slowly on a busy machine.
const VERSION_LIMIT: Duration = Duration::from_secs(60);

impl Cache {
    /// Builds a variant of a subject for a policy, unless the cache has it or `stop` is set.
    ///
    /// # Errors
    /// See [`BuildError`]. After any error the cache holds nothing of this build.
    pub fn build(
        &self,
        subject: &Subject,
        variant: &Variant,
        policy: &str,
        stop: &AtomicBool,
    ) -> Result<Built, BuildError> {
        let order = Order {
            subject,
            variant,
            policy,
            environment: &self.environment,
            stop,
        };
        let own = subject.missing().into_iter().cloned();
        let missing: Vec<_> = own.chain(variant.missing()).collect();
        if !missing.is_empty() {
            return Err(BuildError::Missing {
                subject: order.id(),
                missing,
            });
        }
        let version = order.version()?;
        let content = content::of(subject).map_err(|(path, source)| order.file(&path, source))?;
        let key = order.key(&content, &version);
        let place = self.place(&subject.name, &key);
        let built = |cached| Built {
            run: subject.fill(&subject.run, &place, &[]),
            programs: subject.programs.clone(),
            serves: subject.serves,
            environment: variant.environment.clone(),
            warms: subject.warms,
            slice_ms: subject.slice_ms,
            looks_for_work: subject.looks_for_work,
            service: variant.service,
            counting: variant.counting.clone(),
            folder: place.clone(),
            record: order.record(&version, &content),
            cached,
        };
        let is_there = || self.has(&place).map_err(|why| order.not_ours(why));
        self.ready().map_err(|why| order.not_ours(why))?;
        if is_there()? {
            return Ok(built(true));
        }
        let lock = self
            .lock(&place, stop)
            .map_err(|source| order.file(&place, source))?
            .ok_or_else(|| order.interrupted())?;
        // The process that held the lock may have made this very build.
        if is_there()? {
            return Ok(built(true));
        }
        order.make(&place)?;
        drop(lock);
        Ok(built(false))
    }
}

/// Returns the flags of a variant, its environment, and the settings and storage of its database.
fn conditions(variant: &Variant) -> String {
    let environment = variant.environment.iter();
    let environment = environment.map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = variant
        .flags
        .iter()
        .cloned()
        .chain(environment)
        .chain(variant.service.map(Kind::conditions))
        .chain(variant.service.and_then(|_| services::on_file_system()))
        .collect();
    words.join(" ")
}

/// Returns the first line of a subject's compiler version.
///
/// # Errors
/// The compiler is missing or fails.
pub fn compiler(subject: &Subject) -> Result<String, BuildError> {
    let variant = &subject.variants[0]; // a subject has at least one
    let order = Order {
        subject,
        variant,
        policy: "other",
        environment: &[],
        stop: &AtomicBool::new(false),
    };
    Ok(first_line(&order.version()?))
}

fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

/// A build to make.
struct Order<'s> {
    subject: &'s Subject,
    variant: &'s Variant,
    policy: &'s str,
    /// Variables that are set for its commands.
    environment: &'s [(String, String)],
    /// Flag set from outside to end commands early.
    stop: &'s AtomicBool,
}

impl Order<'_> {
    fn id(&self) -> String {
        format!("{}/{}", self.subject.name, self.variant.name)
    }

    fn interrupted(&self) -> BuildError {
        BuildError::Interrupted { subject: self.id() }
    }

    fn not_ours(&self, why: Distrust) -> BuildError {
        BuildError::NotOurs {
            subject: self.id(),
            why,
        }
    }

    fn file(&self, path: &Path, source: std::io::Error) -> BuildError {
        BuildError::File {
            subject: self.id(),
            path: path.to_owned(),
            source,
        }
    }

    fn record(&self, version: &str, content: &str) -> SubjectRecord {
        SubjectRecord {
            id: self.id(),
            language: self.subject.language.clone(),
            compiler: first_line(version),
            flags: conditions(self.variant),
            content: content[..16].to_owned(),
        }
    }

    /// Returns the whole output of the version command.
    fn version(&self) -> Result<String, BuildError> {
        let words = self.subject.fill(&self.subject.version, Path::new(""), &[]);
        let output = self.command(&words, &self.subject.folder, VERSION_LIMIT)?;
        Ok(output)
    }

    /// Returns a build's name, which covers every input that decides its content.
    fn key(&self, content: &str, version: &str) -> String {
        let subject = self.subject;
        let needs = subject.needs.iter().chain(&self.variant.needs);
        let libraries: Vec<_> = needs.filter_map(Need::identity).collect();
        let decides = (
            content,
            version,
            &subject.build,
            subject.flags(self.variant, self.policy),
            self.environment,
            std::env::consts::ARCH,
            libraries,
        );
        let text = serde_json::to_vec(&decides).expect("strings are always writable as JSON");
        let hash = blake3::hash(&text).to_hex();
        // Variants with the same flags, which differ in their environment alone, have one build.
        let mut variants = subject.variants.iter();
        let first = variants.find(|other| other.flags == self.variant.flags);
        let name = &first.unwrap_or(self.variant).name;
        format!("{name}-{}", &hash[..32])
    }

    /// Runs the build commands in a folder beside `place` and renames it when all have succeeded.
    fn make(&self, place: &Path) -> Result<(), BuildError> {
        let folder = cache::unfinished(place).map_err(|source| self.file(place, source))?;
        let flags = self.subject.flags(self.variant, self.policy);
        let begin = Instant::now();
        let limit = Duration::from_secs(self.subject.build_seconds);
        for command in &self.subject.build {
            let words = self.subject.fill(command, folder.path(), &flags);
            let left = limit
                .saturating_sub(begin.elapsed())
                .max(Duration::from_millis(1));
            self.command(&words, folder.path(), left)?;
        }
        std::fs::rename(folder.path(), place).map_err(|source| self.file(place, source))?;
        // The folder has its final name and is no longer a temporary one.
        let _ = folder.keep();
        Ok(())
    }

    /// Runs one command and gives its standard output.
    fn command(
        &self,
        words: &[String],
        folder: &Path,
        limit: Duration,
    ) -> Result<String, BuildError> {
        let (program, args) = words
            .split_first()
            .expect("a command has at least a program");
        let failed = |error: RunnerError, last_words| BuildError::Failed {
            subject: self.id(),
            error: Box::new(error),
            last_words,
        };
        let set = self.environment.iter();
        let program = environment::of_build(Program::new(program))
            .args(args)
            .cwd(folder)
            .envs(set.map(|(name, value)| (name, value)))
            .time_limit(limit);
        let output = program.run_unless(self.stop).map_err(|error| match error {
            RunnerError::Interrupted { .. } => self.interrupted(),
            error => failed(error, String::new()),
        })?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.success() {
            Ok(_) => Ok(stdout),
            Err(error) => {
                // Some compilers complain on standard output.
                let last_words = match error.last_words().trim() {
                    "" => last_lines(&stdout),
                    words => last_lines(words),
                };
                Err(failed(error, last_words))
            }
        }
    }
}

/// Returns the last twenty lines.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
