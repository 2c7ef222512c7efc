//! `antiphon load`: refusals, and reports about a server.

use antiphon_lab::machine::allowed_processors;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

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

/// Checks the exit code of a call, and the words on its standard error.
#[track_caller]
fn refuses(words: &[&str], code: i32, says: &str) {
    let refused = load(words);
    assert_eq!(refused.status.code(), Some(code), "{words:?}");
    assert!(stderr(&refused).contains(says), "{}", stderr(&refused));
}

/// Starts a server that answers each request with this body, and returns its URL.
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
    refuses(&["http://192.0.2.1/"], 2, "--i-own-this-host");
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
    let nobodys = format!("http://127.0.0.1:{port}/");
    refuses(&[&nobodys], 3, "start the server");
}

#[test]
fn a_server_is_measured_and_told() {
    let url = server("hello");
    let reported = load(&[&url, "-c", "3", "--requests", "50", "--seconds", "60"]);
    let text = String::from_utf8_lossy(&reported.stdout).into_owned();
    assert!(reported.status.success(), "{text}{}", stderr(&reported));
    assert!(text.contains("answered  50 ("), "{text}");
    // 50 requests have no 99th percentile.
    assert!(
        text.contains("latency  p50 ") && text.contains("longest"),
        "{text}"
    );
    assert!(text.contains(", p90 ") && text.contains(", p95 "), "{text}");
    assert!(
        text.contains("a closed loop hides waiting") && text.contains("try --rate "),
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
    // A line for each field, and one for each brace: a histogram is no more.
    let lines = String::from_utf8_lossy(&json.stdout).lines().count();
    assert_eq!(lines, value.as_object().unwrap().len() + 2);
    assert_eq!(value["connections"].as_array().unwrap().len(), 3);
    assert_eq!(value["empty_polls_ns"], 0);
    assert_eq!(value["schema"], "antiphon.load");
    assert_eq!(
        (&value["asked"]["url"], &value["asked"]["seconds"]),
        (&url.as_str().into(), &60.0.into())
    );
    assert_eq!(value["verdicts"]["hides_waiting"], true);
    assert!(value["verdicts"]["percentiles_ns"]["p95"].is_u64());
    // No answers come between two scheduled requests.
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

/// Starts a server that counts up in its bodies and reports each request. Returns its URL and the
/// reports.
fn counting() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (tell, reported) = channel();
    std::thread::spawn(move || {
        for (number, mut stream) in listener.incoming().flatten().enumerate() {
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(size @ 1..) = stream.read(&mut piece) {
                    let _ = tell.send(String::from_utf8_lossy(&piece[..size]).into_owned());
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{number:8}");
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, reported)
}

#[test]
fn methods_headers_and_bodies_are_sent_and_bodies_that_differ_name_the_way_out() {
    let (url, reported) = counting();
    let asked = ["-X", "PUT", "-H", "X-Word: valve", "-d", "stuck"];
    let few = ["--requests", "4", "-c", "2", "--seconds", "60"];
    let differ = load(&[&[url.as_str()][..], &asked, &few].concat());
    let text = String::from_utf8_lossy(&differ.stdout).into_owned();
    assert_eq!(differ.status.code(), Some(1), "{text}{}", stderr(&differ));
    assert!(
        text.contains("(wrong body)") && text.contains("--any-body"),
        "{text}"
    );
    // A connection that only checks whether the server is there sends nothing.
    let first = reported.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(first.starts_with("PUT / HTTP/1.1\r\n"), "{first}");
    assert!(
        first.contains("X-Word: valve\r\nContent-Length: 5\r\n"),
        "{first}"
    );
    assert!(first.ends_with("\r\n\r\nstuck"), "{first}");
    let passed = load(&[&[url.as_str(), "--any-body"][..], &asked, &few].concat());
    assert!(passed.status.success(), "{}", stderr(&passed));
    for (words, says) in [
        (&["-H", "Connection: close"][..], "--no-keep-alive"),
        (&["-X", "GET /"], "such as GET"),
        (&["-d", "@no-such-file"], "no-such-file"),
    ] {
        let refused = load(&[&[url.as_str()][..], words].concat());
        assert!(stderr(&refused).contains(says), "{}", stderr(&refused));
    }
    refuses(&["https://127.0.0.1/"], 2, "TLS is not spoken here");
}

#[test]
fn heads_are_asked_for_without_waiting_for_their_bodies() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut piece = [0; 1024];
                while stream.read(&mut piece).is_ok_and(|size| size > 0) {
                    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
                    if stream.write_all(head).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let few = ["-X", "HEAD", "--requests", "40", "--seconds", "60"];
    let ran = load(&[&[url.as_str()][..], &few].concat());
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}{}", stderr(&ran));
    assert!(text.contains("answered  40 ("), "{text}");
}

/// Programs that only count, on one processor.
struct Spinners(Vec<Child>);

impl Spinners {
    fn on(processor: usize) -> Spinners {
        let one = |_| {
            Command::new("taskset")
                .args(["-c", &processor.to_string(), "sh", "-c"])
                .arg("while :; do :; done")
                .spawn()
                .expect("util-linux has taskset")
        };
        Spinners((0..3).map(one).collect())
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_generator_without_its_processor_is_told_to_be_the_limit() {
    let url = server("hello");
    let processor = allowed_processors()[0];
    let _spinners = Spinners::on(processor);
    let on = ["--processor", &processor.to_string(), "--seconds", "1"];
    let reported = load(&[&[url.as_str()][..], &on].concat());
    let text = String::from_utf8_lossy(&reported.stdout).into_owned();
    let limit = "the generator was the limit: it waited for a processor for ";
    assert!(text.contains(limit), "{text}{}", stderr(&reported));
    let json = load(&[&[url.as_str(), "--json", "--busy-poll"][..], &on].concat());
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let verdicts = &value["verdicts"];
    assert_eq!(verdicts["generator_was_the_limit"], true, "{verdicts}");
    let why = |of: &&serde_json::Value| of["why"] == "waited" || of["why"] == "polled_less";
    let limits = verdicts["limits"].as_array().unwrap();
    assert_eq!(limits.iter().filter(why).count(), 2, "{verdicts}");
}

#[test]
fn an_interrupted_load_prints_what_was_measured() {
    let (url, reported) = counting();
    let forever = ["--seconds", "3600", "--any-body"];
    let child = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .args([&["load", url.as_str()][..], &forever].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // By then the server is under load, and not only at its first exchange.
    for _ in 0..100 {
        reported.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let ran = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(130), "{text}{}", stderr(&ran));
    for part in ["answered  ", "latency  ", "ended early  interrupted"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_rate_may_be_a_part_of_what_the_closed_loop_gives() {
    let url = server("hello");
    let reported = load(&[&url, "-c", "2", "--seconds", "0.2", "--rate", "50%"]);
    let text = String::from_utf8_lossy(&reported.stdout).into_owned();
    assert!(
        text.contains("closed loop  "),
        "{text}{}",
        stderr(&reported)
    );
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

/// No server listens at that address, so settings are checked before anything is sent.
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
