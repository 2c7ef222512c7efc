//! Connections and queries.

use crate::database::{nothing, own, rows_table};
use crate::dialect::{FIRST, NO_RESULT, PARAMETER};
use crate::driver::{Connection, Statement};
use antiphon_kit::{Failure, Frames, Test, increment};

pub fn tests() -> impl Iterator<Item = Test> {
    let rows = [1, 10, 50, 100, 200, 500, 1000].map(|rows| {
        let text = move || Ok(format!("SELECT * FROM {} LIMIT {rows}", rows_table()?));
        query(&format!("rows.{rows}"), text, rows)
    });
    let first = [
        Test::frame("connect", |_| own().map(|_| Connecting)).work("sql.connect"),
        Test::frame("do.1", |_| own().map(Doing)).work("sql.do.1"),
        query("select.1", || Ok("SELECT 1".to_owned()), 1),
    ];
    let prepared = [1, 10, 100, 1000].map(|rows| {
        let test = Test::frame(format!("prepared.{rows}"), move |_| Prepared::of(rows));
        test.work(format!("sql.rows.{rows}"))
    });
    first.into_iter().chain(rows).chain(prepared)
}

/// Connect, SELECT 1, close.
struct Connecting;

impl Frames for Connecting {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(nothing(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (mut sum, mut index) = (0, 0);
        while index < iterations {
            let connection = Connection::open()?;
            sum += connection.query("SELECT 1", 1)?;
            connection.close()?;
            index = increment(index);
        }
        Ok(sum)
    }
}

/// A statement without a result.
struct Doing(&'static Connection);

impl Frames for Doing {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(nothing(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let mut index = 0;
        while index < iterations {
            self.0.execute(NO_RESULT, 0)?;
            index = increment(index);
        }
        Ok(index)
    }
}

/// A query that is sent as text each time.
struct Query {
    on: &'static Connection,
    text: String,
    rows: u64,
}

fn query(name: &str, text: impl Fn() -> Result<String, Failure> + 'static, rows: u64) -> Test {
    let prepare = move |_| {
        let (on, text) = (own()?, text()?);
        Ok(Query { on, text, rows })
    };
    Test::frame(name, prepare).work(format!("sql.{name}"))
}

impl Frames for Query {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(nothing(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (mut sum, mut index) = (0, 0);
        while index < iterations {
            sum += self.on.query(&self.text, self.rows)?;
            index = increment(index);
        }
        Ok(sum)
    }
}

/// A query that is prepared once, with its rows as the parameter.
struct Prepared {
    statement: Statement<'static>,
    rows: u32,
}

impl Prepared {
    fn of(rows: u32) -> Result<Self, Failure> {
        let text = format!("SELECT * FROM {} {FIRST} {PARAMETER}", rows_table()?);
        let statement = own()?.prepare(&text)?;
        Ok(Prepared { statement, rows })
    }
}

impl Frames for Prepared {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(nothing(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (mut sum, mut index) = (0, 0);
        while index < iterations {
            sum += self.statement.query(self.rows.into(), self.rows.into())?;
            index = increment(index);
        }
        Ok(sum)
    }
}
