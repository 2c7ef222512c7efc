//! Availability of hardware counters.

use super::System;
use perf_event::Builder;
use perf_event::events::Hardware;

/// Checks that instructions can be counted here.
pub(crate) fn can_be_read() -> bool {
    instructions().is_ok_and(|counted| counted > 0)
}

/// Returns one sentence: instructions can be counted, or the reason and the remedy.
pub(super) fn state(system: &System) -> String {
    match instructions() {
        Ok(0) => "no: the kernel gives a counter of instructions, but it stays at 0".to_owned(),
        Ok(_) => {
            "yes: instructions and cycles of every frame are counted beside its time".to_owned()
        }
        Err(error) => why_not(system, &error),
    }
}

/// Instructions of a short loop of our own.
fn instructions() -> std::io::Result<u64> {
    let mut builder = Builder::new(Hardware::INSTRUCTIONS);
    builder
        .exclude_kernel(true)
        .build()
        .and_then(|mut counter| {
            counter.enable()?;
            std::hint::black_box((0..1000u64).sum::<u64>());
            counter.disable()?;
            counter.read()
        })
}

fn why_not(system: &System, error: &std::io::Error) -> String {
    let paranoid = system.number("proc/sys/kernel/perf_event_paranoid");
    let cause = match (error.kind(), paranoid) {
        (std::io::ErrorKind::NotFound, _) if system.hypervisor().is_some() => {
            "this virtual machine is given no hardware counters".to_owned()
        }
        (std::io::ErrorKind::NotFound, _) => {
            "this processor or kernel has no hardware counters".to_owned()
        }
        (std::io::ErrorKind::PermissionDenied, Some(level)) => format!(
            "not permitted (kernel.perf_event_paranoid is {level}); `sysctl kernel.perf_event_paranoid=2` as root permits it"
        ),
        _ => format!("perf_event_open: {error}"),
    };
    format!("no: {cause}; instructions are counted by callgrind where it is installed")
}
