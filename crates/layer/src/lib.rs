//! The subject of the suite `layer`: panda's primitives, and the bare platforms beneath them, as tests of the subject protocol.
//!
//! The process that the laboratory talks to ([`run`]) starts a *process group*: the processes that take part in an operation, of which the first, the leader, times it.
//! Beside what is measured they talk by a page that all of them see, so nothing but the measured messages moves while a slice runs.

mod bare;
mod control_page;
mod failure;
mod leader;
mod member;
mod member_state;
mod panda;
mod place;
mod process_group;
mod proxy;
mod scale;
mod tests;
mod transport;
mod usage;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use antiphon_panda::Session;
use antiphon_panda::platform::Local;
use antiphon_panda::session::SILENCE;

pub use scale::count;

use control_page::ControlPage;
use member_state::{Join, MemberState};
use place::Place;
use transport::{Platform, Transport};

/// The exit code of misuse.
const MISUSE: u8 = 2;

/// Serves the subject protocol on standard input and output, or takes part in a process group if the environment says so. Its processes are this same program with the
/// same arguments. What the operations run over is in the variable `ANTIPHON_LAYER`.
#[must_use]
pub fn run() -> ExitCode {
    let transport = match Transport::of_environment() {
        Ok(transport) => transport,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(MISUSE);
        }
    };
    let Some((place, rank)) = Place::of_environment() else {
        return proxy::serve(transport);
    };
    match ControlPage::open(&place.control_page) {
        Ok(control_page) => take_part(transport, rank, place.size, Arc::new(control_page)),
        Err(error) => {
            eprintln!("{}: {error}", place.control_page);
            ExitCode::from(MISUSE)
        }
    }
}

fn take_part(
    transport: Transport,
    rank: usize,
    size: usize,
    control_page: Arc<ControlPage>,
) -> ExitCode {
    if transport == Transport::Panda(Platform::Local) {
        return threads(transport, size, &control_page);
    }
    let member_state = MemberState::new(rank, size, control_page, Box::new(Session::join));
    if rank == 0 {
        return leader::serve(member_state, transport.tests());
    }
    member::serve(member_state, &transport.tests(), true);
    ExitCode::SUCCESS
}

/// A process group of threads.
fn threads(transport: Transport, size: usize, control_page: &Arc<ControlPage>) -> ExitCode {
    let mut ends = Local::session(size as u32).into_iter();
    let first = ends.next().expect("a process group is not empty");
    let join = |(info, platform, inbox)| -> Join {
        Box::new(move || Session::over(platform, inbox, &info, SILENCE))
    };
    thread::scope(|scope| {
        for (rank, end) in (1..).zip(ends) {
            scope.spawn(move || {
                let member_state = MemberState::new(rank, size, control_page.clone(), join(end));
                member::serve(member_state, &transport.tests(), false);
            });
        }
        leader::serve(
            MemberState::new(0, size, control_page.clone(), join(first)),
            transport.tests(),
        )
    })
}
