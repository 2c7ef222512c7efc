//! Preparation before the first item: subjects are chosen, built and queried; the plan is made and
//! stored.

use super::plan::{self, Item, Known, Permitted, Plan};
use super::process_pool::{Processors, launch};
use super::selection::Selection;
use super::{Event, Laboratory, Options, RunError};
use crate::build::{BuildError, Built};
use crate::environment;
use crate::machine::{FIFO_PRIORITY, allowed_processors};
use crate::protocol::TestInfo;
use crate::record::{Absence, Machine, twin_of};
use crate::session::{Listing, Session};
use crate::store::{NewRun, Saved};
use crate::subject::{Subject, Variant, select};
use crate::suite::Suite;
use antiphon_runner::Policy;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Initial state of the engine.
pub(super) struct Prepared {
    pub(super) items: Vec<Item>,
    /// Builds by subject and policy.
    pub(super) builds: HashMap<(String, String), Built>,
    /// Tests by subject and name.
    pub(super) tests: HashMap<(String, String), TestInfo>,
}

/// Builds the subjects and makes the plan.
pub(super) fn prepare(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
) -> Result<Prepared, RunError> {
    let permitted = permitted();
    let selection = Selection::new(suite, options)?;
    let (known, builds) = builds(lab, suite, options, &selection, &permitted)?;
    let Plan { items, warnings } = plan::make(suite, options, &selection, &known, &permitted)?;
    for warning in &warnings {
        lab.observer.event(Event::Warning(warning));
    }
    Ok(Prepared {
        items,
        builds,
        tests: tests(&known),
    })
}

/// Prepares a resumed run, with its stored plan.
pub(super) fn prepare_again(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
    saved: &Saved,
) -> Result<Prepared, RunError> {
    let run = saved.record.id;
    let changed = |why: String| RunError::Changed { run, why };
    let selection = Selection::new(suite, options)?;
    let (known, builds) = builds(lab, suite, options, &selection, &permitted())?;
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
    if let Some(warning) = environment::warning() {
        lab.store.warn(run, &warning)?;
        lab.observer.event(Event::Warning(&warning));
    }
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

/// Builds every chosen subject for the policies that the selection needs, and asks for its
/// abilities.
fn builds(
    lab: &mut Laboratory<'_>,
    suite: &Suite,
    options: &Options,
    selection: &Selection<'_>,
    permitted: &Permitted,
) -> Result<(Vec<Known>, Builds), RunError> {
    let mut known = Vec::new();
    let mut builds = HashMap::new();
    for choice in chosen(lab.subjects, suite, options)? {
        let id = format!("{}/{}", choice.0.name, choice.1.name);
        if !selection.needs_subject(&id) {
            continue;
        }
        let built = build(lab, options, selection, permitted, choice, &mut builds);
        let listing = match built {
            Ok(listing) => Ok(listing),
            Err(NotBuilt::Absent(absence)) => Err(absence),
            Err(NotBuilt::Interrupted) => return Err(RunError::Interrupted),
        };
        if let Err(Absence {
            reason,
            help,
            last_words,
            ..
        }) = &listing
        {
            // A build for one policy may have succeeded, but the subject is not measured without
            // the other.
            builds.retain(|(built, _), _| *built != id);
            lab.observer.event(Event::SubjectAbsent {
                subject: &id,
                reason,
                help,
                last_words,
            });
        }
        // Servers take turns with themselves instead.
        let is_listed = suite.measured_twice(options.quick).contains(&id);
        let is_twin = !choice.0.serves && options.subjects.is_empty() && is_listed;
        known.push(Known { id, listing });
        if is_twin {
            known.extend(twin(known.last(), &mut builds));
        }
    }
    Ok((known, builds))
}

/// Returns a subject's twin, with builds under its own name; `None` if the original is absent.
fn twin(original: Option<&Known>, builds: &mut Builds) -> Option<Known> {
    let original = original?;
    let listing = original.listing.as_ref().ok()?;
    let id = twin_of(&original.id);
    let of_original = builds.iter().filter(|((of, _), _)| *of == original.id);
    let twins: Vec<_> = of_original
        .map(|((_, policy), built)| {
            let mut built = built.clone();
            built.record.id.clone_from(&id);
            ((id.clone(), policy.clone()), built)
        })
        .collect();
    builds.extend(twins);
    Some(Known {
        id,
        listing: Ok(listing.clone()),
    })
}

type Choice<'s> = (&'s Subject, &'s Variant);

fn chosen<'s>(
    subjects: &'s [Subject],
    suite: &Suite,
    options: &Options,
) -> Result<Vec<Choice<'s>>, RunError> {
    let wanted = match options.subjects.is_empty() {
        true => suite.subjects(options.quick),
        false => options.subjects.clone(),
    };
    let mut chosen: Vec<Choice<'s>> = Vec::new();
    for name in wanted {
        let choice = select(subjects, &name)?;
        let twice =
            |other: &Choice<'_>| other.0.name == choice.0.name && other.1.name == choice.1.name;
        if !chosen.iter().any(twice) {
            chosen.push(choice);
        }
    }
    if chosen.is_empty() {
        return Err(RunError::Nothing {
            why: format!("the suite `{}` names no subjects", suite.name),
            help: "name some".to_owned(),
        });
    }
    Ok(chosen)
}

