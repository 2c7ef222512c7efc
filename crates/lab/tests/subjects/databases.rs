//! Databases from every language: each listed test runs in each variant, and all read and write the
//! same.

use crate::drivers::{
    LIMIT, behind_its_back, database, for_each_build, for_each_build_over_sqlite, is_gap,
    is_not_sent, reported, start, those_sent,
};
use antiphon_lab::build::{Built, Cache};
use antiphon_lab::protocol::TestInfo;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{Services, Session};
use antiphon_measure::{BatchRequest, Purpose, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const ITERATIONS: u64 = 2;

/// Returns the result of two operations of a test: the sum of keys and values read, or the rows
/// written.
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

/// Runs every test of a subject; each result is checked by its work.
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
    if is_not_sent(subject, test) {
        return;
    }
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
    let services = Services::default();
    let mut listed = BTreeMap::new();
    for_each_build(|built| {
        listed.insert(built.record.id.clone(), measure(built, &services));
    });
    let mut each = listed.iter();
    let Some((first, tests)) = each.next() else {
        panic!("there is no compiler for any language");
    };
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/sql.toml");
    let (suite, _) = Suite::load(&suite).unwrap();
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

#[test]
fn a_slice_after_which_other_rows_are_read_back_fails_itself() {
    let services = Services::default();
    for_each_build_over_sqlite(|built| {
        let reported = services.environment(built).unwrap();
        let mut session = start(built, &reported);
        let mut slice = || session.slice("insert", Role::Test, 1, 0, None, LIMIT);
        let name = &built.record.id;
        slice().unwrap_or_else(|error| panic!("{name}: {error}"));
        let table = self::reported(&reported, "ANTIPHON_SQL_TABLE");
        let statement = format!("INSERT INTO {table}_written (value) VALUES (1)");
        behind_its_back("sqlite", &reported, &statement);
        let last = slice().expect_err(name).to_string();
        assert!(last.contains("add up to 6"), "{name}: {last}");
        session.quit().unwrap();
    });
}

/// Tests that commits overwrite SQLite's log, which happens after a thousand pages. A commit that
/// extends the log costs twice as much.
#[test]
fn commits_write_over_sqlites_log_from_the_first_one_on() {
    const COMMITS: u64 = 1200;
    let services = Services::default();
    for_each_build_over_sqlite(|built| {
        let (name, reported) = (&built.record.id, services.environment(built).unwrap());
        let log = format!("{}-wal", self::reported(&reported, "ANTIPHON_SQL_FILE"));
        let long = || std::fs::metadata(&log).unwrap().len();
        let mut session = start(built, &reported);
        let mut commit = |commits| {
            let slice = session.slice("insert", Role::Test, commits, 0, None, LIMIT);
            slice.unwrap_or_else(|error| panic!("{name}: {error}"));
        };
        commit(1); // which prepares it
        let before = long();
        commit(COMMITS);
        assert_eq!(long(), before, "{name}");
        session.quit().unwrap();
    });
}

#[test]
fn a_driver_that_cannot_be_fetched_is_a_gap_but_in_continuous_integration() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("cache"));
    let failure = |words: &str| {
        let text = format!(
            "name = 'one'\nlanguage = 'Shell'\nversion = ['echo', '1']\nsources = []\nrun = ['true']\n\
             build = [['sh', '-c', 'echo {words} >&2; exit 1']]\n[[variant]]\nname = 'v'\n"
        );
        std::fs::write(folder.path().join("subject.toml"), text).unwrap();
        let subject = Subject::load(folder.path()).unwrap();
        let built = cache.build(&subject, &subject.variants[0], "other", &false.into());
        built.unwrap_err()
    };
    let not_fetched = failure("the driver did not come from its registry: connect this machine");
    assert!(is_gap(&not_fetched, false) && !is_gap(&not_fetched, true));
    assert!(!is_gap(&failure("error: expected an expression"), false));
}

