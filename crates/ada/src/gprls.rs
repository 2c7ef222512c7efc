//! The sources of a project as GPRbuild's `gprls` finds them.
//!
//! `gprls` lists one source a unit, and only of projects that were built. Its report on the reading
//! of the project files (`-vP2`) names every source, without a build. The list comes from there,
//! and is compared with what `gprls` lists.
//!
//! `gprls` itself starts one program, `gprconfig`, which looks for compilers. A project names the
//! folder of its compiler, so `gprconfig` would run programs of a stranger's choice. `PATH`
//! therefore leads to a copy of `gprls`, beside a `gprconfig` of ours that only writes a fixed
//! configuration.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_runner::{End, Output, Program};

/// Time limit of `gprls`. It takes a tenth of a second; large projects take seconds.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Limit of the report. It has about five lines for each file in the source folders.
const REPORT_BYTES_MAX: usize = 64 << 20;

/// The last line of the report, before the list.
const LAST: &str = "Done Process tree, phase 2";

/// What stands for `gprconfig`: no compiler is looked for, since sources depend on none.
const GPRCONFIG: &str = r#"#!/bin/sh
out= target=
while [ $# -gt 0 ]; do
   case $1 in
   -o) out=$2; shift ;;
   --target=all | --target=*[!A-Za-z0-9_.-]*) ;;
   --target=*) target=${1#--target=} ;;
   esac
   shift
done
{
   echo 'configuration project Default is'
   [ -z "$target" ] || echo "   for Target use \"$target\";"
   echo '   for Default_Language use "Ada";
   package Compiler is
      for Language_Kind ("Ada") use "unit_based";
      for Dependency_Kind ("Ada") use "ALI_File";
   end Compiler;
   package Naming is
      for Spec_Suffix ("Ada") use ".ads";
      for Body_Suffix ("Ada") use ".adb";
      for Spec_Suffix ("C") use ".h";
      for Body_Suffix ("C") use ".c";
      for Spec_Suffix ("C++") use ".hh";
      for Body_Suffix ("C++") use ".cpp";
      for Body_Suffix ("Fortran") use ".f";
      for Body_Suffix ("Asm") use ".s";
      for Body_Suffix ("Asm2") use ".asm";
      for Body_Suffix ("Asm_Cpp") use ".S";
      for Casing use "lowercase";
      for Dot_Replacement use "-";
   end Naming;
end Default;'
} > "$out"
"#;

/// Returns the Ada sources of a project and of those that it names, as absolute paths. Without a
/// `gprls` in `PATH` there are none.
///
/// # Errors
/// The reason why `gprls` has no list.
pub(crate) fn sources(project: &Path) -> Result<Option<Vec<PathBuf>>, String> {
    let Some(gprls) = find() else {
        return Ok(None);
    };
    let output = run(&gprls, project).map_err(|cause| format!("it cannot run: {cause}"))?;
    if !matches!(output.end, End::Exited(_)) {
        return Err(format!("it {}", output.end));
    }
    if output.stdout_dropped_bytes > 0 {
        return Err("its report is too long".into());
    }
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = || report.lines().filter(|line| is_error(line));
    if let Some(error) = errors().find(|error| !is_of_builds(error)) {
        return Err(format!("it refuses the project: {error}"));
    }
    let unknown = || match said_last(&report) {
        Some(last) => format!("it refuses the project: {last}"),
        None => "its report has an unknown form".into(),
    };
    if output.end != End::Exited(0) && errors().next().is_none() {
        return Err(unknown());
    }
    let mut files = Report::read(&report).ok_or_else(unknown)?;
    let known: HashSet<&Path> = files.iter().map(PathBuf::as_path).collect();
    if !listed(&report).all(|listed| known.contains(listed)) {
        return Err(unknown());
    }
    drop(known);
    let is_damaged = |file: &PathBuf| file.to_string_lossy().contains(char::REPLACEMENT_CHARACTER);
    if files.iter().any(is_damaged) {
        return Err("names of sources are not UTF-8".into());
    }
    files.retain(|file| file.is_file());
    if files.is_empty() {
        return Err("it finds no sources".into());
    }
    Ok(Some(files))
}

/// Returns the first `gprls` in `PATH`.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("gprls"))
        .find(|file| file.is_file())
}

