//! Suites: a file is read, or its faults are named.
#![no_main]

use antiphon_lab::suite::Suite;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Suite::parse("fuzz.toml", text) {
        Ok(suite) => {
            for quick in [false, true] {
                for row in suite.groups.iter().flat_map(|group| &group.rows) {
                    row.instances(quick);
                }
            }
        }
        Err(faults) => assert!(!faults.to_string().is_empty()),
    }
});
