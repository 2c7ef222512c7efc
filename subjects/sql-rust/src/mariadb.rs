//! MariaDB by the crate mysql: statements as text, prepared ones by the binary protocol.

use crate::database::{expect, told};
use antiphon_kit::Failure;
use mysql::prelude::{Protocol, Queryable};
use mysql::{Conn, OptsBuilder, QueryResult, from_value_opt};
use std::cell::RefCell;

pub struct Connection(RefCell<Conn>);

pub struct Statement<'a> {
    on: &'a Connection,
    prepared: mysql::Statement,
}

impl Connection {
    /// Left alone, this driver asks the server for its socket, and goes there.
    pub fn open() -> Result<Self, Failure> {
        let options = OptsBuilder::new()
            .ip_or_hostname(Some(told("HOST")?))
            .tcp_port(told("PORT")?.parse()?)
            .user(Some(told("USER")?))
            .pass(Some(told("PASSWORD")?))
            .db_name(Some(told("NAME")?))
            .prefer_socket(false);
        Ok(Connection(RefCell::new(Conn::new(options)?)))
    }

    /// A connection says good-bye when it is dropped.
    pub fn close(self) -> Result<(), Failure> {
        Ok(())
    }

    pub fn execute(&self, text: &str, rows: u64) -> Result<(), Failure> {
        let mut connection = self.0.borrow_mut();
        connection.query_drop(text)?;
        changed(&connection, rows)
    }

    pub fn query(&self, text: &str, rows: u64) -> Result<u64, Failure> {
        added(self.0.borrow_mut().query_iter(text)?, rows)
    }

    pub fn prepare(&self, text: &str) -> Result<Statement<'_>, Failure> {
        let prepared = self.0.borrow_mut().prep(text)?;
        Ok(Statement { on: self, prepared })
    }
}

impl Statement<'_> {
    pub fn execute(&self, value: i64, rows: u64) -> Result<(), Failure> {
        let mut connection = self.on.0.borrow_mut();
        connection.exec_drop(&self.prepared, (value,))?;
        changed(&connection, rows)
    }

    pub fn query(&self, value: i64, rows: u64) -> Result<u64, Failure> {
        let mut connection = self.on.0.borrow_mut();
        added(connection.exec_iter(&self.prepared, (value,))?, rows)
    }
}

fn changed(connection: &Conn, rows: u64) -> Result<(), Failure> {
    match rows {
        0 => Ok(()),
        _ => expect(connection.affected_rows(), rows),
    }
}

/// Every column of every row, added up.
fn added<T: Protocol>(result: QueryResult<'_, '_, '_, T>, wanted: u64) -> Result<u64, Failure> {
    let (mut sum, mut count) = (0, 0);
    for row in result {
        for value in row?.unwrap() {
            sum += from_value_opt::<u64>(value)?;
        }
        count += 1;
    }
    expect(count, wanted)?;
    Ok(sum)
}
