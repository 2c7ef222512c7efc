//! Quiescence over all processes, and their clocks.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Instant;

use antiphon_panda::{Quiescence, Verdict};

use crate::given::{fill, given, time};
use crate::handing::{owned, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session};
use crate::status::{Failure, entry, freed, panda_rank, panda_status, value};

/// A process's part in the detection of quiescence. It detects the moments at which all processes
/// are passive and no message of work is in flight.
///
/// A process is active while one of its activities goes on. A message of work is one that may make
/// a passive process active. Its sender counts it before sending it, and its receiver when taking
/// it. Both do so within an activity, so an upcall that takes work begins one first. A passive
/// process becomes active only by a message of work, or after a verdict.
pub struct panda_quiescence {
    quiescence: Quiescence,
}

/// A moment at which all was quiescent.
pub struct panda_verdict {
    verdict: Arc<Verdict>,
}

/// The offset of another process's clock from this one's.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct panda_clock_offset {
    /// Nanoseconds by which it is ahead; negative if it is behind.
    pub offset_ns: i64,
    /// The error bound of the offset in nanoseconds, in either direction.
    pub uncertainty_ns: u64,
    /// This process's clock at the measurement: panda_session_clock().
    pub measured_at_ns: u64,
}

/// Gets this process's part in the detection of quiescence. The first call begins it, with one
/// activity, which is the caller's. Until then the process counts as active. The caller frees the
/// handle by panda_quiescence_free(). Each handle's waiter gets each verdict.
///
/// Errors: PANDA_LOST: another process has found this one lost, or it has left; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_quiescence(
    session: Option<&panda_session>,
    quiescence: Option<&mut MaybeUninit<*mut panda_quiescence>>,
) -> panda_status {
    entry("panda_session_quiescence", || {
        let place = given(quiescence, "quiescence")?;
        let quiescence = of(session)?.quiescence()?;
        place.write(Box::into_raw(Box::new(panda_quiescence { quiescence })));
        Ok(())
    })
}

/// Counts a message of work that is about to be sent.
///
/// Errors: PANDA_NO_SUCH_RANK; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_sent(
    quiescence: Option<&panda_quiescence>,
    to: panda_rank,
) -> panda_status {
    entry("panda_quiescence_sent", || Ok(part(quiescence)?.sent(to)?))
}

/// Counts a message of work that was received.
///
/// Errors: PANDA_NO_SUCH_RANK; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_received(
    quiescence: Option<&panda_quiescence>,
    from: panda_rank,
) -> panda_status {
    entry("panda_quiescence_received", || {
        Ok(part(quiescence)?.received(from)?)
    })
}

/// Begins an activity.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_active(quiescence: Option<&panda_quiescence>) -> panda_status {
    entry("panda_quiescence_active", || {
        part(quiescence)?.active();
        Ok(())
    })
}

/// Ends an activity. The process is passive when its last one has ended.
///
/// Errors: PANDA_PANICKED: no activity goes on; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_passive(quiescence: Option<&panda_quiescence>) -> panda_status {
    entry("panda_quiescence_passive", || {
        part(quiescence)?.passive();
        Ok(())
    })
}

/// Sets this process's report in verdicts, for instance the number of its blocked threads: a
/// message, which it takes. It is set within an activity.
///
/// Errors: PANDA_TOO_LONG: it has more than 4096 bytes; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_report(
    quiescence: Option<&panda_quiescence>,
    report: Option<Box<panda_message>>,
) -> panda_status {
    let report = taken(report);
    entry("panda_quiescence_report", || {
        let quiescence = part(quiescence)?;
        Ok(quiescence.report(given(report, "report")?.message)?)
    })
}

/// Waits for the next verdict, for a time at most, in nanoseconds or PANDA_FOREVER. The caller's
/// own activity must be over. The caller frees the verdict by panda_verdict_free().
///
/// Errors: PANDA_TIMED_OUT; PANDA_LOST: another process has found this one lost, or it has left;
/// PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_wait(
    quiescence: Option<&panda_quiescence>,
    timeout_ns: u64,
    verdict: Option<&mut MaybeUninit<*mut panda_verdict>>,
) -> panda_status {
    entry("panda_quiescence_wait", || {
        let place = given(verdict, "verdict")?;
        let until = time(timeout_ns).and_then(|time| Instant::now().checked_add(time));
        let verdict = part(quiescence)?.wait(until)?;
        let verdict = verdict.ok_or(Failure::TimedOut("not all processes were passive in time"))?;
        place.write(Box::into_raw(Box::new(panda_verdict { verdict })));
        Ok(())
    })
}

