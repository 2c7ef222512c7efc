//! A work queue: process 0 hands out jobs by RPC, the others ask for one after another and return results.
//!
//! `antiphon launch -n 4 --over tcp work_queue [JOBS]`

use std::sync::mpsc;

use antiphon_panda::{Error, Message, Session};

/// How many steps the Collatz sequence of a number takes.
fn steps(mut number: u64) -> u64 {
    let mut count = 0;
    while number != 1 {
        number = if number.is_multiple_of(2) {
            number / 2
        } else {
            3 * number + 1
        };
        count += 1;
    }
    count
}

fn main() -> Result<(), Error> {
    let jobs: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(2000);
    let session = Session::join()?;
    let all = session.everyone()?;
    let (sender, results) = mpsc::channel();
    if session.rank() == 0 {
        let mut next = 0;
        session.serve("job", move |call| {
            // The result of the last job comes with the question for the next.
            if let Ok(Some(result)) = call.payload.value::<Option<(u64, u64)>>() {
                let _ = sender.send(result);
            }
            let job = (next < jobs).then_some(next + 1);
            next += 1;
            if let Ok(answer) = Message::of(&job) {
                call.reply.send(answer);
            }
        });
    }
    all.barrier()?;
    if session.rank() == 0 {
        let longest = results
            .iter()
            .take(jobs as usize)
            .max_by_key(|(_, steps)| *steps);
        println!("{jobs} jobs, longest {longest:?}");
    } else {
        let mut done: Option<(u64, u64)> = None;
        while let Some(job) = session
            .call(0, "job", Message::of(&done)?, None)?
            .value::<Option<u64>>()?
        {
            done = Some((job, steps(job)));
        }
    }
    all.barrier()
}
