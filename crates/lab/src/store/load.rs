//! Reading back: lists of runs, whole runs, and the state of a run to resume.

use super::{OpenRun, Raw, RunSummary, Saved, Store, StoreError};
use crate::record::{Machine, ResultRecord, RunRecord, SubjectRecord};
use rusqlite::OptionalExtension;
use serde::de::DeserializeOwned;

impl Store {
    /// Returns all runs, the oldest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let list: rusqlite::Result<Vec<RunSummary>> = (|| {
            let mut statement = self.connection.prepare(
                "SELECT id, suite, started, (SELECT ended FROM ending WHERE run = run.id ORDER BY id DESC LIMIT 1), quick,
                        (SELECT count(*) FROM item WHERE run = run.id),
                        (SELECT count(DISTINCT position) FROM result WHERE run = run.id)
                 FROM run ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(RunSummary {
                    id: row.get(0)?,
                    suite: row.get(1)?,
                    started: row.get(2)?,
                    ended: row.get(3)?,
                    quick: row.get(4)?,
                    planned: row.get(5)?,
                    done: row.get(6)?,
                    open: None,
                })
            })?;
            rows.collect()
        })();
        let mut list = self.sqlite(list)?;
        for run in list.iter_mut().filter(|run| run.ended.is_none()) {
            run.open = Some(self.sqlite(self.open_run(run.id))?);
        }
        Ok(list)
    }

    /// Returns the open part of a run. Only frames are measured in every process start, and an
    /// interrupted start is not done.
    fn open_run(&self, run: i64) -> rusqlite::Result<OpenRun> {
        let starts: u64 = self.connection.query_row(
            "SELECT max(1, coalesce(iif(json_valid(options), json_extract(options, '$.starts'), 1), 1)) FROM run WHERE id = ?",
            [run],
            |row| row.get(0),
        )?;
        let (measurements, measured) = self.connection.query_row(
            "WITH newest AS (
                 SELECT position, result FROM result WHERE id IN (SELECT max(id) FROM result WHERE run = ?1 GROUP BY position)
             ), each AS (
                 SELECT iif(json_valid(item) AND json_extract(item, '$.task.task') = 'frame', ?2, 1) AS due, result
                 FROM item LEFT JOIN newest USING (position) WHERE run = ?1
             )
             SELECT coalesce(sum(due), 0), coalesce(sum(CASE
                 WHEN result IS NULL THEN 0
                 WHEN NOT json_valid(result) OR json_extract(result, '$.outcome.kind') != 'frame' THEN due
                 ELSE min(due, json_array_length(result, '$.starts')
                               - (json_extract(result, '$.starts[#-1].stopped') = 'interrupted'))
             END), 0)
             FROM each",
            rusqlite::params![run, starts],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(OpenRun {
            starts,
            measurements,
            measured,
            held_by: self.holder(run),
        })
    }

    /// Loads a run with its results in the order of the plan.
    pub fn load(&self, id: i64) -> Result<RunRecord, StoreError> {
        let head = self.connection.query_row(
            "SELECT suite, suite_toml, started, quick, machine,
                    (SELECT ended FROM ending WHERE run = run.id ORDER BY id DESC LIMIT 1),
                    options
             FROM run WHERE id = ?",
            [id],
            |row| {
                let machine: String = row.get(4)?;
                let options: String = row.get(6)?;
                let record = RunRecord {
                    id,
                    suite: row.get(0)?,
                    suite_toml: row.get(1)?,
                    started: row.get(2)?,
                    ended: row.get(5)?,
                    quick: row.get(3)?,
                    asked: serde_json::from_str(&options).ok(),
                    machine: Machine::default(),
                    subjects: Vec::new(),
                    results: Vec::new(),
                    warnings: Vec::new(),
                };
                Ok((record, machine))
            },
        );
        let Some((mut record, machine)) = self.sqlite(head.optional())? else {
            return Err(self.no_run(id));
        };
        record.machine = self.parse(id, "the machine", &machine)?;
        let subjects = self.texts("SELECT subject FROM subject WHERE run = ? ORDER BY id", id)?;
        for subject in subjects {
            let subject: SubjectRecord = self.parse(id, "a subject", &subject)?;
            record.subjects.retain(|known| known.id != subject.id);
            record.subjects.push(subject);
        }
        record.results = self.results(id)?;
        // A resumed run stores its warnings again, so each is read once.
        let warnings =
            "SELECT warning FROM warning WHERE run = ? GROUP BY warning ORDER BY min(id)";
        record.warnings = self.texts(warnings, id)?;
        Ok(record)
    }

    /// Returns the newest result of each item, in the order of the plan.
    fn results(&self, run: i64) -> Result<Vec<ResultRecord>, StoreError> {
        let texts = self.texts(
            "SELECT result FROM result WHERE id IN (SELECT max(id) FROM result WHERE run = ? GROUP BY position) ORDER BY position",
            run,
        )?;
        let results = texts.iter().map(|text| self.parse(run, "a result", text));
        let results: Result<Vec<ResultRecord>, _> = results.collect();
        let mut results = results?;
        results.iter_mut().for_each(ResultRecord::open_if_one_block);
        Ok(results)
    }

    /// Checks that a run exists.
    ///
    /// # Errors
    /// [`StoreError::NoRun`] names the existing ones.
    pub fn exists(&self, id: i64) -> Result<(), StoreError> {
        let found = self
            .connection
            .query_row("SELECT id FROM run WHERE id = ?", [id], |_| Ok(()))
            .optional();
        self.sqlite(found)?.ok_or_else(|| self.no_run(id))
    }

    /// Loads everything that a resumed run needs.
    pub fn resume(&self, id: i64) -> Result<Saved, StoreError> {
        let record = self.load(id)?;
        let options =
            self.connection
                .query_row("SELECT options FROM run WHERE id = ?", [id], |row| {
                    row.get(0)
                });
        let options = self.sqlite(options)?;
        let items = self.texts("SELECT item FROM item WHERE run = ? ORDER BY position", id)?;
        let mut done = vec![false; items.len()];
        let mut raw = vec![Vec::new(); items.len()];
        for position in self.done(id)? {
            if let Some(done) = done.get_mut(position) {
                *done = true;
            }
        }
        for (position, start, reading) in self.raws(id)? {
            if let Some(of_item) = raw.get_mut(position) {
                of_item.push((start, reading));
            }
        }
        Ok(Saved {
            record,
            options,
            items,
            done,
            raw,
        })
    }

    /// Returns the raw readings of a run: item, process start, reading.
    pub fn raws(&self, run: i64) -> Result<Vec<(usize, u32, Raw)>, StoreError> {
        type Row = (usize, u32, String, String, Vec<u8>);
        let rows: rusqlite::Result<Vec<Row>> = (|| {
            let mut statement = self.connection.prepare(
                "SELECT position, start, kind, head, body FROM raw WHERE run = ? ORDER BY id",
            )?;
            let rows = statement.query_map([run], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })?;
            rows.collect()
        })();
        let mut raws = Vec::new();
        for (position, start, kind, head, body) in self.sqlite(rows)? {
            let raw = Raw::unpack(&kind, &head, &body)
                .map_err(|why| self.unreadable(run, "a reading", why))?;
            raws.push((position, start, raw));
        }
        Ok(raws)
    }

    /// Items with a result that is a figure or an absence that would come again.
    fn done(&self, run: i64) -> Result<Vec<usize>, StoreError> {
        let positions = (|| {
            let mut statement = self
                .connection
                .prepare("SELECT DISTINCT position FROM result WHERE run = ?")?;
            let rows = statement.query_map([run], |row| row.get(0))?;
            rows.collect()
        })();
        self.sqlite(positions)
    }

    /// Returns the number of the newest run, of the given suite if there is one.
    pub fn newest(&self, suite: Option<&str>) -> Result<Option<i64>, StoreError> {
        let runs = self.runs()?;
        let fits = |run: &&RunSummary| suite.is_none_or(|suite| run.suite == suite);
        Ok(runs.iter().rev().find(fits).map(|run| run.id))
    }

    fn texts(&self, sql: &str, run: i64) -> Result<Vec<String>, StoreError> {
        let texts = (|| {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([run], |row| row.get(0))?;
            rows.collect()
        })();
        self.sqlite(texts)
    }

    fn parse<T: DeserializeOwned>(
        &self,
        run: i64,
        what: &'static str,
        text: &str,
    ) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|why| self.unreadable(run, what, why.to_string()))
    }

    fn no_run(&self, id: i64) -> StoreError {
        let runs = self.runs().unwrap_or_default();
        let known = match (runs.first(), runs.last()) {
            (Some(first), Some(last)) => format!("there are {} to {}", first.id, last.id),
            _ => "there are none yet: `antiphon measure` makes one".to_owned(),
        };
        StoreError::NoRun {
            id,
            path: self.path.clone(),
            known,
        }
    }
}
