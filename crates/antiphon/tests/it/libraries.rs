//! Ada libraries of subjects: found where gprbuild looks, and reported if they are missing.

use crate::common::{Place, Ran, subjects};
use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, SystemTime};

#[test]
fn a_missing_library_is_a_gap_with_the_line_that_gets_it() {
    let place = Place::new();
    // Libraries count as missing if a command shows it. SQLite shows by a header, which may be
    // there. The databases themselves may be missing, too.
    let web = "`apt install gnat gprbuild` as root";
    let libpq = "`apt install gnat gprbuild libpq-dev";
    let libmariadb = "`apt install gnat gprbuild libmariadb-dev";
    let servers = "rest-ada-libraries";
    let libraries = [
        (servers, "ews", "ews.gpr", "ews", web),
        (servers, "aws", "aws.gpr", "aws", web),
        (servers, "asf", "servletada_aws.gpr", "asf", web),
        (servers, "asf-over-ews", "servletada_ews.gpr", "asf", web),
        (
            "sql-ada",
            "sqlite-ado",
            "ado_sqlite.gpr",
            "ado",
            "`apt install gnat gprbuild",
        ),
        (
            "sql-ada",
            "postgresql-ado",
            "ado_postgresql.gpr",
            "ado",
            libpq,
        ),
        ("sql-ada", "mariadb-ado", "ado_mysql.gpr", "ado", libmariadb),
    ];
    for (name, variant, project, library, packages) in libraries {
        let subject = subjects().join(name);
        if !place.path(&format!("subjects/{name}")).exists() {
            place.link(name);
        }
        let variant = format!("{name}/{variant}");
        let mut command = place.command(&["measure", "small", "--quick", "--subjects", &variant]);
        let ran = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
        let left_out = format!(
            "{variant} is left out: `{variant}` needs `gnatmake` and `gprbuild` and `{project}`"
        );
        let line = format!(
            "then `sh {}/../ada/get-libraries.sh $HOME/ada-libraries {library} && export GPR_PROJECT_PATH=",
            subject.display()
        );
        ran.fails(3, &[&left_out, packages, &line]);
    }
}

#[test]
fn a_library_is_found_by_its_project_file_and_a_newer_one_is_built_with() {
    if Command::new("gprls").arg("-v").output().is_err() {
        eprintln!("skipped: `gprls` is needed (apt-get install gprbuild)");
        return;
    }
    let place = Place::new();
    let count = place.path("builds");
    let build = format!("build = [['sh', '-c', 'echo built >>{}']]", count.display());
    place.write(
        "subjects/toy/subject.toml",
        &format!(
            "name = 'toy'\nlanguage = 'None'\nversion = ['echo', '1']\nsources = []\nrun = ['true']\n{build}\n\
             needs = [{{ project = 'toy_library.gpr', get = 'sh {{source}}/get.sh' }}]\n[[variant]]\nname = 'v'\n"
        ),
    );
    let builds = || {
        let reported = fs::read_to_string(&count);
        reported.unwrap_or_default().lines().count()
    };
    let doctor = || {
        let mut command = place.command(&["doctor", "--subject", "subjects/toy"]);
        command.env("ANTIPHON_CACHE", place.path("cache"));
        command.env("GPR_PROJECT_PATH", place.path("gpr"));
        Ran::of(command.output().unwrap())
    };
    doctor().fails(3, &["`toy_library.gpr`", "subjects/toy/get.sh"]);
    assert_eq!(builds(), 0);
    place.write(
        "gpr/toy_library.gpr",
        "project Toy_Library is end Toy_Library;",
    );
    for _ in 0..2 {
        // The subject is built, and then does not speak the protocol.
        assert_eq!(doctor().code, Some(1));
        assert_eq!(builds(), 1);
    }
    let file = File::options()
        .write(true)
        .open(place.path("gpr/toy_library.gpr"));
    let later = SystemTime::now() + Duration::from_secs(60);
    file.unwrap().set_modified(later).unwrap();
    assert_eq!(doctor().code, Some(1));
    assert_eq!(builds(), 2);
}

#[test]
fn what_gets_the_libraries_names_what_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("prefix");
    let get = |arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.arg(subjects().join("ada/get-libraries.sh"));
        if !arguments.is_empty() {
            command.arg(&prefix).args(arguments);
        }
        Ran::of(command.output().unwrap())
    };
    get(&[]).fails(2, &["usage: get-libraries.sh PREFIX"]);
    get(&["ews", "awz"]).fails(2, &["no library `awz`", "usage"]);
    assert!(!prefix.exists());
}
