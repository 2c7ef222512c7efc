//! A work queue. Process 0 hands out jobs by RPC. All processes, also process 0, ask for one job
//! after another and return results.
//!
//! ```text
//! cargo build --release -p antiphon-panda --examples
//! antiphon launch -n 4 --over tcp target/release/examples/work_queue [JOBS]
//! ```

use std::sync::{Arc, Mutex};

use antiphon_panda::{Error, Message, Session};

/// A number, and the length of its Collatz sequence.
type Sequence = (u64, u64);

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

/// The results so far.
#[derive(Default)]
struct Results {
    count: u64,
    longest: Option<Sequence>,
}

/// Hands out the jobs.
fn serve(session: &Session, jobs: u64) -> Result<Arc<Mutex<Results>>, Error> {
    let results = Arc::<Mutex<Results>>::default();
    let (own, mut next) = (results.clone(), 0);
    session.serve("job", move |call| {
        // The result of the last job comes with the request for the next.
        if let Ok(Some(result)) = call.payload.value::<Option<Sequence>>() {
            let mut results = own.lock().expect("no upcall panics");
            results.count += 1;
            if results
                .longest
                .is_none_or(|(_, longest)| longest < result.1)
            {
                results.longest = Some(result);
            }
        }
        let job = (next < jobs).then_some(next + 1);
        next += 1;
        if let Ok(answer) = Message::of(&job) {
            call.reply.send(answer);
        }
    })?;
    Ok(results)
}

pub(crate) fn main() -> Result<(), Error> {
    let jobs: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(2000);
    let session = Session::join()?;
    let all = session.everyone()?;
    let results = match session.rank() {
        0 => Some(serve(&session, jobs)?),
        _ => None,
    };
    all.barrier()?;
    let mut done: Option<Sequence> = None;
    while let Some(job) = session
        .call(0, "job", Message::of(&done)?, None)?
        .value::<Option<u64>>()?
    {
        done = Some((job, steps(job)));
    }
    // A process that gets here has returned all its results. If a process is lost with a job, the
    // others end with an error that names it.
    all.barrier()?;
    if let Some(results) = results {
        let Results { count, longest } = &*results.lock().expect("no upcall panics");
        println!("{count} jobs, longest {longest:?}");
    }
    Ok(())
}
