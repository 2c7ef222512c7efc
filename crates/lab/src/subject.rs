//! Subjects: the measured programs. A folder with a `subject.toml` is one;
//! docs/reference/subjects.md describes the file.

mod least;
mod need;
mod read;

pub use least::Least;
pub use need::{Need, Origin, Remedy, Thing, find_command};

use crate::document::{Faults, did_you_mean};
use antiphon_service::Kind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A subject as its file says it, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its folder, absolute; `{source}` in commands.
    pub folder: PathBuf,
    /// Its name; with a variant, `ada/O2`, the name of the measured subject.
    pub name: String,
    /// The language, for people.
    pub language: String,
    /// Description for people.
    pub description: String,
    /// The command that prints the compiler's version.
    pub version: Vec<String>,
    /// The commands, headers and libraries that it needs.
    pub needs: Vec<Need>,
    /// Files and folders that decide the build, relative to its folder.
    pub sources: Vec<String>,
    /// The commands that build it, run one after the other in `{build}`.
    pub build: Vec<Vec<String>>,
    /// Time limit of all of them together, s.
    pub build_seconds: u64,
    /// The command that runs it.
    pub run: Vec<String>,
    /// Names of its programs, if it consists of whole programs; `{program}` in `run` stands for one
    /// of them. Empty for a subject that speaks the protocol.
    pub programs: Vec<String>,
    /// Whether it is a server that answers HTTP; `{port}` in `run` stands for its port on loopback.
    pub serves: bool,
    /// Whether its language compiles at run time: each of its tests is then warmed before the
    /// measurement.
    pub warms: bool,
    /// Processor time due to the slices of its turns, ms, if it differs from the default. Its
    /// run-time then works in bursts, such as a collector's, that a short slice does not include.
    pub slice_ms: Option<u64>,
    /// Whether its run-time looks for other work before a thread waits: beside a server, its turns
    /// are not in real time.
    pub looks_for_work: bool,
    /// Its variants, the default one first; never empty.
    pub variants: Vec<Variant>,
    /// Further flags under a policy; each policy here has separate builds.
    pub policies: BTreeMap<String, Vec<String>>,
}

/// A way to build a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name, such as `O2`.
    pub name: String,
    /// Value of `{flags}`.
    pub flags: Vec<String>,
    /// Needs beside those of the subject.
    pub needs: Vec<Need>,
    /// Database of its measurements, whose address it gets at its start.
    pub service: Option<Kind>,
    /// Environment variables that it runs with.
    pub environment: Vec<(String, String)>,
    /// Environment variables that make whole programs count their actions, which slows them. A
    /// further run of each has them, for its counters alone.
    pub counting: Vec<(String, String)>,
}

impl Variant {
    /// Returns the unmet needs of this variant alone, including the programs of its database.
    pub fn missing(&self) -> Vec<Need> {
        let unmet = self.needs.iter().filter(|need| !need.is_met());
        let mut missing: Vec<_> = unmet.cloned().collect();
        let lacking = self.service.filter(|kind| kind.check().is_err());
        if let Some((program, packages)) = lacking.and_then(Kind::server) {
            missing.push(Need {
                thing: Thing::Command(program.to_owned()),
                origin: Origin::Package(packages.to_owned()),
                least: None,
            });
        }
        missing
    }
}

/// Reason why a subject is not available.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// Its file could not be read.
    #[error(
        "{file}: {source}; a subject is a folder with a `subject.toml` (docs/reference/subjects.md)"
    )]
    Unreadable {
        /// The file.
        file: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The file has faults.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// No subject or variant has this name.
    #[error("there is no {what} `{name}`; {help}")]
    Unknown {
        /// `subject`, or `variant` of which subject.
        what: String,
        /// The name that was asked for.
        name: String,
        /// The nearest known name, or all of them.
        help: String,
    },
}

impl Subject {
    /// Reads `folder/subject.toml`.
    pub fn load(folder: &Path) -> Result<Subject, SubjectError> {
        let path = folder.join("subject.toml");
        let file = path.display().to_string();
        let text = antiphon_outside::read_text(&path, crate::suite::FILE_MAX);
        let folder = folder.canonicalize();
        match (text, folder) {
            (Ok(text), Ok(folder)) => Ok(read::subject(&file, &text, folder)?),
            (Err(source), _) | (_, Err(source)) => Err(SubjectError::Unreadable { file, source }),
        }
    }

