//! Quiescence: the program's counts of its work, and the verdicts on it.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use super::Session;
use super::core::Core;
use super::engine::Ask;
use super::upcall::{self, Place, Registered};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::termination::{Counters, Event, Verdict};

/// Length in bytes of the longest report. Each process gets the reports of all.
const LONGEST_REPORT: usize = 4096;

pub type QuiescenceUpcall = Box<dyn FnMut(Event) + Send>;

/// The state of the detection at this process.
#[derive(Default)]
pub struct Detection {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counters: Option<Arc<Counters>>,
    verdict: Arc<Verdict>,
    end: Option<End>,
    upcall: Option<Arc<Registered<QuiescenceUpcall>>>,
}

/// Reason why this process takes part no more.
#[derive(Clone, Copy)]
enum End {
    Left,
    Excluded { by: Rank },
}

impl Detection {
    /// Takes an event of the protocol, and runs the program's upcall.
    pub fn deliver(&self, event: Event) {
        let upcall = {
            let mut state = self.state.lock();
            match &event {
                Event::Quiescent(verdict) => state.verdict = verdict.clone(),
                Event::Excluded { by } => state.end = Some(End::Excluded { by: *by }),
            }
            state.upcall.clone()
        };
        if let Some(upcall) = upcall {
            // A panic is printed, and the session goes on.
            let _ = upcall.run(|upcall| upcall(event));
        }
    }

    /// Takes the upcall out. The caller drops what it keeps outside of the lock.
    pub fn take_upcall(&self) -> Option<Arc<Registered<QuiescenceUpcall>>> {
        self.state.lock().upcall.take()
    }

    fn register(&self, place: Place, upcall: QuiescenceUpcall) {
        let call = Mutex::new(upcall);
        let upcall = Some(Arc::new(Registered { place, call }));
        let before = std::mem::replace(&mut self.state.lock().upcall, upcall);
        before.into_iter().for_each(Registered::let_go);
    }

    /// Begins the end of this process's part. Returns whether it took part.
    pub fn leave(&self) -> bool {
        let mut state = self.state.lock();
        let takes_part = state.counters.is_some() && state.end.is_none();
        if takes_part {
            state.end = Some(End::Left);
        }
        takes_part
    }
}

/// A process's part in the detection of quiescence.
///
/// The program says what is work:
///
/// - A process is active while one of its activities goes on. [`active`](Self::active) begins an
///   activity, and [`passive`](Self::passive) ends one. A process begins with one activity, that of
///   the thread which asks for this handle first. Until then it counts as active, too.
/// - A message of work is one that may make a passive process active. Its sender counts it by
///   [`sent`](Self::sent) before it sends it, and its receiver by [`received`](Self::received).
///   Both do so within an activity. An upcall that takes work begins an activity first, and either
///   ends it or leaves that to the thread that goes on with the work.
/// - A passive process becomes active by a message of work alone, or after a verdict.
///
/// All processes of the session take part, also those that join later. A verdict waits for each of
/// them. A process that ends its session [leaves](Self::leave). A process that is lost takes part
/// no more, also where it comes back.
pub struct Quiescence {
    core: Arc<Core>,
    counters: Arc<Counters>,
    /// The last verdict that this handle's waiter has had.
    seen: AtomicU64,
}

impl Clone for Quiescence {
    fn clone(&self) -> Self {
        Self {
            core: self.core.clone(),
            counters: self.counters.clone(),
            seen: AtomicU64::new(self.seen.load(Ordering::Relaxed)),
        }
    }
}

impl Session {
    /// Returns this process's part in the detection of quiescence. The first call begins it, with
    /// one activity.
    ///
    /// # Errors
    /// [`Error::Over`]. [`Error::Lost`], which names this process: another one has taken it for
    /// lost.
    pub fn quiescence(&self) -> Result<Quiescence, Error> {
        let core = &self.keeper.core;
        core.check()?;
        let (counters, verdict, is_new) = {
            let mut state = core.dispatcher.quiescence.state.lock();
            if let Some(end) = state.end {
                return Err(core.has_no_part(end));
            }
            let is_new = state.counters.is_none();
            let counters = state.counters.get_or_insert_default().clone();
            (counters, state.verdict.number, is_new)
        };
        if is_new {
            core.ask(Ask::Count(counters.clone()));
        }
        Ok(Quiescence {
            core: core.clone(),
            counters,
            seen: AtomicU64::new(verdict),
        })
    }
}

