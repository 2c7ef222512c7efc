//! Processes that are started by the process that wants them.

use std::io::Write;

use antiphon_runner::{Error, Program, Signaller, Stream};

use super::OnEnd;
use crate::platform::Rank;

/// Starts a process that ends with this one, and writes where this one writes.
pub(crate) fn start_here(rank: Rank, program: Program, on_end: OnEnd) -> Result<Signaller, Error> {
    let process = program.forward(false)?;
    let signaller = process.signaller()?;
    std::thread::Builder::new()
        .name(format!("panda output {rank}"))
        .spawn(move || {
            // Whoever reads our output may have seen enough: that is no fault of the process.
            let ended = process.to_end(|stream, bytes| match stream {
                Stream::Output => {
                    let mut output = std::io::stdout().lock();
                    let _ = output.write_all(bytes).and_then(|()| output.flush());
                }
                Stream::Error => drop(std::io::stderr().lock().write_all(bytes)),
            });
            if let Ok((end, _)) = ended {
                on_end(&end);
            }
        })
        .map_err(|source| Error::NotStarted {
            program: format!("the follower of rank {rank}"),
            source,
        })?;
    Ok(signaller)
}
