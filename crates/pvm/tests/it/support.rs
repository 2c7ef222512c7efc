//! Common parts of the tests: the libraries, compiled programs, and virtual machines of their own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use antiphon_runner::{End, Output, Program};
use tempfile::TempDir;

/// How long a program may take.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The folder of PVM's own libraries in Debian.
const DEBIAN: &str = "/usr/lib/x86_64-linux-gnu";

/// Returns the folder of this package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a static library that cargo built with this test, by its name without the suffix. Cargo
/// may have added a hash of its settings to the name. All such files that are up to date come from
/// the same sources.
pub fn archive(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let folder = test
        .parent()
        .expect("a folder")
        .read_dir()
        .expect("it can be read");
    let is_archive = |file: &str| {
        let number = file
            .strip_prefix(name)
            .and_then(|rest| rest.strip_suffix(".a"));
        number.is_some_and(|number| number.is_empty() || number.starts_with('-'))
    };
    let files = folder.filter_map(Result::ok);
    let archives = files.filter(|file| file.file_name().to_str().is_some_and(is_archive));
    let newest = archives.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok());
    newest
        .unwrap_or_else(|| panic!("there is no {name}.a"))
        .path()
}

/// Runs a command that must succeed, and returns its output.
pub fn run(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The libraries, rebuilt in the way of `make install`.
static LIBRARIES: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("a running program has a path");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.file_name().expect("its name"));
    let _ = fs::remove_dir_all(&folder);
    let script = root().join("../../scripts/pvm-libraries.sh");
    run(Command::new(script).arg(archive("libpvm3")).arg(&folder));
    folder
});

pub fn libraries() -> &'static Path {
    &LIBRARIES
}

/// Compiles a test program into a folder where it is found by its name. It is linked with both
/// libraries, as PVM has two.
pub fn compiled(folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    let source = root().join(format!("tests/c/{name}.c"));
    // Flags such as those for sanitizers.
    let flags = std::env::var("PVM_CFLAGS").unwrap_or_default();
    run(Command::new("cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror"])
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg("-I")
        .arg(root().join("include"))
        .arg("-L")
        .arg(libraries())
        .args(["-Wl,--no-as-needed", "-lgpvm3", "-lpvm3"]));
    program
}

/// The library with which a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Ours,
    Debians,
}

/// A place for virtual machines of a test: the user's private directory and the folder of programs.
pub struct Place {
    pub folder: TempDir,
    whose: Whose,
    /// The platform between the tasks.
    over: &'static str,
    /// PVM's daemon, which its own library needs.
    _daemon: Option<antiphon_runner::Process>,
}

impl Place {
    pub fn ours() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        private(folder.path());
        Self {
            folder,
            whose: Whose::Ours,
            over: "shm",
            _daemon: None,
        }
    }

    /// Returns the same place with another platform between tasks.
    pub fn over(self, over: &'static str) -> Self {
        Self { over, ..self }
    }

    /// Makes a place for Debian's library, with a daemon. Returns `None` where it is not installed.
    pub fn debians() -> Option<Self> {
        let library = Path::new(DEBIAN).join("libpvm3.so.3");
        if !library.is_file() || !Path::new("/usr/bin/pvmd").is_file() {
            assert!(
                std::env::var_os("CI").is_none(),
                "Debian's packages pvm and pvm-dev are missing"
            );
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        private(folder.path());
        let programs = folder.path().join("pvm3/bin/LINUX64");
        fs::create_dir_all(&programs).expect("a folder");
        // PVM implements groups by a program.
        fs::copy("/usr/bin/pvmgs", programs.join("pvmgs")).expect("PVM's group server");
        let daemon = environment(
            Program::new("/usr/bin/pvmd").arg("-nlocalhost"),
            Whose::Debians,
            folder.path(),
        );
        let mut daemon = daemon.spawn().expect("PVM's daemon");
        // The daemon prints its address once it listens.
        daemon.read_line().expect("the daemon's address");
        Some(Self {
            folder,
            whose: Whose::Debians,
            over: "",
            _daemon: Some(daemon),
        })
    }

    /// Returns the folder where programs are found by their names.
    pub fn programs(&self) -> PathBuf {
        let folder = self.folder.path().join("pvm3/bin/LINUX64");
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// Returns a program with this place's environment.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Program {
        let program = Program::new(program)
            .time_limit(PATIENCE)
            .stderr_max(1 << 20);
        let program = program.env("ANTIPHON_PVM_OVER", self.over);
        environment(program, self.whose, self.folder.path())
    }

    /// Compiles a program, and runs it.
    pub fn run(&self, name: &str, args: &[&str]) -> Output {
        let program = compiled(&self.programs(), name);
        let output = self.program(program).args(args).run();
        let output = output.unwrap_or_else(|error| panic!("{name} with {:?}: {error}", self.whose));
        let (end, errors) = (&output.end, &output.stderr);
        assert!(
            matches!(end, End::Exited(0)),
            "{name} with {:?} {end}: {errors}",
            self.whose
        );
        output
    }
}

fn environment(program: Program, whose: Whose, folder: &Path) -> Program {
    let library = match whose {
        Whose::Ours => libraries(),
        Whose::Debians => Path::new(DEBIAN),
    };
    let program = program
        .env("HOME", folder)
        .env("XDG_RUNTIME_DIR", folder)
        .env("PVM_TMP", folder)
        .env("PVM_ARCH", "LINUX64")
        .env("LD_LIBRARY_PATH", library)
        .env_remove("PVM_PATH")
        .cwd(folder);
    match whose {
        Whose::Ours => program.env_remove("PVM_ROOT"),
        Whose::Debians => program
            .env("PVM_ROOT", "/usr/lib/pvm3")
            .env("PVM_ALLOW_ROOT", "1"),
    }
}

/// Makes a folder private to its owner.
fn private(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("the folder is ours");
}

/// Returns a line without its task's id.
pub fn without_ids(line: &str) -> String {
    let is_id = |id: &str| id.strip_prefix("t4").is_some_and(|id| id.len() > 3);
    match line
        .split_once('[')
        .and_then(|(before, rest)| Some((before, rest.split_once(']')?)))
    {
        Some((before, (id, after))) if is_id(id) => format!("{before}[task]{after}"),
        _ => line.to_owned(),
    }
}
