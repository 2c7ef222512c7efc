//! JSON for programs: the record itself in an envelope that names its schema and version.

use crate::comparison::Comparison;
use crate::compose::headlines_of;
use crate::document::Headlines;
use antiphon_lab::RunRecord;
use serde::Serialize;

/// Version of the schemas of runs. It rises when a field changes its meaning or goes; new fields do
/// not raise it.
pub const VERSION: u32 = 1;

/// Version of the schema of comparisons. In version 1 verdicts were `dearer`, `cheaper` and
/// `undecided`.
pub const COMPARISON_VERSION: u32 = 2;

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    version: u32,
    #[serde(flatten)]
    body: Body<'a, T>,
    /// What was found, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headlines: Vec<Headlines>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Body<'a, T> {
    Run(&'a T),
    Runs(&'a [T]),
    Comparison(&'a T),
}

/// Writes `{"schema": "antiphon.run", "version": 1, "run": …, "headlines": […]}`; times in ns. Numbers that are not
/// finite are `null`.
///
/// # Errors
/// The record cannot be serialized.
pub fn run(run: &RunRecord) -> Result<String, serde_json::Error> {
    let found = headlines_of(std::slice::from_ref(run));
    write("antiphon.run", VERSION, Body::Run(run), found)
}

/// Writes `{"schema": "antiphon.runs", "version": 1, "runs": [ … ]}`: several runs, each as in
/// [`run`].
///
/// # Errors
/// A record cannot be serialized.
pub fn runs(runs: &[RunRecord]) -> Result<String, serde_json::Error> {
    write(
        "antiphon.runs",
        VERSION,
        Body::Runs(runs),
        headlines_of(runs),
    )
}

/// Writes `{"schema": "antiphon.comparison", "version": 2, "comparison": …}`.
///
/// # Errors
/// The record cannot be serialized.
pub fn comparison(comparison: &Comparison) -> Result<String, serde_json::Error> {
    write(
        "antiphon.comparison",
        COMPARISON_VERSION,
        Body::Comparison(comparison),
        Vec::new(),
    )
}

fn write<T: Serialize>(
    schema: &'static str,
    version: u32,
    body: Body<T>,
    headlines: Vec<Headlines>,
) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&Envelope {
        schema,
        version,
        body,
        headlines,
    })?;
    text.push('\n');
    // A reader may have it shown by a terminal.
    Ok(antiphon_outside::json(&text).into_owned())
}
