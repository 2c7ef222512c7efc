//! Claims about servers, judged by this run's figures.

use super::{LIMITED, is_limited, marks, starved};
use crate::compose::cold::{self, NOT_WARM};
use crate::compose::results_of;
use crate::compose::verdict::{self, Fate, Judged, Limits};
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Section, Unit};
use crate::number;
use antiphon_lab::suite::{ServerClaim, ServerQuantity, Servers};
use antiphon_lab::{LoadOutcome, LoadRound, ResultRecord};
use antiphon_measure::Interval;

/// Id of the section of claims.
const SECTION: &str = "load-claims";

/// Returns the section of claims; `None` if none can be tried.
pub(super) fn section(view: &View) -> Option<Section> {
    let servers = view.layout.servers.iter();
    let blocks: Vec<Block> = servers
        .flat_map(|servers| table(servers, &|claim, test| trial(view, claim, test)))
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: SECTION.into(),
        title: "What was claimed of servers, and whether it holds here".into(),
        blocks,
    })
}

/// Result of a claim in one test.
pub struct Trial {
    /// Name of the test.
    pub test: String,
    /// The share that the claim is about, or the figure.
    pub share: Interval,
    /// Possible share of the servers alone. If the generator may have limited a side, the measured
    /// share only bounds it.
    pub possible: Interval,
    /// Whether a side was not warm, for figures that suffer from it.
    pub is_cold: bool,
    /// Other weaknesses, in a word or two each.
    pub words: Vec<String>,
}

impl Trial {
    fn fate(&self, limits: &Limits) -> Fate {
        match limits.fate(self.possible) {
            Fate::Undecided if self.possible != self.share => Fate::Limited,
            _ if self.is_cold => Fate::Cold,
            fate => fate,
        }
    }
}

/// Tries a claim in one test; `None` where it cannot be tried.
pub type Try<'t> = dyn Fn(&ServerClaim, &str) -> Option<Trial> + 't;

/// Returns the table of a set of claims with its text; nothing if none can be tried.
pub fn table(servers: &Servers, trial: &Try) -> Vec<Block> {
    let rows: Vec<_> = servers
        .claims
        .iter()
        .filter_map(|claim| row(claim, trial))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let text: Vec<&str> = servers.text.split_whitespace().collect();
    let caption = format!(
        "A claim holds where the whole interval of the ratio or figure is within its limits, and fails where none of it is. What weakened either side in most \
         rounds is named beside the verdict; where a side was not warm, a claim about its time is undecided. Claims: {}.",
        servers.source
    );
    vec![
        Block::Prose {
            text: text.join(" "),
        },
        Block::Table(verdict::table(&servers.title, &caption, rows)),
    ]
}

/// Returns the claims of sets that can be tried, each with the id of its set.
pub fn judged(sets: &[Servers], section: &str, trial: &Try) -> Vec<(String, Judged)> {
    let claims = sets
        .iter()
        .flat_map(|set| set.claims.iter().map(move |claim| (set, claim)));
    claims
        .filter_map(|(set, claim)| {
            let (limits, trials) = (limits(claim), trials(claim, trial));
            let fates: Vec<Fate> = trials.iter().map(|trial| trial.fate(&limits)).collect();
            let weakest = limits.weakest(&trials, |trial| (trial.fate(&limits), trial.share))?;
            let judged = Judged {
                text: claim.text.clone(),
                fate: Fate::of_all(&fates),
                weakest: weakest.share,
                limits,
                unit: unit(claim),
                section: section.into(),
            };
            Some((set.id.clone(), judged))
        })
        .collect()
}

/// Returns the claims about servers that can be tried.
pub fn judged_of_servers(view: &View) -> Vec<(String, Judged)> {
    let trial = |claim: &ServerClaim, test: &str| trial(view, claim, test);
    judged(&view.layout.servers, SECTION, &trial)
}

fn limits(claim: &ServerClaim) -> Limits {
    Limits {
        at_least: claim.at_least,
        at_most: claim.at_most,
    }
}

fn trials(claim: &ServerClaim, trial: &Try) -> Vec<Trial> {
    let tests = claim.tests.iter();
    tests.filter_map(|test| trial(claim, test)).collect()
}

fn row(claim: &ServerClaim, trial: &Try) -> Option<crate::document::Row> {
    let (limits, trials) = (limits(claim), trials(claim, trial));
    let fates: Vec<Fate> = trials.iter().map(|trial| trial.fate(&limits)).collect();
    let words: Vec<Vec<String>> = trials.iter().map(|trial| trial.words.clone()).collect();
    let weakest = limits.weakest(&trials, |trial| (trial.fate(&limits), trial.share))?;
    let unit = unit(claim);
    let reported = |value| number::quantity(unit, value);
    let published = claim
        .published
        .map_or(String::new(), |of| format!("; published: {}", reported(of)));
    let weakest = format!(
        "{} ({} to {}{}) with {}{published}",
        reported(weakest.share.value),
        reported(weakest.share.low),
        reported(weakest.share.high),
        verdict::beside(weakest.fate(&limits)),
        weakest.test
    );
    let place = format!(
        "{} of {}: {}{}",
        claim.quantity.word(),
        claim.of,
        limits.words_in(unit),
        match claim.is_absolute() {
            true => String::new(),
            false => format!(" of that of {}", claim.against),
        }
    );
    Some(verdict::row(
        &claim.text,
        place,
        verdict::weakened(&fates, &words),
        Some(weakest),
    ))
}

