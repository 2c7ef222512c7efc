//! Results, and their table.

/// The results of one implementation. Latencies are in nanoseconds.
pub struct Row {
    pub name: &'static str,
    /// Messages a second.
    pub rates: Vec<f64>,
    /// Own delivery at the sequencer (rank 0) while no other member sends.
    pub first: Vec<u64>,
    /// The same at another member.
    pub other: Vec<u64>,
    /// Own delivery at rank 0 while all others do the same.
    pub first_among_all: Vec<u64>,
    /// The same at the others.
    pub other_among_all: Vec<u64>,
}

impl Row {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            rates: Vec::new(),
            first: Vec::new(),
            other: Vec::new(),
            first_among_all: Vec::new(),
            other_among_all: Vec::new(),
        }
    }

    pub fn forget(&mut self) {
        *self = Self::new(self.name);
    }

    fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Returns "median / 99 % / 99.9 %", in microseconds.
fn quantiles(times_ns: &[u64]) -> String {
    let mut times = times_ns.to_vec();
    times.sort_unstable();
    let at = |per_mille: usize| {
        let place = (times.len() * per_mille / 1000).min(times.len().saturating_sub(1));
        times.get(place).map_or(f64::NAN, |ns| *ns as f64 / 1000.0)
    };
    format!("{:.0} / {:.0} / {:.0}", at(500), at(990), at(999))
}

pub fn print(members: u32, rows: &[&Row]) {
    println!("\n{members} members, 100 bytes; own delivery in µs: median / 99 % / 99.9 %");
    println!(
        "  {:8} {:>10} {:>22} {:>22} {:>22} {:>22}",
        "", "messages/s", "first alone", "another alone", "first, all send", "others, all send"
    );
    for row in rows {
        println!(
            "  {:8} {:>10.0} {:>22} {:>22} {:>22} {:>22}",
            row.name,
            row.rate(),
            quantiles(&row.first),
            quantiles(&row.other),
            quantiles(&row.first_among_all),
            quantiles(&row.other_among_all)
        );
    }
    let rival = |name| rows.iter().find(|row| row.name == name);
    for rival in ["nats", "jgroups"].into_iter().filter_map(rival) {
        let ratios = rows
            .iter()
            .take_while(|row| row.name != "nats" && row.name != "jgroups");
        let ratios: Vec<String> = ratios
            .map(|row| format!("{} {:.1}", row.name, row.rate() / rival.rate()))
            .collect();
        println!(
            "  rate as a multiple of {}'s: {}",
            rival.name,
            ratios.join(", ")
        );
    }
}