/// Leaves the detection. The others go on without this process, and wait for the work that it has
/// sent. After that it must not send or take work. The end of the session does the same.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_leave(quiescence: Option<&panda_quiescence>) -> panda_status {
    entry("panda_quiescence_leave", || {
        part(quiescence)?.leave();
        Ok(())
    })
}

/// Frees a handle, without leaving the detection. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_quiescence_free(quiescence: Option<Box<panda_quiescence>>) {
    freed("panda_quiescence_free", quiescence);
}

/// Returns a verdict's number. Verdicts are numbered from 1, alike at all processes.
#[unsafe(no_mangle)]
pub extern "C" fn panda_verdict_number(verdict: Option<&panda_verdict>) -> u64 {
    value("panda_verdict_number", 0, || {
        Ok(given(verdict, "verdict")?.verdict.number)
    })
}

/// Writes the participating processes, by rank, to `ranks`: at most `room` of them. Returns their
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_verdict_members(
    verdict: Option<&panda_verdict>,
    ranks: *mut panda_rank,
    room: usize,
) -> usize {
    value("panda_verdict_members", 0, || {
        let reports = given(verdict, "verdict")?.verdict.reports.iter();
        let members: Vec<panda_rank> = reports.map(|(rank, _)| *rank).collect();
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(ranks, room, "ranks") }?;
        Ok(fill(places, &members))
    })
}

/// Writes the processes that were lost until then, by rank, to `ranks`: at most `room` of them.
/// Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_verdict_lost(
    verdict: Option<&panda_verdict>,
    ranks: *mut panda_rank,
    room: usize,
) -> usize {
    value("panda_verdict_lost", 0, || {
        let lost = &given(verdict, "verdict")?.verdict.lost;
        // SAFETY: the caller's promise.
        let places = unsafe { crate::given::room(ranks, room, "ranks") }?;
        Ok(fill(places, lost))
    })
}

/// Returns a process's report: a message that the caller owns. NULL if the process did not take
/// part; empty if it reported nothing.
#[unsafe(no_mangle)]
pub extern "C" fn panda_verdict_report(
    verdict: Option<&panda_verdict>,
    of: panda_rank,
) -> *mut panda_message {
    value("panda_verdict_report", std::ptr::null_mut(), || {
        let mut reports = given(verdict, "verdict")?.verdict.reports.iter();
        let report = reports.find(|(rank, _)| *rank == of);
        Ok(report.map_or(std::ptr::null_mut(), |(_, report)| owned(report.clone())))
    })
}

/// Frees a verdict. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_verdict_free(verdict: Option<Box<panda_verdict>>) {
    freed("panda_verdict_free", verdict);
}

/// Returns the time by this process's clock for timelines, in nanoseconds. Each process counts from
/// a moment of its own.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_clock(session: Option<&panda_session>) -> u64 {
    value("panda_session_clock", 0, || {
        Ok(of(session)?.clock().as_nanos() as u64)
    })
}

/// Measures the offset of another process's clock from this one's, by several exchanges with it.
/// The true offset lies within the uncertainty while the measurement lasts. Clocks drift: measure
/// again later, and interpolate between the two.
///
/// Errors: PANDA_LOST; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_clock_offset(
    session: Option<&panda_session>,
    of_rank: panda_rank,
    offset: Option<&mut MaybeUninit<panda_clock_offset>>,
) -> panda_status {
    entry("panda_session_clock_offset", || {
        let place = given(offset, "offset")?;
        let offset = of(session)?.clock_offset(of_rank)?;
        place.write(panda_clock_offset {
            offset_ns: offset.offset_ns,
            uncertainty_ns: offset.uncertainty_ns,
            measured_at_ns: offset.measured_at.as_nanos() as u64,
        });
        Ok(())
    })
}

fn part(quiescence: Option<&panda_quiescence>) -> Result<&Quiescence, Failure> {
    Ok(&given(quiescence, "quiescence")?.quiescence)
}
