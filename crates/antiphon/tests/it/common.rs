//! A home, a store and the command, in a folder of their own.

use serde_json::Value;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A suite with the tests that every kit has, and one that none has.
pub const SUITE: &str = r#"
name = "small"
title = "Small"
subjects = ["c/O2"]
[quick]
seconds_per_row = 0.05
relative_half_width = 0.5
[full]
seconds_per_row = 0.2
relative_half_width = 0.0001
runs = 2
[[group]]
id = "frames"
title = "Frames"
runs = ["other.same"]
[[group.row]]
test = "self.{what}"
label = "{what}"
each = { what = ["same", "dearer", "handoff"] }
[[group.row]]
test = "nobody.has.this"
label = "unlisted"
"#;

/// Waits until a command's output fills its pipe.
pub fn await_full(output: &ChildStdout) {
    let until = Instant::now() + Duration::from_secs(60);
    let mut waiting = 0;
    // A pipe holds one line more than this.
    while waiting < (60 << 10) {
        // SAFETY: the request writes a number, which is ours.
        let asked = unsafe { libc::ioctl(output.as_raw_fd(), libc::FIONREAD, &mut waiting) };
        assert_eq!(asked, 0, "{}", std::io::Error::last_os_error());
        assert!(Instant::now() < until, "{waiting} bytes wait");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The folder of the project's subjects.
pub fn subjects() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    folder.canonicalize().unwrap()
}

/// Returns the C subject of the project.
pub fn c_subject() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/c")
}

/// Returns whether a command of a Debian package is here. Prints a missing one.
pub fn has(command: &str, package: &str) -> bool {
    let asked = Command::new(command)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let found = asked.is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: `{command}` is needed (apt-get install {package})");
    }
    found
}

/// Returns whether the C subject can be built here. Prints what is missing.
pub fn has_cc() -> bool {
    has("cc", "gcc") && has("make", "make")
}

/// A temporary home with the small suite, and a store.
pub struct Place {
    folder: TempDir,
}

/// The outcome of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Place {
    /// Makes a place without subjects.
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("suites")).unwrap();
        fs::create_dir(folder.path().join("subjects")).unwrap();
        fs::write(folder.path().join("suites/small.toml"), SUITE).unwrap();
        Place { folder }
    }

    /// Makes a place with the project's C subject.
    pub fn with_c() -> Place {
        let place = Place::new();
        place.link("c");
        place
    }

    /// Adds a subject of the project.
    pub fn link(&self, subject: &str) {
        let link = self.path("subjects").join(subject);
        std::os::unix::fs::symlink(subjects().join(subject), link).unwrap();
    }

    /// Measures a suite, and returns the results of its run.
    pub fn measured(&self, suite: &str) -> Vec<Value> {
        let ran = self.run(&["measure", suite, "--json"]);
        let run: Value = serde_json::from_str(ran.done()).expect("a run as JSON");
        run["run"]["results"].as_array().expect("results").clone()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the main module of a program in Orca.
    pub fn write_orca(&self, name: &str, implementation: &str) {
        let specification = format!("MODULE SPECIFICATION {name};\nEND;\n");
        self.write(&format!("{name}.spf"), &specification);
        self.write(&format!("{name}.imp"), implementation);
    }

    /// Adds a subject that is a shell script.
    pub fn script(&self, name: &str, script: &str) {
        self.write(
            &format!("subjects/{name}/subject.toml"),
            &format!(
                "name = '{name}'\nlanguage = 'Shell'\nversion = ['echo', '1']\nsources = []\nbuild = []\n\
                 run = ['/bin/sh', '-c', '''{script}''']\n[[variant]]\nname = 'v'\n"
            ),
        );
    }

    /// Returns the command in the home's folder, with this place's home and store, and a cache that
    /// all tests share.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("ANTIPHON_HOME", self.folder.path())
            .env("ANTIPHON_STORE", self.path("runs.db"))
            .env(
                "ANTIPHON_CACHE",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
            )
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }
}

/// Signals a process that the test or the command has started.
pub fn signal(process: u32, number: i32) {
    let process = i32::try_from(process).expect("a process number");
    // SAFETY: `kill` takes two numbers.
    assert_eq!(unsafe { libc::kill(process, number) }, 0);
}

/// Returns whether a process has not ended.
pub fn is_alive(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|text| !text.contains("State:\tZ"))
}

/// Has a command take an interrupt. Tests in the background of a shell start with SIGINT ignored,
/// which programs inherit.
pub fn takes_interrupts(command: &mut Command) {
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let ran = Ran {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }

    /// Checks the exit code, and that standard error contains each of these.
    #[track_caller]
    pub fn fails(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        for words in says {
            assert!(
                self.err.contains(words),
                "{words:?} is not in:\n{}",
                self.err
            );
        }
    }

    /// Checks that it succeeded, and returns its standard output.
    #[track_caller]
    pub fn done(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        &self.out
    }
}
