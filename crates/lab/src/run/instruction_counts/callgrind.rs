//! Counts under callgrind, several subjects at a time.

use crate::instructions::{CountRequest, Counter, NoCount};
use crate::run::RunError;
use crate::session::{Launch, SessionError};
use antiphon_measure::InstructionCount;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// A single request is not given less time than this, though little be left for all.
const LEAST: Duration = Duration::from_secs(1);

/// Longest time of a request. One that hangs would otherwise take the time of all others.
const MOST: Duration = Duration::from_secs(60);

/// One count.
pub(super) struct Job {
    /// Launch of its subject.
    pub(super) launch: Launch,
    /// The frame's name, and its argument.
    pub(super) test: String,
    pub(super) arg: Option<u64>,
    /// Iterations of the shorter requests.
    pub(super) iterations: u64,
    /// The items that it serves.
    pub(super) positions: Vec<usize>,
}

/// Every count of one subject, in one process: each with its number.
type OfSubject = Vec<(usize, Job)>;

/// All counts, with their time limit.
pub(super) struct Jobs<'s> {
    subjects: Mutex<VecDeque<OfSubject>>,
    until: Instant,
    stop: &'s AtomicBool,
    /// Counts that the time did not reach.
    left_out: AtomicUsize,
}

type Counted = (usize, Result<InstructionCount, NoCount>);

impl<'s> Jobs<'s> {
    pub(super) fn new(jobs: Vec<Job>, limit: Duration, stop: &'s AtomicBool) -> Jobs<'s> {
        let mut subjects: VecDeque<OfSubject> = VecDeque::new();
        for (number, job) in jobs.into_iter().enumerate() {
            let same = |of: &&mut OfSubject| of[0].1.launch.subject == job.launch.subject;
            match subjects.iter_mut().find(same) {
                Some(of_subject) => of_subject.push((number, job)),
                None => subjects.push_back(vec![(number, job)]),
            }
        }
        Jobs {
            subjects: Mutex::new(subjects),
            until: Instant::now() + limit,
            stop,
            left_out: AtomicUsize::new(0),
        }
    }

    /// Returns the number of counts that the time did not reach.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Counts, and passes each count with its job's number to `take` at once. Counts beyond the
    /// time are left out.
    pub(super) fn run(
        &self,
        mut take: impl FnMut(usize, Result<InstructionCount, NoCount>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let (sender, counts) = channel();
            let mut working = 0;
            for _ in 0..processors.min(self.waiting()) {
                let sender = sender.clone();
                let work = move || self.work(&sender);
                working += usize::from(Builder::new().spawn_scoped(scope, work).is_ok());
            }
            if working == 0 {
                // The system has no thread left: these counts are received only after all of them.
                self.work(&sender);
            }
            drop(sender);
            // Dropping the receiver ends the workers, because their next send fails.
            counts
                .into_iter()
                .try_for_each(|(job, counted)| take(job, counted))
        })
    }

    fn waiting(&self) -> usize {
        let subjects = self.subjects.lock();
        subjects.unwrap_or_else(PoisonError::into_inner).len()
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Returns the time limit of one request.
    fn limit(&self) -> Duration {
        let left = self.until.saturating_duration_since(Instant::now());
        left.clamp(LEAST, MOST)
    }

    fn work(&self, sender: &Sender<Counted>) {
        loop {
            let next = {
                let subjects = self.subjects.lock();
                subjects.unwrap_or_else(PoisonError::into_inner).pop_front()
            };
            let Some(of_subject) = next else { return };
            if self.count_all(of_subject, sender).is_none() {
                return;
            }
        }
    }

    /// Makes all counts of one subject; returns `None` if the receiver is gone.
    fn count_all(&self, jobs: OfSubject, sender: &Sender<Counted>) -> Option<()> {
        let mut running: Option<Counter<'_>> = None;
        let all = jobs.len();
        let leave = |done: usize| {
            self.left_out.fetch_add(all - done, Ordering::Relaxed);
            Some(())
        };
        for (done, (number, job)) in jobs.into_iter().enumerate() {
            if self.is_over() {
                return leave(done);
            }
            // After a failure the process is started again for the next test, unless it does not
            // start at all.
            let mut counter = match running
                .take()
                .map_or_else(|| Counter::start(&job.launch, self.stop), Ok)
            {
                Ok(counter) => counter,
                // A process that the user ended has not failed.
                Err(NoCount::Session(SessionError::Interrupted { .. })) => return leave(done),
                Err(error) => {
                    sender.send((number, Err(error))).ok()?;
                    return Some(());
                }
            };
            let counted = counter.count(&CountRequest {
                test: &job.test,
                arg: job.arg,
                iterations: job.iterations,
                limit: self.limit(),
            });
            // A count that the end of the time cut off is none, rather than a failure.
            if counted.is_err() && self.is_over() {
                return leave(done);
            }
            if counted.is_ok() {
                running = Some(counter);
            }
            sender.send((number, counted)).ok()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_takes_all_of_the_time() {
        let stop = AtomicBool::new(false);
        let limit = |seconds| Jobs::new(Vec::new(), Duration::from_secs(seconds), &stop).limit();
        assert_eq!((limit(0), limit(3600)), (LEAST, MOST));
    }

    /// Script that notes its start in the given file, and tells the laboratory nothing.
    const MUTE: &str = ": >\"$1\"; read -r hello; while :; do :; done";

    #[test]
    fn counts_that_the_user_stops_are_left_out_and_no_failures() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let argv = ["sh", "-c", MUTE, "sh", runs.to_str().unwrap()];
        let job = |test: &str| Job {
            launch: Launch::new("mute/v", argv, "/"),
            test: test.into(),
            arg: None,
            iterations: 1,
            positions: Vec::new(),
        };
        let stop = AtomicBool::new(false);
        let jobs = vec![job("one"), job("another")];
        let jobs = Jobs::new(jobs, Duration::from_secs(3600), &stop);
        let mut failures = Vec::new();
        std::thread::scope(|scope| {
            let counting = scope.spawn(|| {
                jobs.run(|_, counted| {
                    failures.extend(counted.err());
                    Ok(())
                })
            });
            while !runs.exists() && !counting.is_finished() {
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
            counting.join().unwrap().unwrap();
        });
        match failures.as_slice() {
            [NoCount::Missing] => eprintln!("skipped: {}", NoCount::Missing),
            others => assert!(others.is_empty(), "{others:?}"),
        }
        // Without valgrind nothing is left out: both counts have failed.
        assert_eq!(jobs.left_out(), if failures.is_empty() { 2 } else { 0 });
    }
}