/// Runs `gprls` where it finds no other program than ours.
fn run(gprls: &Path, project: &Path) -> Result<Output, String> {
    let said = |cause: std::io::Error| cause.to_string();
    let gprls = gprls.canonicalize().map_err(said)?;
    let executable = std::fs::read(&gprls).map_err(said)?;
    // A script would set `PATH` anew, or start `gprls` by a path, beside which it finds gprconfig.
    if !executable.starts_with(b"\x7fELF") {
        return Err("it is no executable of this system".into());
    }
    let folder = tempfile::tempdir().map_err(said)?;
    // A copy, since `gprls` follows a link to itself and finds gprconfig there.
    let copy = folder.path().join("gprls");
    std::fs::write(&copy, executable).map_err(said)?;
    let gprconfig = folder.path().join("gprconfig");
    std::fs::write(&gprconfig, GPRCONFIG).map_err(said)?;
    for program in [&copy, &gprconfig] {
        std::fs::set_permissions(program, PermissionsExt::from_mode(0o700)).map_err(said)?;
    }
    // The parts of a line go to both streams.
    Program::new("/bin/sh")
        .shown_as("gprls")
        .args(["-c", "exec gprls \"$@\" 2>&1", "gprls"])
        .args(["-U", "-s", "-vP2", "-P"])
        .arg(project)
        .env("PATH", folder.path())
        .env("TMPDIR", folder.path())
        .env("GPR_PROJECT_PATH", project_path(&gprls))
        .env_remove("ADA_PROJECT_PATH")
        .cwd(folder.path())
        .time_limit(TIME_LIMIT)
        .grace(Duration::ZERO)
        .stdout_max(REPORT_BYTES_MAX)
        .run()
        .map_err(|error| error.to_string())
}

/// Returns the folders of projects, as absolute paths. `gprls` takes its own from where it stands,
/// which is hidden from it.
fn project_path(gprls: &Path) -> OsString {
    let mut folders = Vec::new();
    for variable in ["GPR_PROJECT_PATH", "ADA_PROJECT_PATH"] {
        let value = std::env::var_os(variable).unwrap_or_default();
        folders.extend(std::env::split_paths(&value));
    }
    let prefix = gprls.parent().and_then(Path::parent);
    let own = [prefix.unwrap_or(Path::new("/usr")), Path::new("/usr")];
    for folder in own {
        folders.extend(["share/gpr", "lib/gnat"].map(|below| folder.join(below)));
    }
    let absolute = folders
        .iter()
        .filter_map(|folder| std::path::absolute(folder).ok());
    std::env::join_paths(absolute).unwrap_or_default()
}

/// Returns whether a line of the report is an error at a place: `p.gpr:1:2: message`.
fn is_error(line: &str) -> bool {
    let Some((place, message)) = line.split_once(": ") else {
        return false;
    };
    let mut parts = place.rsplit(':');
    let is_number = |part: Option<&str>| part.is_some_and(|p| p.parse::<u32>().is_ok());
    is_number(parts.next()) && is_number(parts.next()) && !message.starts_with("warning: ")
}

/// Returns whether an error tells of a missing folder for what is built. Sources that nobody built
/// have none yet.
fn is_of_builds(error: &str) -> bool {
    let message = error.split_once(": ").map_or("", |(_, message)| message);
    let kinds = ["object directory ", "exec directory ", "library "];
    message.ends_with(" not found") && kinds.iter().any(|kind| message.starts_with(kind))
}

/// Returns the reason that `gprls` gives in its own name.
fn said_last(report: &str) -> Option<&str> {
    report.lines().rfind(|line| line.starts_with("gprls: "))
}

/// Returns the sources that `gprls` lists: one a unit, with or without output of the compiler.
fn listed(report: &str) -> impl Iterator<Item = &Path> {
    let (_, list) = report.rsplit_once(LAST).unwrap_or_default();
    list.lines().filter_map(|line| {
        let without = line.strip_prefix("Can't find ALI file for ");
        let with = line.starts_with('/').then_some(line);
        without.or(with).map(Path::new)
    })
}

/// A source in the report.
struct Source {
    path: PathBuf,
    project: String,
}

impl Source {
    fn is_named(&self, name: &str) -> bool {
        self.path.file_name() == Some(OsStr::new(name))
    }
}

/// The sources that a report has named so far.
#[derive(Default)]
struct Report {
    sources: Vec<Source>,
    /// The project that is being read.
    project: String,
    /// Names of its sources by its package `Naming`.
    named: HashSet<String>,
    is_naming: bool,
    /// The file that is being judged.
    file: Option<PathBuf>,
}

