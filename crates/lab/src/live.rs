//! Live comparison of two subjects, variants or builds in one run: the right basis of a gate.
//!
//! Each side is started several times, with different addresses each time. In one start the slices
//! of both sides alternate. Ratios differ between starts by the effect of one draw of addresses,
//! environment and place in memory.

use crate::build::{BuildError, Built, Cache};
use crate::environment;
use crate::patterns::{PatternError, Patterns};
use crate::protocol::TestKind;
use crate::record::Absence;
use crate::run::{Event, Observer, Processors, broken, clock_facts, launch};
use crate::services::Services;
use crate::session::{Listing, Session, SessionError};
use crate::subject::{Subject, Variant};
use antiphon_measure::{
    BatchRequest, ClockFacts, Comparison, ComparisonSettings, Expected, FrameSettings,
    PairEstimate, PairPlan, PairStep, Purpose, Role, Side, compare_pairs, judge,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Warm-up time of a side for a test, if its language compiles at run time.
const WARM: Duration = Duration::from_millis(300);

/// Tests to compare, and method of comparison.
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
    /// Starts of each side.
    pub starts: u32,
    /// The time of each test in all starts together.
    pub seconds: f64,
    /// Settings of the judgement.
    pub judging: ComparisonSettings,
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
            starts: LiveOptions::STARTS,
            seconds: 0.5,
            judging: ComparisonSettings::default(),
            hang_limit: Duration::from_secs(20),
        }
    }
}

impl LiveOptions {
    /// Starts of each side by default.
    ///
    /// With as many, a 99 % interval reaches as far as ratios of single starts deviate. A verdict
    /// among forty rows needs 1.6 times that.
    pub const STARTS: u32 = 12;

    /// Returns the limits of one start of both sides for a test.
    fn frame(&self) -> FrameSettings {
        FrameSettings {
            budget_ns: (self.seconds * 1e9 / f64::from(self.starts.max(1))) as u64,
            confidence: self.judging.confidence,
            reference: false,
            ..FrameSettings::default()
        }
    }
}

/// A test of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    /// The test's name.
    pub test: String,
    /// Its argument.
    pub arg: Option<u64>,
    /// The ratio B / A with its verdict; or why there is none.
    pub outcome: Result<Comparison, Absence>,
}

/// Reason why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// A side could not be built.
    #[error("{error}; {}", .error.help())]
    Build {
        /// Cause.
        #[from]
        error: BuildError,
    },
    /// A side could not be started or listed.
    #[error("{error}; {}", .error.help())]
    Session {
        /// Cause.
        #[from]
        error: SessionError,
    },
    /// A pattern cannot be read.
    #[error(transparent)]
    Pattern(#[from] PatternError),
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

/// Environment of a live comparison beside its options.
pub struct Live<'l> {
    /// Cache of builds.
    pub cache: &'l Cache,
    /// Receiver of progress events.
    pub observer: &'l mut dyn Observer,
    /// Flag set from outside to end the comparison early; finished tests are kept.
    pub stop: &'l AtomicBool,
}

impl Live<'_> {
    /// Compares A and B on every frame that both list. Both may be the same, which is the A/A
    /// check. Verdicts are corrected for all tests together.
    ///
    /// # Errors
    /// [`LiveError`], if a side cannot be started at all. A test that fails on a side becomes a row
    /// with the reason.
    pub fn compare(
        &mut self,
        a: Contender<'_>,
        b: Contender<'_>,
        options: &LiveOptions,
    ) -> Result<Vec<LiveRow>, LiveError> {
        let builds = [self.contender(a, options)?, self.contender(b, options)?];
        let mut pair = Pair::new(builds, options)?;
        let mut tests = pair.tests(options)?;
        let count = tests.len();
        let of = count * options.starts as usize;
        let seconds_each = options.seconds / f64::from(options.starts.max(1));
        self.tell(&pair);
        'starts: for start in 0..options.starts {
            if start > 0 {
                pair.start_again(start);
            }
            for (index, test) in tests.iter_mut().enumerate() {
                if self.stop.load(Ordering::Relaxed) {
                    break 'starts;
                }
                if test.absence.is_some() {
                    continue;
                }
                let position = start as usize * count + index;
                self.observer.event(Event::Comparing {
                    test: &test.name,
                    position,
                    of,
                    seconds_left: seconds_each * (of - position) as f64,
                });
                let stop = || self.stop.load(Ordering::Relaxed);
                match pair.measure(test, options, stop) {
                    Ok(estimate) => test.pairs.extend(estimate),
                    Err(absence) => test.absence = Some(absence),
                }
            }
        }
        Ok(judged(tests, &options.judging))
    }

    /// Reports warnings: environment variables that the sides do not get, and doubts about the
    /// costs of databases. The latter are known after both sides have started.
    fn tell(&mut self, pair: &Pair) {
        let of_databases = pair.services.take_warnings();
        for text in environment::warning().into_iter().chain(of_databases) {
            self.observer.event(Event::Warning(&text));
        }
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
        let built = self.cache.build(subject, variant, policy, self.stop)?;
        self.observer.event(Event::Built {
            subject: &id,
            policy,
            cached: built.cached,
        });
        Ok(built)
    }
}