/// Returns the unit of a claim's limits.
fn unit(claim: &ServerClaim) -> Unit {
    match (claim.is_absolute(), claim.quantity) {
        (false, _) => Unit::Share,
        (true, ServerQuantity::Memory) => Unit::Bytes,
        (true, _) => Unit::Count,
    }
}

/// Tries a claim under one load: by the rounds that both servers have, or of one by itself.
fn trial(view: &View, claim: &ServerClaim, test: &str) -> Option<Trial> {
    let find = |subject: &String| {
        let column = RunColumn {
            subject: subject.clone(),
            policy: claim.run.policy.clone(),
            placement: claim.run.placement.clone(),
        };
        view.find(test, &column)
    };
    let ours = find(&claim.of)?;
    let sides = match claim.is_absolute() {
        true => vec![ours],
        false => vec![ours, find(&claim.against)?],
    };
    // A side without a figure leaves nothing to try.
    let loads: Option<Vec<&LoadOutcome>> = sides.iter().map(|side| side.load()).collect();
    let loads = loads?;
    let is_cold =
        needs_warmth(claim.quantity) && sides.iter().any(|side| cold::is_server_cold(view, side));
    let share = match loads[..] {
        [load, to] => ratio(claim.quantity, load, to)?,
        [load] => alone(view, claim.quantity, ours, load)?,
        _ => return None,
    };
    Some(Trial {
        test: view.label(&ours.identity),
        share,
        possible: possible(claim.quantity, share, &loads),
        is_cold,
        words: words(view, &sides, is_cold),
    })
}

/// Returns a quantity as a share of another server's.
pub fn ratio(quantity: ServerQuantity, load: &LoadOutcome, to: &LoadOutcome) -> Option<Interval> {
    if quantity == ServerQuantity::P99 {
        let [ours, theirs] = [load.latencies(), to.latencies()];
        // Pooled requests have no rounds to pair. Rounds are paired if a side has no pooled
        // latencies.
        if ours.are_pooled && theirs.are_pooled {
            return ours.p99?.over(&theirs.p99?);
        }
    }
    if quantity == ServerQuantity::Memory {
        return load.memory()?.over(&to.memory()?);
    }
    load.ratio(to, self::quantity(quantity)?)
}

/// Returns a quantity by itself.
fn alone(
    view: &View,
    quantity: ServerQuantity,
    result: &ResultRecord,
    load: &LoadOutcome,
) -> Option<Interval> {
    match quantity {
        ServerQuantity::Starved => {}
        ServerQuantity::Memory => return load.memory(),
        _ => return load.median(self::quantity(quantity)?),
    }
    let telling = load.all_rounds().filter(|round| round.tells_connections());
    let worst = telling.map(|round| round.starved.len() as f64);
    let worst = worst.reduce(f64::max)?;
    let beside = results_of(view, view.group_of(result));
    let is_servers = starved::is_servers(starved::whose(result, &beside));
    Some(Interval {
        value: worst,
        // It may be the machine that starved them.
        low: if is_servers { worst } else { 0.0 },
        high: worst,
    })
}

/// Returns the possible share of the servers alone.
///
/// With a faster generator, a server that it limited would answer more, and sooner. The share would
/// then be larger or smaller, depending on the limited side.
fn possible(quantity: ServerQuantity, share: Interval, loads: &[&LoadOutcome]) -> Interval {
    let [more, less] = [f64::INFINITY, 0.0];
    let (own, of_others) = match quantity {
        ServerQuantity::Requests => (more, less),
        ServerQuantity::P99 => (less, more),
        _ => return share,
    };
    let sides = loads.iter().zip([own, of_others]);
    let limited = sides.filter(|(load, _)| is_limited(load));
    limited.fold(share, |share, (_, bound)| Interval {
        low: share.low.min(bound),
        high: share.high.max(bound),
        ..share
    })
}

/// Checks whether a quantity changes during warm-up: times do, and held memory does not.
pub fn needs_warmth(quantity: ServerQuantity) -> bool {
    match quantity {
        ServerQuantity::Cpu
        | ServerQuantity::Requests
        | ServerQuantity::P99
        | ServerQuantity::Time
        | ServerQuantity::BothCpu
        | ServerQuantity::Deviation => true,
        ServerQuantity::Memory
        | ServerQuantity::ServerMemory
        | ServerQuantity::Threads
        | ServerQuantity::Starved => false,
    }
}

/// Returns the words of both sides' marks. The verdict tells the generator's limit and cold sides
/// where they matter.
fn words(view: &View, sides: &[&ResultRecord], is_cold: bool) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for side in sides {
        let beside = results_of(view, view.group_of(side));
        let is_reported = |word: &str| word == LIMITED || (is_cold && word == NOT_WARM);
        let marks = marks(view, side, &beside).into_iter();
        let marks = marks.filter(|mark| !is_reported(&mark.word));
        words.extend(marks.map(|mark| mark.word));
    }
    words.sort();
    words.dedup();
    words
}

fn quantity(quantity: ServerQuantity) -> Option<fn(&LoadRound) -> f64> {
    Some(match quantity {
        ServerQuantity::Cpu => LoadRound::cpu_ns,
        ServerQuantity::Requests => |round| round.per_second,
        ServerQuantity::P99 => |round| round.p99_ns.map_or(f64::NAN, |ns| ns as f64),
        ServerQuantity::Threads => |round| round.threads as f64,
        ServerQuantity::Starved
        | ServerQuantity::Memory
        | ServerQuantity::ServerMemory
        | ServerQuantity::Time
        | ServerQuantity::BothCpu
        | ServerQuantity::Deviation => return None,
    })
}
