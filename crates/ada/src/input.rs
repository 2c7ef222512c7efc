//! The files of a directory, a GNAT project file or an Alire crate.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::{gprls, project};

/// The files of one input.
#[derive(Debug, Default)]
pub(crate) struct Input {
    pub files: Vec<PathBuf>,
    /// The compiler's switches of a project.
    pub switches: Vec<String>,
    /// Descriptions of missing files and directories.
    pub missing: Vec<String>,
}

/// Returns the Ada files of a directory, of a project and the projects that it names, or of the
/// projects of an Alire crate, sorted. A directory with `/**` behind it includes its
/// subdirectories.
///
/// # Errors
/// An unreadable path, or no Ada file at all.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(read(path)?.files)
}

pub(crate) fn read(path: &Path) -> Result<Input, Error> {
    let mut input = Input::default();
    if path.file_name().is_some_and(|n| n == "**") {
        let above = path.parent().filter(|p| !p.as_os_str().is_empty());
        collect(above.unwrap_or(Path::new(".")), true, &mut input.files)?;
    } else if path.join("alire.toml").is_file() {
        for file in projects(&path.join("alire.toml"))? {
            input.add(&file)?;
        }
    } else if path.is_dir() {
        collect(path, false, &mut input.files)?;
    } else if path.file_name().is_some_and(|n| n == "alire.toml") {
        for file in projects(path)? {
            input.add(&file)?;
        }
    } else {
        input.add(path)?;
    }
    if input.files.is_empty() {
        return Err(Error::NoSource { path: path.into() });
    }
    input.files.sort();
    input.files.dedup();
    Ok(input)
}

/// Whether a path denotes a set of files.
pub(crate) fn is_collection(path: &Path) -> bool {
    let is_project = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gpr"));
    let name = path.file_name();
    is_project || path.is_dir() || name.is_some_and(|n| n == "alire.toml" || n == "**")
}

impl Input {
    /// Adds a project's sources. Of files with the same name the first counts, because an extending
    /// project replaces files of the extended one.
    fn add(&mut self, project: &Path) -> Result<(), Error> {
        let mut found = project::read(project)?;
        match by_gprls(project, &found) {
            Ok(None) => {}
            Ok(Some(files)) => {
                found.files = files;
                found.missing.clear();
            }
            Err(reason) => found.missing.push(format!(
                "{}: gprls is not used, as {reason}; the sources are those that antiphon finds",
                project.display()
            )),
        }
        let mut names = HashSet::new();
        let first = found
            .files
            .into_iter()
            .filter(|f| names.insert(f.file_name().map(std::ffi::OsStr::to_os_string)));
        self.files.extend(first);
        self.switches.extend(found.switches);
        self.missing.extend(found.missing);
        Ok(())
    }
}

/// Returns a project's sources by `gprls`, with the paths that our own reader gives them; none
/// where `gprls` is not installed, or our reader has said what is missing.
///
/// # Errors
/// The reason why `gprls` has no list.
fn by_gprls(project: &Path, ours: &project::Sources) -> Result<Option<Vec<PathBuf>>, String> {
    match ours.unasked.as_deref() {
        None => {}
        Some("") => return Ok(None),
        Some(reason) => return Err(reason.into()),
    }
    let said = |cause: std::io::Error| cause.to_string();
    let name = project.file_name().unwrap_or_default();
    let home = project.parent().filter(|p| !p.as_os_str().is_empty());
    let home = home.unwrap_or(Path::new("."));
    let absolute = home.canonicalize().map_err(said)?;
    let Some(files) = gprls::sources(&absolute.join(name))? else {
        return Ok(None);
    };
    let real = |path: &Path| path.canonicalize().ok();
    let shown: HashMap<PathBuf, &PathBuf> = ours
        .files
        .iter()
        .filter_map(|f| Some((real(f)?, f)))
        .collect();
    let as_ours = |file: PathBuf| {
        let same = real(&file).and_then(|real| shown.get(&real).copied());
        match (same, file.strip_prefix(&absolute)) {
            (Some(ours), _) => ours.clone(),
            (None, Ok(below)) => home.join(below),
            (None, Err(_)) => file,
        }
    };
    Ok(Some(files.into_iter().map(as_ours).collect()))
}

