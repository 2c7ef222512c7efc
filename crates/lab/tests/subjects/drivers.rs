//! Subjects over databases: their builds, started as in the laboratory, and the databases' own
//! reports about them.

use antiphon_lab::build::{BuildError, Built, Cache};
use antiphon_lab::protocol::TestInfo;
use antiphon_lab::subject::Subject;
use antiphon_lab::{Launch, Session};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

pub const LIMIT: Duration = Duration::from_secs(120);

/// Settings for quick builds of the project's own subjects, for tests without timing. SQLite alone,
/// which three drivers bring as source, otherwise takes minutes.
const LITTLE_OPTIMISATION: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CGO_CFLAGS", "-O0"),
    ("CFLAGS", "-O0"),
];

/// Returns a cache that test programs share, of builds without any figure.
pub fn quick_builds(name: &str) -> Cache {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    Cache::at(folder).with_environment(LITTLE_OPTIMISATION)
}

/// Acts on every build of a subject over a database, if this machine has its needs.
/// `ANTIPHON_TEST_SUBJECT` restricts it to one subject, for work on that one.
pub fn for_each_build(act: impl FnMut(&Built)) {
    static ALL: OnceLock<Vec<Built>> = OnceLock::new();
    ALL.get_or_init(all_builds).iter().for_each(act);
}

/// Makes the builds of all requested subjects. Most use one processor, so several subjects are
/// built at once.
fn all_builds() -> Vec<Built> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let cache = quick_builds("databases");
    let (subjects, _) = Subject::discover(&folder);
    let only = std::env::var("ANTIPHON_TEST_SUBJECT").ok();
    let is_asked = |subject: &&Subject| match &only {
        Some(only) => subject.name == *only,
        None => subject.name.starts_with("sql-"),
    };
    let asked: Vec<&Subject> = subjects.iter().filter(is_asked).collect();
    assert!(!asked.is_empty(), "there is no subject {only:?}");
    let (next, built) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let builder = || {
        while let Some(subject) = asked.get(next.fetch_add(1, Relaxed)) {
            let builds = builds(subject, &cache);
            built.lock().unwrap().insert(&subject.name, builds);
        }
    };
    let builders = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..builders).for_each(|_| drop(scope.spawn(builder))));
    let built = built.into_inner().unwrap();
    built.into_values().flatten().collect()
}

/// Acts on the builds over SQLite alone, whose database is a file.
pub fn for_each_build_over_sqlite(mut act: impl FnMut(&Built)) {
    for_each_build(|built| {
        if database(built) == "sqlite" {
            act(built);
        }
    });
}

/// Last words of builds if a driver's registry is out of reach.
const NOT_FETCHED: &str = "did not come from";

/// Checks whether a missing thing is a gap of the tests, as it is of a run.
///
/// In continuous integration, which has a network, a failed download is a failure. Otherwise all
/// tests might vanish unseen.
pub fn is_gap(error: &BuildError, in_ci: bool) -> bool {
    match error {
        BuildError::Missing { .. } => true,
        _ => !in_ci && error.last_words().contains(NOT_FETCHED),
    }
}

/// Makes the builds of a language's variants. Those that are not installed, or cannot be fetched,
/// are left out, with the reason printed.
fn builds(subject: &Subject, cache: &Cache) -> Vec<Built> {
    let stop = AtomicBool::new(false);
    let in_ci = std::env::var_os("CI").is_some();
    let build = |variant| match cache.build(subject, variant, "other", &stop) {
        Ok(built) => Some(built),
        Err(error) if is_gap(&error, in_ci) => {
            println!("skipped: {error}; {}", error.help());
            None
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    };
    subject.variants.iter().filter_map(build).collect()
}

/// Subjects whose drivers send no prepared statements.
const UNPREPARED: [&str; 6] = [
    "sql-ada/sqlite-ado",
    "sql-ada/postgresql-ado",
    "sql-ada/mariadb-ado",
    "sql-python/postgresql-psycopg2",
    "sql-python/mariadb-mysqlclient",
    "sql-python/mariadb-pymysql",
];

/// Checks whether a subject's driver has no word for a test, which it then reports.
pub fn is_not_sent(subject: &str, test: &TestInfo) -> bool {
    let asks = ["prepared.", "insert.prepared"];
    let is_prepared = asks.iter().any(|asked| test.name.starts_with(asked));
    let is_not_sent = is_prepared && UNPREPARED.contains(&subject);
    if is_not_sent {
        let why = test.absent.as_deref().unwrap_or_default();
        assert!(
            why.contains("no prepared statements"),
            "{subject}: {test:?}"
        );
    }
    is_not_sent
}

/// Returns those tests that a subject's driver can do.
pub fn those_sent<T>(
    subject: &str,
    session: &mut Session<'_>,
    all: impl IntoIterator<Item = T>,
    name: fn(&T) -> &str,
) -> Vec<T> {
    let listed = session.list().unwrap().tests;
    let is_sent = |of: &T| {
        let mut tests = listed.iter();
        let test = tests.find(|test| test.name == name(of));
        !is_not_sent(
            subject,
            test.unwrap_or_else(|| panic!("{} is not listed", name(of))),
        )
    };
    all.into_iter().filter(is_sent).collect()
}

/// Starts a subject as the laboratory does, with the address of its database.
pub fn start(built: &Built, reported: &[(String, String)]) -> Session<'static> {
    let mut launch = Launch::new(&built.record.id, &built.run, &built.folder);
    launch.env.clone_from(&built.environment);
    launch.env.extend_from_slice(reported);
    Session::start(&launch).unwrap()
}

/// Returns the value of a subject's database variable.
pub fn reported<'t>(reported: &'t [(String, String)], name: &str) -> &'t str {
    let found = reported.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("it is told no {name}")).1
}

/// Returns the database of a build, which may have several variants.
pub fn database(built: &Built) -> &'static str {
    built.service.expect("it has a database").name()
}

/// Has a database execute a statement unknown to the subject, and returns the server's output.
pub fn behind_its_back(database: &str, reported: &[(String, String)], statement: &str) -> String {
    let reported = |name: &str| self::reported(reported, &format!("ANTIPHON_SQL_{name}"));
    let mut client = match database {
        "sqlite" => {
            let file = rusqlite::Connection::open(reported("FILE")).unwrap();
            file.busy_timeout(LIMIT).unwrap();
            file.execute(statement, []).unwrap();
            return String::new();
        }
        "postgresql" => {
            let mut client = Command::new("psql");
            client.args(["-d", reported("NAME"), "-p", reported("PORT")]);
            client.args(["-U", reported("USER"), "-XAtc", statement]);
            client.env("PGPASSWORD", reported("PASSWORD"));
            client
        }
        _ => {
            let mut client = Command::new("mariadb");
            client.args(["--no-defaults", "--protocol=tcp", "--skip-ssl"]);
            client.args(["-NBD", reported("NAME")]);
            client.args([
                "-P",
                reported("PORT"),
                "-u",
                reported("USER"),
                "-e",
                statement,
            ]);
            client.env("MYSQL_PWD", reported("PASSWORD"));
            client
        }
    };
    let output = client.args(["-h", reported("HOST")]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{database}: {statement}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
