//! Arrival of statements at the servers, by the servers' own reports: as a run's record says, from
//! every language.

use crate::drivers::{
    LIMIT, behind_its_back, database, for_each_build, reported, start, those_sent,
};
use antiphon_lab::Services;
use antiphon_lab::build::Built;
use antiphon_lab::suite::Suite;
use antiphon_measure::Role;
use antiphon_service::Kind;
use std::path::{Path, PathBuf};

const ITERATIONS: u64 = 3;

type Reported = [(String, String)];

/// Has PostgreSQL log its statements from here on, and returns the log's path.
fn log(services: &Services) -> PathBuf {
    let note = "ALTER SYSTEM SET log_statement = 'all'; SELECT pg_reload_conf();";
    let noted = services.administer(Kind::Postgresql, note);
    noted.expect("it is started").unwrap();
    services.log(Kind::Postgresql).expect("it is started")
}

/// Returns the number of prepared statements that a server has executed. For PostgreSQL it counts
/// those in the log that name the subject's tables.
fn executed(database: &str, of: &Reported, log: Option<&Path>) -> u64 {
    if let Some(log) = log {
        let table = reported(of, "ANTIPHON_SQL_TABLE");
        let log = std::fs::read_to_string(log).unwrap();
        let executed = log.lines().filter(|line| line.contains("LOG:  execute "));
        return executed.filter(|line| line.contains(table)).count() as u64;
    }
    let counter = behind_its_back(database, of, "SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'");
    counter.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn sends_as_is_recorded(built: &Built, services: &Services) {
    let (subject, database) = (&built.record.id, database(built));
    let of = services.environment(built).unwrap();
    let log = (database == "postgresql").then(|| log(services));
    let mut session = start(built, &of);
    let tests = [
        ("rows.10", false),
        ("prepared.10", true),
        ("transaction.each", false),
        ("insert.prepared", true),
        ("insert", false),
    ];
    for (test, is_prepared) in those_sent(subject, &mut session, tests, |(test, _)| test) {
        let mut slice = || {
            let slice = session.slice(test, Role::Test, ITERATIONS, 0, None, LIMIT);
            slice.unwrap_or_else(|error| panic!("{subject} {test}: {error}"));
        };
        slice(); // which prepares it
        let before = executed(database, &of, log.as_deref());
        slice();
        let all = executed(database, &of, log.as_deref()) - before;
        assert_eq!(all >= ITERATIONS, is_prepared, "{subject} {test}: {all}");
        assert!(all == 0 || is_prepared, "{subject} {test}: {all}");
    }
    // Written rows are visible to others at once, because each statement is committed by itself.
    let table = reported(&of, "ANTIPHON_SQL_TABLE");
    let count = format!("SELECT count(*) FROM {table}_written");
    let rows = behind_its_back(database, &of, &count);
    assert_eq!(rows.trim(), (2 * ITERATIONS).to_string(), "{subject}");
    session.quit().unwrap();
}

/// Has each row that is written note the isolation of the transaction that writes it.
fn note_isolation(database: &str, of: &Reported) {
    let table = reported(of, "ANTIPHON_SQL_TABLE");
    let noted = format!("CREATE TABLE IF NOT EXISTS {table}_noted (level varchar(40));");
    let note = format!("CREATE TRIGGER {table}_note AFTER INSERT ON {table}_written FOR EACH ROW");
    let how = match database {
        "postgresql" => format!(
            "CREATE OR REPLACE FUNCTION {table}_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 INSERT INTO {table}_noted VALUES (current_setting('transaction_isolation')); RETURN NULL;
             END $$; {note} EXECUTE FUNCTION {table}_note()"
        ),
        _ => format!("{note} INSERT INTO {table}_noted VALUES (@@tx_isolation)"),
    };
    behind_its_back(database, of, &format!("{noted} {how}"));
}

/// Checks the isolation of connections, which a driver may set against the server's default.
fn isolates_as_is_recorded(built: &Built, services: &Services) {
    let (subject, database) = (&built.record.id, database(built));
    let of = services.environment(built).unwrap();
    let table = reported(&of, "ANTIPHON_SQL_TABLE");
    let mut session = start(built, &of);
    let tests = ["insert", "insert.prepared", "transaction.one"];
    for test in those_sent(subject, &mut session, tests, |test| test) {
        let mut slice = || {
            let slice = session.slice(test, Role::Test, ITERATIONS, 0, None, LIMIT);
            slice.unwrap_or_else(|error| panic!("{subject} {test}: {error}"));
        };
        slice(); // which makes the table
        note_isolation(database, &of);
        slice();
        let levels = format!("SELECT DISTINCT level FROM {table}_noted");
        let levels = behind_its_back(database, &of, &levels);
        let levels = levels.trim().to_lowercase().replace('-', " ");
        assert_eq!(levels, "read committed", "{subject} {test}");
    }
    session.quit().unwrap();
}

fn for_each_server(act: impl Fn(&Built, &Services)) {
    let services = Services::default();
    for_each_build(|built| {
        if database(built) != "sqlite" {
            act(built, &services);
        }
    });
}

/// Returns the number of a database's subjects in a full run of a suite, twins included.
fn subjects(suite: &str, database: &str) -> usize {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../suites")
        .join(suite);
    let (suite, _) = Suite::load(&suite).unwrap();
    let all = suite
        .subjects(false)
        .into_iter()
        .chain(suite.measured_twice(false));
    let is_over = |name: &String| {
        name.split_once('/')
            .is_some_and(|(_, variant)| variant.starts_with(database))
    };
    all.filter(is_over).count()
}

/// Checks the limit of connections. In a full run each subject opens sixteen and one of its own,
/// under each of two placements.
fn takes_as_many_as_a_run_opens(built: &Built, services: &Services) {
    let database = database(built);
    let ask = match database {
        "postgresql" => "SHOW max_connections",
        _ => "SELECT @@max_connections",
    };
    let of = services.environment(built).unwrap();
    let most = behind_its_back(database, &of, ask);
    let most: usize = most.trim().parse().unwrap();
    for suite in ["sql.toml", "drivers.toml"] {
        let open = 2 * subjects(suite, database) * (16 + 1);
        assert!(
            most >= open && open > 0,
            "{suite} {database}: {most}, {open}"
        );
    }
}

#[test]
fn servers_take_all_connections_of_a_run() {
    for_each_server(takes_as_many_as_a_run_opens);
}

#[test]
fn transactions_are_isolated_as_the_record_says() {
    for_each_server(isolates_as_is_recorded);
}

#[test]
fn statements_reach_the_servers_as_the_record_says() {
    for_each_server(sends_as_is_recorded);
}
