//! Before the first item: subjects are chosen, built, and asked what they can do; the plan is made and stored.

use super::plan::{self, Item, Known, Permitted, Plan};
use super::seats::{Processors, launch};
use super::{Event, Laboratory, Options, RunError};
use crate::build::Built;
use crate::machine::{FIFO_PRIORITY, allowed_processors};
use crate::protocol::TestInfo;
use crate::record::{Absence, Machine};
use crate::session::{Listing, Session};
use crate::store::{NewRun, Saved};
use crate::subject::{Subject, Variant, select};
use crate::suite::Suite;
use antiphon_runner::Policy;
use std::collections::HashMap;
use std::time::Duration;

/// What the engine begins with.
pub(super) struct Prepared {
    pub(super) items: Vec<Item>,
    /// By subject and policy.
    pub(super) builds: HashMap<(String, String), Built>,
    /// By subject and name.
    pub(super) tests: HashMap<(String, String), TestInfo>,
}

/// Builds the subjects and makes the plan.
pub(super) fn prepare(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
) -> Result<Prepared, RunError> {
    let permitted = permitted();
    let (known, builds) = builds(lab, suite, options, &permitted)?;
    let Plan { items, warnings } = plan::make(suite, options, &known, &permitted)?;
    for warning in &warnings {
        lab.observer.event(Event::Warning(warning));
    }
    Ok(Prepared {
        items,
        builds,
        tests: tests(&known),
    })
}

/// The same for a run that is resumed: with the plan that it has.
pub(super) fn prepare_again(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
    saved: &Saved,
) -> Result<Prepared, RunError> {
    let run = saved.record.id;
    let changed = |why: String| RunError::Changed { run, why };
    let (known, builds) = builds(lab, suite, options, &permitted())?;
    let records: HashMap<_, _> = builds
        .values()
        .map(|built| (&built.record.id, &built.record))
        .collect();
    for before in &saved.record.subjects {
        match records.get(&before.id) {
            Some(now) if *now == before => {}
            Some(_) => {
                return Err(changed(format!(
                    "the subject {} or its compiler has changed since",
                    before.id
                )));
            }
            None => {
                return Err(changed(format!(
                    "the subject {} can no longer be built",
                    before.id
                )));
            }
        }
    }
    let items: Result<Vec<Item>, _> = saved
        .items
        .iter()
        .map(|item| serde_json::from_str(item))
        .collect();
    let items = items.map_err(|why| changed(format!("its plan cannot be read ({why})")))?;
    if items.is_empty() {
        return Err(changed("it ended before it had a plan".to_owned()));
    }
    Ok(Prepared {
        items,
        builds,
        tests: tests(&known),
    })
}

/// Stores the beginning of a run.
pub(super) fn begin(
    lab: &mut Laboratory<'_>,
    prepared: &Prepared,
    suite: &Suite,
    suite_toml: &str,
    options: &Options,
) -> Result<i64, RunError> {
    let machine = Machine::collect();
    let run = lab.store.begin(&NewRun {
        suite: &suite.name,
        suite_toml,
        quick: options.quick,
        machine: &machine,
        options: &to_json(options),
    })?;
    let mut records: Vec<_> = prepared
        .builds
        .values()
        .map(|built| &built.record)
        .collect();
    records.sort_by(|a, b| a.id.cmp(&b.id));
    records.dedup_by(|a, b| a.id == b.id);
    for record in records {
        lab.store.subject(run, record)?;
    }
    let items: Vec<_> = prepared.items.iter().map(to_json).collect();
    lab.store.plan(run, &items)?;
    Ok(run)
}

fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("options and items are always writable as JSON")
}

fn permitted() -> Permitted {
    Permitted {
        fifo: Policy::Fifo {
            priority: FIFO_PRIORITY,
        }
        .permitted(),
        processors: allowed_processors().len(),
    }
}

type Builds = HashMap<(String, String), Built>;

