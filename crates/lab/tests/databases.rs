//! Databases from every language: each listed test runs in each variant, and all read and write the same.

use antiphon_lab::build::{Built, Cache};
use antiphon_lab::protocol::TestInfo;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{Launch, Services, Session};
use antiphon_measure::{BatchRequest, Purpose, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
const ITERATIONS: u64 = 2;

/// What two operations of a test give: the sum of keys and values read, or the rows written.
fn expected(work: &str) -> u64 {
    let rows = |count: u64| (1..=count).map(|key| key + 7919 * key % 10007).sum::<u64>();
    let number = || work.rsplit('.').next().unwrap().parse::<u64>().unwrap();
    let once = match work.strip_prefix("sql.").unwrap() {
        "connect" | "do.1" | "select.1" | "insert" | "drop_create" => 1,
        "transaction" => 10,
        other if other.starts_with("rows.") => rows(number()),
        other if other.starts_with("concurrent.") => number() * rows(10),
        other => panic!("nobody has told this test of `{other}`"),
    };
    ITERATIONS * once
}

/// The builds of a language's variants. What is not installed is left out, and the reason printed.
fn builds(subject: &Subject, cache: &Cache) -> Vec<Built> {
    let stop = AtomicBool::new(false);
    let build = |variant| match cache.build(subject, variant, "other", &stop) {
        Ok(built) => Some(built),
        Err(error @ antiphon_lab::build::BuildError::Missing { .. }) => {
            println!("skipped: {error}; {}", error.mend());
            None
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    };
    subject.variants.iter().filter_map(build).collect()
}

/// Starts a subject as the laboratory does, where it is told that its database is.
fn start(built: &Built, told: &[(String, String)]) -> Session {
    let mut launch = Launch::new(&built.record.id, &built.run, &built.folder);
    launch.env.clone_from(&built.environment);
    launch.env.extend_from_slice(told);
    Session::start(&launch).unwrap()
}

/// What a subject is told of its database.
fn told<'t>(told: &'t [(String, String)], name: &str) -> &'t str {
    let found = told.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("it is told no {name}")).1
}

/// Runs every test of a subject; what each gave is checked by its work.
fn measure(built: &Built, services: &Services) -> BTreeMap<String, Option<String>> {
    let mut session = start(built, &services.environment(built).unwrap());
    let tests = session.list().unwrap().tests;
    let own = tests.iter().filter(|test| !test.name.starts_with("self."));
    let measured = own.map(|test| {
        check(&mut session, test, &built.record.id);
        (test.name.clone(), test.work.clone())
    });
    let measured = measured.collect();
    session.quit().unwrap();
    measured
}

/// The smallest batch.
const BATCH: BatchRequest = BatchRequest {
    iterations: ITERATIONS,
    blocks: 1,
    reference_iterations: 0,
    warmup: 1,
    purpose: Purpose::Sample,
};

fn check(session: &mut Session, test: &TestInfo, subject: &str) {
    let name = &test.name;
    assert_eq!(test.absent, None, "{subject} {name}");
    let batch = session.batch(name, None, &BATCH, LIMIT);
    let batch = batch.unwrap_or_else(|error| panic!("{subject} {name}: {error}"));
    let work = test.work.as_deref().expect("each claims equal work");
    let slices = batch.slices.iter().filter(|slice| slice.role == Role::Test);
    let sums: Vec<_> = slices.map(|slice| slice.checksum).collect();
    assert_eq!(sums, [expected(work); 2], "{subject} {name}");
}

#[test]
fn all_languages_read_and_write_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("databases"));
    let services = Services::default();
    let (subjects, _) = Subject::discover(&folder);
    let mut listed = BTreeMap::new();
    for subject in subjects.iter().filter(|s| s.name.starts_with("sql-")) {
        for built in builds(subject, &cache) {
            listed.insert(built.record.id.clone(), measure(&built, &services));
        }
    }
    let mut each = listed.iter();
    let Some((first, tests)) = each.next() else {
        panic!("there is no compiler for any language");
    };
    let (suite, _) = Suite::load(&folder.join("../suites/sql.toml")).unwrap();
    let rows = suite.groups.iter().flat_map(|group| &group.rows);
    let asked: BTreeSet<_> = rows
        .flat_map(|row| row.instances(false))
        .map(|instance| instance.test)
        .collect();
    assert_eq!(asked, tests.keys().cloned().collect(), "the suite's tests");
    for (other, also) in each {
        assert_eq!(tests, also, "{first} and {other} must list the same tests");
    }
}

