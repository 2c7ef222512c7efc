//! Counts, as text or as JSON. Over several machines there are their sums, and those of each.

use antiphon_fiber::{Fibers, Histograms, Many, One};

use crate::{machines, options};

/// The counts of one machine, or of all.
#[derive(Debug, Clone)]
pub struct Counts {
    pub counters: Vec<(String, u64)>,
    pub histograms: Option<Histograms>,
}

/// Returns this machine's counts. The caller is on a server's OS thread.
pub fn own() -> Counts {
    let (counters, histograms) = match options::is_many() {
        true => (Fibers::<Many>::counters(), Fibers::<Many>::histograms()),
        false => (Fibers::<One>::counters(), Fibers::<One>::histograms()),
    };
    let switches = ("switches", counters.switches());
    let all = std::iter::once(switches).chain(counters.all());
    Counts {
        counters: all.map(|(name, count)| (name.to_owned(), count)).collect(),
        histograms,
    }
}

impl Counts {
    /// Adds the counts of another machine.
    fn add(&mut self, other: &Counts) {
        for ((_, count), (_, more)) in self.counters.iter_mut().zip(&other.counters) {
            *count += more;
        }
        if let (Some(own), Some(other)) = (&mut self.histograms, &other.histograms) {
            // All have the same bounds.
            let _ = own.ready_to_run_ns.add(&other.ready_to_run_ns);
            let _ = own.turn_ns.add(&other.turn_ns);
        }
    }

    /// Returns a line for each count.
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, count) in &self.counters {
            text.push_str(&format!("{} {count}\n", name.replace('_', " ")));
        }
        for (name, values) in self.distributions() {
            let values: Vec<String> = values.iter().map(|(q, v)| format!("{q} {v}")).collect();
            text.push_str(&format!("{name}: {}\n", values.join(", ")));
        }
        text
    }

    /// Returns the members of an object.
    fn json(&self) -> String {
        let counters = self.counters.iter();
        let counters = counters.map(|(name, count)| format!("\"{name}\":{count}"));
        let distributions = self.distributions();
        let distributions = distributions.iter().map(|(name, values)| {
            let values: Vec<String> = values.iter().map(|(q, v)| format!("\"{q}\":{v}")).collect();
            format!("\"{name}\":{{{}}}", values.join(","))
        });
        let members: Vec<String> = counters.chain(distributions).collect();
        members.join(",")
    }

    fn distributions(&self) -> Vec<Quantiles> {
        let Some(histograms) = &self.histograms else {
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
}

/// Quantiles that are reported, in per cent.
const QUANTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// A distribution's name with its quantiles and its largest value.
type Quantiles = (&'static str, Vec<(String, u64)>);

/// Returns the sum over all machines, and the counts of each, by its number in messages. If there is
/// only one machine the list is empty. A lost machine has none.
fn all() -> (Counts, Vec<(u32, Option<Counts>)>) {
    let mut sum = own();
    let mut machines = machines::counts_of_others();
    if !machines.is_empty() {
        machines.insert(0, (1, Some(sum.clone())));
    }
    for (_, counts) in machines.iter().skip(1) {
        if let Some(counts) = counts {
            sum.add(counts);
        }
    }
    (sum, machines)
}

/// Returns a line for each count, then those of each machine.
pub fn text() -> String {
    let (sum, machines) = all();
    let mut text = sum.text();
    for (number, counts) in machines {
        let counts = counts.map_or_else(|| "no counts came\n".into(), |it| it.text());
        for line in counts.lines() {
            text.push_str(&format!("[vm {number}] {line}\n"));
        }
    }
    text
}

/// Returns one object on one line. Its member `machines` has the counts of each machine.
pub fn json() -> String {
    let (sum, machines) = all();
    let of_machine = |(number, counts): &(u32, Option<Counts>)| match counts {
        Some(counts) => format!("{{\"machine\":{number},{}}}", counts.json()),
        None => format!("{{\"machine\":{number},\"missing\":true}}"),
    };
    let each: Vec<String> = machines.iter().map(of_machine).collect();
    let machines = match each.is_empty() {
        true => String::new(),
        false => format!(",\"machines\":[{}]", each.join(",")),
    };
    format!("{{{}{machines}}}\n", sum.json())
}
