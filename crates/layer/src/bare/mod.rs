//! Bare transports beneath the platforms: the leader and one partner. An empty message is sent as
//! one byte, because nothing would arrive otherwise.

mod memory;
mod sockets;
mod window;
#[cfg(test)]
mod window_tests;
mod word;

pub use memory::{memory_roundtrip, memory_stream};
pub use sockets::{tcp_roundtrip, tcp_stream, udp_roundtrip, udp_stream};

use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use crate::control_page::{ControlPage, sleep_while, wake_all};
use crate::failure::Failed;
use crate::member_state::MemberState;

/// A partner that has not come, or not answered, by then is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Says one's own port (not 0), and learns the partner's.
fn exchange_ports(member_state: &MemberState, own: u16) -> Result<u16, Failed> {
    let control_page: &ControlPage = &member_state.control_page;
    let word = |rank| control_page.word(word::port(rank));
    let (mine, theirs) = (word(member_state.rank), word(1 - member_state.rank));
    mine.store(own.into(), SeqCst);
    wake_all(mine);
    let until = Instant::now() + PATIENCE;
    let port = loop {
        let port = theirs.load(SeqCst);
        if port != 0 {
            break port;
        }
        if Instant::now() > until {
            return Err(Failed("the partner did not say its port".into()));
        }
        sleep_while(theirs, 0, Duration::from_millis(100));
    };
    // The reader clears the port for the next test.
    theirs.store(0, SeqCst);
    u16::try_from(port).map_err(|_| Failed(format!("{port} is no port")))
}
