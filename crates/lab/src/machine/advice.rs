//! Facts about a machine, and changes to it, for trustworthy figures.

use serde::Serialize;

use crate::record::Apart;

use super::{System, allowed_processors, counters, fifo, processors};

/// A property of the machine that affects the steadiness of figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Topic of the advice.
    pub topic: &'static str,
    /// Present state.
    pub state: String,
    /// Recommended change; `None` if none is needed.
    pub change: Option<String>,
}

fn as_it_is(topic: &'static str, state: impl Into<String>) -> Advice {
    Advice {
        topic,
        state: state.into(),
        change: None,
    }
}

fn to_change(topic: &'static str, state: impl Into<String>, change: impl Into<String>) -> Advice {
    Advice {
        topic,
        state: state.into(),
        change: Some(change.into()),
    }
}

pub(super) fn advice(system: &System) -> Vec<Advice> {
    let all = [
        Some(load(system)),
        system.pressure().map(pressure),
        Some(quota(system)),
        stolen(system),
        Some(governor(system)),
        turbo(system),
        siblings(system),
        Some(fifo_permission()),
        throttling(system),
        timer_slack(system),
        Some(enough_processors()),
        system.hypervisor().map(|name| virtual_machine(&name)),
        Some(hardware_counters(system)),
    ];
    all.into_iter().flatten().collect()
}

fn load(system: &System) -> Advice {
    let load = system.load();
    let state = format!(
        "{load:.2} on {} processors over the last minute",
        processors()
    );
    if load > 0.3 {
        let change = "end other programs first: medians of paired slices bear load, latencies and blocking operations do not";
        return to_change("load", state, change);
    }
    as_it_is("load", state)
}

/// The part of time beyond which waits for a processor disturb.
const PRESSED: f64 = 0.1;

/// Part of the processors beyond which a host's use disturbs.
const STOLEN: f64 = 0.01;

fn pressure(share: f64) -> Advice {
    let state = format!(
        "something waited for a processor in {:.0} % of the last ten seconds",
        100.0 * share
    );
    if share <= PRESSED {
        return as_it_is("pressure", state);
    }
    let change = "end other programs first, or give this one processors of its own (cpusets)";
    to_change("pressure", state, change)
}

/// Advises on a processor quota. A quota stops every measured process for the rest of its period,
/// which a subject's clock shows only as a gap.
fn quota(system: &System) -> Advice {
    let topic = "processor quota";
    let Some(quota) = system.quota() else {
        return as_it_is(topic, "none");
    };
    let (stops, stopped_ns) = system.stops(&quota);
    let state = format!(
        "{} processors' time in each {} ms (/{}); it has stopped this container {stops} times, for {:.1} s in all",
        quota.processors,
        quota.period_ms,
        quota.file,
        stopped_ns as f64 / 1e9
    );
    if quota.processors >= allowed_processors().len() as f64 && stops == 0 {
        return as_it_is(topic, state);
    }
    let change = "give the container whole processors in place of a quota (docker: `--cpuset-cpus`, kubernetes: the static CPU manager): \
         a quota stops everything for the rest of a period, and what it stopped is marked as disturbed";
    to_change(topic, state, change)
}

fn stolen(system: &System) -> Option<Advice> {
    let share = system.stolen_share();
    let state = format!(
        "the host took {:.1} % of the processors' time since this machine started",
        100.0 * share
    );
    if share > STOLEN {
        let change = "give the virtual machine processors of its own on the host (dedicated, or pinned vCPUs)";
        return Some(to_change("stolen time", state, change));
    }
    (share > 0.0).then(|| as_it_is("stolen time", state))
}

fn governor(system: &System) -> Advice {
    let governors = system.governors();
    let state = system.governor();
    if governors.iter().any(|governor| governor != "performance") {
        let change =
            "`cpupower frequency-set -g performance` as root (Debian package linux-cpupower)";
        return to_change("frequency governor", state, change);
    }
    as_it_is("frequency governor", state)
}

