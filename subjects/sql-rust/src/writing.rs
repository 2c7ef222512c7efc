//! Statements that write. What was written is counted after each slice, untimed.

use crate::database::{nothing, own, written_table};
use crate::dialect::{COLUMNS, PARAMETER};
use crate::driver::{Connection, Statement};
use antiphon_kit::{Failure, Frames, Test, increment};

/// Inserts that are one operation of the transactions' tests.
const TOGETHER: u64 = 10;

/// What is done to the table in a turn.
type Once = fn(&mut Writing) -> Result<(), Failure>;

pub fn tests() -> impl Iterator<Item = Test> {
    let tests: [(&str, &str, Once); 5] = [
        ("insert", "sql.insert", Writing::insert),
        ("insert.prepared", "sql.insert", Writing::insert_prepared),
        (
            "transaction.one",
            "sql.transaction",
            Writing::one_transaction,
        ),
        ("transaction.each", "sql.transaction", Writing::one_each),
        ("drop_create", "sql.drop_create", Writing::drop_create),
    ];
    tests
        .into_iter()
        .map(|(name, work, once)| Test::frame(name, move |_| Writing::prepare(once)).work(work))
}

/// A table of its own, and what it must hold.
struct Writing {
    on: &'static Connection,
    once: Once,
    drop: String,
    create: String,
    insert: String,
    count: String,
    prepared: Statement<'static>,
    rows: u64,
    /// Operations that the checksum counts: rows, or tables that were made anew.
    done: u64,
}

impl Writing {
    fn prepare(once: Once) -> Result<Self, Failure> {
        let on = own()?;
        let table = written_table()?;
        let create = format!("CREATE TABLE {table} ({COLUMNS})");
        on.execute(&format!("DROP TABLE IF EXISTS {table}"), 0)?;
        on.execute(&create, 0)?;
        let prepared = on.prepare(&format!("INSERT INTO {table} (value) VALUES ({PARAMETER})"))?;
        Ok(Writing {
            on,
            once,
            drop: format!("DROP TABLE {table}"),
            create,
            insert: format!("INSERT INTO {table} (value) VALUES (1)"),
            count: format!("SELECT count(*), coalesce(sum(value), 0) FROM {table}"),
            prepared,
            rows: 0,
            done: 0,
        })
    }

    fn wrote(&mut self) {
        self.rows += 1;
        self.done += 1;
    }

    fn insert(&mut self) -> Result<(), Failure> {
        self.on.execute(&self.insert, 1)?;
        self.wrote();
        Ok(())
    }

    fn insert_prepared(&mut self) -> Result<(), Failure> {
        self.prepared.execute(1, 1)?;
        self.wrote();
        Ok(())
    }

    fn one_each(&mut self) -> Result<(), Failure> {
        (0..TOGETHER).try_for_each(|_| self.insert())
    }

    fn one_transaction(&mut self) -> Result<(), Failure> {
        self.on.execute("BEGIN", 0)?;
        self.one_each()?;
        self.on.execute("COMMIT", 0)
    }

    fn drop_create(&mut self) -> Result<(), Failure> {
        self.on.execute(&self.drop, 0)?;
        self.on.execute(&self.create, 0)?;
        self.done += 1;
        Ok(())
    }
}

impl Frames for Writing {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(nothing(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (before, mut index) = (self.done, 0);
        while index < iterations {
            (self.once)(self)?;
            index = increment(index);
        }
        Ok(self.done - before)
    }

    /// Each row holds a 1, so count and sum are the rows that were written.
    fn reset(&mut self) -> Result<(), Failure> {
        let (found, wanted) = (self.on.query(&self.count, 1)?, 2 * self.rows);
        if found == wanted {
            return Ok(());
        }
        Err(Failure(format!(
            "the table's rows and values add up to {found}, and should to {wanted}"
        )))
    }
}

impl Drop for Writing {
    /// What stays goes with the database.
    fn drop(&mut self) {
        let _ = self.on.execute("ROLLBACK", 0); // of a transaction that failed half-way
        let _ = self.on.execute(&self.drop, 0);
    }
}
