//! Subjects: the programs that are measured. A folder with a `subject.toml` is one; docs/subjects.md describes the file.

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
    /// Its name; with a variant, `ada/O2`, the name of what is measured.
    pub name: String,
    /// The language, for people.
    pub language: String,
    /// What it is, for people.
    pub description: String,
    /// The command that prints the compiler's version.
    pub version: Vec<String>,
    /// The commands, headers and libraries that it needs.
    pub needs: Vec<Need>,
    /// Files and folders that decide what is built, from its folder on.
    pub sources: Vec<String>,
    /// The commands that build it, run one after the other in `{build}`.
    pub build: Vec<Vec<String>>,
    /// How long all of them together may take, s.
    pub build_seconds: u64,
    /// The command that runs it.
    pub run: Vec<String>,
    /// The programs that it has, if it is one of whole programs; `{program}` in `run` stands for one of them. Empty for a subject that
    /// speaks the protocol.
    pub programs: Vec<String>,
    /// Whether it is a server that answers HTTP; `{port}` in `run` stands for the port of loopback that it is given.
    pub serves: bool,
    /// Whether its language compiles while it runs: then each of its tests is warmed before it is measured.
    pub warms: bool,
    /// How much of a processor the slices of its turns use, ms, where that is not as in others: its run-time works in bursts beside the
    /// program, such as a collector, that a short slice does not hold.
    pub slice_ms: Option<u64>,
    /// Whether its run-time looks for other work before a thread waits: beside a server, its turns are not in real time.
    pub looks_for_work: bool,
    /// Its variants, the default one first; never empty.
    pub variants: Vec<Variant>,
    /// Further flags under a policy; a policy that is named here has builds of its own.
    pub policies: BTreeMap<String, Vec<String>>,
}

/// A way to build a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name, such as `O2`.
    pub name: String,
    /// What `{flags}` stands for.
    pub flags: Vec<String>,
    /// What it needs of the machine besides the subject's needs.
    pub needs: Vec<Need>,
    /// The database that it is measured with, whose address it is told when it starts.
    pub service: Option<Kind>,
    /// Environment variables that it runs with.
    pub environment: Vec<(String, String)>,
    /// Environment variables under which whole programs count what they do, which makes them slower: each is run once more with them,
    /// for its counters alone.
    pub counting: Vec<(String, String)>,
}

impl Variant {
    /// The needs of this variant alone that this machine does not meet, the programs of its database among them.
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

/// Why a subject could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// Its file could not be read.
    #[error("{file}: {source}; a subject is a folder with a `subject.toml` (docs/subjects.md)")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file has faults.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// No subject or variant has this name.
    #[error("there is no {what} `{name}`; {mend}")]
    Unknown {
        /// `subject`, or `variant` of which subject.
        what: String,
        /// The name that was asked for.
        name: String,
        /// The nearest known name, or all of them.
        mend: String,
    },
}

impl Subject {
    /// Reads `folder/subject.toml`.
    pub fn load(folder: &Path) -> Result<Subject, SubjectError> {
        let path = folder.join("subject.toml");
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path);
        let folder = folder.canonicalize();
        match (text, folder) {
            (Ok(text), Ok(folder)) => Ok(read::subject(&file, &text, folder)?),
            (Err(source), _) | (_, Err(source)) => Err(SubjectError::Unreadable { file, source }),
        }
    }

    /// All subjects in the folders of `parent`, by name, and what was wrong with the others.
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
                        mend: format!("rename the one in {}", folder.display()),
                        name: subject.name,
                    });
                }
                Ok(subject) => found.push(subject),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }

    /// The variant of this name.
    pub fn variant(&self, name: &str) -> Result<&Variant, SubjectError> {
        let found = self.variants.iter().find(|variant| variant.name == name);
        found.ok_or_else(|| SubjectError::Unknown {
            what: format!("variant of `{}` called", self.name),
            name: name.to_owned(),
            mend: did_you_mean(
                name,
                self.variants.iter().map(|variant| variant.name.as_str()),
            ),
        })
    }

    /// The needs that this machine does not meet.
    pub fn missing(&self) -> Vec<&Need> {
        self.needs.iter().filter(|need| !need.is_met()).collect()
    }

    /// The flags of a variant under a policy.
    pub fn flags(&self, variant: &Variant, policy: &str) -> Vec<String> {
        let further = self.policies.get(policy).into_iter().flatten();
        variant.flags.iter().chain(further).cloned().collect()
    }

    /// A command with its placeholders filled. `{flags}` as a whole word becomes several words; inside a word the flags are joined
    /// by spaces, as `make` takes them.
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

/// The path of the program that runs now: a subject whose compiler is this very command names it so.
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
        mend: did_you_mean(name, subjects.iter().map(|subject| subject.name.as_str())),
    })?;
    let variant = match variant {
        Some(variant) => subject.variant(variant)?,
        None => &subject.variants[0],
    };
    Ok((subject, variant))
}