/// Has a database do something that the subject does not know of.
fn behind_its_back(database: &str, told: &[(String, String)], statement: &str) {
    let told = |name: &str| self::told(told, &format!("ANTIPHON_SQL_{name}"));
    let mut client = match database {
        "sqlite" => {
            let file = rusqlite::Connection::open(told("FILE")).unwrap();
            file.busy_timeout(LIMIT).unwrap();
            file.execute(statement, []).unwrap();
            return;
        }
        "postgresql" => {
            let mut client = Command::new("psql");
            client.args(["-d", told("NAME"), "-p", told("PORT")]);
            client.args(["-U", told("USER"), "-c", statement]);
            client.env("PGPASSWORD", told("PASSWORD"));
            client
        }
        _ => {
            let mut client = Command::new("mariadb");
            client.args(["--no-defaults", "--protocol=tcp", "-D", told("NAME")]);
            client.args(["-P", told("PORT"), "-u", told("USER"), "-e", statement]);
            client.env("MYSQL_PWD", told("PASSWORD"));
            client
        }
    };
    let output = client.args(["-h", told("HOST")]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{database}: {statement}: {said}");
}

#[test]
fn a_slice_after_which_other_rows_are_read_back_fails_itself() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("databases"));
    let services = Services::default();
    let (subjects, _) = Subject::discover(&folder);
    for subject in subjects.iter().filter(|s| s.name.starts_with("sql-")) {
        let mut built = builds(subject, &cache);
        built.retain(|built| built.record.id.ends_with("/sqlite"));
        for built in built {
            let told = services.environment(&built).unwrap();
            let mut session = start(&built, &told);
            let mut slice = || session.slice("insert", Role::Test, 1, 0, None, LIMIT);
            let name = &built.record.id;
            slice().unwrap_or_else(|error| panic!("{name}: {error}"));
            let table = self::told(&told, "ANTIPHON_SQL_TABLE");
            let statement = format!("INSERT INTO {table}_written (value) VALUES (1)");
            behind_its_back("sqlite", &told, &statement);
            let last = slice().expect_err(name).to_string();
            assert!(last.contains("add up to 6"), "{name}: {last}");
            session.quit().unwrap();
        }
    }
}

/// Tests that write prepare their table once, and keep it from slice to slice.
const WRITING: [&str; 4] = [
    "insert",
    "insert.prepared",
    "transaction.one",
    "transaction.each",
];

/// Those of several connections have the failure from another thread.
const READING: [&str; 3] = ["rows.10", "select.prepared", "concurrent.4"];

/// A failure is no time, names its test, and says in the database's words which table is not there.
fn is_named(failure: String, test: &str, table: &str) {
    assert!(failure.contains(test), "{test}: {failure}");
    assert!(failure.contains(table), "{test}: {failure}");
}

/// Loses a subject's tables: first the one that it writes to, anew for each test, and then the one that it reads.
fn fails_without_tables(built: &Built, services: &Services) {
    let subject = &built.record.id;
    let told = services.environment(built).unwrap();
    let mut session = start(built, &told);
    let lose = |table: &str| {
        let (_, database) = subject.rsplit_once('/').unwrap();
        behind_its_back(database, &told, &format!("DROP TABLE {table}"));
    };
    let slice = |session: &mut Session, test: &str| {
        let slice = session.slice(test, Role::Test, ITERATIONS, 0, None, LIMIT);
        slice.map_err(|error| error.to_string())
    };
    let written = format!("{}_written", self::told(&told, "ANTIPHON_SQL_TABLE"));
    for test in WRITING {
        // Also after the test before has failed, maybe in the midst of a transaction.
        slice(&mut session, test).unwrap_or_else(|error| panic!("{subject} {test}: {error}"));
        lose(&written);
        is_named(
            slice(&mut session, test).expect_err(subject),
            test,
            &written,
        );
    }
    let read = written.replace("_written", "_rows");
    slice(&mut session, "rows.10").unwrap();
    lose(&read);
    for test in READING {
        is_named(slice(&mut session, test).expect_err(subject), test, &read);
        let batch = session.batch(test, None, &BATCH, LIMIT);
        is_named(batch.expect_err(subject).to_string(), test, &read);
    }
    slice(&mut session, "select.1").expect("it goes on with what needs no table");
    session.quit().unwrap();
}

#[test]
fn a_statement_that_fails_is_a_failure_in_every_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("databases"));
    let services = Services::default();
    let (subjects, _) = Subject::discover(&folder);
    for subject in subjects.iter().filter(|s| s.name.starts_with("sql-")) {
        for built in builds(subject, &cache) {
            fails_without_tables(&built, &services);
        }
    }
}
