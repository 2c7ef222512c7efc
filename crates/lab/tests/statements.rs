//! How statements reach the servers, by what these tell of it: as the record of a run says, from every language.

mod common;

use antiphon_lab::Services;
use antiphon_lab::build::Built;
use antiphon_measure::Role;
use common::databases::{LIMIT, behind_its_back, database, for_each_build, start, told};
use std::path::{Path, PathBuf};

const ITERATIONS: u64 = 3;

type Told = [(String, String)];

/// Where PostgreSQL notes its statements, which it does from here on.
fn log(of: &Told) -> PathBuf {
    let ask = |statement: &str| behind_its_back("postgresql", of, statement);
    ask("ALTER SYSTEM SET log_statement = 'all'");
    ask("SELECT pg_reload_conf()");
    let folder = ask("SHOW data_directory");
    Path::new(folder.trim()).with_file_name("log")
}

/// How many prepared statements a server has executed; by the log of PostgreSQL, those that name the subject's tables.
fn executed(database: &str, of: &Told, log: Option<&Path>) -> u64 {
    if let Some(log) = log {
        let table = told(of, "ANTIPHON_SQL_TABLE");
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
    let log = (database == "postgresql").then(|| log(&of));
    let mut session = start(built, &of);
    for (test, is_prepared) in [
        ("rows.10", false),
        ("select.prepared", true),
        ("transaction.each", false),
        ("insert.prepared", true),
        ("insert", false),
    ] {
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
    // What was written is there for others at once: each statement is committed by itself.
    let table = told(&of, "ANTIPHON_SQL_TABLE");
    let count = format!("SELECT count(*) FROM {table}_written");
    let rows = behind_its_back(database, &of, &count);
    assert_eq!(rows.trim(), (2 * ITERATIONS).to_string(), "{subject}");
    session.quit().unwrap();
}

#[test]
fn statements_reach_the_servers_as_the_record_says() {
    let services = Services::default();
    for_each_build(|built| {
        if database(built) != "sqlite" {
            sends_as_is_recorded(built, &services);
        }
    });
}
