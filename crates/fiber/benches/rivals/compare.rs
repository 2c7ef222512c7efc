//! Contenders take turns, round after round, so that a noisy machine hits all alike; what counts is
//! the median over rounds of the ratio to the first in the same round.

/// Operations that are compared.
pub const OPERATIONS: [&str; 4] = ["yield", "P+V hand-over", "uncontended P+V", "create+join"];
const ROUNDS: usize = 7;

/// Nanoseconds an operation; in the order of [`OPERATIONS`].
pub type Costs = [f64; 4];
/// A contender; none if it is not installed.
pub type Contender = (&'static str, Box<dyn Fn() -> Option<Costs>>);

/// Measures contenders and prints a table.
pub fn compare(where_: &str, contenders: Vec<Contender>) {
    let mut results: Vec<Vec<Option<Costs>>> = vec![Vec::new(); contenders.len()];
    for _ in 0..ROUNDS {
        for ((_, run), results) in contenders.iter().zip(&mut results) {
            results.push(run());
        }
    }
    println!("\n{where_}: ns an operation, median of {ROUNDS} (ratio to Go in the same round)");
    print!("{:<24}", "");
    OPERATIONS.iter().for_each(|o| print!("{o:>24}"));
    println!();
    for ((name, _), costs) in contenders.iter().zip(&results) {
        print!("{name:<24}");
        for operation in 0..OPERATIONS.len() {
            let of = |c: &Option<Costs>| c.map(|c| c[operation]);
            let ns = median(costs.iter().filter_map(of).collect());
            let pairs = costs.iter().zip(&results[0]);
            let ratio = median(pairs.filter_map(|(c, g)| Some(of(c)? / of(g)?)).collect());
            print!("{:>24}", text(ns, ratio));
        }
        println!();
    }
}

fn text(ns: Option<f64>, ratio: Option<f64>) -> String {
    match (ns, ratio) {
        (Some(ns), Some(ratio)) => format!("{ns:.1} ({ratio:.2})"),
        (Some(ns), None) => format!("{ns:.1}"),
        (None, _) => "not installed".into(),
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