fn turbo(system: &System) -> Option<Advice> {
    let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let general = "sys/devices/system/cpu/cpufreq/boost";
    let (on, path, off) = match (system.number(intel), system.number(general)) {
        (Some(no_turbo), _) => (no_turbo == 0, intel, 1),
        (None, Some(boost)) => (boost != 0, general, 0),
        (None, None) => return None,
    };
    if !on {
        return Some(as_it_is("turbo", "off"));
    }
    let change = format!(
        "`echo {off} > /{path}` as root: a processor has several turbo states, and figures follow them"
    );
    Some(to_change("turbo", "on", change))
}

fn siblings(system: &System) -> Option<Advice> {
    let active = system.number("sys/devices/system/cpu/smt/active")?;
    if active == 0 {
        return Some(as_it_is("sibling threads", "off"));
    }
    let change = "`echo off > /sys/devices/system/cpu/smt/control` as root: a sibling takes from the processor that is measured";
    Some(to_change("sibling threads", "on", change))
}

fn fifo_permission() -> Advice {
    match fifo().as_str() {
        "permitted" => as_it_is("FIFO scheduling", "permitted"),
        why => to_change(
            "FIFO scheduling",
            "not permitted",
            format!(
                "{why} (without it, operations that block are measured under `other` and spread by 10 %)"
            ),
        ),
    }
}

fn throttling(system: &System) -> Option<Advice> {
    let runtime = system.number("proc/sys/kernel/sched_rt_runtime_us")?;
    let period = system
        .number("proc/sys/kernel/sched_rt_period_us")
        .unwrap_or(1_000_000);
    if runtime < 0 || runtime >= period {
        return Some(as_it_is("real-time throttling", "off"));
    }
    let state = format!(
        "FIFO subjects lose {} ms of every {} ms",
        (period - runtime) / 1000,
        period / 1000
    );
    let change = "`sysctl kernel.sched_rt_runtime_us=-1` as root while measuring, where a keeper can still end a subject that spins";
    Some(to_change("real-time throttling", state, change))
}

fn timer_slack(system: &System) -> Option<Advice> {
    let slack = system.number("proc/self/timerslack_ns")?;
    let state = format!(
        "up to {} µs are added to delays and timed waits under `other`, none under FIFO",
        slack as f64 / 1e3
    );
    Some(as_it_is("timer slack", state))
}

fn enough_processors() -> Advice {
    let allowed = allowed_processors();
    if allowed.len() < 2 {
        return to_change(
            "processors",
            "one",
            "placement `across` needs two: give this process another (taskset, or the machine's settings)",
        );
    }
    as_it_is("processors", format!("{} may be used", allowed.len()))
}

fn virtual_machine(name: &str) -> Advice {
    as_it_is(
        "virtual machine",
        format!("under {name}: its host takes time that only the gaps in clock readings show"),
    )
}

pub(super) fn apart((one, other): (usize, usize), seen: Option<&Apart>) -> Advice {
    let topic = "core-to-core latency";
    let Some(seen) = seen else {
        let why = format!(
            "unknown: processors {one} and {other} had no turn at the same time to show it"
        );
        return as_it_is(topic, why);
    };
    let state = format!(
        "{:.0} ns at least, {:.0} in the median and {:.0} at most between processors {one} and {other}",
        seen.least_ns, seen.median_ns, seen.most_ns
    );
    if !seen.is_of_both_kinds() {
        return as_it_is(topic, state);
    }
    let change = "this is as on a virtual machine whose host moves its processors, and placement `across` costs another amount each time: pin its vCPUs on the host \
         (libvirt: `virsh vcpupin`), or compare only runs of like distance, which `antiphon compare` watches";
    to_change(topic, state, change)
}

fn hardware_counters(system: &System) -> Advice {
    let state = counters::state(system);
    match state.strip_prefix("no: ") {
        None => as_it_is("hardware counters", state),
        Some(why) if why.contains("sysctl") => to_change("hardware counters", "not readable", why),
        Some(why) => as_it_is("hardware counters", format!("none: {why}")),
    }
}
