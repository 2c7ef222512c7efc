//! Needs of a subject on the machine, and ways to meet them.

use super::Least;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// A need of a subject on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Needed thing.
    pub thing: Thing,
    /// Its origin.
    pub origin: Origin,
    /// The version of a command that it takes.
    pub least: Option<Least>,
}

/// A thing that a machine may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A command, looked for in `PATH`.
    Command(String),
    /// A header of a C library without a command. It is searched like C compilers do: in `CPATH`
    /// and below `/usr`.
    Header(String),
    /// A library of Ada's, by its GNAT project file. It is searched like gprbuild does: in
    /// `GPR_PROJECT_PATH`, and in GNAT's own folders.
    Project(String),
    /// A module of Python's. It is searched like the `python3` of `PATH` does.
    Module(String),
}

/// Origin of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// These Debian packages, apart by spaces.
    Package(String),
    /// A shell line that gets and builds it, and says which variable to set. No package has it.
    Line(String),
}

impl Need {
    /// Returns the name of the command, the header, the project file or the module.
    pub fn name(&self) -> &str {
        match &self.thing {
            Thing::Command(name)
            | Thing::Header(name)
            | Thing::Project(name)
            | Thing::Module(name) => name,
        }
    }

    /// Checks that this machine has it, in a sufficient version.
    pub fn is_met(&self) -> bool {
        self.is_there() && self.least.as_ref().is_none_or(Least::is_met)
    }

    /// Checks that this machine has it in any version.
    fn is_there(&self) -> bool {
        match &self.thing {
            Thing::Command(name) => find_command(name).is_some(),
            Thing::Header(name) => has_header(name),
            Thing::Project(name) => find_project(name).is_some(),
            Thing::Module(name) => has_module(name),
        }
    }

    /// Returns the name with the wanted version, and the present one.
    pub fn wanted(&self) -> String {
        let name = format!("`{}`", self.name());
        let Some(least) = &self.least else {
            return name;
        };
        let wanted = format!("{name} {} or newer", least.version);
        match least.found() {
            Some(found) => format!("{wanted} ({found} is here)"),
            None => wanted,
        }
    }

    /// Returns the identity of a library in a build: its project file and that file's time, which
    /// each installation changes. `None` for things that the compiler's version covers.
    pub(crate) fn identity(&self) -> Option<(PathBuf, SystemTime)> {
        let Thing::Project(name) = &self.thing else {
            return None;
        };
        let path = find_project(name)?;
        let written = path.metadata().and_then(|data| data.modified()).ok()?;
        Some((path, written))
    }
}

/// Ways to meet missing needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Remedy<'n> {
    /// The Debian packages, each once.
    pub packages: Vec<&'n str>,
    /// Shell lines for things without a package, each once.
    pub lines: Vec<&'n str>,
    /// Sources of versions that packages may lack, for people, each once.
    pub newer: Vec<String>,
}

impl<'n> Remedy<'n> {
    /// Collects the remedies of missing needs.
    pub fn of(missing: &'n [Need]) -> Remedy<'n> {
        let (mut packages, mut lines, mut newer) = (Vec::new(), Vec::new(), Vec::new());
        for need in missing {
            newer.extend(need.least.as_ref().map(|least| {
                let (name, version) = (need.name(), &least.version);
                format!("for `{name}` {version} or newer: {}", least.newer)
            }));
            if need.least.is_some() && need.is_there() {
                // The original source has nothing newer.
                continue;
            }
            match &need.origin {
                Origin::Package(name) => packages.push(name.as_str()),
                Origin::Line(line) => lines.push(line.as_str()),
            }
        }
        newer.sort_unstable();
        newer.dedup();
        for found in [&mut packages, &mut lines] {
            found.sort_unstable();
            found.dedup();
        }
        Remedy {
            packages,
            lines,
            newer,
        }
    }
}

/// Returns the path of a command: itself if it has a slash, else the first executable of that name
/// in `PATH`.
pub fn find_command(command: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let executable = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if command.contains('/') {
        return Some(PathBuf::from(command)).filter(executable);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(command))
        .find(executable)
}

fn has_header(name: &str) -> bool {
    let own = std::env::var_os("CPATH").unwrap_or_default();
    let usual = ["/usr/local/include", "/usr/include"].map(PathBuf::from);
    std::env::split_paths(&own)
        .filter(|folder| !folder.as_os_str().is_empty())
        .chain(usual)
        .any(|folder| folder.join(name).is_file())
}

/// Checks that Python finds a module, without importing it.
fn has_module(name: &str) -> bool {
    // Folders of the current one are no modules.
    let finds = "import importlib.util, sys; sys.path.remove('') if '' in sys.path else None; \
                 sys.exit(not importlib.util.find_spec(sys.argv[1]))";
    let python = Command::new("python3").args(["-c", finds, name]).output();
    python.is_ok_and(|python| python.status.success())
}

fn find_project(name: &str) -> Option<PathBuf> {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let folders = FOLDERS.get_or_init(|| {
        // It knows all that decides: several variables, and where GNAT was installed.
        let reported = Command::new("gprls").arg("-v").output();
        reported
            .map(|reported| search_path(&String::from_utf8_lossy(&reported.stdout)))
            .unwrap_or_default()
    });
    let mut paths = folders.iter().map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Returns the folders of project files from `gprls -v`: absolute paths, one a line.
fn search_path(reported: &str) -> Vec<PathBuf> {
    let mut lines = reported.lines().map(str::trim);
    let found = lines.by_ref().any(|line| line == "Project Search Path:");
    let folders = lines.filter(|line| found && Path::new(line).is_absolute());
    folders.map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_project_files_are_those_that_gprls_tells() {
        let reported = "\nGPRLS Pro\n\nObject Search Path:\n   /lib/\n\nProject Search Path:\n   <Current_Directory>\n   /own/gpr/\n   /usr/share/gpr/\n\n";
        assert_eq!(
            search_path(reported),
            [Path::new("/own/gpr/"), Path::new("/usr/share/gpr/")]
        );
        assert!(search_path("Object Search Path:\n   /lib/\n").is_empty());
    }

    #[test]
    fn what_is_missing_is_got_by_packages_and_lines_each_once() {
        let need = |thing: &str, origin| Need {
            thing: Thing::Command(thing.to_owned()),
            origin,
            least: None,
        };
        let package = |name: &str| Origin::Package(name.to_owned());
        let missing = [
            need("b", package("two")),
            need("c", Origin::Line("sh get.sh".to_owned())),
            need("a", package("one")),
            need("d", package("two")),
        ];
        let remedy = Remedy::of(&missing);
        assert_eq!(remedy.packages, ["one", "two"]);
        assert_eq!(remedy.lines, ["sh get.sh"]);
    }
}
