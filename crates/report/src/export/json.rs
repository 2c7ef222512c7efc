//! JSON for programs: the record itself in an envelope that names its schema and version.

use crate::comparison::Comparison;
use antiphon_lab::RunRecord;
use serde::Serialize;

/// Version of both schemas. It rises when a field changes its meaning or goes; new fields do not raise it.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    version: u32,
    #[serde(flatten)]
    body: Body<'a, T>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Body<'a, T> {
    Run(&'a T),
    Runs(&'a [T]),
    Comparison(&'a T),
}

/// `{"schema": "antiphon.run", "version": 1, "run": …}`; times in ns. Numbers that are not finite are `null`.
///
/// # Errors
/// The record cannot be serialized.
pub fn run(run: &RunRecord) -> Result<String, serde_json::Error> {
    write("antiphon.run", Body::Run(run))
}

/// `{"schema": "antiphon.runs", "version": 1, "runs": [ … ]}`: several runs, each as in [`run`].
///
/// # Errors
/// A record cannot be serialized.
pub fn runs(runs: &[RunRecord]) -> Result<String, serde_json::Error> {
    write("antiphon.runs", Body::Runs(runs))
}

/// `{"schema": "antiphon.comparison", "version": 1, "comparison": …}`.
///
/// # Errors
/// The record cannot be serialized.
pub fn comparison(comparison: &Comparison) -> Result<String, serde_json::Error> {
    write("antiphon.comparison", Body::Comparison(comparison))
}

fn write<T: Serialize>(schema: &'static str, body: Body<T>) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&Envelope {
        schema,
        version: VERSION,
        body,
    })?;
    text.push('\n');
    Ok(text)
}
