//! The request `gaps`.

use super::probe::Probe;
use crate::protocol::{GAPS_MAX, encode};
use crate::session::gap_loop;
use antiphon_measure::GapLoop;

type Seen = Result<String, String>;

fn ask(probe: &mut Probe<'_>, clock: &str, time_ns: u64, over: u64) -> Result<GapLoop, String> {
    let request = format!("gaps {} over={over} time={time_ns}", encode(clock));
    let answer = probe.ask(&request)?;
    match gap_loop(&answer, over) {
        Ok(seen) => Ok(seen.answer),
        Err(why) => Err(format!("`{request}`: {why}")),
    }
}

/// Checks the kept gaps with `over=0`. Nearly every difference is then a gap, so that the count of
/// unkept gaps is visible too.
pub(super) fn kept(probe: &mut Probe<'_>) -> Seen {
    const TIME_NS: u64 = 100_000_000;
    let own = probe.hello()?.clock;
    let mut names = Vec::new();
    for clock in probe.list()?.clocks {
        let time_ns = if clock.name == own {
            TIME_NS
        } else {
            TIME_NS / 50
        };
        let seen = ask(probe, &clock.name, time_ns, 0)?;
        if clock.name == own {
            monotonic(&seen)?;
        }
        names.push(format!("`{}`", clock.name));
    }
    Ok(match names.as_slice() {
        [] => "it lists no clock".into(),
        _ => format!(
            "counted, summed and kept up to {GAPS_MAX}: {}",
            names.join(", ")
        ),
    })
}

/// Checks that gaps follow each other and end within the loop: the subject's own clock is never
/// set.
fn monotonic(seen: &GapLoop) -> Result<(), String> {
    let mut end = 0;
    for gap in &seen.kept {
        if gap.start_ns < end {
            return Err(format!(
                "a gap starts at {} before the one before it has ended at {end}",
                gap.start_ns
            ));
        }
        end = gap.start_ns.saturating_add(gap.duration_ns);
    }
    let least = end.max(seen.lost_ns);
    match seen.elapsed_ns < least {
        true => Err(format!(
            "elapsed={} is less than its gaps need, {least}",
            seen.elapsed_ns
        )),
        false => Ok(()),
    }
}

pub(super) fn time(probe: &mut Probe<'_>) -> Seen {
    const TIME_NS: u64 = 20_000_000;
    let own = probe.hello()?.clock;
    if !probe.list()?.clocks.iter().any(|clock| clock.name == own) {
        return Err(format!("its own clock `{own}` is not listed"));
    }
    let seen = ask(probe, &own, TIME_NS, i64::MAX as u64)?;
    if seen.gaps != 0 {
        return Err(format!("{} gaps longer than an int64", seen.gaps));
    }
    if seen.elapsed_ns < TIME_NS {
        return Err(format!("time={TIME_NS} ended after {} ns", seen.elapsed_ns));
    }
    Ok(format!(
        "{} readings in {:.3} ms, where {} ms were asked for",
        seen.readings,
        seen.elapsed_ns as f64 / 1e6,
        TIME_NS / 1_000_000
    ))
}
