//! Two subjects, variants or builds against each other in one run, slice by slice: what a gate should rest on.

use crate::build::{BuildError, Built};
use crate::protocol::TestKind;
use crate::record::Outcome;
use crate::run::{Event, Laboratory, Processors, clock_facts, launch};
use crate::session::{Listing, Session, SessionError};
use crate::subject::{Subject, Variant};
use antiphon_measure::{
    ClockFacts, FrameError, PairEstimate, PairPlan, PairSettings, PairStep, Side,
};
use globset::{Glob, GlobSet, GlobSetBuilder};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// Patterns such as `call.*`; empty: all frames that both list.
    pub only: Vec<String>,
    /// The argument of tests that take one; without it they are left out.
    pub arg: Option<u64>,
    /// `other` or `fifo`.
    pub policy: String,
    /// `same`, `across` or `free`.
    pub placement: String,
    /// How exact, and the budget of each test.
    pub settings: PairSettings,
    /// Time after which a subject that does not answer counts as hanging.
    pub hang_limit: Duration,
}

impl Default for LiveOptions {
    fn default() -> Self {
        LiveOptions {
            only: Vec::new(),
            arg: None,
            policy: "other".to_owned(),
            placement: "same".to_owned(),
            settings: PairSettings::default(),
            hang_limit: Duration::from_secs(20),
        }
    }
}

/// One test of both.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    /// The test's name.
    pub test: String,
    /// Its argument.
    pub arg: Option<u64>,
    /// The ratio B / A; or an [`Outcome::Absent`] that says why there is none.
    pub outcome: Result<PairEstimate, Outcome>,
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// A side could not be built.
    #[error("{error}; {}", .error.mend())]
    Build {
        /// Why.
        #[from]
        error: BuildError,
    },
    /// A side could not be started or listed.
    #[error("{error}; {}", .error.mend())]
    Session {
        /// Why.
        #[from]
        error: SessionError,
    },
    /// A pattern cannot be read.
    #[error("`{pattern}` is no pattern: {why}; write a test's name with `*` and `?`")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        why: String,
    },
    /// No test is left.
    #[error(
        "no frame that both subjects list fits {patterns}; see what they list with `antiphon doctor --subject DIR`"
    )]
    Nothing {
        /// The patterns.
        patterns: String,
    },
}

/// One side of a pair.
pub type Contender<'s> = (&'s Subject, &'s Variant);

impl Laboratory<'_> {
    /// Compares A and B on every frame that both list; both may be the same, which is the A/A check. Nothing is stored.
    ///
    /// # Errors
    /// [`LiveError`], if a side cannot be had at all. A test that fails on a side is a row that says so.
    pub fn compare_live(
        &mut self,
        a: Contender<'_>,
        b: Contender<'_>,
        options: &LiveOptions,
    ) -> Result<Vec<LiveRow>, LiveError> {
        let builds = [self.contender(a, options)?, self.contender(b, options)?];
        let mut pair = Pair::new(builds, options)?;
        let tests = pair.tests(options)?;
        let mut rows = Vec::new();
        for (test, arg) in tests {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let outcome = pair.measure(&test, arg, options, || self.stop.load(Ordering::Relaxed));
            rows.push(LiveRow { test, arg, outcome });
        }
        Ok(rows)
    }

    fn contender(
        &mut self,
        (subject, variant): Contender<'_>,
        options: &LiveOptions,
    ) -> Result<Built, BuildError> {
        let id = format!("{}/{}", subject.name, variant.name);
        let policy = options.policy.as_str();
        self.observer.event(Event::Building {
            subject: &id,
            policy,
        });
        let built = self.cache.build(subject, variant, policy)?;
        self.observer.event(Event::Built {
            subject: &id,
            policy,
            cached: built.cached,
        });
        Ok(built)
    }
}

/// A running side.
struct Live {
    session: Session,
    clock: ClockFacts,
}

/// Both sides.
struct Pair {
    builds: [Built; 2],
    /// `None` after a failure, until it is needed again.
    live: [Option<Live>; 2],
    listings: [Listing; 2],
}

fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