/// Tests that no connection is encrypted. If a server offers TLS, some drivers take it and others
/// do not.
#[test]
fn no_connection_to_mariadb_is_encrypted() {
    let services = Services::default();
    for_each_build(|built| {
        if database(built) != "mariadb" {
            return;
        }
        let reported = services.environment(built).unwrap();
        let mut session = start(built, &reported);
        let name = &built.record.id;
        let slice = session.slice("connect", Role::Test, 1, 0, None, LIMIT);
        slice.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (ask, answer) in [
            ("SHOW GLOBAL STATUS LIKE 'Ssl_accepts'", "Ssl_accepts\t0"),
            ("SHOW STATUS LIKE 'Ssl_cipher'", "Ssl_cipher"),
        ] {
            let said = behind_its_back("mariadb", &reported, ask);
            assert_eq!(said.trim(), answer, "{name}");
        }
        session.quit().unwrap();
    });
}

/// Returns the number of reads of a process, by the kernel's count.
fn reads(process: u32) -> u64 {
    let counts = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap();
    let count = counts.lines().find_map(|line| line.strip_prefix("syscr: "));
    count.unwrap().parse().unwrap()
}

/// Tests the number of reads of a connection.
///
/// The system's library reads a file's header when it opens it, and nothing more for SELECT 1.
/// Other drivers and libraries may read more, and `connect` then costs more. The README of `sql-c`
/// names them.
#[test]
fn a_connection_to_sqlite_reads_no_more_than_its_query_needs() {
    const CONNECTIONS: u64 = 400;
    let services = Services::default();
    for_each_build_over_sqlite(|built| {
        let name = &built.record.id;
        let mut session = start(built, &services.environment(built).unwrap());
        let process = session.process();
        let mut connect = || {
            let slice = session.slice("connect", Role::Test, CONNECTIONS, 0, None, LIMIT);
            slice.unwrap_or_else(|error| panic!("{name}: {error}"));
            reads(process)
        };
        connect(); // the first ones load what they need
        let before = connect();
        let each = (connect() - before + CONNECTIONS / 2) / CONNECTIONS;
        let subject = name.split('/').next().unwrap_or_default();
        let reads_on = ["sql-go", "sql-java", "sql-javascript"].contains(&subject)
            || ["sql-rust/sqlite-bundled", "sql-python/sqlite-apsw"].contains(&name.as_str());
        let expected = 1 + u64::from(reads_on);
        assert_eq!(each, expected, "{name}: reads of a connection");
        session.quit().unwrap();
    });
}

/// Tests that write prepare their table once, and keep it from slice to slice.
const WRITING: [&str; 4] = [
    "insert",
    "insert.prepared",
    "transaction.one",
    "transaction.each",
];

/// Tests of several connections have the failure from another thread.
const READING: [&str; 3] = ["rows.10", "prepared.10", "concurrent.4"];

/// Checks that a failure is no time, names its test, and names the missing table in the database's
/// words.
fn is_named(failure: String, test: &str, table: &str) {
    assert!(failure.contains(test), "{test}: {failure}");
    assert!(failure.contains(table), "{test}: {failure}");
}

/// Drops a subject's tables: first the one that it writes to, anew for each test, and then the one
/// that it reads.
fn fails_without_tables(built: &Built, services: &Services) {
    let subject = &built.record.id;
    let reported = services.environment(built).unwrap();
    let mut session = start(built, &reported);
    let lose = |table: &str| {
        behind_its_back(database(built), &reported, &format!("DROP TABLE {table}"));
    };
    let slice = |session: &mut Session, test: &str| {
        let slice = session.slice(test, Role::Test, ITERATIONS, 0, None, LIMIT);
        slice.map_err(|error| error.to_string())
    };
    let written = format!(
        "{}_written",
        self::reported(&reported, "ANTIPHON_SQL_TABLE")
    );
    for test in those_sent(subject, &mut session, WRITING, |test| test) {
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
    for test in those_sent(subject, &mut session, READING, |test| test) {
        is_named(slice(&mut session, test).expect_err(subject), test, &read);
        let batch = session.batch(test, None, &BATCH, LIMIT);
        is_named(batch.expect_err(subject).to_string(), test, &read);
    }
    slice(&mut session, "select.1").expect("it goes on with what needs no table");
    session.quit().unwrap();
}

#[test]
fn a_statement_that_fails_is_a_failure_in_every_language() {
    let services = Services::default();
    for_each_build(|built| fails_without_tables(built, &services));
}
