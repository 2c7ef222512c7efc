//! The programs of the models suite. In every language that can be built here each prints the same
//! answer.

use crate::common::{Place, has_cc};
use serde_json::Value;

/// Every program of the suite in small. Concurrent and cooperative ones with the same arguments
/// form one group. Cooperative programs protect nothing, so they run on one server. In C they would
/// need FIFO scheduling, so they do not run there.
const SUITE: &str = r#"
name = "agree"
title = "Agree"
subjects = ["models-sr/cooperative", "models-sr/two-cooperative", "models-c/O2", "models-go/preemptive", "models-go/cooperative", "models-java/virtual"]
[quick]
seconds_per_row = 0.01
relative_half_width = 0.9
[full]
seconds_per_row = 0.01
relative_half_width = 0.9
[[group]]
id = "agree"
title = "Agree"
runs = ["other.across"]
row = [
    { kind = "program", rounds = 1, test = "loop", label = "loop", program = "loop", arguments = ["4", "1000"] },
    { kind = "program", rounds = 1, test = "sync.{style}", label = "sync.{style}", program = "sync_{style}", arguments = ["77"], each = { style = ["cp"] } },
    { kind = "program", rounds = 1, test = "sync.cm", label = "sync.cm", program = "sync_cm", arguments = ["77"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "dp.{style}", label = "dp.{style}", program = "dp_{style}", arguments = ["16", "10", "100"], each = { style = ["cp", "pcm", "pcm1", "pcm2"] } },
    { kind = "program", rounds = 1, test = "dp.cm", label = "dp.cm", program = "dp_cm", arguments = ["16", "10", "100"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "pc.{style}", label = "pc.{style}", program = "pc_{style}", arguments = ["200", "50"], each = { style = ["cp"] } },
    { kind = "program", rounds = 1, test = "pc.cm", label = "pc.cm", program = "pc_cm", arguments = ["200", "50"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "rw.{style}", label = "rw.{style}", program = "rw_{style}", arguments = ["8", "4", "20", "100"], each = { style = ["cp", "pcm2"] } },
    { kind = "program", rounds = 1, test = "rw.cm", label = "rw.cm", program = "rw_cm", arguments = ["8", "4", "20", "100"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "ji.{style}", label = "ji.{style}", program = "ji_{style}", arguments = ["32", "8", "10"], each = { style = ["cp", "pcm"] } },
    { kind = "program", rounds = 1, test = "ji.cm", label = "ji.cm", program = "ji_cm", arguments = ["32", "8", "10"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "tsp.{style}", label = "tsp.{style}", program = "tsp_{style}", arguments = ["8", "3"], each = { style = ["cp"] } },
    { kind = "program", rounds = 1, test = "tsp.cm", label = "tsp.cm", program = "tsp_cm", arguments = ["8", "3"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "bb.{style}", label = "bb.{style}", program = "bb_{style}", arguments = ["100", "5"], each = { style = ["cp", "named"] } },
    { kind = "program", rounds = 1, test = "bb.cm", label = "bb.cm", program = "bb_cm", arguments = ["100", "5"], subjects = ["models-sr/cooperative", "models-go/*", "models-java/*"] },
    { kind = "program", rounds = 1, test = "mm", label = "mm", program = "mm", arguments = ["20", "3"] },
]
"#;

#[test]
fn the_programs_of_all_languages_agree() {
    if !has_cc() {
        return;
    }
    let place = Place::new();
    place.write("suites/agree.toml", SUITE);
    for name in ["models-sr", "models-c", "models-go", "models-java"] {
        place.link(name);
    }
    let results = place.measured("agree");
    let mut measured = 0;
    for result in &results {
        let identity = &result["identity"];
        let (test, subject) = (&identity["test"], &identity["subject"]);
        let outcome = &result["outcome"];
        if outcome["kind"] == "program" {
            measured += 1;
            continue;
        }
        let reason = outcome["reason"].as_str().unwrap_or_default();
        assert!(
            is_expected(test, subject, reason),
            "{test} of {subject}: {reason}"
        );
    }
    // SR and C are always there: 22 programs of SR, most of them on two servers, too.
    assert!(measured > 30, "{measured} of {}", results.len());
}

/// Returns whether a result may lack a figure. That is so for a missing language, and for a test
/// that needs another policy, placement or model than this run's.
fn is_expected(test: &Value, subject: &Value, reason: &str) -> bool {
    let (test, subject) = (
        test.as_str().unwrap_or_default(),
        subject.as_str().unwrap_or_default(),
    );
    let no_toolchain = reason.contains("needs `") || reason.contains("building `models-");
    let is_sr = subject.starts_with("models-sr/");
    (no_toolchain && !is_sr && subject != "models-c/O2")
        || reason.contains("placement `across` needs two processors")
        || (subject == "models-go/preemptive"
            && test.ends_with(".cm")
            && reason.contains("exit code 2"))
}