fn start(built: &Built, options: &LiveOptions) -> Result<Live, SessionError> {
    let placement = Processors::choose().placement(&options.placement);
    let mut launch = launch(built, &options.policy, placement);
    launch.start_limit = launch.start_limit.min(options.hang_limit);
    let mut session = Session::start(&launch)?;
    let clock = session.hello().clock.clone();
    let readings = match session.clock(&clock, 20_000, options.hang_limit) {
        Ok(readings) => readings,
        Err(error) if error.lives_on() => Vec::new(),
        Err(error) => return Err(error),
    };
    let clock = clock_facts(&readings);
    Ok(Live { session, clock })
}

impl Pair {
    fn new(builds: [Built; 2], options: &LiveOptions) -> Result<Pair, SessionError> {
        let mut a = start(&builds[0], options)?;
        let mut b = start(&builds[1], options)?;
        let listings = [a.session.list()?, b.session.list()?];
        Ok(Pair {
            builds,
            live: [Some(a), Some(b)],
            listings,
        })
    }

    /// The frames that both list and that were asked for, with their arguments.
    fn tests(&self, options: &LiveOptions) -> Result<Vec<(String, Option<u64>)>, LiveError> {
        let patterns = patterns(&options.only)?;
        let [a, b] = &self.listings;
        let mut tests = Vec::new();
        for test in &a.tests {
            let other = b.tests.iter().find(|other| other.name == test.name);
            let runs = |test: &crate::protocol::TestInfo| {
                test.kind == TestKind::Frame && test.absent.is_none()
            };
            let both = runs(test) && other.is_some_and(runs);
            let wanted = options.only.is_empty() || patterns.is_match(&test.name);
            let takes = test.arg.is_some();
            if both && wanted && (!takes || options.arg.is_some()) {
                tests.push((test.name.clone(), options.arg.filter(|_| takes)));
            }
        }
        match tests.is_empty() {
            true => Err(LiveError::Nothing {
                patterns: options.only.join(", "),
            }),
            false => Ok(tests),
        }
    }

    fn measure(
        &mut self,
        test: &str,
        arg: Option<u64>,
        options: &LiveOptions,
        stop: impl Fn() -> bool,
    ) -> Result<PairEstimate, Outcome> {
        let clocks = [
            self.side(Side::A, options)?.clock,
            self.side(Side::B, options)?.clock,
        ];
        let mut plan = PairPlan::new(clocks[0], clocks[1], options.settings.clone());
        while let PairStep::Slice {
            side,
            role,
            iterations,
            warmup,
        } = plan.next()
        {
            if stop() {
                plan.interrupt();
                break;
            }
            let live = self.side(side, options)?;
            let answer =
                live.session
                    .slice(test, role, iterations, warmup, arg, options.hang_limit);
            let slice = answer.map_err(|error| self.failed(side, &error))?;
            plan.take(side, &slice).map_err(|error| unusable(&error))?;
        }
        plan.estimate().map_err(|error| unusable(&error))
    }

    /// A side's process, started again if the last test cost it its life.
    fn side(&mut self, side: Side, options: &LiveOptions) -> Result<&mut Live, Outcome> {
        let index = index(side);
        if self.live[index].is_none() {
            let live =
                start(&self.builds[index], options).map_err(|error| self.failed(side, &error))?;
            self.live[index] = Some(live);
        }
        Ok(self.live[index].as_mut().expect("it was started above"))
    }

    fn failed(&mut self, side: Side, error: &SessionError) -> Outcome {
        if !error.lives_on() {
            self.live[index(side)] = None;
        }
        Outcome::Absent {
            reason: error.reason(),
            mend: error.mend(),
            last_words: error.last_words().to_owned(),
        }
    }
}

fn unusable(error: &FrameError) -> Outcome {
    Outcome::Absent {
        reason: error.to_string(),
        mend: String::new(),
        last_words: String::new(),
    }
}

fn patterns(only: &[String]) -> Result<GlobSet, LiveError> {
    let wrong = |pattern: &str, why: globset::Error| LiveError::Pattern {
        pattern: pattern.to_owned(),
        why: why.kind().to_string(),
    };
    let mut patterns = GlobSetBuilder::new();
    for pattern in only {
        patterns.add(Glob::new(pattern).map_err(|why| wrong(pattern, why))?);
    }
    patterns.build().map_err(|why| wrong(&only.join(","), why))
}
