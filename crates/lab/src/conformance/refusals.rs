//! Requests that a subject must refuse and survive.

use super::probe::{Probe, arg};

type Seen = Result<String, String>;

pub(super) fn version(probe: &mut Probe<'_>) -> Seen {
    probe.restart()?;
    let request = "hello 999";
    probe.refused_bare(request, "version")?;
    probe.ask_bare("hello 1")?;
    Ok(format!(
        "`{request}` is refused, then `hello 1` is answered"
    ))
}

/// Checks that the subject refuses each request and still answers afterwards.
fn refuses(probe: &mut Probe<'_>, requests: &[String], code: &str) -> Seen {
    for request in requests {
        probe.refused(request, code)?;
        let next = probe.ask_bare("usage");
        next.map_err(|error| format!("after `{request}` it does not go on: {error}"))?;
    }
    let refused = match requests {
        [] => return Ok("it has nothing to refuse".into()),
        [one] => format!("`{one}` is refused"),
        [one, other] => format!("`{one}` and `{other}` are refused"),
        [first, ..] => format!("{} requests are refused, such as `{first}`", requests.len()),
    };
    Ok(format!("{refused}, with the code `{code}`"))
}

pub(super) fn unknown_request(probe: &mut Probe<'_>) -> Seen {
    refuses(
        probe,
        &["sing".into(), "sing loudly now=1".into()],
        "unknown-request",
    )
}

pub(super) fn unknown_test(probe: &mut Probe<'_>) -> Seen {
    let requests = [
        "batch no.such.test iterations=1 blocks=1 reference=0 warmup=0",
        "slice no.such.test test iterations=1 warmup=0",
        "latency no.such.test count=1 interval=0",
        "series no.such.test count=1",
    ];
    refuses(probe, &requests.map(String::from), "unknown-test")
}

pub(super) fn unknown_clock(probe: &mut Probe<'_>) -> Seen {
    let requests = [
        "clock no.such.clock 10",
        "gaps no.such.clock time=1000000 over=1000",
    ];
    refuses(probe, &requests.map(String::from), "unknown-clock")
}

pub(super) fn bad_argument(probe: &mut Probe<'_>) -> Seen {
    let listed = probe.list()?;
    let mut requests: Vec<String> = Vec::new();
    if let Some(clock) = listed.clocks.first() {
        let name = crate::protocol::encode(&clock.name);
        requests.extend(["0", "1000001", "many"].map(|count| format!("clock {name} {count}")));
        let fields = [
            "time=999999 over=1",
            "time=60000000001 over=1",
            "time=1000000",
            "time=1000000 over=much",
        ];
        requests.extend(fields.map(|fields| format!("gaps {name} {fields}")));
    }
    if listed.tests.iter().any(|test| test.name == "self.same") {
        requests.extend(
            [
                "batch self.same iterations=ten blocks=1 reference=0 warmup=0",
                "batch self.same iterations=-1 blocks=1 reference=0 warmup=0",
                "batch self.same iterations=99999999999999999999 blocks=1 reference=0 warmup=0",
                "batch self.same blocks=1 reference=0 warmup=0",
                "batch self.same iterations=1 iterations=2 blocks=1 reference=0 warmup=0",
                "slice self.same sideways iterations=1 warmup=0",
            ]
            .map(String::from),
        );
    }
    refuses(probe, &requests, "bad-argument")
}

pub(super) fn beyond_most(probe: &mut Probe<'_>) -> Seen {
    let tests = probe.list()?.tests;
    let limited = tests.iter().filter(|test| test.absent.is_none());
    let requests: Vec<String> = limited
        .filter_map(|test| {
            let beyond = test.most?.checked_add(1)?;
            let (name, arg) = (&test.name, arg(test));
            Some(format!(
                "slice {name} test iterations={beyond} warmup=0{arg}"
            ))
        })
        .collect();
    if requests.is_empty() {
        return Ok("no test has a largest number of iterations".into());
    }
    refuses(probe, &requests, "bad-argument")
        .map(|_| format!("kept by all {} tests that have one", requests.len()))
}
