//! MariaDB.

use crate::address::USER;
use crate::kind::{Setting, setting};
use crate::server::{CONNECTIONS_MOST, Setup};
use crate::{Kind, ServiceError};
use antiphon_runner::Program;

pub(crate) const PROGRAMS: [&str; 3] = ["mariadb-install-db", "mariadbd", "mariadb"];

/// SIGTERM: an orderly end.
pub(crate) const STOP: i32 = 15;

/// Option against TLS. From 11.4 on a server makes a certificate and offers TLS by default. Clients
/// by Connector/C from 3.4 on take it, while other drivers do not.
const NOT_ENCRYPTED: &str = "--skip-ssl";

/// Settings. There is no binary log, so that a commit is written once, as in the others.
pub(crate) const SETTINGS: [Setting; 5] = [
    setting("innodb_flush_log_at_trx_commit", "1"),
    setting("innodb_doublewrite", "ON"),
    setting("default_storage_engine", "InnoDB"),
    setting("log_bin", "OFF"),
    setting("tx_isolation", "READ-COMMITTED"),
];

pub(crate) const STATEMENTS: [Setting; 3] = [
    setting("commits", "autocommit"),
    setting("text", "COM_QUERY"),
    setting("prepared", "COM_STMT_EXECUTE"),
];

pub(crate) fn set_up(setup: &Setup) -> Result<(), ServiceError> {
    let install = setup.program(Kind::Mariadb, "mariadb-install-db")?;
    let install = install
        .args(["--no-defaults", "--skip-test-db"])
        .arg(format!("--datadir={}/data", setup.folder.display()))
        .args([
            "--skip-name-resolve",
            "--auth-root-authentication-method=normal",
        ]);
    setup.prepare(Kind::Mariadb, install)
}

/// Writes the statements that the server executes before it takes connections, one a line. They
/// remove all users and create ours.
///
/// The user of the socket and that of the port have different passwords. So a password that leaks
/// on the port does not open the socket. Neither has a privilege outside of its database, and the
/// database has no root.
fn write_users(setup: &Setup) -> Result<(), ServiceError> {
    let Setup {
        password,
        administrator,
        ..
    } = setup;
    let statements = format!(
        "CREATE DATABASE IF NOT EXISTS {USER};\n\
         CREATE OR REPLACE USER {USER}@'127.0.0.1' IDENTIFIED BY '{password}';\n\
         CREATE OR REPLACE USER {USER}@'localhost' IDENTIFIED BY '{administrator}';\n\
         GRANT ALL ON {USER}.* TO {USER}@'127.0.0.1';\n\
         GRANT ALL ON {USER}.* TO {USER}@'localhost';\n\
         DELETE FROM mysql.global_priv WHERE User <> '{USER}' AND User <> 'mariadb.sys';\n\
         FLUSH PRIVILEGES;\n"
    );
    setup.write("setup.sql", &statements).map(|_| ())
}

pub(crate) fn server(setup: &Setup) -> Result<Program, ServiceError> {
    write_users(setup)?;
    let folder = setup.folder.display();
    let server = setup
        .logged(Kind::Mariadb, "mariadbd")?
        .args(["--no-defaults", "--skip-name-resolve", "--skip-log-bin"])
        .arg(NOT_ENCRYPTED)
        .arg(format!("--datadir={folder}/data"))
        .arg(format!("--tmpdir={folder}"))
        .arg(format!("--socket={folder}/socket"))
        .arg(format!("--pid-file={folder}/pid"))
        .arg(format!("--init-file={folder}/setup.sql"))
        .args([
            "--bind-address=127.0.0.1",
            "--innodb-flush-log-at-trx-commit=1",
        ])
        .args(["--innodb-doublewrite=ON", "--default-storage-engine=InnoDB"])
        .arg("--transaction-isolation=READ-COMMITTED")
        .arg(format!("--max-connections={CONNECTIONS_MOST}"))
        .arg(format!("--port={}", setup.port));
    Ok(server)
}

/// Returns the query of the settings, a line each.
pub(crate) fn settings_query() -> String {
    let names: Vec<_> = SETTINGS.iter().map(|s| format!("'{}'", s.name)).collect();
    format!(
        "SHOW VARIABLES WHERE Variable_name IN ({});",
        names.join(", ")
    )
}

/// Runs statements over the socket in the private folder.
pub(crate) fn client(setup: &Setup, statements: &str) -> Result<Program, ServiceError> {
    let client = setup.program(Kind::Mariadb, "mariadb")?;
    Ok(client
        .args([
            "--no-defaults",
            "--protocol=socket",
            NOT_ENCRYPTED,
            "-N",
            "-B",
        ])
        .arg(format!("--socket={}/socket", setup.folder.display()))
        .arg(format!("--user={USER}"))
        .env("MYSQL_PWD", &setup.administrator)
        .input(statements))
}
