//! A subject for the laboratory's own tests: it conforms to docs/reference/subject-protocol.md, or
//! breaks one rule of it.
//!
//! `antiphon-test-subject [FAULT]`; see [`Fault`] for the faults. A fault shows at the request that
//! it concerns. A distribution of times may stand in place of a fault ([`Drawn`]).

mod answer;
mod drawn;
mod fault;
mod frames;
mod partner;
mod place;
mod request;

use drawn::Drawn;
use fault::Fault;
use request::{Refusal, Request};
use std::io::{self, BufRead, Write};
use std::time::Instant;

/// State of the subject that serves requests.
struct Subject {
    fault: Option<Fault>,
    /// Times of single slices, in place of real ones.
    drawn: Option<Drawn>,
    epoch: Instant,
    place: place::Place,
    /// Clock readings asked for so far.
    read: u64,
}

/// A coarse clock's tick, and how many readings it lasts.
const TICK_NS: u64 = 4_000_000;
const READINGS_PER_TICK: u64 = 1500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = std::env::args().nth(1);
    let drawn = word.as_deref().and_then(Drawn::of);
    let fault = match word {
        None => None,
        Some(_) if drawn.is_some() => None,
        Some(word) => Some(Fault::of(&word).ok_or_else(|| format!("no fault `{word}`"))?),
    };
    let mut subject = Subject {
        fault,
        drawn,
        epoch: Instant::now(),
        place: place::Place::Free,
        read: 0,
    };
    for line in io::stdin().lock().lines() {
        let line = line?;
        fault::before_answer(subject.fault, &line);
        let request = Request::parse(&line);
        let quits = matches!(request, Ok(Request::Quit));
        let answer = request.and_then(|request| subject.serve(&request));
        if quits && subject.fault == Some(Fault::NeverQuits) {
            continue;
        }
        let mut stdout = io::stdout().lock();
        match answer {
            Ok(lines) => {
                for line in fault::change(subject.fault, lines) {
                    writeln!(stdout, "{line}")?;
                }
                writeln!(stdout, "@@ ok")?;
            }
            Err(Refusal(code, text)) => writeln!(stdout, "@@ error {code} {text}")?,
        }
        stdout.flush()?;
        if quits {
            std::process::exit(i32::from(subject.fault == Some(Fault::QuitCode)) * 7);
        }
    }
    Ok(())
}

/// Adds the main thread's reports before and after the timed part. Both are the same, because
/// nothing moves.
fn reported(mut lines: Vec<String>) -> Vec<String> {
    lines.push(place::report("main", 2));
    lines
}

/// Returns a hundred ticks of the coarse clock, each a gap.
fn coarse_gaps() -> Vec<String> {
    const TICKS: u64 = 100;
    let kept: Vec<_> = (0..TICKS).map(|tick| (tick * TICK_NS, TICK_NS)).collect();
    let (readings, elapsed) = (TICKS * READINGS_PER_TICK, TICKS * TICK_NS);
    answer::gaps(&kept, readings, elapsed, None, kept.len(), elapsed)
}

impl Subject {
    /// Returns the data lines of the answer.
    fn serve(&mut self, request: &Request) -> Result<Vec<String>, Refusal> {
        match request {
            Request::Hello => Ok(answer::hello()),
            Request::List => Ok(answer::list()),
            Request::Placement(place) => {
                self.place = *place;
                place.put("main");
                Ok(Vec::new())
            }
            Request::Clock { count } => Ok(reported(answer::readings(&self.clock(*count)))),
            Request::Gaps { time_ns, over } => Ok(reported(self.gaps(*time_ns, *over))),
            Request::Batch {
                test,
                iterations,
                blocks,
                reference,
                warmup,
            } => {
                let frames = frames::frames(test)?;
                let fault = self.fault;
                fault::timing_begins(fault);
                self.batch(&frames, *iterations, *blocks, *reference, *warmup)
            }
            Request::Slice {
                test,
                role,
                iterations,
                warmup,
            } => {
                let frames = frames::frames(test)?;
                if let Some(drawn) = &self.drawn {
                    let (start, elapsed) = drawn.slice(test, *iterations);
                    let used = place::Resources::read();
                    let used = place::Resources::read().since(&used);
                    let slice = answer::slice(0, role, *iterations, start, elapsed, &used, 0);
                    return Ok(vec![slice]);
                }
                let mut partner = frames.partner(self.place);
                frames.run(role, *warmup, &mut partner);
                let slice = self.timed(&frames, 0, role, *iterations, &mut partner);
                fault::leak(self.fault, role);
                Ok(vec![slice])
            }
            Request::Latency { count, interval_ns } => Ok(self.latency(*count, *interval_ns)),
            Request::Series { count } => Ok(reported(self.series(*count))),
            Request::Usage => Ok(vec![answer::usage()]),
            Request::Quit => Ok(Vec::new()),
        }
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64 + 1
    }

