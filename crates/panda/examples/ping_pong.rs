//! Two processes send a message back and forth, by message passing and by RPC.
//!
//! ```text
//! cargo build --release -p antiphon-panda --examples
//! antiphon launch -n 2 --over tcp target/release/examples/ping_pong [ROUNDS]
//! ```

use std::time::Instant;

use antiphon_panda::{Error, Message, Session};

pub(crate) fn main() -> Result<(), Error> {
    let rounds: u32 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000);
    let session = Session::join()?;
    let all = session.everyone()?;
    let port = session.port("ball");
    session.serve("echo", |call| call.reply.send(call.payload))?;
    all.barrier()?;
    if session.rank() == 0 {
        let start = Instant::now();
        for round in 0..rounds {
            port.send(1, round, Message::new())?;
            port.receive(Some(1), Some(round))?;
        }
        println!(
            "messages: {:.2} µs a round trip",
            per_round_us(start, rounds)
        );
        let start = Instant::now();
        for _ in 0..rounds {
            session.call(1, "echo", Message::new(), None)?;
        }
        println!("call: {:.2} µs", per_round_us(start, rounds));
    } else if session.rank() == 1 {
        for round in 0..rounds {
            port.receive(Some(0), Some(round))?;
            port.send(0, round, Message::new())?;
        }
    }
    all.barrier()
}

fn per_round_us(start: Instant, rounds: u32) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds.max(1))
}