/// A test, and its results so far.
struct Compared {
    name: String,
    arg: Option<u64>,
    /// Estimates, one for each start.
    pairs: Vec<PairEstimate>,
    /// Reason for a missing figure; the test is not tried again.
    absence: Option<Absence>,
}

/// Returns the rows of all measured tests, judged together.
fn judged(tests: Vec<Compared>, settings: &ComparisonSettings) -> Vec<LiveRow> {
    let row = |test: Compared| {
        let outcome = match test.absence {
            Some(absence) => Err(absence),
            None => Ok(compare_pairs(&test.pairs, settings)?),
        };
        Some(LiveRow {
            test: test.name,
            arg: test.arg,
            outcome,
        })
    };
    let mut rows: Vec<LiveRow> = tests.into_iter().filter_map(row).collect();
    judge(
        rows.iter_mut().filter_map(|row| row.outcome.as_mut().ok()),
        settings,
    );
    rows
}

/// A running side.
struct Running {
    session: Session<'static>,
    clock: ClockFacts,
}

/// State of both sides.
struct Pair {
    builds: [Built; 2],
    /// `None` until it is needed.
    running: [Option<Running>; 2],
    /// Index of the current start of both sides.
    start: u32,
    /// After the processes that use them.
    services: Services,
    listings: [Listing; 2],
}

fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

/// Returns an environment variable with a different length in each start of each side.
///
/// The stack begins below the environment. Addresses therefore differ between starts even on a
/// system without address randomisation.
fn shift(start: u32, side: Side) -> (String, String) {
    /// Stacks are aligned to 16 bytes; 256 places are a page.
    const STEP: usize = 16;
    const PLACES: u32 = 256;
    let drawn = (2 * start + index(side) as u32).wrapping_mul(97) % PLACES;
    ("ANTIPHON_SHIFT".into(), "x".repeat(STEP * drawn as usize))
}

fn start(
    built: &Built,
    services: &Services,
    shift: (String, String),
    options: &LiveOptions,
) -> Result<Running, SessionError> {
    let placement = Processors::choose().placement(&options.placement);
    let mut launch = launch(built, &options.policy, placement);
    launch.env.extend(services.environment(built)?);
    launch.env.push(shift);
    launch.start_limit = launch.start_limit.min(options.hang_limit);
    let mut session = Session::start(&launch)?;
    let clock = session.hello().clock.clone();
    let readings = match session.clock(&clock, 20_000, options.hang_limit) {
        Ok(readings) => readings.answer,
        Err(error) if error.lives_on() => Vec::new(),
        Err(error) => return Err(error),
    };
    let clock = clock_facts(&readings);
    Ok(Running { session, clock })
}

impl Pair {
    fn new(builds: [Built; 2], options: &LiveOptions) -> Result<Pair, SessionError> {
        let services = Services::default();
        let started = |side| start(&builds[index(side)], &services, shift(0, side), options);
        let (mut a, mut b) = (started(Side::A)?, started(Side::B)?);
        let listings = [a.session.list()?, b.session.list()?];
        Ok(Pair {
            builds,
            running: [Some(a), Some(b)],
            start: 0,
            services,
            listings,
        })
    }

    /// Ends both sides. Each is started again on demand, in the opposite order to the start before.
    fn start_again(&mut self, start: u32) {
        self.running = [None, None];
        self.start = start;
    }

    /// Returns both sides in the order in which they are started and checked.
    fn order(&self) -> [Side; 2] {
        match self.start % 2 {
            0 => [Side::A, Side::B],
            _ => [Side::B, Side::A],
        }
    }

    /// Returns the requested frames that both sides list, with their arguments.
    fn tests(&self, options: &LiveOptions) -> Result<Vec<Compared>, LiveError> {
        let patterns = Patterns::new(&options.only)?;
        let [a, b] = &self.listings;
        let mut tests = Vec::new();
        for test in &a.tests {
            let other = b.tests.iter().find(|other| other.name == test.name);
            let runs = |test: &crate::protocol::TestInfo| {
                test.kind == TestKind::Frame && test.absent.is_none()
            };
            let both = runs(test) && other.is_some_and(runs);
            let takes = test.arg.is_some();
            if both && patterns.fit(&test.name) && (!takes || options.arg.is_some()) {
                tests.push(Compared {
                    name: test.name.clone(),
                    arg: options.arg.filter(|_| takes),
                    pairs: Vec::new(),
                    absence: None,
                });
            }
        }
        match tests.is_empty() {
            true => Err(LiveError::Nothing {
                patterns: options.only.join(", "),
            }),
            false => Ok(tests),
        }
    }

