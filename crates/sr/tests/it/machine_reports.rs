//! Counts and timelines of programs over several virtual machines.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_runner::{End, Output};
use antiphon_sr::build::Executable;
use serde_json::Value;

use crate::support::{MODELS, built, ran_again, source};

/// The first machine calls the two others ten times each, and each call is passed on to the other
/// one. A send between the two comes back to the first.
const THREE: &str = "\
resource far
  op join(other: cap far)
  op pass(n: int) returns m: int
  op double(n: int) returns m: int
  op greet(who: cap (int))
body far(number: int)
  var peer: cap far
  proc join(other)
    peer := other
  end
  proc pass(n) returns m
    forward peer.double(n + 1)
  end
  proc double(n) returns m
    m := 2 * n
  end
  proc greet(who)
    send who(number)
  end
end

resource main()
  import far
  op hello(n: int)
  var f[1:2]: cap far
  fa i := 1 to 2 -> f[i] := create far(i) on create vm() af
  f[1].join(f[2])
  f[2].join(f[1])
  var sum := 0
  fa n := 1 to 10, i := 1 to 2 -> sum +:= f[i].pass(n) af
  send f[1].greet(hello)
  var who: int
  receive hello(who)
  write(sum, who)
end
";

/// The machines that the program destroys before its end.
const DESTROYED: &str = "\
resource far
  op f()
body far()
  proc f()
    skip
  end
end

resource main()
  import far
  fa i := 1 to 2 ->
    var v := create vm()
    var r := create far() on v
    r.f()
    destroy v
  af
end
";

fn program(name: &str, text: &str) -> Executable {
    let built = built(&[source(name, text)], MODELS[2], &[]);
    built.unwrap_or_else(|message| panic!("{message}"))
}

/// Runs a program with a timeline, and returns that.
fn traced(executable: &Executable, settings: &str) -> (Output, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let settings = format!("{settings},trace={}", path.display());
    let output = ran_again(executable, &settings);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", output.stderr));
    let files = std::fs::read_dir(folder.path())
        .expect("it is there")
        .count();
    assert_eq!(files, 1, "one file for all machines");
    (output, serde_json::from_str(&text).expect("JSON"))
}

fn events(trace: &Value) -> &[Value] {
    trace["traceEvents"].as_array().expect("a list")
}

/// Returns the names of an object's members.
fn members(event: &Value) -> BTreeSet<&str> {
    let object = event.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// Returns the events of a phase.
fn of_phase<'a>(events: &'a [Value], phase: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["ph"] == phase).collect()
}

fn time_us(event: &Value, member: &str) -> f64 {
    event[member].as_f64().expect("a number")
}

/// Returns how wrong the clock of each machine may be, in microseconds. The first one's is right.
fn uncertainties(trace: &Value) -> BTreeMap<u64, f64> {
    let machines = trace["otherData"]["machines"].as_array().expect("a list");
    let of = |it: &Value| {
        let uncertainty_us = time_us(it, "uncertainty_ns") / 1000.0;
        (it["machine"].as_u64().expect("a number"), uncertainty_us)
    };
    let others = machines.iter().map(of);
    std::iter::once((1, 0.0)).chain(others).collect()
}

