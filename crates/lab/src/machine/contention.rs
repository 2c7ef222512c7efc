//! Loss of processors that all programs here suffer: a container's quota, a virtual machine's host,
//! and other programs.
//!
//! A program's own clock shows none of it. A quota shows in its control group (`cpu.max` and
//! `cpu.stat`, or `cpu.cfs_quota_us` of the first version). A host's share shows as steal
//! (`/proc/stat`), and all together as pressure (`/proc/pressure/cpu`).

use super::System;

/// Time of a tick of `/proc/stat`, ns.
const TICK_NS: u64 = 10_000_000;

/// The processor quota of a control group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quota {
    /// Processors' worth of time.
    pub(crate) processors: f64,
    /// Period after which a group that was stopped goes on, ms.
    pub(crate) period_ms: f64,
    /// File of the quota, below the root.
    pub(crate) file: String,
    /// File with the count of stops, below the root.
    stat: String,
}

/// Processor time lost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// Stops of this group by the quota.
    pub(crate) stops: u64,
    /// Time of these stops, ns.
    pub(crate) stopped_ns: u64,
    /// Time that the host of a virtual machine took of all processors, ns.
    pub(crate) stolen_ns: u64,
    /// Time in which something waited for a processor, ns.
    pub(crate) pressed_ns: u64,
}

impl Taken {
    /// Returns the loss since an earlier reading.
    pub(crate) fn since(self, before: Taken) -> Taken {
        Taken {
            stops: self.stops.saturating_sub(before.stops),
            stopped_ns: self.stopped_ns.saturating_sub(before.stopped_ns),
            stolen_ns: self.stolen_ns.saturating_sub(before.stolen_ns),
            pressed_ns: self.pressed_ns.saturating_sub(before.pressed_ns),
        }
    }
}

impl System {
    /// Returns the narrowest quota of this process's control group and its ancestors; `None`
    /// without one.
    pub(crate) fn quota(&self) -> Option<Quota> {
        let groups = self.text("proc/self/cgroup")?;
        let quotas = groups.lines().flat_map(|line| self.quotas_of(line));
        quotas.min_by(|a, b| a.processors.total_cmp(&b.processors))
    }