impl Report {
    /// Returns the sources in a report; none if its form is unknown.
    fn read(text: &str) -> Option<Vec<PathBuf>> {
        let mut report = Report::default();
        let (mut has_sources, mut is_whole) = (false, false);
        for line in text.lines().map(str::trim_start) {
            if let Some(name) = line.strip_prefix("Processing_Naming_Scheme for project ") {
                report.begin(name.trim_matches('"'));
                is_whole = false;
            } else if line.starts_with("checking package Naming for ") {
                report.is_naming = true;
            } else if line == "done checking package naming" {
                report.is_naming = false;
            } else if line == "end looking for sources." {
                has_sources = true;
            } else if line == LAST {
                is_whole = has_sources;
            } else if let Some(source) = line.strip_prefix("adding source File: ") {
                report.add(source)?;
            } else if let Some(file) = line.strip_prefix("checking file (rank= ") {
                report.judge(file)?;
            } else if let Some(name) = line.strip_prefix("removing source ") {
                report.override_source(name);
            } else if let Some(name) = line.strip_prefix("removing file ") {
                report.remove(name)?;
            }
        }
        let paths = report.sources.into_iter().map(|source| source.path);
        is_whole.then(|| paths.collect())
    }

    fn begin(&mut self, project: &str) {
        *self = Report {
            sources: std::mem::take(&mut self.sources),
            project: project.into(),
            ..Report::default()
        };
    }

    /// Takes `p.ads Unit: p Kind: SPEC`, or `p.ada at 2 Unit: p Kind: SPEC`. A source of another
    /// language has no unit.
    fn add(&mut self, source: &str) -> Option<()> {
        let Some((name, _)) = source.rsplit_once(" Unit: ") else {
            return Some(());
        };
        if self.is_naming {
            let name = match name.rsplit_once(" at ") {
                Some((name, index)) if index.parse::<u32>().is_ok() => name,
                _ => name,
            };
            self.named.insert(name.into());
            return Some(());
        }
        let path = self.file.take()?;
        (path.file_name()? == name).then(|| self.push(path))
    }

    /// Takes `1) "/home/p.ads"`. A file with a name of the package `Naming` is a source; for others
    /// a line follows.
    fn judge(&mut self, file: &str) -> Option<()> {
        let path = file.split_once(") \"")?.1;
        // A line end in a name cuts the line short. A name with one is the name of no unit.
        self.file = path.strip_suffix('"').map(PathBuf::from);
        let name = self.file.as_ref().and_then(|path| path.file_name());
        if name.is_some_and(|name| self.named.contains(&*name.to_string_lossy()))
            && let Some(path) = self.file.take()
        {
            self.push(path);
        }
        Some(())
    }

    fn push(&mut self, path: PathBuf) {
        let project = self.project.clone();
        self.sources.push(Source { path, project });
    }

    /// Removes the source of an extended project that the present project replaces.
    fn override_source(&mut self, name: &str) {
        let is_replaced = |s: &Source| s.is_named(name) && s.project != self.project;
        if let Some(position) = self.sources.iter().rposition(is_replaced) {
            self.sources.remove(position);
        }
    }

    /// Takes `p.ads project`: a source that a project leaves out.
    fn remove(&mut self, file: &str) -> Option<()> {
        let (name, project) = file.rsplit_once(' ')?;
        let is_left_out = |s: &Source| s.is_named(name) && s.project == project;
        self.sources.retain(|source| !is_left_out(source));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_of_objects_is_an_error_of_builds() {
        let missing = "p.gpr:1:2: object directory \"obj\" not found";
        assert!(is_error(missing) && is_of_builds(missing));
        let other = "p.gpr:3:4: unit \"p\" cannot belong to several projects";
        assert!(is_error(other) && !is_of_builds(other));
        let warning = "p.gpr:2:3: warning: no such thing";
        for line in [warning, "gprls: unable to process project file p.gpr", ""] {
            assert!(!is_error(line), "{line}");
        }
    }

    /// A report in which one project has a file.
    const REPORT: &str = "Processing_Naming_Scheme for project \"p\"
looking for sources of \"p\"
  checking file (rank= 1) \"/p.ads\"
    spec of \"p\"
    adding source File: p.ads Unit: p Kind: SPEC
end looking for sources.
Done Process tree, phase 2
";

    #[test]
    fn a_report_names_sources_until_its_last_line() {
        assert_eq!(Report::read(REPORT), Some(vec![PathBuf::from("/p.ads")]));
        let excluded = "removing file p.ads p\nDone";
        let without = REPORT.replace("Done", excluded);
        assert_eq!(Report::read(&without), Some(vec![]));
        let (cut, _) = REPORT.split_once("Done").unwrap();
        assert_eq!(Report::read(cut), None);
    }

    #[test]
    fn a_report_of_another_form_has_no_sources() {
        for text in ["", "/home/p.ads\n/home/p.adb\n"] {
            assert_eq!(Report::read(text), None);
        }
        let of_other_file = REPORT.replace("File: p.ads", "File: q.ads");
        let without_file = REPORT.replace("checking file", "file");
        for text in [of_other_file, without_file] {
            assert_eq!(Report::read(&text), None, "{text}");
        }
    }
}
