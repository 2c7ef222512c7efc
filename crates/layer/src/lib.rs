//! The subject of the suite `layer`: panda's primitives, and the bare platforms beneath them, as tests of the subject protocol.
//!
//! The process that the laboratory talks to ([`run`]) starts a *company*: the processes that take part in an operation, of which the first, the leader, times it.
//! Beside what is measured they talk by a page that all of them see, so nothing but the measured messages moves while a slice runs.

mod bare;
mod board;
mod company;
mod failure;
mod front;
mod leader;
mod member;
mod panda;
mod place;
mod scale;
mod stage;
mod tests;
mod usage;
mod what;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use antiphon_panda::Session;
use antiphon_panda::platform::Local;
use antiphon_panda::session::SILENCE;

pub use scale::count;

use board::Board;
use place::Place;
use stage::{Join, Stage};
use what::{Platform, What};

/// The exit code of misuse.
const MISUSE: u8 = 2;

/// Serves the subject protocol on standard input and output, or takes part in a company if the environment says so. Its processes are this same program with the
/// same arguments. What the operations run over is in the variable `ANTIPHON_LAYER`.
#[must_use]
pub fn run() -> ExitCode {
    let what = match What::of_environment() {
        Ok(what) => what,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(MISUSE);
        }
    };
    let Some((place, rank)) = Place::of_environment() else {
        return front::serve(what);
    };
    match Board::open(&place.board) {
        Ok(board) => take_part(what, rank, place.size, Arc::new(board)),
        Err(error) => {
            eprintln!("{}: {error}", place.board);
            ExitCode::from(MISUSE)
        }
    }
}

fn take_part(what: What, rank: usize, size: usize, board: Arc<Board>) -> ExitCode {
    if what == What::Panda(Platform::Local) {
        return threads(what, size, &board);
    }
    let stage = Stage::new(rank, size, board, Box::new(Session::join));
    if rank == 0 {
        return leader::serve(stage, what.tests());
    }
    member::serve(stage, &what.tests(), true);
    ExitCode::SUCCESS
}

/// A company of threads.
fn threads(what: What, size: usize, board: &Arc<Board>) -> ExitCode {
    let mut ends = Local::session(size as u32).into_iter();
    let first = ends.next().expect("a company is not empty");
    let join = |(info, platform, inbox)| -> Join {
        Box::new(move || Session::over(platform, inbox, &info, SILENCE))
    };
    thread::scope(|scope| {
        for (rank, end) in (1..).zip(ends) {
            scope.spawn(move || {
                let stage = Stage::new(rank, size, board.clone(), join(end));
                member::serve(stage, &what.tests(), false);
            });
        }
        leader::serve(
            Stage::new(0, size, board.clone(), join(first)),
            what.tests(),
        )
    })
}