    /// Returns the quotas of a line `ID:CONTROLLERS:PATH` of `/proc/self/cgroup`. A container may
    /// see its own group as the root.
    fn quotas_of(&self, line: &str) -> Vec<Quota> {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            return Vec::new();
        };
        let mount = match controllers {
            "" => "sys/fs/cgroup".to_owned(),
            _ if controllers.split(',').any(|of| of == "cpu") => {
                format!("sys/fs/cgroup/{controllers}")
            }
            _ => return Vec::new(),
        };
        let mut path = path.trim_matches('/');
        let mut quotas = Vec::new();
        loop {
            let folder = format!("{mount}/{path}");
            quotas.extend(self.quota_in(folder.trim_end_matches('/')));
            match path.rsplit_once('/') {
                Some((above, _)) => path = above,
                None if !path.is_empty() => path = "",
                None => return quotas,
            }
        }
    }

    /// Returns the quota of one group.
    fn quota_in(&self, folder: &str) -> Option<Quota> {
        let (file, text) = match self.text(&format!("{folder}/cpu.max")) {
            Some(text) => (format!("{folder}/cpu.max"), text),
            None => {
                let of = |name: &str| self.text(&format!("{folder}/cpu.cfs_{name}_us"));
                let text = format!("{} {}", of("quota")?, of("period")?);
                (format!("{folder}/cpu.cfs_quota_us"), text)
            }
        };
        let (quota, period) = text.split_once(' ')?;
        // `max`, or -1, is none.
        let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
        (quota > 0.0 && period > 0.0).then(|| Quota {
            processors: quota / period,
            period_ms: period / 1000.0,
            file,
            stat: format!("{folder}/cpu.stat"),
        })
    }

    /// Reads the loss so far, under this quota if there is one.
    pub(crate) fn taken(&self, quota: Option<&Quota>) -> Taken {
        let stops = quota.map_or((0, 0), |quota| self.stops(quota));
        let pressure = self.text("proc/pressure/cpu").unwrap_or_default();
        let pressed = pressure.lines().next().and_then(|some| {
            let (_, total) = some.split_once("total=")?;
            total.parse::<u64>().ok()
        });
        Taken {
            stops: stops.0,
            stopped_ns: stops.1,
            stolen_ns: self.stolen_ns(),
            pressed_ns: pressed.unwrap_or(0).saturating_mul(1000),
        }
    }

    /// Reads the number of stops by a quota and their time, ns.
    pub(crate) fn stops(&self, quota: &Quota) -> (u64, u64) {
        let text = self.text(&quota.stat).unwrap_or_default();
        let of = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            let (_, value) = lines.find(|(name, _)| *name == key)?;
            value.trim().parse::<u64>().ok()
        };
        let stopped_ns = of("throttled_usec").map(|us| us.saturating_mul(1000));
        let stopped_ns = stopped_ns.or_else(|| of("throttled_time"));
        (of("nr_throttled").unwrap_or(0), stopped_ns.unwrap_or(0))
    }

    /// Returns the time that a virtual machine's host took of all processors since boot, ns.
    fn stolen_ns(&self) -> u64 {
        let text = self.text("proc/stat").unwrap_or_default();
        // user nice system idle iowait irq softirq steal
        let all = text.lines().find_map(|line| line.strip_prefix("cpu "));
        let steal = all.and_then(|all| all.split_whitespace().nth(7)?.parse::<u64>().ok());
        steal.unwrap_or(0).saturating_mul(TICK_NS)
    }

    /// Returns the part of the last ten seconds in which a task waited for a processor; `None` if
    /// the kernel does not tell.
    pub(crate) fn pressure(&self) -> Option<f64> {
        let text = self.text("proc/pressure/cpu")?;
        let (_, rest) = text.lines().next()?.split_once("avg10=")?;
        let percent: f64 = rest.split(' ').next()?.parse().ok()?;
        Some(percent / 100.0)
    }

    /// Returns the part of all processors' time that a virtual machine's host took since boot.
    pub(crate) fn stolen_share(&self) -> f64 {
        let text = self.text("proc/stat").unwrap_or_default();
        let all = text.lines().find_map(|line| line.strip_prefix("cpu "));
        let ticks: u64 = all
            .unwrap_or_default()
            .split_whitespace()
            .take(8)
            .filter_map(|word| word.parse::<u64>().ok())
            .sum();
        self.stolen_ns() as f64 / (ticks.max(1) * TICK_NS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::root;
    use super::*;

    #[test]
    fn the_narrowest_quota_of_the_groups_above_counts() {
        let (_folder, system) = root(&[
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/cpu.max", "50000 100000\n"),
            (
                "sys/fs/cgroup/outer/cpu.stat",
                "usage_usec 7\nnr_periods 9\nnr_throttled 3\nthrottled_usec 2500\n",
            ),
            ("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n"),
        ]);
        let quota = system.quota().unwrap();
        assert_eq!((quota.processors, quota.period_ms), (0.5, 100.0));
        assert_eq!(quota.file, "sys/fs/cgroup/outer/cpu.max");
        assert_eq!(system.stops(&quota), (3, 2_500_000));
    }

    #[test]
    fn a_quota_of_the_first_version_is_read_and_none_is_none() {
        let (_folder, system) = root(&[
            ("proc/self/cgroup", "7:memory:/\n4:cpu,cpuacct:/box\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n"),
            (
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us",
                "100000\n",
            ),
            (
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.stat",
                "nr_throttled 2\nthrottled_time 77\n",
            ),
        ]);
        let quota = system.quota().unwrap();
        assert_eq!(quota.processors, 1.5);
        assert_eq!(system.stops(&quota), (2, 77));
        let (_folder, free) = root(&[
            ("proc/self/cgroup", "4:cpu,cpuacct:/\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(free.quota(), None);
    }

    #[test]
    fn what_was_taken_is_the_difference_of_two_readings() {
        let at = |steal: u64, total: u64| {
            let stat = format!("cpu  9 9 9 9 9 9 9 {steal} 0 0\ncpu0 1 2 3\n");
            let pressure = format!("some avg10=12.50 avg60=0.00 avg300=0.00 total={total}\n");
            root(&[("proc/stat", &stat), ("proc/pressure/cpu", &pressure)])
        };
        let ((_one, before), (_other, after)) = (at(5, 1000), at(8, 4000));
        let taken = after.taken(None).since(before.taken(None));
        assert_eq!((taken.stolen_ns, taken.pressed_ns), (30_000_000, 3_000_000));
        assert_eq!((taken.stops, taken.stopped_ns), (0, 0));
        assert_eq!(after.pressure(), Some(0.125));
        assert!((after.stolen_share() - 8.0 / 71.0).abs() < 1e-12);
        // Without the kernel's figures nothing is told.
        let (_bare, bare) = root(&[]);
        assert_eq!(bare.taken(None), Taken::default());
        assert_eq!((bare.pressure(), bare.stolen_share()), (None, 0.0));
    }
}
