//! Programs that are not the laboratory's, and use the processors beside it.

use crate::waiting::wait_until;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::process::Command;

/// Spins in a separate session, as urgently as permitted, until it is told to end or its time is
/// over. It is no child of ours, because children count as the laboratory's.
const SPINS: &str = "setsid nice -n -20 taskset -c $0 timeout 300 sh -c 'while :; do :; done' \
                     >/dev/null 2>&1 </dev/null & echo $!";

/// Spinning processes, one on each processor; they end when this is dropped.
pub struct Others {
    spinning: Vec<Pid>,
}

impl Others {
    pub fn spin() -> Others {
        let processors = std::thread::available_parallelism().unwrap().get();
        let spin = |processor: usize| {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", SPINS, &processor.to_string()]);
            let reported = String::from_utf8(shell.output().unwrap().stdout).unwrap();
            Pid::from_raw(reported.trim().parse().unwrap()).unwrap()
        };
        let spinning = (0..processors).map(spin).collect();
        Others { spinning }
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for process in &self.spinning {
            let _ = kill_process(*process, Signal::TERM);
        }
        if !std::thread::panicking() {
            let gone = |process: &Pid| test_kill_process(*process).is_err();
            wait_until("others end", || self.spinning.iter().all(gone));
        }
    }
}