/// Builds every chosen subject for every policy that the suite runs under, and asks each what it can do.
fn builds(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
    permitted: &Permitted,
) -> Result<(Vec<Known>, Builds), RunError> {
    let mut known = Vec::new();
    let mut builds = HashMap::new();
    for (subject, variant) in chosen(lab.subjects, suite, options)? {
        let id = format!("{}/{}", subject.name, variant.name);
        let listing = build(
            lab,
            suite,
            options,
            permitted,
            (subject, variant),
            &mut builds,
        );
        if let Err(Absence {
            reason,
            mend,
            last_words,
            ..
        }) = &listing
        {
            // One policy's build may have gone well: without the other the subject is not measured at all.
            builds.retain(|(built, _), _| *built != id);
            lab.observer.event(Event::SubjectAbsent {
                subject: &id,
                reason,
                mend,
                last_words,
            });
        }
        known.push(Known { id, listing });
    }
    Ok((known, builds))
}

type Choice<'s> = (&'s Subject, &'s Variant);

fn chosen<'s>(
    subjects: &'s [Subject],
    suite: &Suite,
    options: &Options,
) -> Result<Vec<Choice<'s>>, RunError> {
    let wanted = match options.subjects.is_empty() {
        true => &suite.subjects,
        false => &options.subjects,
    };
    let mut chosen: Vec<Choice<'s>> = Vec::new();
    for name in wanted {
        let choice = select(subjects, name)?;
        let twice =
            |other: &Choice<'_>| other.0.name == choice.0.name && other.1.name == choice.1.name;
        if !chosen.iter().any(twice) {
            chosen.push(choice);
        }
    }
    if chosen.is_empty() {
        return Err(RunError::Nothing {
            why: format!("the suite `{}` names no subjects", suite.name),
            mend: "name some".to_owned(),
        });
    }
    Ok(chosen)
}

/// Builds one subject; its listing, or why there is none.
fn build(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
    permitted: &Permitted,
    (subject, variant): Choice<'_>,
    builds: &mut Builds,
) -> Result<Listing, Absence> {
    let id = format!("{}/{}", subject.name, variant.name);
    for policy in policies(suite, options, permitted) {
        lab.observer.event(Event::Building {
            subject: &id,
            policy,
        });
        let built = lab
            .cache
            .build(subject, variant, policy)
            .map_err(|error| error.absence())?;
        lab.observer.event(Event::Built {
            subject: &id,
            policy,
            cached: built.cached,
        });
        builds.insert((id.clone(), policy.to_owned()), built);
    }
    let any = builds.get(&(id.clone(), "other".to_owned()));
    let any = any.or_else(|| builds.get(&(id.clone(), "fifo".to_owned())));
    let Some(built) = any else {
        return Ok(Listing::default());
    };
    list(built, options).map_err(|error| Absence::of_session(&error))
}

/// The policies of all rows, `other` first.
fn policies(suite: &Suite, options: &Options, permitted: &Permitted) -> Vec<&'static str> {
    let rows = suite.groups.iter().flat_map(|group| &group.rows);
    let fifo = rows
        .flat_map(|row| row.runs(options.quick))
        .any(|placed| placed.policy == "fifo");
    match fifo && permitted.fifo.is_ok() {
        true => vec!["other", "fifo"],
        false => vec!["other"],
    }
}

fn list(built: &Built, options: &Options) -> Result<Listing, crate::session::SessionError> {
    let mut launch = launch(built, "other", Processors::choose().placement("same"));
    let hang_limit = Duration::from_secs_f64(options.hang_limit_s.clamp(0.1, 3600.0));
    launch.start_limit = launch.start_limit.min(hang_limit);
    let mut session = Session::start(&launch)?;
    let listing = session.list()?;
    // How it ends does not matter to what it listed; the drop kills what stays.
    let _ = session.quit();
    Ok(listing)
}

fn tests(known: &[Known]) -> HashMap<(String, String), TestInfo> {
    let mut tests = HashMap::new();
    for subject in known {
        let Ok(listing) = &subject.listing else {
            continue;
        };
        for test in &listing.tests {
            tests.insert((subject.id.clone(), test.name.clone()), test.clone());
        }
    }
    tests
}