/// Returns the project files of an Alire crate: `project-files`, or the file with the crate's name.
fn projects(manifest: &Path) -> Result<Vec<PathBuf>, Error> {
    let bytes = std::fs::read(manifest).map_err(|cause| Error::File {
        path: manifest.into(),
        cause,
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let value = |key: &str| {
        let mut lines = text.lines().map(str::trim_start);
        lines.find_map(|l| l.strip_prefix(key)?.trim_start().strip_prefix('='))
    };
    let home = manifest.parent().unwrap_or(Path::new("."));
    let quoted = |line: &str| -> Vec<String> {
        let parts = line.split(['"', '\'']).skip(1).step_by(2);
        parts.map(String::from).collect()
    };
    let mut names = value("project-files").map(quoted).unwrap_or_default();
    if names.is_empty() {
        let name = value("name").map(quoted).unwrap_or_default();
        names.extend(name.first().map(|n| format!("{n}.gpr")));
    }
    Ok(names.iter().map(|n| home.join(n)).collect())
}

fn collect(directory: &Path, is_deep: bool, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |cause| Error::File {
        path: directory.into(),
        cause,
    };
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if kind.is_dir() {
            // `file_type` does not follow links, so a link to a parent directory cannot cause an
            // endless loop.
            if is_deep {
                collect(&path, true, found)?;
            }
        } else if is_ada(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_ada(path: &Path) -> bool {
    path.extension().is_some_and(|e| {
        ["adb", "ads", "ada", "adt"]
            .iter()
            .any(|x| e.eq_ignore_ascii_case(x))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    fn names(input: &Input) -> Vec<String> {
        let found = input.files.iter();
        let mut names: Vec<String> = found
            .map(|f| f.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn projects_are_read_as_gnat_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                ("src/main.adb", ""),
                ("src/old.adb", ""),
                ("src/deep/inner.adb", ""),
                ("src/notes.txt", ""),
                ("src/lib.a", ""),
                ("posix/os.adb", ""),
                ("windows/os.adb", ""),
                ("lib/lib.ads", ""),
                ("named/x.1.ada", ""),
                ("named/x.2.ada", ""),
                ("named/y.adb", ""),
                ("more/main.adb", ""),
                ("listed/a.adb", ""),
                ("listed/b.adb", ""),
                ("lib/lib.gpr", "library project Lib is for Source_Dirs use (\".\"); end Lib;"),
                (
                    "p.gpr",
                    "with \"lib/lib\", \"nowhere\";
project P is -- for Source_Dirs use (\"no\");
   type Kind is (\"posix\", \"windows\");
   Os : Kind := external (\"ANTIPHON_TEST_OS\", \"posix\");
   Dirs := (\"src/**\", \"config\");
   for Source_Dirs
     use Dirs & (\"po\" & \"six\");
   case Os is
      when \"posix\" => null;
      when others => for Source_Dirs  use (\"windows\");
   end case;
   for Excluded_Source_Files use (\"old.adb\");
   package Compiler is
      for Default_Switches (\"Ada\") use (\"-gnat2022\", \"-gnatwe\", \"-O2\");
   end Compiler;
end P;",
                ),
                (
                    "named.gpr",
                    "project Named is for Source_Dirs use (\"named\"); package Naming is
   for Spec_Suffix (\"Ada\") use \".1.ada\"; for Body_Suffix (\"Ada\") use \".2.ada\"; end Naming; end Named;",
                ),
                ("extended.gpr", "project Extended extends \"p.gpr\" is for Source_Dirs use (\"more\"); end Extended;"),
                ("listed.gpr", "project Listed is for Source_Dirs use (\"listed\"); for Source_Files use (\"b.adb\"); end Listed;"),
                ("all.gpr", "aggregate project All_Of_Them is for Project_Files use (\"l*.gpr\", \"named.gpr\"); end All_Of_Them;"),
                ("alire.toml", "name = \"crate\"\nproject-files = [\"listed.gpr\"]\n"),
                ("broken.gpr", "project Broken is\n for Source_Dirs use Common.Dirs end Broken;"),
            ],
        );
        let input = |name: &str| read(&folder.path().join(name)).unwrap();
        let p = input("p.gpr");
        assert_eq!(names(&p), ["inner.adb", "lib.ads", "main.adb", "os.adb"]);
        assert!(p.files.iter().all(|f| !f.ends_with("windows/os.adb")));
        assert_eq!(p.switches, ["-gnat2022"]);
        assert_eq!(p.missing.len(), 2, "{:?}", p.missing);
        assert_eq!(names(&input("named.gpr")), ["x.1.ada", "x.2.ada"]);
        let extended = input("extended.gpr");
        assert_eq!(names(&extended), names(&p));
        assert!(extended.files.iter().any(|f| f.ends_with("more/main.adb")));
        assert!(!extended.files.iter().any(|f| f.ends_with("src/main.adb")));
        assert_eq!(names(&input("listed.gpr")), ["b.adb"]);
        assert_eq!(names(&input("all.gpr")), ["b.adb", "x.1.ada", "x.2.ada"]);
        assert_eq!(names(&input("alire.toml")), ["b.adb"]);
        assert_eq!(names(&input(".")), ["b.adb"]);
        assert_eq!(names(&input("src")), ["main.adb", "old.adb"]);
        assert_eq!(
            names(&input("src/**")),
            ["inner.adb", "main.adb", "old.adb"]
        );
        let error = read(&folder.path().join("broken.gpr")).unwrap_err();
        assert!(error.to_string().contains("broken.gpr:2: "), "{error}");
    }
}
