//! Databases from every language: each listed test runs in each variant, and all read and write the same.

use antiphon_lab::build::{Built, Cache};
use antiphon_lab::protocol::TestInfo;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{Launch, Services, Session};
use antiphon_measure::{BatchRequest, Purpose, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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

/// Runs every test of a subject; what each gave is checked by its work.
fn measure(built: &Built, services: &Services) -> BTreeMap<String, Option<String>> {
    let mut launch = Launch::new(&built.record.id, &built.run, &built.folder);
    launch.env.clone_from(&built.environment);
    launch.env.extend(services.environment(built).unwrap());
    let mut session = Session::start(&launch).unwrap();
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

fn check(session: &mut Session, test: &TestInfo, subject: &str) {
    let name = &test.name;
    assert_eq!(test.absent, None, "{subject} {name}");
    let wanted = BatchRequest {
        iterations: ITERATIONS,
        blocks: 1,
        reference_iterations: 0,
        warmup: 1,
        purpose: Purpose::Sample,
    };
    let batch = session.batch(name, None, &wanted, LIMIT);
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

/// A subject over SQLite, as the laboratory starts it, with its file and the table that it writes to.
fn over_sqlite(built: &Built, services: &Services) -> (Session, rusqlite::Connection, String) {
    let mut launch = Launch::new(&built.record.id, &built.run, &built.folder);
    launch.env.clone_from(&built.environment);
    let told = services.environment(built).unwrap();
    let of = |name: &str| {
        told.iter()
            .find(|(known, _)| known == name)
            .unwrap()
            .1
            .clone()
    };
    let (file, table) = (of("ANTIPHON_SQL_FILE"), of("ANTIPHON_SQL_TABLE"));
    launch.env.extend(told.clone());
    let session = Session::start(&launch).unwrap();
    let file = rusqlite::Connection::open(file).unwrap();
    file.busy_timeout(LIMIT).unwrap();
    (session, file, format!("{table}_written"))
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
            let (mut session, file, table) = over_sqlite(&built, &services);
            let mut slice = || session.slice("insert", Role::Test, 1, 0, None, LIMIT);
            let name = &built.record.id;
            slice().unwrap_or_else(|error| panic!("{name}: {error}"));
            file.execute(&format!("INSERT INTO {table} (value) VALUES (1)"), [])
                .unwrap();
            let last = slice().expect_err(name).to_string();
            assert!(last.contains("add up to 6"), "{name}: {last}");
            session.quit().unwrap();
        }
    }
}
