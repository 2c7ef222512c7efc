//! PostgreSQL by the crate postgres: statements as text by the simple protocol, prepared ones by the extended one, numbers in binary.

use crate::database::{expect, told};
use antiphon_kit::Failure;
use postgres::types::Type;
use postgres::{Client, Config, NoTls, SimpleQueryMessage};
use std::cell::RefCell;

pub struct Connection(RefCell<Client>);

pub struct Statement<'a> {
    on: &'a Connection,
    prepared: postgres::Statement,
}

/// In the server's words, if it has said any; by itself such an error is called "db error".
fn failed(error: postgres::Error) -> Failure {
    match error.as_db_error() {
        Some(said) => Failure(said.to_string()),
        None => Failure(error.to_string()),
    }
}

impl Connection {
    pub fn open() -> Result<Self, Failure> {
        let mut config = Config::new();
        config
            .host(&told("HOST")?)
            .port(told("PORT")?.parse()?)
            .user(&told("USER")?)
            .password(told("PASSWORD")?)
            .dbname(&told("NAME")?);
        Ok(Connection(RefCell::new(
            config.connect(NoTls).map_err(failed)?,
        )))
    }

    pub fn close(self) -> Result<(), Failure> {
        self.0.into_inner().close().map_err(failed)
    }

    fn simple(&self, text: &str) -> Result<Vec<SimpleQueryMessage>, Failure> {
        self.0.borrow_mut().simple_query(text).map_err(failed)
    }

    pub fn execute(&self, text: &str, rows: u64) -> Result<(), Failure> {
        for message in self.simple(text)? {
            if let SimpleQueryMessage::CommandComplete(found) = message
                && rows > 0
            {
                expect(found, rows)?;
            }
        }
        Ok(())
    }

    pub fn query(&self, text: &str, rows: u64) -> Result<u64, Failure> {
        let (mut sum, mut count) = (0, 0);
        for message in self.simple(text)? {
            if let SimpleQueryMessage::Row(row) = message {
                for column in 0..row.len() {
                    sum += row.get(column).unwrap_or("").parse::<u64>()?;
                }
                count += 1;
            }
        }
        expect(count, rows)?;
        Ok(sum)
    }

    pub fn prepare(&self, text: &str) -> Result<Statement<'_>, Failure> {
        // A number in binary has a length, which the parameter's place would else decide.
        let prepared = self
            .0
            .borrow_mut()
            .prepare_typed(text, &[Type::INT8])
            .map_err(failed)?;
        Ok(Statement { on: self, prepared })
    }
}

impl Statement<'_> {
    pub fn execute(&self, value: i64, rows: u64) -> Result<(), Failure> {
        let mut client = self.on.0.borrow_mut();
        let found = client.execute(&self.prepared, &[&value]);
        expect(found.map_err(failed)?, rows)
    }

    pub fn query(&self, value: i64, wanted: u64) -> Result<u64, Failure> {
        let mut client = self.on.0.borrow_mut();
        let rows = client.query(&self.prepared, &[&value]);
        let rows = rows.map_err(failed)?;
        let mut sum = 0;
        for row in &rows {
            for column in 0..row.len() {
                sum += row.try_get::<_, i32>(column)? as u64;
            }
        }
        expect(rows.len() as u64, wanted)?;
        Ok(sum)
    }
}
