//! A run: it starts job servers, runs fibers, and reports the outcome.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::counters::Counters;
use crate::fiber::Wait;
use crate::histograms::Histograms;
use crate::overflow::{OnOverflow, Watch};
use crate::policy::Policy;
use crate::schedule::{Director, Schedule, Trace};
use crate::server::Server;
use crate::servers::{Lock, Many, One, Servers};
use crate::shared::Shared;
use crate::spawn::{Builder, Panic, start};
use crate::stack::StackError;
use crate::tick::{Timer, TimerError};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Run<S> {
    settings: Settings,
    servers: std::marker::PhantomData<S>,
}

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub servers: usize,
    pub policy: Policy,
    pub stack_bytes: usize,
    pub schedule: Schedule,
    pub turn_time: Duration,
    pub keeps_histograms: bool,
    pub on_overflow: Option<OnOverflow>,
    pub at_rest: Option<fn()>,
    pub on_turn: Option<OnTurn>,
    pub on_server: Option<fn()>,
    pub on_discard: Option<fn(*mut ())>,
}

/// A fiber's turn, from its dispatch to its next switch.
#[derive(Debug)]
pub struct Turn {
    /// The number of the server.
    pub server: usize,
    /// The fiber's own word: see [`Fibers::local`](crate::Fibers::local).
    pub local: *mut (),
    /// Begin in nanoseconds of the run's clock.
    pub began_ns: u64,
    /// End in nanoseconds of the run's clock.
    pub ended_ns: u64,
}

/// A function that a server calls after each turn, between two fibers. It must not use the run. If
/// it panics, the process aborts.
pub type OnTurn = fn(&Turn);

/// Reason why a run could not begin.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no stack for the first fiber.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// There is no timer for ticks.
    #[error(transparent)]
    Timer(#[from] TimerError),
    /// A fiber of a run on the same thread called it.
    #[error(
        "a run was started by a fiber of a run on the same thread: start it from outside, or spawn a fiber"
    )]
    Nested,
}

/// A fiber that waits for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The awaited object, and the place of the wait.
    pub wait: Option<Wait>,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome<T> {
    /// Result or panic of the first fiber; `None` if it is blocked.
    pub value: Option<Result<T, Panic>>,
    /// Fibers that were blocked when no other was left, in the order of their creation. Their
    /// values are never dropped.
    pub blocked: Vec<Blocked>,
    /// Counts over all servers.
    pub counters: Counters,
    /// Distributions, if they were asked for.
    pub histograms: Option<Histograms>,
    /// Trace of the run, if the schedule was other than fair.
    pub trace: Option<Trace>,
}

/// Usable bytes of a fiber's stack by default: enough for formatted output in a debug build.
const STACK_BYTES: usize = 64 << 10;

impl Run<One> {
    /// Makes a run on one server, the calling OS thread.
    pub fn one() -> Run<One> {
        Run::with(1)
    }

    /// Sets which fiber runs when; the default is fair.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.settings.schedule = schedule;
        self
    }

    /// Sets the virtual time that passes with each turn that leaves its fiber ready; the default is
    /// none. It applies under any schedule but the fair one. Without it, a fiber that yields until
    /// a time never gets there.
    pub fn turn_time(mut self, time: Duration) -> Self {
        self.settings.turn_time = time;
        self
    }

    /// Runs until every fiber has ended or is blocked for ever.
    ///
    /// # Errors
    /// The run cannot begin.
    pub fn start<T: 'static>(
        self,
        main: impl FnOnce() -> T + 'static,
    ) -> Result<Outcome<T>, RunError> {
        let shared = Rc::new(Shared::<One>::new(&self.settings));
        let value = Rc::new(RefCell::new(None));
        let result = value.clone();
        let body = move || *result.borrow_mut() = Some(catch_unwind(AssertUnwindSafe(main)));
        serve::<One>(&shared, 0, Some(body))?;
        let counters = shared.counters();
        let value = value.take();
        Ok(outcome(&shared, value, counters))
    }
}

impl Run<Many> {
    /// Makes a run on so many servers: the calling OS thread and others.
    pub fn many(servers: NonZeroUsize) -> Run<Many> {
        Run::with(servers.get())
    }

    /// Runs until every fiber has ended or is blocked for ever.
    ///
    /// # Safety
    /// As for [`Fibers::<Many>::spawn`](crate::Fibers): the first fiber, too, may go on on another
    /// OS thread after any switch.
    ///
    /// # Errors
    /// The run cannot begin.
    pub unsafe fn start<T: Send + 'static>(
        self,
        main: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Outcome<T>, RunError> {
        let shared = Arc::new(Shared::<Many>::new(&self.settings));
        let value = Arc::new(parking_lot::Mutex::new(None));
        let result = value.clone();
        let body = move || {
            let ended = catch_unwind(AssertUnwindSafe(main));
            *result.lock() = Some(ended);
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.settings.servers)
                .map(|number| {
                    let shared = &shared;
                    scope.spawn(move || serve::<Many>(shared, number, None::<fn()>))
                })
                .collect();
            let mut result = serve::<Many>(&shared, 0, Some(body));
            for other in others {
                let theirs = other
                    .join()
                    .expect("a server does not panic: fibers' panics are caught");
                result = result.and(theirs);
            }
            result
        })?;
        let counters = shared.counters();
        let value = value.lock().take();
        Ok(outcome(&shared, value, counters))
    }
}

