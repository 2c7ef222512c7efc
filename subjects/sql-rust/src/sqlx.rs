//! Any of the databases by sqlx: statements as text by `raw_sql`, prepared ones from the connection's cache. The thread that has a connection
//! waits for each statement, in a runtime of its own.

#[cfg_attr(feature = "sqlite-sqlx", path = "sqlx/sqlite.rs")]
#[cfg_attr(feature = "postgresql-sqlx", path = "sqlx/postgresql.rs")]
#[cfg_attr(feature = "mariadb-sqlx", path = "sqlx/mariadb.rs")]
mod server;

use crate::database::expect;
use antiphon_kit::Failure;
use futures_util::{Stream, TryStreamExt};
use server::Server;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection as _, Database, Executor, Row, SqlSafeStr,
    Statement as _, Type,
};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

type Driver = <Server as Database>::Connection;

pub struct Connection {
    driver: RefCell<Driver>,
    runtime: Runtime,
}

pub struct Statement<'a> {
    on: &'a Connection,
    prepared: <Server as Database>::Statement,
}

thread_local! {
    /// A program has its runtime before it connects: that of a connection which was closed serves the next one.
    static SPARE: Cell<Option<Runtime>> = const { Cell::new(None) };
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

impl Connection {
    pub fn open() -> Result<Self, Failure> {
        let runtime = SPARE.take().map_or_else(runtime, Ok)?;
        let options = server::options()?.disable_statement_logging();
        let driver = RefCell::new(runtime.block_on(options.connect())?);
        Ok(Connection { driver, runtime })
    }

    pub fn close(self) -> Result<(), Failure> {
        let closed = self.runtime.block_on(self.driver.into_inner().close());
        SPARE.set(Some(self.runtime));
        Ok(closed?)
    }

    fn wait<T>(&self, what: impl AsyncFnOnce(&mut Driver) -> T) -> T {
        self.runtime.block_on(what(&mut self.driver.borrow_mut()))
    }

    pub fn execute(&self, text: &str, rows: u64) -> Result<(), Failure> {
        let statement = sqlx::raw_sql(AssertSqlSafe(text));
        let done = self.wait(async |driver| statement.execute(driver).await)?;
        match rows {
            0 => Ok(()),
            _ => expect(done.rows_affected(), rows),
        }
    }

    pub fn query(&self, text: &str, rows: u64) -> Result<u64, Failure> {
        let statement = sqlx::raw_sql(AssertSqlSafe(text));
        self.wait(async |driver| added(statement.fetch(driver), rows).await)
    }

    pub fn prepare(&self, text: &str) -> Result<Statement<'_>, Failure> {
        let text = AssertSqlSafe(Arc::<str>::from(text)).into_sql_str();
        // PostgreSQL would else decide by the parameter's place how long a number is.
        let types = [<i64 as Type<Server>>::type_info()];
        let prepared = self.wait(async |driver| driver.prepare_with(text, &types).await)?;
        Ok(Statement { on: self, prepared })
    }
}

impl Statement<'_> {
    pub fn execute(&self, value: i64, rows: u64) -> Result<(), Failure> {
        let statement = self.prepared.query().bind(value);
        let done = self
            .on
            .wait(async |driver| statement.execute(driver).await)?;
        expect(done.rows_affected(), rows)
    }

    pub fn query(&self, value: i64, rows: u64) -> Result<u64, Failure> {
        let statement = self.prepared.query().bind(value);
        self.on
            .wait(async |driver| added(statement.fetch(driver), rows).await)
    }
}

impl Drop for Statement<'_> {
    /// It would stay in the connection's cache; one that has failed has nothing to forget.
    fn drop(&mut self) {
        let _ = self
            .on
            .wait(async |driver| driver.clear_cached_statements().await);
    }
}

/// Every column of every row, added up. Whole numbers of any length are read alike if their type is not checked.
async fn added(
    mut rows: impl Stream<Item = sqlx::Result<<Server as Database>::Row>> + Unpin,
    wanted: u64,
) -> Result<u64, Failure> {
    let (mut sum, mut count) = (0, 0);
    while let Some(row) = rows.try_next().await? {
        for column in 0..row.len() {
            sum += row.try_get_unchecked::<i64, _>(column)? as u64;
        }
        count += 1;
    }
    expect(count, wanted)?;
    Ok(sum)
}