/// Reason for a subject's missing listing.
enum NotBuilt {
    /// It cannot be built or started.
    Absent(Absence),
    /// The user stopped it.
    Interrupted,
}

impl From<BuildError> for NotBuilt {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Interrupted { .. } => NotBuilt::Interrupted,
            error => NotBuilt::Absent(error.absence()),
        }
    }
}

/// Builds one subject, and returns its listing or the reason for its absence. The listing decides
/// whether it is built for a second policy.
fn build(
    lab: &mut Laboratory<'_>,
    options: &Options,
    selection: &Selection<'_>,
    permitted: &Permitted,
    (subject, variant): Choice<'_>,
    builds: &mut Builds,
) -> Result<Listing, NotBuilt> {
    let id = format!("{}/{}", subject.name, variant.name);
    let mut listing: Option<Listing> = None;
    for policy in policies(selection, permitted) {
        if lab.stop.load(Ordering::Relaxed) {
            return Err(NotBuilt::Interrupted);
        }
        if let Some(listing) = &listing
            && !selection.needs(policy, listing)
        {
            continue;
        }
        lab.observer.event(Event::Building {
            subject: &id,
            policy,
        });
        let built = lab.cache.build(subject, variant, policy, lab.stop)?;
        lab.observer.event(Event::Built {
            subject: &id,
            policy,
            cached: built.cached,
        });
        if listing.is_none() {
            let listed = list(&built, options);
            let absent = |error| NotBuilt::Absent(Absence::of_session(&error));
            listing = Some(listed.map_err(absent)?);
        }
        builds.insert((id.clone(), policy.to_owned()), built);
    }
    Ok(listing.unwrap_or_default())
}

/// Returns the policies that may be needed, `other` first. Without permission for FIFO, its items
/// are measured under `other`.
fn policies(selection: &Selection<'_>, permitted: &Permitted) -> Vec<&'static str> {
    match permitted.fifo.is_ok() {
        true => selection.policies(),
        false => vec!["other"],
    }
}

fn list(built: &Built, options: &Options) -> Result<Listing, crate::session::SessionError> {
    if built.serves || !built.programs.is_empty() {
        // Servers and whole programs are not asked, because their subject's file describes them.
        return Ok(Listing {
            programs: built.programs.clone(),
            serves: built.serves,
            ..Listing::default()
        });
    }
    let mut launch = launch(built, "other", Processors::choose().placement("same"));
    let hang_limit = Duration::from_secs_f64(options.hang_limit_s.clamp(0.1, 3600.0));
    launch.start_limit = launch.start_limit.min(hang_limit);
    let mut session = Session::start(&launch)?;
    let listing = session.list()?;
    // The way it ends does not matter to its listing; the drop kills the rest.
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