impl Quiescence {
    /// Counts a message of work that is about to be sent. Costs one atomic addition.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    #[inline]
    pub fn sent(&self, to: Rank) -> Result<(), Error> {
        self.core.check_rank(to)?;
        self.counters.sent(to);
        Ok(())
    }

    /// Counts a message of work that was received, within the activity that it begins or another.
    /// Costs one atomic addition.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    #[inline]
    pub fn received(&self, from: Rank) -> Result<(), Error> {
        self.core.check_rank(from)?;
        self.counters.received(from);
        Ok(())
    }

    /// Begins an activity. Costs one atomic addition.
    #[inline]
    pub fn active(&self) {
        self.counters.active();
    }

    /// Ends an activity. The process is passive when its last one has ended.
    ///
    /// # Panics
    /// No activity goes on.
    #[inline]
    #[track_caller]
    pub fn passive(&self) {
        let is_wanted = self.counters.passive();
        let is_wanted =
            is_wanted.expect("an activity is ended once for each time that it was begun");
        if is_wanted && self.core.check().is_ok() {
            self.core.ask(Ask::Passive);
        }
    }

    /// Sets this process's report in a verdict, for instance how many of its threads are blocked
    /// and why. The program sets it within an activity, so that it holds when the process becomes
    /// passive.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`]: it has more than 4096 bytes.
    pub fn report(&self, report: impl Into<Message>) -> Result<(), Error> {
        let report = report.into();
        if report.len() > LONGEST_REPORT {
            return Err(Error::TooLong {
                length: report.len(),
                longest: LONGEST_REPORT,
                platform: self.core.engine.platform(),
            });
        }
        self.counters.set_report(report);
        Ok(())
    }

    /// Waits for the next verdict after the last one that this handle has returned.
    ///
    /// Returns `None` if the time `until` by [`thread::now`](crate::thread::now) has passed. The
    /// caller's own activity has to be over.
    ///
    /// A verdict is about a past moment. If others have had it before, one of their messages of
    /// work may be here already.
    ///
    /// # Errors
    ///
    /// [`Error::Over`]. [`Error::Lost`], which names this process: another one has taken it for
    /// lost, or it has left. This is an upcall.
    #[track_caller]
    pub fn wait(&self, until: Option<Instant>) -> Result<Option<Arc<Verdict>>, Error> {
        upcall::must_not_wait()?;
        let detection = &self.core.dispatcher.quiescence;
        let seen = self.seen.load(Ordering::Relaxed);
        let next = || {
            let state = detection.state.lock();
            (state.verdict.number > seen).then(|| state.verdict.clone())
        };
        let has_ended = || detection.state.lock().end.is_some();
        let is_decided = || next().is_some() || has_ended();
        if !is_decided() {
            let what = "all processes to be passive";
            self.core.wait(what, is_decided, until);
        }
        if let Some(verdict) = next() {
            self.seen.store(verdict.number, Ordering::Relaxed);
            return Ok(Some(verdict));
        }
        self.core.check()?;
        let end = detection.state.lock().end;
        end.map_or(Ok(None), |end| Err(self.core.has_no_part(end)))
    }

    /// Registers `upcall` for each verdict from now on, and for the end of this process's part. The
    /// upcall must not block.
    ///
    /// # Errors
    ///
    /// [`Error::Over`].
    #[track_caller]
    pub fn on_event(&self, upcall: impl FnMut(Event) + Send + 'static) -> Result<(), Error> {
        let place = Location::caller();
        self.core.check()?;
        let detection = &self.core.dispatcher.quiescence;
        detection.register(place, Box::new(upcall));
        self.core.engine.ensure_progress_fiber();
        Ok(())
    }

    /// Leaves the detection: the others go on without this process.
    ///
    /// This process tells each of them how many messages of work it has sent there, so that those
    /// under way are still waited for. Messages to this process are written off. After that it must
    /// neither send work nor take any. The end of the session does the same.
    pub fn leave(&self) {
        if self.core.dispatcher.quiescence.leave() && self.core.check().is_ok() {
            self.core.ask(Ask::StopCounting);
        }
    }
}

impl Core {
    fn has_no_part(&self, end: End) -> Error {
        let why = match end {
            End::Left => "has left the detection of quiescence".into(),
            End::Excluded { by } => {
                let by = self.dispatcher.name_of(by);
                format!("was taken for lost by {by}, so verdicts of quiescence leave it out")
            }
        };
        self.lost(self.rank, why)
    }
}
