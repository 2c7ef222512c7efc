//! Common parts of the tests: the libraries that cargo built with them, a C compiler, and processes
//! of a session.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use antiphon_launch::{Launch, LaunchError, Over, Signals};

/// Libraries that the static library needs.
pub const SYSTEM_LIBRARIES: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

/// How long the processes of a session may take before they are killed, and the test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the folder of this package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder where cargo put a library when it built this test. It is the test's own
/// folder, because the names of libraries for linking have no hash. The folder above
/// holds the output of the last `cargo build`, which may be older.
pub fn library(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let library = test.with_file_name(name);
    assert!(
        library.is_file(),
        "{} is not there: cargo builds it with the package's tests",
        library.display()
    );
    library
}

/// The way to link a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    Statically,
    Dynamically,
}

/// The programs of this test, compiled for each run, and the shared library under the name that
/// programs know.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("a running program has a path");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.file_name().expect("its name"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let library = library("libpanda.so");
    for name in [
        "libpanda.so",
        concat!("libpanda.so.", env!("CARGO_PKG_VERSION_MAJOR")),
    ] {
        symlink(&library, folder.join(name)).expect("a link");
    }
    folder
});

pub fn folder() -> &'static Path {
    &FOLDER
}

/// Runs a command that must succeed, and returns its standard output.
pub fn run(command: &mut Command) -> String {
    let output = output(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Compiles a program, and returns its path.
pub fn compiled(source: &str, linked: Linked) -> PathBuf {
    let source = root().join(source);
    let stem = source.file_stem().and_then(OsStr::to_str).expect("a name");
    let program = folder().join(format!("{stem}-{linked:?}-{}", unique()));
    let (compiler, standard) = match source.extension().and_then(OsStr::to_str) {
        Some("cpp") => ("c++", "-std=c++17"),
        _ => ("cc", "-std=c11"),
    };
    let mut command = Command::new(compiler);
    command
        .args([standard, "-D_POSIX_C_SOURCE=200809L", "-O2", "-g"])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root().join("include"))
        .arg(&source)
        .arg("-o")
        .arg(&program);
    match linked {
        Linked::Statically => command.arg(library("libpanda.a")).args(SYSTEM_LIBRARIES),
        Linked::Dynamically => command
            .arg("-L")
            .arg(folder())
            .arg("-lpanda")
            .arg(format!("-Wl,-rpath,{}", folder().display())),
    };
    run(command.arg("-lpthread"));
    program
}

/// Returns a number that no other caller in this process gets.
fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The ends of a session's processes, and their output.
pub struct Ran {
    /// The processes that failed, in words.
    pub summary: Option<String>,
    pub said: Vec<String>,
}

/// Runs a program as `size` processes over a platform. Returns `None` if the platform is not
/// installed. Processes that take too long are killed.
pub fn session(over: Over, size: u32, program: &Path, arguments: &[&str]) -> Option<Ran> {
    let running = match Launch::new(over, size, program).args(arguments).start() {
        Err(LaunchError::NoMpi) => {
            eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
            return None;
        }
        running => running.expect("started"),
    };
    let watch = Watch::over(running.signals());
    let mut said = Vec::new();
    let outcome = running
        .to_end(|line| said.push(String::from_utf8_lossy(&line.text).into_owned()))
        .expect("followed");
    drop(watch);
    let summary = outcome.summary();
    Some(Ran { summary, said })
}

/// Kills processes that take too long.
struct Watch {
    /// Its end ends the watch.
    _is_over: std::sync::mpsc::Sender<()>,
}

impl Watch {
    fn over(signals: Signals) -> Self {
        let (sender, is_over) = std::sync::mpsc::channel();
        thread::spawn(move || {
            if is_over.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                signals.signal(9);
            }
        });
        Self { _is_over: sender }
    }
}