    /// Returns the most iterations that a slice may have on either side.
    fn most_iterations(&self, name: &str) -> Option<u64> {
        let tests = self.listings.iter().flat_map(|listing| &listing.tests);
        tests
            .filter(|test| test.name == name)
            .filter_map(|test| test.most)
            .min()
    }

    /// Measures one start's ratio of a test; `None` if it was stopped before there was one.
    fn measure(
        &mut self,
        test: &Compared,
        options: &LiveOptions,
        stop: impl Fn() -> bool,
    ) -> Result<Option<PairEstimate>, Absence> {
        let most = self.most_iterations(&test.name);
        for side in self.order() {
            self.verify(side, &test.name, test.arg, options)?;
            self.warm(side, test, most, options, &stop)?;
        }
        let clocks = [
            self.side(Side::A, options)?.clock,
            self.side(Side::B, options)?.clock,
        ];
        let settings = FrameSettings {
            most_iterations: most,
            ..options.frame()
        };
        let mut plan = PairPlan::new(clocks[0], clocks[1], settings);
        while let PairStep::Slice {
            side,
            iterations,
            warmup,
        } = plan.next()
        {
            if stop() {
                plan.interrupt();
                return Ok(plan.estimate().ok());
            }
            let live = self.side(side, options)?;
            let answer = live.session.slice(
                &test.name,
                Role::Test,
                iterations,
                warmup,
                test.arg,
                options.hang_limit,
            );
            let slice = answer.map_err(|error| self.failed(side, &error))?;
            plan.take(side, &slice).map_err(Absence::of_message)?;
        }
        plan.estimate().map(Some).map_err(Absence::of_message)
    }

    /// Has a side do operations that no figure shows, if its language compiles while it runs.
    fn warm(
        &mut self,
        side: Side,
        test: &Compared,
        most: Option<u64>,
        options: &LiveOptions,
        stop: impl Fn() -> bool,
    ) -> Result<(), Absence> {
        /// A slice is made longer until it takes as long, ns.
        const SLICE_NS: u64 = 1_000_000;
        if !self.builds[index(side)].warms {
            return Ok(());
        }
        let began = Instant::now();
        let mut iterations = 1;
        while began.elapsed() < WARM && !stop() {
            let live = self.side(side, options)?;
            let (name, limit) = (&test.name, options.hang_limit);
            let answer = live
                .session
                .slice(name, Role::Test, iterations, 1, test.arg, limit);
            let slice = answer.map_err(|error| self.failed(side, &error))?;
            if slice.elapsed_ns < SLICE_NS {
                iterations = (iterations * 2).min(most.unwrap_or(1 << 40)).max(1);
            }
        }
        Ok(())
    }

    /// Checks policy and placement of a test's threads by a short batch, because single slices have
    /// no reports.
    fn verify(
        &mut self,
        side: Side,
        test: &str,
        arg: Option<u64>,
        options: &LiveOptions,
    ) -> Result<(), Absence> {
        const SHORTEST: BatchRequest = BatchRequest {
            iterations: 1,
            blocks: 1,
            reference_iterations: 0,
            warmup: 1,
            purpose: Purpose::Sample,
        };
        let expected = Expected {
            policy: options.policy.clone(),
            placement: Processors::choose().placement(&options.placement),
            ..Expected::default()
        };
        let live = self.side(side, options)?;
        let answer = live.session.batch(test, arg, &SHORTEST, options.hang_limit);
        let batch = answer.map_err(|error| self.failed(side, &error))?;
        match broken(&expected, &batch.threads) {
            None => Ok(()),
            Some(mut absence) => {
                let whose = &self.builds[index(side)].record.id;
                absence.reason = format!("{whose}: {}", absence.reason);
                Err(absence)
            }
        }
    }

    /// Returns a side's process, started again if the last test ended it.
    fn side(&mut self, side: Side, options: &LiveOptions) -> Result<&mut Running, Absence> {
        let index = index(side);
        if self.running[index].is_none() {
            let shift = shift(self.start, side);
            let live = start(&self.builds[index], &self.services, shift, options)
                .map_err(|error| self.failed(side, &error))?;
            self.running[index] = Some(live);
        }
        Ok(self.running[index].as_mut().expect("it was started above"))
    }

    fn failed(&mut self, side: Side, error: &SessionError) -> Absence {
        if !error.lives_on() {
            self.running[index(side)] = None;
        }
        Absence::of_session(error)
    }
}