    fn clock(&mut self, count: u64) -> Vec<u64> {
        if self.fault == Some(Fault::CoarseClock) {
            let first = self.read;
            self.read += count;
            let ticks = |reading| reading / READINGS_PER_TICK;
            return (first..first + count)
                .map(|reading| (1 + ticks(reading)) * TICK_NS)
                .collect();
        }
        (0..count).map(|_| self.now_ns()).collect()
    }

    fn gaps(&self, time_ns: u64, over: u64) -> Vec<String> {
        /// Gaps that are kept, in memory that is written to before.
        const KEPT: usize = 200_000;
        if self.fault == Some(Fault::CoarseClock) {
            return coarse_gaps();
        }
        let mut kept = vec![(1, 1); KEPT];
        let (mut readings, mut gaps, mut lost) = (1_u64, 0, 0);
        let used = place::Resources::read();
        let first = self.now_ns();
        let mut before = first;
        while before - first < time_ns {
            let now = self.now_ns();
            let step = now - before;
            if step > over {
                if let Some(place) = kept.get_mut(gaps) {
                    *place = (before - first, step);
                }
                gaps += 1;
                lost += step;
            }
            readings += 1;
            before = now;
        }
        let wait_ns = place::Resources::read().since(&used).wait_ns;
        kept.truncate(gaps);
        answer::gaps(&kept, readings, before - first, wait_ns, gaps, lost)
    }

    fn batch(
        &self,
        frames: &frames::Frames,
        iterations: u64,
        blocks: u64,
        reference: u64,
        warmup: u64,
    ) -> Result<Vec<String>, Refusal> {
        let mut partner = frames.partner(self.place);
        for role in ["control", "test"] {
            frames.run(role, warmup, &mut partner);
        }
        let mut order = vec!["control", "test", "test", "control"];
        if reference > 0 {
            order.insert(0, "reference");
            order.push("reference");
        }
        let mut lines = Vec::new();
        for block in 0..blocks {
            for role in &order {
                let iterations = match *role {
                    "reference" => reference,
                    _ => iterations,
                };
                lines.push(self.timed(frames, block, role, iterations, &mut partner));
            }
        }
        let mut lines = reported(lines);
        if let Some(partner) = &mut partner {
            lines.push(partner.report());
        }
        Ok(lines)
    }

    fn timed(
        &self,
        frames: &frames::Frames,
        block: u64,
        role: &str,
        iterations: u64,
        partner: &mut Option<partner::Partner>,
    ) -> String {
        let before = place::Resources::read();
        let start = self.now_ns();
        let checksum = frames.run(role, iterations, partner);
        let elapsed = self.now_ns() - start;
        let used = place::Resources::read().since(&before);
        answer::slice(block, role, iterations, start, elapsed, &used, checksum)
    }

    /// Operations that a partner takes part in.
    fn latency(&self, count: u64, interval_ns: u64) -> Vec<String> {
        let partner = partner::Partner::start(self.place);
        let mut intended = self.now_ns();
        let mut lines = Vec::new();
        for _ in 0..count {
            while self.now_ns() < intended {
                std::hint::spin_loop();
            }
            let actual = self.now_ns();
            partner.pass(actual);
            let end = self.now_ns();
            lines.push(format!("@@ sample {intended} {actual} {end}"));
            intended = match interval_ns {
                0 => end,
                interval_ns => intended + interval_ns,
            };
        }
        let mut lines = reported(lines);
        lines.push(partner.report());
        lines
    }

    fn series(&mut self, count: u64) -> Vec<String> {
        /// Capacity of this subject's imaginary storage.
        const STORAGE: u64 = 1000;
        let completed = count.min(STORAGE);
        let mut lines = answer::readings(&self.clock(completed + 1));
        lines.push(if completed == count {
            format!("@@ outcome completed={completed} end=count")
        } else {
            format!("@@ outcome completed={completed} end=exhausted text=no%20storage")
        });
        lines
    }
}
