//! Subjects over databases: their builds, started as the laboratory starts them, and what a database tells of them.

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

/// What has the project's own subjects compiled quickly where nothing is timed: SQLite alone, which three drivers bring as source, takes a compiler minutes else.
const LITTLE_OPTIMISATION: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CGO_CFLAGS", "-O0"),
    ("CFLAGS", "-O0"),
];

/// A cache that test programs share, of builds that no figure is made of.
pub fn quick_builds(name: &str) -> Cache {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    Cache::at(folder).with_environment(LITTLE_OPTIMISATION)
}

/// Does something with every build of a subject over a database that this machine has what it takes for; of one subject alone while it is worked on, if
/// `ANTIPHON_TEST_SUBJECT` names it.
pub fn for_each_build(act: impl FnMut(&Built)) {
    static ALL: OnceLock<Vec<Built>> = OnceLock::new();
    ALL.get_or_init(all_builds).iter().for_each(act);
}

/// The builds of all subjects that are asked for. Most use one processor, so several subjects are built at once.
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

/// The same with those over SQLite alone, whose database is a file.
pub fn for_each_build_over_sqlite(mut act: impl FnMut(&Built)) {
    for_each_build(|built| {
        if database(built) == "sqlite" {
            act(built);
        }
    });
}

/// What builds say last when a driver's registry is out of reach.
const NOT_FETCHED: &str = "did not come from";

/// Whether what is missing here is a gap of the tests, as it is of a run. In continuous integration, which has a network, it is a failure, lest all tests
/// vanish unseen.
pub fn is_gap(error: &BuildError, in_ci: bool) -> bool {
    match error {
        BuildError::Missing { .. } => true,
        _ => !in_ci && error.last_words().contains(NOT_FETCHED),
    }
}

/// The builds of a language's variants. What is not installed, or cannot be fetched, is left out, and the reason printed.
fn builds(subject: &Subject, cache: &Cache) -> Vec<Built> {
    let stop = AtomicBool::new(false);
    let in_ci = std::env::var_os("CI").is_some();
    let build = |variant| match cache.build(subject, variant, "other", &stop) {
        Ok(built) => Some(built),
        Err(error) if is_gap(&error, in_ci) => {
            println!("skipped: {error}; {}", error.mend());
            None
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    };
    subject.variants.iter().filter_map(build).collect()
}

/// Those whose drivers send no prepared statements.
const UNPREPARED: [&str; 6] = [
    "sql-ada/sqlite-ado",
    "sql-ada/postgresql-ado",
    "sql-ada/mariadb-ado",
    "sql-python/postgresql-psycopg2",
    "sql-python/mariadb-mysqlclient",
    "sql-python/mariadb-pymysql",
];

/// Whether a test is one that its subject's driver has no word for; it then says so.
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

/// Those of some tests that a subject's driver can do.
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

/// Starts a subject as the laboratory does, where it is told that its database is.
pub fn start(built: &Built, told: &[(String, String)]) -> Session<'static> {
    let mut launch = Launch::new(&built.record.id, &built.run, &built.folder);
    launch.env.clone_from(&built.environment);
    launch.env.extend_from_slice(told);
    Session::start(&launch).unwrap()
}

/// What a subject is told of its database.
pub fn told<'t>(told: &'t [(String, String)], name: &str) -> &'t str {
    let found = told.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("it is told no {name}")).1
}

/// The database of a build, of which several variants may be.
pub fn database(built: &Built) -> &'static str {
    built.service.expect("it has a database").name()
}

/// Has a database do something that the subject does not know of; what a server then tells, line by line.
pub fn behind_its_back(database: &str, told: &[(String, String)], statement: &str) -> String {
    let told = |name: &str| self::told(told, &format!("ANTIPHON_SQL_{name}"));
    let mut client = match database {
        "sqlite" => {
            let file = rusqlite::Connection::open(told("FILE")).unwrap();
            file.busy_timeout(LIMIT).unwrap();
            file.execute(statement, []).unwrap();
            return String::new();
        }
        "postgresql" => {
            let mut client = Command::new("psql");
            client.args(["-d", told("NAME"), "-p", told("PORT")]);
            client.args(["-U", told("USER"), "-XAtc", statement]);
            client.env("PGPASSWORD", told("PASSWORD"));
            client
        }
        _ => {
            let mut client = Command::new("mariadb");
            client.args(["--no-defaults", "--protocol=tcp", "--skip-ssl"]);
            client.args(["-NBD", told("NAME")]);
            client.args(["-P", told("PORT"), "-u", told("USER"), "-e", statement]);
            client.env("MYSQL_PWD", told("PASSWORD"));
            client
        }
    };
    let output = client.args(["-h", told("HOST")]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{database}: {statement}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
