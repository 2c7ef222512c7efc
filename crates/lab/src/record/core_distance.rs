//! Distance of the two processors of a measurement, as core-to-core latency.

use serde::{Deserialize, Serialize};

/// Ratio of two core-to-core latencies above which the processors were moved. An unmoved latency is
/// constant within some per cent. With a shared level-3 cache and without one it differs about
/// threefold.
const MOVED: f64 = 1.5;

/// Core-to-core latency around one start on two processors: the round trip of a cache line between
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreToCore {
    /// Start of the subject's process, from 0. After an interruption the latency belongs to the
    /// part measured later.
    pub start: u32,
    /// Before it, ns; `None` where the processors had no turn at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// After it, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}

impl CoreToCore {
    /// Returns both readings, if there are any, ns.
    pub(super) fn readings(&self) -> impl Iterator<Item = f64> + use<> {
        [self.before, self.after].into_iter().flatten()
    }
}

/// Distance of two processors, from several readings of their core-to-core latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// The least, ns.
    pub least_ns: f64,
    /// The median, ns; between two readings their geometric mean.
    pub median_ns: f64,
    /// The most, ns.
    pub most_ns: f64,
}

impl Apart {
    /// Summarises readings in ns; `None` without any.
    pub fn of(readings: impl IntoIterator<Item = f64>) -> Option<Apart> {
        let mut sorted: Vec<f64> = readings.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let middle = |index: usize| sorted.get(index).copied();
        let upper = middle(sorted.len() / 2)?;
        let lower = middle((sorted.len() - 1) / 2)?;
        Some(Apart {
            least_ns: sorted[0],
            // Of two kinds the geometric mean, which is as far from the one as from the other.
            median_ns: (lower * upper).sqrt(),
            most_ns: sorted[sorted.len() - 1],
        })
    }

    /// Summarises the starts of a measurement.
    pub(crate) fn of_starts(starts: &[CoreToCore]) -> Option<Apart> {
        Apart::of(starts.iter().flat_map(CoreToCore::readings))
    }

    /// Checks whether the processors were near at one time and far at another.
    pub fn is_of_both_kinds(&self) -> bool {
        differ(self.least_ns, self.most_ns)
    }

    /// Checks whether the typical distance differs from that of another measurement.
    pub fn differs_from(&self, other: &Apart) -> bool {
        differ(self.median_ns, other.median_ns)
    }
}

fn differ(one_ns: f64, other_ns: f64) -> bool {
    one_ns.max(other_ns) > MOVED * one_ns.min(other_ns)
}

/// Returns a remark if the processors moved between near and far, between starts or within one;
/// `None` otherwise.
pub(crate) fn reported(starts: &[CoreToCore]) -> Option<String> {
    let all = Apart::of_starts(starts).filter(Apart::is_of_both_kinds)?;
    let is_within = |start: &CoreToCore| {
        Apart::of(start.readings()).is_some_and(|apart| apart.is_of_both_kinds())
    };
    let when = match starts.iter().any(is_within) {
        true => "at some times, far at others",
        false => "in some starts, far in others",
    };
    Some(format!(
        "the processors were near to each other {when}: a cache line took {:.0} to {:.0} ns from one to the other and back, so that the cost is of two kinds; it is of one where the host of the virtual machine keeps its processors in place",
        all.least_ns, all.most_ns
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(start: u32, before: Option<f64>, after: Option<f64>) -> CoreToCore {
        CoreToCore {
            start,
            before,
            after,
        }
    }

    #[test]
    fn readings_tell_least_median_and_most() {
        let apart = Apart::of([330.0, 120.0, 130.0]).unwrap();
        assert_eq!(
            (apart.least_ns, apart.median_ns, apart.most_ns),
            (120.0, 130.0, 330.0)
        );
        assert_eq!(Apart::of([400.0, 100.0]).unwrap().median_ns, 200.0);
        assert_eq!(Apart::of([]), None);
        assert_eq!(Apart::of_starts(&[around(0, None, None)]), None);
    }

    #[test]
    fn some_per_cent_are_no_other_distance() {
        let of = |ns| Apart::of([ns]).unwrap();
        assert!(!of(120.0).differs_from(&of(180.0)));
        assert!(of(120.0).differs_from(&of(181.0)));
        assert!(of(330.0).differs_from(&of(120.0)));
    }

    #[test]
    fn who_moved_halfway_was_at_another_distance_than_who_did_not() {
        let halfway = Apart::of([120.0, 330.0]).unwrap();
        for steady in [120.0, 330.0] {
            assert!(halfway.differs_from(&Apart::of([steady]).unwrap()));
        }
    }

    #[test]
    fn a_figure_of_both_kinds_says_whether_its_starts_were() {
        let steady = around(0, Some(120.0), Some(125.0));
        assert_eq!(reported(&[steady, around(1, None, Some(140.0))]), None);
        assert_eq!(reported(&[]), None);
        let by_starts = reported(&[steady, around(1, Some(330.0), None)]).unwrap();
        assert!(
            by_starts.contains("in some starts, far in others: a cache line took 120 to 330 ns"),
            "{by_starts}"
        );
        let within = reported(&[around(0, Some(120.0), Some(330.0))]).unwrap();
        assert!(within.contains("at some times, far at others"), "{within}");
    }

    #[test]
    fn what_was_not_read_is_not_stored() {
        let json = serde_json::to_string(&around(2, Some(120.0), None)).unwrap();
        assert_eq!(json, r#"{"start":2,"before":120.0}"#);
        let read: CoreToCore = serde_json::from_str(&json).unwrap();
        assert_eq!(read, around(2, Some(120.0), None));
    }
}
