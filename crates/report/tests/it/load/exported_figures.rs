//! Exports for programs: every figure of a load, and the raw histograms of its latencies.

use super::{moved, paused, run, waits};
use antiphon_load::Packed;
use antiphon_report::compose;
use antiphon_report::export::{csv, json, xlsx};

#[test]
fn every_figure_is_exported() {
    let text = csv::runs(&[waits([1000; 3]), moved()]).unwrap();
    for figure in [
        "load_cpu",
        "load_per_second",
        "load_p999",
        "load_starved",
        "load_pss",
        "load_voluntary_switches",
        "load_involuntary_switches",
        "core_to_core",
        "cold_starts",
    ] {
        assert!(text.contains(figure), "{figure}");
    }
    assert!(xlsx::render(&compose(&run())).is_ok_and(|bytes| !bytes.is_empty()));
}

#[test]
fn raw_histograms_are_exported() {
    let mut run = run();
    paused(&mut run);
    let parsed: serde_json::Value = serde_json::from_str(&json::run(&run).unwrap()).unwrap();
    let rounds = &parsed["run"]["results"][3]["outcome"]["rounds"];
    let packed =
        |value: &serde_json::Value| -> Packed { serde_json::from_value(value.clone()).unwrap() };
    let long = |packed: Packed| {
        let pairs = packed.pairs().expect("a histogram");
        let all: u64 = pairs.iter().map(|(_, count)| count).sum();
        let long = pairs.iter().filter(|(ns, _)| *ns > 1_000_000);
        (all, long.map(|(_, count)| count).sum::<u64>())
    };
    assert_eq!(long(packed(&rounds[3]["latencies"])), (200, 20));
    assert_eq!(long(packed(&rounds[4]["latencies"])), (200, 0));
    // An export has no fields that an older run lacks.
    let old = &parsed["run"]["results"][2]["outcome"]["rounds"][0];
    assert!(old["p99_ns"].is_u64() && old.get("latencies").is_none());

    let text = csv::runs(&[run]).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let at = |name: &str| headings.iter().position(|of| of == name).unwrap();
    let records: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let of = |figure: &str| {
        let fits = |of: &&::csv::StringRecord| {
            &of[at("figure")] == figure
                && &of[at("test")] == "keep.64"
                && &of[at("subject")] == "java/grizzly"
        };
        records.iter().find(fits).unwrap()
    };
    let histogram = of("load_latencies");
    assert_eq!(&histogram[at("value")], "2000");
    let packed = packed(&histogram[at("histogram")].into());
    assert_eq!(long(packed), (2000, 40));
    assert_eq!(&of("load_p99")[at("standing")], "resolved");
    let longest = of("load_longest");
    assert!(longest[at("high")].is_empty() && longest[at("value")].parse::<f64>().unwrap() > 99e6);
}