    /// Returns all subjects in the folders of `parent`, by name, and the faults of the others.
    pub fn discover(parent: &Path) -> (Vec<Subject>, Vec<SubjectError>) {
        let entries = match std::fs::read_dir(parent) {
            Ok(entries) => entries,
            Err(source) => {
                let file = parent.display().to_string();
                return (Vec::new(), vec![SubjectError::Unreadable { file, source }]);
            }
        };
        let mut folders: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.join("subject.toml").is_file())
            .collect();
        folders.sort();
        let mut found: Vec<Subject> = Vec::new();
        let mut errors = Vec::new();
        for folder in folders {
            match Subject::load(&folder) {
                Ok(subject) if found.iter().any(|other| other.name == subject.name) => {
                    errors.push(SubjectError::Unknown {
                        what: "second subject of the name".to_owned(),
                        help: format!("rename the one in {}", folder.display()),
                        name: subject.name,
                    });
                }
                Ok(subject) => found.push(subject),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }

    /// Returns the variant of this name.
    pub fn variant(&self, name: &str) -> Result<&Variant, SubjectError> {
        let found = self.variants.iter().find(|variant| variant.name == name);
        found.ok_or_else(|| SubjectError::Unknown {
            what: format!("variant of `{}` called", self.name),
            name: name.to_owned(),
            help: did_you_mean(
                name,
                self.variants.iter().map(|variant| variant.name.as_str()),
            ),
        })
    }

    /// Returns the needs that this machine does not meet.
    pub fn missing(&self) -> Vec<&Need> {
        self.needs.iter().filter(|need| !need.is_met()).collect()
    }

    /// Takes a program's path for a command that the subject needs, in its commands too.
    pub fn use_program(&mut self, command: &str, path: &str) {
        let wanted = Thing::Command(command.to_owned());
        let Some(need) = self.needs.iter_mut().find(|need| need.thing == wanted) else {
            return;
        };
        need.thing = Thing::Command(path.to_owned());
        let words = self.build.iter_mut().flatten().chain(&mut self.version);
        words
            .filter(|word| *word == command)
            .for_each(|word| path.clone_into(word));
    }

    /// Returns the flags of a variant under a policy.
    pub fn flags(&self, variant: &Variant, policy: &str) -> Vec<String> {
        let further = self.policies.get(policy).into_iter().flatten();
        variant.flags.iter().chain(further).cloned().collect()
    }

    /// Fills a command's placeholders. `{flags}` as a whole word becomes several words. Inside a
    /// word the flags are joined by spaces, as `make` takes them.
    pub fn fill(&self, command: &[String], build: &Path, flags: &[String]) -> Vec<String> {
        let paths = |word: &str| {
            word.replace("{source}", &self.folder.to_string_lossy())
                .replace("{build}", &build.to_string_lossy())
                .replace("{self}", &own_program())
        };
        let mut words = Vec::new();
        for word in command {
            if word == "{flags}" {
                words.extend(flags.iter().map(|flag| paths(flag)));
            } else {
                words.push(paths(&word.replace("{flags}", &flags.join(" "))));
            }
        }
        words
    }
}

/// Returns the path of the running program. A subject may use this very command as its compiler.
fn own_program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.to_string_lossy().into_owned()
}

/// Finds `name/variant`, or `name` for its first variant, among subjects.
pub fn select<'s>(
    subjects: &'s [Subject],
    wanted: &str,
) -> Result<(&'s Subject, &'s Variant), SubjectError> {
    let (name, variant) = match wanted.split_once('/') {
        Some((name, variant)) => (name, Some(variant)),
        None => (wanted, None),
    };
    let subject = subjects.iter().find(|subject| subject.name == name);
    let subject = subject.ok_or_else(|| SubjectError::Unknown {
        what: "subject".to_owned(),
        name: name.to_owned(),
        help: did_you_mean(name, subjects.iter().map(|subject| subject.name.as_str())),
    })?;
    let variant = match variant {
        Some(variant) => subject.variant(variant)?,
        None => &subject.variants[0],
    };
    Ok((subject, variant))
}
