//! The settings of a program, which it reads from a variable of its environment.

use std::ffi::c_int;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::errors::{end_now, say};

/// The variable with settings.
const VARIABLE: &str = "ANTIPHON_ORCA";

/// The most machines that are threads of one process.
const MOST_MACHINES: u32 = 64;

/// The exit code for wrong settings.
const WRONG: c_int = 2;

const ALL: &str =
    "write machines=, model=, servers=, sequencer=, stats=, trace= or report=, separated by commas";

/// What processes of the program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Model {
    /// Threads of the system.
    #[default]
    Threads,
    /// Fibers, which give way where they wait.
    Cooperative,
}

/// The form of the counts at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistics {
    Text,
    Json,
}

/// The settings of a program.
#[derive(Debug, Default)]
pub struct Settings {
    /// The number of machines that are threads of this process.
    pub machines: Option<u32>,
    pub model: Model,
    /// The number of OS threads that run fibers.
    pub servers: Option<NonZeroUsize>,
    /// The machine that gives all writes their places, if not the one that begins first.
    pub sequencer: Option<u32>,
    pub statistics: Option<Statistics>,
    /// The file for the timeline.
    pub trace: Option<PathBuf>,
    /// Whether errors are reported in the original's words.
    pub is_plain: bool,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Returns the settings, and reads them first. Wrong ones end the process.
pub fn get() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        let given = std::env::var(VARIABLE).unwrap_or_default();
        read(&given).unwrap_or_else(|why| {
            say(&format!("{VARIABLE}: {why}"));
            end_now(WRONG)
        })
    })
}

fn read(given: &str) -> Result<Settings, String> {
    let mut settings = Settings::default();
    for setting in given.split(',').filter(|it| !it.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        match (name, value) {
            ("machines", count) => {
                let count = count.parse().ok();
                settings.machines = count.filter(|count| (1..=MOST_MACHINES).contains(count));
                if settings.machines.is_none() {
                    return Err(format!("machines is a number from 1 to {MOST_MACHINES}"));
                }
            }
            ("model", "threads") => settings.model = Model::Threads,
            ("model", "cooperative") => settings.model = Model::Cooperative,
            ("servers", count) => {
                let count = count.parse().ok();
                settings.servers = Some(count.ok_or("servers is a number above 0")?);
            }
            ("sequencer", machine) => {
                let machine = machine.parse().ok();
                settings.sequencer = Some(machine.ok_or("sequencer is the number of a machine")?);
            }
            ("stats", "text") => settings.statistics = Some(Statistics::Text),
            ("stats", "json") => settings.statistics = Some(Statistics::Json),
            ("trace", file) if !file.is_empty() => settings.trace = Some(file.into()),
            ("report", "plain") => settings.is_plain = true,
            ("report", "full") => settings.is_plain = false,
            _ => return Err(format!("{setting:?} is no setting: {ALL}")),
        }
    }
    if settings.servers.is_some() && settings.model == Model::Threads {
        return Err("servers is for model=cooperative: threads use all processors".into());
    }
    Ok(settings)
}
