//! Two subjects, variants or builds against each other in one run, slice by slice: what a gate should rest on.

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
    BatchRequest, ClockFacts, Expected, PairEstimate, PairPlan, PairSettings, PairStep, Purpose,
    Side,
};
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// The ratio B / A; or why there is none.
    pub outcome: Result<PairEstimate, Absence>,
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

/// What a live comparison needs beside its options.
pub struct Live<'l> {
    /// Where builds are kept.
    pub cache: &'l Cache,
    /// Who is told of progress.
    pub observer: &'l mut dyn Observer,
    /// Set from outside to end the comparison early; the tests that are done are kept.
    pub stop: &'l AtomicBool,
}

impl Live<'_> {
    /// Compares A and B on every frame that both list; both may be the same, which is the A/A check. The
    /// confidence asked for is that of all intervals together (Šidák's correction for the number of tests).
    ///
    /// # Errors
    /// [`LiveError`], if a side cannot be had at all. A test that fails on a side is a row that says so.
    pub fn compare(
        &mut self,
        a: Contender<'_>,
        b: Contender<'_>,
        options: &LiveOptions,
    ) -> Result<Vec<LiveRow>, LiveError> {
        let builds = [self.contender(a, options)?, self.contender(b, options)?];
        let mut pair = Pair::new(builds, options)?;
        let tests = pair.tests(options)?;
        let mut settings = options.settings.clone();
        settings.frame.confidence = settings.frame.confidence.powf(1.0 / tests.len() as f64);
        let mut rows = Vec::new();
        let of = tests.len();
        let seconds_each = settings.frame.budget_ns as f64 / 1e9;
        self.tell(&pair);
        for (position, (test, arg)) in tests.into_iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.observer.event(Event::Comparing {
                test: &test,
                position,
                of,
                seconds_left: seconds_each * (of - position) as f64,
            });
            let outcome = pair.measure(&test, arg, options, &settings, || {
                self.stop.load(Ordering::Relaxed)
            });
            rows.push(LiveRow { test, arg, outcome });
        }
        Ok(rows)
    }

    /// Tells what the sides do not get of the environment, and what makes the costs of databases doubtful: they are there when both sides were started.
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

/// A running side.
struct Running {
    session: Session<'static>,
    clock: ClockFacts,
}

/// Both sides.
struct Pair {
    builds: [Built; 2],
    /// `None` after a failure, until it is needed again.
    running: [Option<Running>; 2],
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

fn start(
    built: &Built,
    services: &Services,
    options: &LiveOptions,
) -> Result<Running, SessionError> {
    let placement = Processors::choose().placement(&options.placement);
    let mut launch = launch(built, &options.policy, placement);
    launch.env.extend(services.environment(built)?);
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
        let mut a = start(&builds[0], &services, options)?;
        let mut b = start(&builds[1], &services, options)?;
        let listings = [a.session.list()?, b.session.list()?];
        Ok(Pair {
            builds,
            running: [Some(a), Some(b)],
            services,
            listings,
        })
    }

    /// The frames that both list and that were asked for, with their arguments.
    fn tests(&self, options: &LiveOptions) -> Result<Vec<(String, Option<u64>)>, LiveError> {
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

    /// The most iterations that a slice may have on either side.
    fn most_iterations(&self, name: &str) -> Option<u64> {
        let tests = self.listings.iter().flat_map(|listing| &listing.tests);
        tests
            .filter(|test| test.name == name)
            .filter_map(|test| test.most)
            .min()
    }

    fn measure(
        &mut self,
        test: &str,
        arg: Option<u64>,
        options: &LiveOptions,
        settings: &PairSettings,
        stop: impl Fn() -> bool,
    ) -> Result<PairEstimate, Absence> {
        for side in [Side::A, Side::B] {
            self.verify(side, test, arg, options)?;
        }
        let clocks = [
            self.side(Side::A, options)?.clock,
            self.side(Side::B, options)?.clock,
        ];
        let mut settings = settings.clone();
        settings.frame.most_iterations = self.most_iterations(test);
        let mut plan = PairPlan::new(clocks[0], clocks[1], settings);
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
            plan.take(side, &slice).map_err(Absence::of_message)?;
        }
        plan.estimate().map_err(Absence::of_message)
    }

    /// Has the threads of a test report in a short batch, as slices alone have no reports, and holds them to policy and placement.
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

    /// A side's process, started again if the last test cost it its life.
    fn side(&mut self, side: Side, options: &LiveOptions) -> Result<&mut Running, Absence> {
        let index = index(side);
        if self.running[index].is_none() {
            let live = start(&self.builds[index], &self.services, options)
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
