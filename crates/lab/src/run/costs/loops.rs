//! Loops of known work, which show the speed of a processor.
//!
//! There are two, because a slow state does not affect all programs alike. Chains of additions and
//! multiplications show the frequency and the sharing of a core's units. They do not show a state
//! that slows large code with many branches. Its probable cause is a neighbour in the same core, of
//! another virtual machine, that takes the space for branches. `SELECT 1` over PostgreSQL used 20
//! µs or 31 from Python then, and 11 or 14 from C. A query in memory is such code, like the
//! measured programs, and shows that state, too.

use rusqlite::Connection;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::cell::OnceCell;
use std::hint::black_box;

/// Turns of the chains, which make some 10 µs, and queries, which make some 25.
const TURNS: u64 = 7_000;
const QUERIES: u32 = 4;

/// Loops of a probe. The shortest counts: an interruption hits one of them, a slow processor all.
const LOOPS: u32 = 4;

/// Work of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::run) enum Work {
    Chains,
    Query,
}

impl Work {
    /// Returns the quantile of a stretch's probes that stands for the stretch.
    ///
    /// Chains follow the frequency, and may meet a rare state in which it is higher than it can
    /// stay. Queries vary among themselves by a twentieth.
    pub(super) fn fastest(self) -> f64 {
        match self {
            Work::Chains => 0.1,
            Work::Query => 0.5,
        }
    }
}

/// State of the loops.
#[derive(Default)]
pub(super) struct Loops {
    /// Database of the queries. It is opened at the first probe, which many runs never make.
    /// Without memory for it only chains run.
    rows: OnceCell<Option<Connection>>,
}

impl Loops {
    /// Times each loop on the current processor, ns.
    pub(super) fn probe(&self) -> Vec<(Work, f64)> {
        let query = || {
            let rows = self.rows.get_or_init(|| rows().ok()).as_ref()?;
            Some((Work::Query, shortest(|| query(rows))?))
        };
        let chains = shortest(|| {
            chains();
            Some(())
        });
        let chains = chains.map(|took_ns| (Work::Chains, took_ns));
        chains.into_iter().chain(query()).collect()
    }
}

/// Returns the shortest time of a loop, ns; `None` if it fails.
fn shortest(mut work: impl FnMut() -> Option<()>) -> Option<f64> {
    let mut timed = || {
        let begin = clock_gettime(ClockId::ThreadCPUTime);
        work()?;
        let end = clock_gettime(ClockId::ThreadCPUTime);
        Some((ns(end) - ns(begin)).max(1.0))
    };
    let all: Option<Vec<f64>> = (0..LOOPS).map(|_| timed()).collect();
    all?.into_iter().min_by(f64::total_cmp)
}

fn ns(time: Timespec) -> f64 {
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Runs several chains that a core can follow at once, so that a shared core shows.
///
/// Each turn takes as long as its longest chain. Loops that keep all units of a core busy have two
/// stable speeds even without a neighbour.
fn chains() {
    let [mut a, mut b, mut c, mut d, mut e, mut f] = black_box([1_u64, 2, 3, 4, 5, 6]);
    for turn in 0..TURNS {
        a = a.wrapping_mul(5).wrapping_add(turn);
        b = (b ^ turn).wrapping_add(b << 3);
        c = c.wrapping_add(turn ^ d);
        d = (d >> 1).wrapping_add(c);
        e = (e ^ (e << 5)).wrapping_add(turn);
        f = f.wrapping_mul(3).wrapping_add(1);
    }
    black_box([a, b, c, d, e, f]);
}

/// Creates ten rows in memory.
fn rows() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch("CREATE TABLE ten (id INTEGER PRIMARY KEY, value INTEGER)")?;
    for value in 0..10 {
        connection.execute("INSERT INTO ten (value) VALUES (?)", [value])?;
    }
    Ok(connection)
}

/// Reads them all, by statements that are prepared anew each time.
fn query(rows: &Connection) -> Option<()> {
    for _ in 0..QUERIES {
        let mut statement = rows.prepare("SELECT * FROM ten LIMIT 10").ok()?;
        let mut found = statement.query([]).ok()?;
        while let Some(row) = found.next().ok()? {
            black_box(row.get::<_, i64>(1).ok()?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loop_takes_some_time() {
        let took = Loops::default().probe();
        let works: Vec<Work> = took.iter().map(|(work, _)| *work).collect();
        assert_eq!(works, [Work::Chains, Work::Query]);
        assert!(took.iter().all(|(_, ns)| *ns > 100.0), "{took:?}");
        let without = Loops { rows: None.into() }.probe();
        assert_eq!(without[0].0, Work::Chains);
        assert_eq!(without.len(), 1);
    }

    #[test]
    fn a_query_that_fails_tells_nothing() {
        let empty = Connection::open_in_memory().unwrap();
        let rows = Some(empty).into();
        let took = Loops { rows }.probe();
        assert_eq!(took.len(), 1, "{took:?}");
    }
}
