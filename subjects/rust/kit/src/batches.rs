//! Frames: batches of slices in the order control, test, test, control, and single slices.

use crate::answer::{Answer, Refusal};
use crate::request::{Request, number};
use crate::slices::{Role, Slice, Timer, caught, run_untimed};
use crate::test::{Body, Failure, Frames, Test};
use crate::threads::{report_thread, start_reporting, stop_reporting, take_reports};

const BLOCKS_MOST: u64 = 100_000;
const MOST: u64 = i64::MAX as u64;

const WITH_REFERENCE: &[Role] = &[
    Role::Reference,
    Role::Control,
    Role::Test,
    Role::Test,
    Role::Control,
    Role::Reference,
];
const WITHOUT_REFERENCE: &[Role] = &[Role::Control, Role::Test, Role::Test, Role::Control];

fn frames(test: &Test, arg: u64) -> Result<Box<dyn Frames>, Failure> {
    match &test.body {
        Body::Frame(prepare) => caught(|| prepare(arg)),
        other => Err(Failure(format!("it is a {} test", other.kind()))),
    }
}

fn fits(test: &Test, key: &str, iterations: u64) -> Result<u64, Refusal> {
    match test.most_iterations {
        Some(most) if iterations > most => Err(Refusal::bad_argument(format!(
            "{key}={iterations}: {} keeps what it takes until the slice ends; at most {most}",
            test.name
        ))),
        _ => Ok(iterations),
    }
}

// --- Batches ---------------------------------------------------------------------------------------------------------------

struct Batch {
    iterations: u64,
    blocks: u64,
    reference: u64,
    warmup: u64,
}

impl Batch {
    fn parse(test: &Test, request: &Request<'_>) -> Result<Self, Refusal> {
        Ok(Batch {
            iterations: fits(test, "iterations", request.number("iterations", 1, MOST)?)?,
            blocks: request.number("blocks", 1, BLOCKS_MOST)?,
            reference: request.number("reference", 0, MOST)?,
            warmup: fits(test, "warmup", request.number("warmup", 0, MOST)?)?,
        })
    }

    fn order(&self) -> &'static [Role] {
        match self.reference {
            0 => WITHOUT_REFERENCE,
            _ => WITH_REFERENCE,
        }
    }

    fn run(
        &self,
        frames: &mut dyn Frames,
        timer: &mut Timer,
        slices: &mut [Slice],
    ) -> Result<(), Failure> {
        run_untimed(frames, Role::Control, self.warmup)?;
        run_untimed(frames, Role::Test, self.warmup)?;
        report_others(frames)?;
        stop_reporting();
        let roles = self.order().iter().cycle();
        for (slice, &role) in slices.iter_mut().zip(roles) {
            let iterations = match role {
                Role::Reference => self.reference,
                _ => self.iterations,
            };
            *slice = timer.slice(frames, role, iterations)?;
        }
        start_reporting();
        run_untimed(frames, Role::Test, 1)?;
        report_others(frames)
    }
}

fn report_others(frames: &mut dyn Frames) -> Result<(), Failure> {
    caught(|| frames.report()).map(|reports| reports.into_iter().for_each(report_thread))
}

pub(crate) fn batch(
    test: &Test,
    arg: u64,
    request: &Request<'_>,
    timer: &mut Timer,
) -> Result<Answer, Refusal> {
    let batch = Batch::parse(test, request)?;
    let slices_a_block = batch.order().len();
    let mut slices = vec![Slice::TOUCHED; batch.blocks as usize * slices_a_block];
    take_reports();
    start_reporting();
    let outcome = frames(test, arg).and_then(|mut frames| {
        let outcome = batch.run(&mut *frames, timer, &mut slices);
        let ended = caught(move || {
            drop(frames);
            Ok(())
        });
        outcome.and(ended)
    });
    stop_reporting();
    outcome.map_err(|Failure(why)| Refusal::failed(why))?;
    let mut answer = Answer::default();
    for (index, slice) in slices.iter().enumerate() {
        slice.answer((index / slices_a_block) as u64, &mut answer);
    }
    answer.threads(&take_reports());
    Ok(answer)
}

// --- Single slices ---------------------------------------------------------------------------------------------------------

/// The test that stays prepared between requests for its slices.
#[derive(Default)]
pub(crate) struct Prepared(Option<(String, u64, Box<dyn Frames>)>);

impl Prepared {
    /// Finishes it, if there is one.
    pub(crate) fn finish(&mut self) {
        let frames = self.0.take();
        // What it had to say in a panic, it has said on standard error.
        let _ = caught(move || {
            drop(frames);
            Ok(())
        });
    }

    fn frames(&mut self, test: &Test, arg: u64) -> Result<&mut dyn Frames, Failure> {
        let kept = matches!(&self.0, Some((name, with, _)) if *name == test.name && *with == arg);
        if !kept {
            self.finish();
            self.0 = Some((test.name.clone(), arg, frames(test, arg)?));
        }
        match &mut self.0 {
            Some((_, _, frames)) => Ok(&mut **frames),
            None => unreachable!("it was prepared just now"),
        }
    }

    pub(crate) fn slice(
        &mut self,
        test: &Test,
        arg: u64,
        request: &Request<'_>,
        timer: &mut Timer,
    ) -> Result<Answer, Refusal> {
        let [_, word] = request.words("slice NAME ROLE iterations=N warmup=W [arg=A]")?;
        let role = Role::of(word).ok_or_else(|| {
            let text = format!("the role must be control, test or reference, not '{word}'");
            Refusal::bad_argument(text)
        })?;
        let mut iterations = request.number("iterations", 1, MOST)?;
        let mut warmup = request.number("warmup", 0, MOST)?;
        if role != Role::Reference {
            iterations = fits(test, "iterations", iterations)?;
            warmup = fits(test, "warmup", warmup)?;
        }
        let outcome = self.frames(test, arg).and_then(|frames| {
            run_untimed(frames, role, warmup)?;
            timer.slice(frames, role, iterations)
        });
        let slice = outcome.map_err(|Failure(why)| {
            self.finish();
            Refusal::failed(why)
        })?;
        let mut answer = Answer::default();
        slice.answer(0, &mut answer);
        Ok(answer)
    }
}

/// The argument of a test, if it takes one.
pub(crate) fn argument(test: &Test, request: &Request<'_>) -> Result<u64, Refusal> {
    match (&test.arg_unit, request.field("arg")) {
        (Some(_), None) => Err(Refusal::bad_argument("arg= is missing")),
        (Some(_), Some(text)) => number("arg", text, 0, MOST),
        (None, None) => Ok(0),
        (None, Some(_)) => Err(Refusal::bad_argument(format!(
            "{} takes no argument",
            test.name
        ))),
    }
}
