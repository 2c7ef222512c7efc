//! Which of the claims about servers hold in this run: the words come from the figures.

use super::{LIMITED, is_limited, marks, starved};
use crate::compose::cold::{self, NOT_WARM};
use crate::compose::results_of;
use crate::compose::verdict::{self, Fate, Limits};
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Section, Unit};
use crate::number;
use antiphon_lab::suite::{ServerClaim, ServerQuantity, Servers};
use antiphon_lab::{LoadOutcome, LoadRound, ResultRecord};
use antiphon_measure::Interval;

/// The section of claims; `None` where none can be tried.
pub(super) fn section(view: &View) -> Option<Section> {
    let servers = view.layout.servers.iter();
    let blocks: Vec<Block> = servers
        .flat_map(|servers| table(servers, &|claim, test| trial(view, claim, test)))
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: "load-claims".into(),
        title: "What was claimed of servers, and whether it holds here".into(),
        blocks,
    })
}

/// How a claim fares in one test.
pub struct Trial {
    /// What the test is called.
    pub test: String,
    /// The share that the claim is about, or the figure.
    pub share: Interval,
    /// What it may be of the servers alone: where the generator may be what limited a side, the share is a bound of that.
    pub possible: Interval,
    /// Whether a side was not warm, of figures that suffer from it.
    pub is_cold: bool,
    /// What else weakens it, in a word or two each.
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

/// The table of a set of claims, with what is said of it; nothing where none can be tried.
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

fn row(claim: &ServerClaim, trial: &Try) -> Option<crate::document::Row> {
    let limits = Limits {
        at_least: claim.at_least,
        at_most: claim.at_most,
    };
    let trials: Vec<Trial> = claim
        .tests
        .iter()
        .filter_map(|test| trial(claim, test))
        .collect();
    let fates: Vec<Fate> = trials.iter().map(|trial| trial.fate(&limits)).collect();
    let words: Vec<Vec<String>> = trials.iter().map(|trial| trial.words.clone()).collect();
    let weakest = limits.weakest(&trials, |trial| (trial.fate(&limits), trial.share))?;
    let unit = unit(claim);
    let told = |value| number::quantity(unit, value);
    let published = claim
        .published
        .map_or(String::new(), |of| format!("; published: {}", told(of)));
    let weakest = format!(
        "{} ({} to {}{}) with {}{published}",
        told(weakest.share.value),
        told(weakest.share.low),
        told(weakest.share.high),
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

/// What the limits of a claim are in.
fn unit(claim: &ServerClaim) -> Unit {
    match (claim.is_absolute(), claim.quantity) {
        (false, _) => Unit::Share,
        (true, ServerQuantity::Memory) => Unit::Bytes,
        (true, _) => Unit::Count,
    }
}

/// A claim under one load: by the rounds that both servers have, or of one by itself.
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

/// A quantity as a share of another server's.
fn ratio(quantity: ServerQuantity, load: &LoadOutcome, to: &LoadOutcome) -> Option<Interval> {
    if quantity == ServerQuantity::P99 {
        let [ours, theirs] = [load.latencies(), to.latencies()];
        // Requests of all rounds have no rounds in which to pair them. Where a side tells no more than its rounds' own, these are paired.
        if ours.are_pooled && theirs.are_pooled {
            return ours.p99?.over(&theirs.p99?);
        }
    }
    if quantity == ServerQuantity::Memory {
        return load.memory()?.over(&to.memory()?);
    }
    load.ratio(to, self::quantity(quantity)?)
}

/// A quantity by itself.
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

/// What a share may be of the servers alone. Before a generator with time to spare, a server that it limited would answer more, and sooner: the share would be larger
/// or smaller, as it is that server's or another's.
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

/// Whether what compiles while it runs has another figure before it is warm: what takes its time, and not what it holds.
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

/// The words of the marks that the figures of either side have; the generator's limit, and what was not warm, is told by the verdict, where it matters.
fn words(view: &View, sides: &[&ResultRecord], is_cold: bool) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for side in sides {
        let beside = results_of(view, view.group_of(side));
        let is_told = |word: &str| word == LIMITED || (is_cold && word == NOT_WARM);
        let marks = marks(view, side, &beside).into_iter();
        let marks = marks.filter(|mark| !is_told(&mark.word));
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
