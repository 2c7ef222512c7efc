//! The subject of the suite `layer`: panda's primitives, and the bare platforms beneath them, as
//! tests of the subject protocol.
//!
//! The laboratory's process ([`run`]) starts a *process group*: all processes of an operation. The
//! first of them, the leader, times it. Apart from the measured platform they communicate by a
//! shared page. During a slice, only the measured messages therefore move.

mod bare;
mod control_page;
mod failure;
mod leader;
mod member;
mod member_state;
mod objects;
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

/// Serves the subject protocol on standard input and output, or joins a process group if the
/// environment says so.
///
/// The group's processes are this same program with the same arguments. The variable
/// `ANTIPHON_LAYER` names the transport.
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
    if transport.platform() == Some(Platform::Local) {
        return threads(transport, size, &control_page);
    }
    let member_state = MemberState::new(rank, size, control_page, Box::new(Session::join));
    if rank == 0 {
        return leader::serve(member_state, transport.tests());
    }
    member::serve(member_state, &transport.tests(), true);
    ExitCode::SUCCESS
}

/// Runs a process group of threads.
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
