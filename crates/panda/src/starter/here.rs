//! Processes that are started by the process that asks for them.

use std::io::Write;
use std::sync::Arc;

use antiphon_runner::{Signaller, Stream};

use super::{LastWords, NotStarted, OnEnd, SpawnRequest};
use crate::platform::LaunchInfo;

/// Starts a process that ends with this one, and writes where this one writes. `begins` gets the
/// means to signal it, before it can have ended.
pub(crate) fn start_here(
    request: &SpawnRequest,
    info: &LaunchInfo,
    begins: impl FnOnce(Arc<Signaller>),
    on_end: OnEnd,
) -> Result<Arc<Signaller>, NotStarted> {
    let process = request.start(info)?;
    let signaller = Arc::new(process.signaller()?);
    begins(signaller.clone());
    let rank = info.rank;
    let follower = std::thread::Builder::new().name(format!("panda output {rank}"));
    let followed = follower.spawn(move || {
        let mut words = LastWords::default();
        // The reader of our output may have closed it. The process is not to blame for that.
        let ended = process.to_end(|stream, bytes| match stream {
            Stream::Output => {
                let mut output = std::io::stdout().lock();
                let _ = output.write_all(bytes).and_then(|()| output.flush());
            }
            Stream::Error => {
                words.push(bytes);
                drop(std::io::stderr().lock().write_all(bytes));
            }
        });
        if let Ok((end, _)) = ended {
            on_end(&end, &words.text());
        }
    });
    followed.map_err(|e| format!("this host has no thread for the output of rank {rank}: {e}"))?;
    Ok(signaller)
}
