//! The request `gaps`: seconds of a clock, of which only the gaps come back.

use super::{Answer, Reported, Session, SessionError};
use crate::protocol::{Data, GAPS_MAX, GAPS_TIME_NS, Request};
use antiphon_measure::GapLoop;
use std::time::Duration;

impl Session<'_> {
    /// Has a clock read in a tight loop for `time` of the subject's own clock, and returns first
    /// differences above `over`.
    ///
    /// `time` is limited to 1 ms … 60 s. `over` and all times in the answer are in the named
    /// clock's unit.
    ///
    /// # Errors
    /// See [`SessionError`]; an answer that contradicts itself is [`SessionError::Rubbish`].
    pub fn gaps(
        &mut self,
        name: &str,
        time: Duration,
        over: u64,
        limit: Duration,
    ) -> Result<Reported<GapLoop>, SessionError> {
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let request = Request::Gaps {
            name,
            time_ns: time_ns.clamp(*GAPS_TIME_NS.start(), *GAPS_TIME_NS.end()),
            over: over.min(i64::MAX as u64),
        };
        let answer = self.conversation.ask(&request, limit)?;
        gap_loop(&answer, over).map_err(|why| self.conversation.rubbish(&answer, why))
    }
}

/// Parses the loop of an answer to `gaps`; an error is its fault.
pub(crate) fn gap_loop(answer: &Answer, over: u64) -> Result<Reported<GapLoop>, String> {
    let mut threads = Vec::new();
    let mut data = answer.data.as_slice();
    while let Some((Data::Thread(thread), rest)) = data.split_last() {
        threads.push(thread.clone());
        data = rest;
    }
    threads.reverse();
    let (last, gaps) = match data.split_last() {
        Some((Data::Loop(last), gaps)) => (last, gaps),
        _ => return Err("there is no `@@ loop` line after the gaps".into()),
    };
    let mut seen = last.clone();
    for (index, data) in gaps.iter().enumerate() {
        match data {
            Data::Gap(gap) if gap.duration_ns > over => seen.kept.push(*gap),
            Data::Gap(gap) => {
                return Err(format!(
                    "a gap of {}, which is not over {over}",
                    gap.duration_ns
                ));
            }
            _ => {
                return Err(format!(
                    "`{}` does not belong here",
                    answer.data_line(index)
                ));
            }
        }
    }
    match miscounted(&seen) {
        None => Ok(Reported {
            answer: seen,
            threads,
        }),
        Some(why) => Err(why),
    }
}

/// Returns a contradiction between the loop's line and the gaps before it.
fn miscounted(seen: &GapLoop) -> Option<String> {
    let kept = seen.kept.len() as u64;
    if kept != seen.gaps.min(GAPS_MAX) {
        return Some(format!(
            "{kept} `@@ gap` lines with gaps={}: all are due, up to {GAPS_MAX}",
            seen.gaps
        ));
    }
    if seen.gaps >= seen.readings {
        return Some(format!(
            "gaps={} among readings={}",
            seen.gaps, seen.readings
        ));
    }
    let sum = seen
        .kept
        .iter()
        .fold(0, |sum: u64, gap| sum.saturating_add(gap.duration_ns));
    let whole = kept == seen.gaps;
    (sum > seen.lost_ns || whole && sum != seen.lost_ns)
        .then(|| format!("the gaps' sum is {sum} with lost={}", seen.lost_ns))
}
