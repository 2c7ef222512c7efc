//! Counts, as text or as JSON.

use antiphon_fiber::{Counters, Fibers, Histograms, Many, One};

use crate::options;

fn counters() -> (Counters, Option<Histograms>) {
    if options::is_many() {
        (Fibers::<Many>::counters(), Fibers::<Many>::histograms())
    } else {
        (Fibers::<One>::counters(), Fibers::<One>::histograms())
    }
}

/// Quantiles that are reported, in per cent.
const QUANTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// A distribution's name with its quantiles and its largest value.
type Quantiles = (&'static str, Vec<(String, u64)>);

fn distributions(histograms: Option<Histograms>) -> Vec<Quantiles> {
    let Some(histograms) = histograms else {
        return Vec::new();
    };
    let of = |h: &dyn Fn(f64) -> u64, most: u64| {
        let mut values: Vec<_> = QUANTILES.iter().map(|q| (format!("p{q}"), h(*q))).collect();
        values.push(("max".into(), most));
        values
    };
    let (ready, turn) = (&histograms.ready_to_run_ns, &histograms.turn_ns);
    vec![
        (
            "ready_to_run_ns",
            of(&|q| ready.value_at_percentile(q), ready.max()),
        ),
        ("turn_ns", of(&|q| turn.value_at_percentile(q), turn.max())),
    ]
}

/// Returns a line for each count.
pub fn text() -> String {
    let (counters, histograms) = counters();
    let mut text = format!("switches {}\n", counters.switches());
    for (name, count) in counters.all() {
        text.push_str(&format!("{} {count}\n", name.replace('_', " ")));
    }
    for (name, values) in distributions(histograms) {
        let values: Vec<String> = values.iter().map(|(q, v)| format!("{q} {v}")).collect();
        text.push_str(&format!("{name}: {}\n", values.join(", ")));
    }
    text
}

/// Returns one object on one line.
pub fn json() -> String {
    let (counters, histograms) = counters();
    let mut fields = vec![format!("\"switches\":{}", counters.switches())];
    fields.extend(
        counters
            .all()
            .map(|(name, count)| format!("\"{name}\":{count}")),
    );
    for (name, values) in distributions(histograms) {
        let values: Vec<String> = values.iter().map(|(q, v)| format!("\"{q}\":{v}")).collect();
        fields.push(format!("\"{name}\":{{{}}}", values.join(",")));
    }
    format!("{{{}}}\n", fields.join(","))
}