/// Checks the arrows, and returns how many there are of each kind.
fn checked_arrows(trace: &Value) -> BTreeMap<String, usize> {
    let uncertain = uncertainties(trace);
    let (begins, ends) = (of_phase(events(trace), "s"), of_phase(events(trace), "f"));
    let turns = of_phase(events(trace), "X");
    let by_id: BTreeMap<&str, &Value> = ends
        .iter()
        .map(|event| (event["id"].as_str().expect("a text"), *event))
        .collect();
    assert_eq!((by_id.len(), begins.len()), (ends.len(), ends.len()));
    let mut kinds = BTreeMap::new();
    for begin in begins {
        let end = by_id[begin["id"].as_str().expect("a text")];
        assert_ne!(begin["pid"], end["pid"], "{begin} {end}");
        let machine = |event: &Value| uncertain[&event["pid"].as_u64().expect("a number")];
        // Times are rounded to nanoseconds.
        let early_us = machine(begin) + machine(end) + 0.002;
        let taken_us = time_us(end, "ts") - time_us(begin, "ts");
        assert!(taken_us >= -early_us, "{taken_us}: {begin} {end}");
        // The handling process runs; that of the last message may still do so at the end.
        let holds = |event: &Value, turn: &&&Value| {
            let began = time_us(turn, "ts");
            let at = time_us(event, "ts");
            let ended = began + time_us(turn, "dur");
            turn["pid"] == event["pid"]
                && turn["tid"] == event["tid"]
                && (began - 0.002..=ended + 0.002).contains(&at)
        };
        if begin["name"] == "call" {
            assert!(turns.iter().any(|turn| holds(begin, &turn)), "{begin}");
            assert!(turns.iter().any(|turn| holds(end, &turn)), "{end}");
        }
        let kind = begin["name"].as_str().expect("a text").to_owned();
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

#[test]
fn a_timeline_has_all_machines_and_an_arrow_for_each_message() {
    let alone = "resource main()\n  process p(i := 1 to 3)\n    nap(0)\n  end\nend\n";
    let (_, alone) = traced(&program("alone.sr", alone), "model=cooperative");
    let executable = program("three_traced.sr", THREE);
    for over in ["shm", "tcp", "udp"] {
        let (output, trace) = traced(&executable, &format!("over={over}"));
        assert_eq!(output.end, End::Exited(0), "{over}: {}", output.stderr);
        assert_eq!(output.stdout, b"260 1\n", "{over}");
        // Turns are written as those of a program of one machine.
        assert_eq!(trace["displayTimeUnit"], alone["displayTimeUnit"]);
        assert_eq!(trace["otherData"]["dropped"], 0);
        let turns = of_phase(events(&trace), "X");
        let shape = members(&events(&alone)[0]);
        assert!(turns.iter().all(|turn| members(turn) == shape));
        let machines: BTreeSet<u64> = turns.iter().filter_map(|it| it["pid"].as_u64()).collect();
        assert_eq!(machines, BTreeSet::from([1, 2, 3]), "{over}");
        let names = of_phase(events(&trace), "M").into_iter();
        let names: Vec<_> = names
            .map(|it| (it["pid"].as_u64(), it["args"]["name"].as_str()))
            .collect();
        let name = |number, text| (Some(number), Some(text));
        assert_eq!(
            names,
            [
                name(1, "virtual machine 1"),
                name(2, "virtual machine 2"),
                name(3, "virtual machine 3")
            ]
        );
        let kinds = checked_arrows(&trace);
        // Twenty calls, each forwarded as a call, two of `join`; one answer each.
        assert_eq!((kinds["call"], kinds["answer"]), (42, 22), "{kinds:?}");
        assert_eq!((kinds["send"], kinds["create"]), (2, 2), "{kinds:?}");
    }
}

#[test]
fn a_timeline_has_destroyed_machines() {
    let (output, trace) = traced(&program("destroyed_traced.sr", DESTROYED), "over=shm");
    assert_eq!(output.end, End::Exited(0), "{}", output.stderr);
    let turns = of_phase(events(&trace), "X").into_iter();
    let procs = turns.filter(|turn| turn["name"] == "far.f");
    let machines: Vec<_> = procs.filter_map(|turn| turn["pid"].as_u64()).collect();
    assert_eq!(machines, [2, 3]);
    assert!(checked_arrows(&trace)["call"] == 2);
}

#[test]
fn counts_are_told_in_sum_and_of_each_machine() {
    let executable = program("three_counted.sr", THREE);
    let output = ran_again(&executable, "stats=json");
    let line = output.stderr.trim();
    let counts: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    let machines = counts["machines"].as_array().expect("a list");
    let numbers: Vec<_> = machines
        .iter()
        .filter_map(|it| it["machine"].as_u64())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    let sums = counts.as_object().expect("an object");
    let mut count = 0;
    for (name, sum) in sums.iter().filter(|(_, sum)| sum.is_u64()) {
        let of_machines = machines.iter().filter_map(|it| it[name].as_u64());
        assert_eq!(sum.as_u64(), Some(of_machines.sum()), "{name}");
        count += 1;
    }
    assert!(count > 5, "{line}");
    let longest = |it: &Value| it["turn_ns"]["max"].as_u64().expect("a number");
    let of_machines = machines.iter().map(longest).max();
    assert_eq!(Some(longest(&counts)), of_machines);
    let output = ran_again(&executable, "stats=text");
    for part in [
        "\n[vm 1] switches ",
        "\n[vm 2] turn_ns: p50 ",
        "\n[vm 3] p operations ",
    ] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    assert!(output.stderr.starts_with("switches "), "{}", output.stderr);
}
