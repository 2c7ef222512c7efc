//! `antiphon load`: what it refuses, and what it tells of a server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};

fn load(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .arg("load")
        .args(words)
        .output()
        .expect("the command")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server that answers each request with this body, and its URL.
fn server(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut piece = [0; 1024];
                while stream.read(&mut piece).is_ok_and(|size| size > 0) {
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

#[test]
fn other_machines_are_not_loaded_by_mistake() {
    let refused = load(&["http://192.0.2.1/"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("--i-own-this-host"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn misuse_and_missing_servers_have_codes_of_their_own() {
    for words in [
        &["ftp://127.0.0.1/"][..],
        &["http://127.0.0.1/", "--rate", "-1"],
        &["http://127.0.0.1/", "--seconds", "nan"],
    ] {
        assert_eq!(load(words).status.code(), Some(2), "{words:?}");
    }
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let missing = load(&[&format!("http://127.0.0.1:{port}/")]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(
        stderr(&missing).contains("start the server"),
        "{}",
        stderr(&missing)
    );
}

#[test]
fn a_server_is_measured_and_told() {
    let url = server("hello");
    let told = load(&[&url, "-c", "3", "--requests", "50", "--seconds", "60"]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.status.success(), "{text}{}", stderr(&told));
    assert!(text.contains("answered  50 ("), "{text}");
    // Of 50 requests there is no hundredth part.
    assert!(
        text.contains("latency  p50 ") && text.contains("longest"),
        "{text}"
    );
    assert!(!text.contains("p99"), "{text}");
    let json = load(&[
        &url,
        "-c",
        "3",
        "--requests",
        "50",
        "--seconds",
        "60",
        "--json",
    ]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(value["answered"], 50);
    assert_eq!(value["connections"].as_array().unwrap().len(), 3);
    assert_eq!(value["empty_polls_ns"], 0);
    // Between two requests of a schedule nothing comes.
    let sparse = ["--rate", "200", "--requests", "20", "--seconds", "60"];
    let polled = load(&[&[url.as_str(), "--busy-poll"], &sparse[..]].concat());
    let text = String::from_utf8_lossy(&polled.stdout).into_owned();
    assert!(
        text.contains("of its time, and polled in vain for "),
        "{text}{}",
        stderr(&polled)
    );
    let other = load(&[&url, "--status", "204"]);
    assert_eq!(other.status.code(), Some(2));
    let says = "answers with status 200, and not 204; mend the path, or give --status 200\n";
    assert!(stderr(&other).ends_with(says), "{}", stderr(&other));
}

#[test]
fn a_rate_may_be_a_part_of_what_the_closed_loop_gives() {
    let url = server("hello");
    let told = load(&[&url, "-c", "2", "--seconds", "0.2", "--rate", "50%"]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(text.contains("closed loop  "), "{text}{}", stderr(&told));
    let json = load(&[
        &url,
        "-c",
        "2",
        "--seconds",
        "0.2",
        "--rate",
        "50%",
        "--json",
    ]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let can = value["closed_per_second"].as_f64().unwrap();
    let count = |key: &str| value[key].as_u64().unwrap() as f64;
    let due = count("answered") + count("unanswered") + count("never_sent");
    assert!((due - 0.5 * can * 0.2).abs() <= 2.0, "{value}");
    let few = load(&[&url, "--requests", "20", "--rate", "50%", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&few.stdout).unwrap();
    assert_eq!(value["answered"], 10);
}

/// Nobody listens there, so what is said of a setting is said before anything is sent.
#[test]
fn bounds_are_named_before_anything_is_sent() {
    let rate = "requests a second above 0, and at most 10000000";
    let limit = "give 0.001 to 3600 seconds";
    let seconds = "seconds above 0, and at most 3600 (an hour)";
    for (option, value, says) in [
        ("--rate", "1e9", rate),
        ("--rate", "NaN", rate),
        ("--rate", "0%", "a percentage above 0, and at most 100%"),
        ("--rate", "101%", "a percentage above 0, and at most 100%"),
        ("--rate", "a%", "number"),
        ("--rate", "-1", rate),
        ("--time-limit", "1e-12", limit),
        ("--time-limit", "3601", limit),
        ("--time-limit", "inf", limit),
        ("--seconds", "3601", seconds),
        ("--seconds", "NaN", seconds),
        ("--seconds", "1e-12", "the duration is 0ns; give more"),
        ("--connections", "0", "give 1 to 10000"),
        (
            "--processor",
            "1023",
            "the processor is 1023; give one that is permitted (",
        ),
    ] {
        let refused = load(&["http://127.0.0.1:1/", option, value]);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{option} {value}: {said}");
        assert!(said.contains(says), "{option} {value}: {said}");
    }
}

#[test]
fn too_few_descriptors_are_no_fault_of_the_servers() {
    let url = server("hello");
    for words in [
        &["--no-keep-alive"][..],
        &["--no-keep-alive", "--threads", "2"],
        &[],
    ] {
        let script = r#"ulimit -n 20; exec "$0" load "$@" -c 64 --seconds 60"#;
        let ran = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_antiphon"), &url])
            .args(words)
            .output()
            .unwrap();
        let said = stderr(&ran);
        assert_eq!(ran.status.code(), Some(3), "{words:?}: {said}");
        assert!(said.contains("ulimit -n"), "{words:?}: {said}");
        assert!(ran.stdout.is_empty(), "{words:?}");
    }
}