impl<S: Servers> Run<S> {
    fn with(servers: usize) -> Run<S> {
        Run {
            settings: Settings {
                servers,
                policy: Policy::Cooperative,
                stack_bytes: STACK_BYTES,
                schedule: Schedule::Fair,
                turn_time: Duration::ZERO,
                keeps_histograms: false,
                on_overflow: None,
                at_rest: None,
                on_turn: None,
                on_server: None,
                on_discard: None,
            },
            servers: std::marker::PhantomData,
        }
    }

    /// Sets when a running fiber loses its processor; the default is never.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets the usable bytes of a fiber's stack, rounded up to pages; the default is 64 KiB.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.settings.stack_bytes = bytes;
        self
    }

    /// Keeps distributions of ready-to-run times and of turns. Each switch then reads the clock
    /// twice.
    pub fn histograms(mut self) -> Self {
        self.settings.keeps_histograms = true;
        self
    }

    /// Sets a function that runs as a fiber when every other has ended or is blocked for ever. It
    /// runs instead of the end of the run, and each time again. It ends the process, or the run
    /// never ends.
    pub fn at_rest(mut self, last_words: fn()) -> Self {
        self.settings.at_rest = Some(last_words);
        self
    }

    /// Sets a function that gets a killed fiber's own word when the fiber is gone. A server calls
    /// it between two fibers. If it panics, the process aborts.
    pub fn on_discard(mut self, on_discard: fn(*mut ())) -> Self {
        self.settings.on_discard = Some(on_discard);
        self
    }

    /// Sets a function to call on each server's OS thread before its first fiber runs: see
    /// [`Fibers::places`](crate::Fibers::places). If it panics, the process aborts.
    pub fn on_server(mut self, on_server: fn()) -> Self {
        self.settings.on_server = Some(on_server);
        self
    }

    /// Sets a function to call after each turn of a fiber. Each switch then reads the clock twice.
    pub fn on_turn(mut self, on_turn: OnTurn) -> Self {
        self.settings.on_turn = Some(on_turn);
        self
    }

    /// Sets a function to call when a fiber's stack overflows, before the process aborts.
    pub fn on_overflow(mut self, handler: OnOverflow) -> Self {
        self.settings.on_overflow = Some(handler);
        self
    }
}

/// Makes the calling OS thread a server until the run is over.
fn serve<S: Servers>(
    shared: &S::Ref<Shared<S>>,
    number: usize,
    first: Option<impl FnOnce() + 'static>,
) -> Result<(), RunError> {
    let server = Server::<S>::new(shared.clone(), number);
    let result = serve_as(&server, first);
    if result.is_err() {
        // The other servers wait for work that will not come.
        shared.stop();
    }
    result
}

fn serve_as<S: Servers>(
    server: &Server<S>,
    first: Option<impl FnOnce() + 'static>,
) -> Result<(), RunError> {
    if !S::server().is_null() {
        return Err(RunError::Nested);
    }
    let _watch = Watch::start();
    let _timer = server.shared.tick_every().map(Timer::start).transpose()?;
    if let Some(body) = first {
        let builder = Builder {
            name: Some("main".into()),
            ..Builder::default()
        };
        start(server, builder, body)?;
    }
    let _serving = Serving::<S>::start(server);
    if let Some(on_server) = server.shared.on_server {
        on_server();
    }
    server.serve();
    Ok(())
}

/// The calling OS thread's part in a run.
struct Serving<S: Servers>(std::marker::PhantomData<S>);

impl<S: Servers> Serving<S> {
    fn start(server: &Server<S>) -> Self {
        S::set_server(server);
        Serving(std::marker::PhantomData)
    }
}

impl<S: Servers> Drop for Serving<S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Fibers are suspended on stacks that this unwinding would take away.
            eprintln!("a callback of a run panicked between two fibers: the process aborts");
            std::process::abort();
        }
        S::set_server(std::ptr::null());
    }
}

fn outcome<T, S: Servers>(
    shared: &Shared<S>,
    value: Option<Result<T, Panic>>,
    counters: Counters,
) -> Outcome<T> {
    let mut store = shared.store.lock();
    let blocked: Vec<Blocked> = store
        .all()
        .filter(|f| f.is_alive.get())
        .map(|f| {
            f.forget_context();
            // SAFETY: the run is over, so no other thread sets the name.
            let name = unsafe { f.name() }.map(String::from);
            let wait = f.wait.get();
            Blocked { name, wait }
        })
        .collect();
    if !blocked.is_empty() {
        store.pool.leak();
    }
    Outcome {
        value,
        blocked,
        counters,
        histograms: shared.histograms.as_ref().map(|h| h.lock().clone()),
        trace: shared.director.as_ref().map(|d| d.lock().trace.clone()),
    }
}

impl Settings {
    pub(crate) fn director(&self) -> Option<Director> {
        Director::new(&self.schedule)
    }
}
