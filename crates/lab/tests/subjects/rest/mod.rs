//! The REST servers of every installed language: they answer right requests, refuse others, and
//! serve on afterwards.

mod server;

use crate::drivers::quick_builds;
use crate::waiting::wait_until;
use antiphon_lab::build::{BuildError, Built};
use antiphon_lab::subject::{Subject, Variant};
use antiphon_load::{Expected, Load, Reach, Target};
use rustix::process::Signal;
use server::{Connection, GREETING, PATIENCE, Server};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const GET: &str = "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// More than the smallest pool has tasks.
const TIMES: usize = 9;

/// The most connections of a load.
const COME_AT_ONCE: usize = 256;

/// More than the smallest pool has tasks, over each connection.
const REQUESTS: u64 = 400;

fn answers_what_is_right(server: &Server) {
    let head = server.connect().send(GET).greeting();
    // Grizzly sends no date by default, and is tested as it comes.
    let is_dated = head.contains("\r\ndate: ") || server.name.contains("/grizzly");
    assert!(is_dated, "{}: {head}", server.name);
    let mut one = server.connect();
    for _ in 0..TIMES {
        one.send(GET).greeting();
    }
    one.send(&GET.repeat(TIMES));
    for _ in 0..TIMES {
        one.greeting();
    }
    for letter in GET.split_inclusive(|_: char| true) {
        one.send(letter);
        std::thread::sleep(Duration::from_millis(1));
    }
    one.greeting();
    let other = server
        .connect()
        .send(&GET.replace("/api", "/other"))
        .status();
    assert!(
        other.starts_with("HTTP/1.1 404 "),
        "{}: {other}",
        server.name
    );
}

/// Checks rare requests: HEAD and HTTP/1.0.
///
/// An answer to HEAD has no content, whatever its head says, so the next answer is understood (RFC
/// 9110, 9.3.2). Some frameworks answer HEAD as GET; others treat it as a method without a handler.
/// A request of HTTP/1.0 needs no host.
fn answers_what_is_asked_less_often(server: &Server) {
    let mut one = server.connect();
    let head = one.send(&GET.replace("GET", "HEAD")).head();
    let status = head.split(' ').nth(1).unwrap_or_default();
    assert!(
        matches!(status, "200" | "404" | "405"),
        "{}: {head}",
        server.name
    );
    assert_eq!(one.got, "", "{} to HEAD", server.name);
    if server.name.starts_with("rest-ada/") {
        let greeting = server.connect().send(GET).greeting();
        let undated = |head: &str| {
            let fields = head.lines().filter(|line| !line.starts_with("date: "));
            fields.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(undated(&head), undated(&greeting), "{}", server.name);
    }
    one.send(GET).greeting();
    // The server ends such a connection. To some servers, a client that has ended its side has gone
    // away.
    let mut old = server.connect();
    old.send("GET /api HTTP/1.0\r\n\r\n");
    while old.receive() {}
    assert!(
        old.got.contains(" 200 ") && old.got.ends_with(GREETING),
        "{}: {}",
        server.name,
        old.got
    );
}

/// Checks more simultaneous connections than the smallest pool has tasks.
fn serves_many_at_once(server: &Server) {
    let mut many: Vec<Connection> = (0..64).map(|_| server.connect()).collect();
    for one in &mut many {
        one.send(GET);
    }
    for one in &mut many {
        one.greeting();
    }
}

fn goes_on_after_a_stop(server: &Server) {
    let mut one = server.connect();
    one.send(GET).greeting();
    // It waits for the next request when it is stopped.
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::CONT);
    one.send(GET).greeting();
}

/// Checks that a server survives clients that break off while it stands still. Its writes to them
/// are then errors. They also raise SIGPIPE, which ends a process that does not ignore it.
fn outlives_who_breaks_off(server: &Server) {
    let mut served: Vec<Connection> = (0..TIMES).map(|_| server.connect()).collect();
    for one in &mut served {
        one.send(GET).greeting();
    }
    server.signal(Signal::STOP);
    for mut one in served {
        one.send(GET);
        one.break_off();
    }
    server.signal(Signal::CONT);
    server.connect().send(GET).greeting();
}

/// Checks that all connections of a load may come at once. A connection that the system refuses
/// waits for a second, and the server seems to starve it.
fn lets_many_wait(server: &Server) {
    server.signal(Signal::STOP);
    let waiting: Vec<_> = (0..COME_AT_ONCE).map_while(|_| server.knock()).collect();
    server.signal(Signal::CONT);
    assert_eq!(waiting.len(), COME_AT_ONCE, "{}", server.name);
}

/// Returns malformed, incomplete and oversized requests, with our own server's status for each.
/// Other servers accept some of them.
fn malformed() -> Vec<(String, &'static str)> {
    let field = |field: &str| GET.replace("\r\n\r\n", &format!("\r\n{field}\r\n\r\n"));
    let huge = "Content-Length: 99999999999999999999999";
    vec![
        ("\n\r\n\r\n".into(), "400"),
        ("\r\n\r\n\r\n".into(), "400"),
        ("\0\0\0\r\n\r\n".into(), "400"),
        ("GET\r\n\r\n".into(), "400"),
        (GET.replace(" HTTP/1.1", ""), "400"),
        (GET.replace("Host: localhost\r\n", ""), "400"),
        (field("host: other"), "400"),
        (
            GET.replace("Host: localhost\r\n", "").replace("/api", "/"),
            "400",
        ),
        (field("A: \0"), "400"),
        (GET.replace("GET", &"G".repeat(1 << 20)), "431"),
        (field(huge).replace("GET", "POST") + "abc", "405"),
        (GET[..GET.len() - 2].into(), ""),
        (String::new(), ""),
    ]
}

fn survives_what_is_wrong(server: &Server) {
    for (request, status) in malformed() {
        let short: String = request.chars().take(60).collect();
        for _ in 0..TIMES {
            let mut one = server.connect();
            one.send(&request);
            let answer = one.rest();
            if server.name.starts_with("rest-ada/") {
                let line = answer.lines().next().unwrap_or_default();
                let found = line.split(' ').nth(1).unwrap_or_default();
                assert_eq!(found, status, "{} to {short:?}: {answer}", server.name);
            }
        }
        server.connect().send(GET).greeting();
    }
    serves_many_at_once(server);
}

/// Checks a short closed loop, over kept connections and with one for each request: every request
/// gets its right answer.
fn answers_under_load(server: &Server) {
    for keep_alive in [true, false] {
        let target = Target::parse(&server.url(), Reach::Loopback).expect("it is on loopback");
        let expected = Expected {
            status: 200,
            body: GREETING.as_bytes().to_vec(),
        };
        let load = Load {
            connections: 4,
            keep_alive,
            requests_max: REQUESTS,
            duration: PATIENCE,
            time_limit: PATIENCE,
            ..Load::new(target, expected)
        };
        let measured = antiphon_load::run(&load).expect("it accepts");
        let (name, failure) = (&server.name, &measured.first_failure);
        assert!(failure.is_none(), "{name}, {keep_alive}: {failure:?}");
        assert_eq!(measured.answered, REQUESTS, "{name}, {keep_alive}");
    }
}

/// Requests of the laboratory, and those that other clients may make.
const ALL: &[fn(&Server)] = &[
    answers_under_load,
    answers_what_is_right,
    answers_what_is_asked_less_often,
    serves_many_at_once,
    goes_on_after_a_stop,
    outlives_who_breaks_off,
    lets_many_wait,
    survives_what_is_wrong,
];

fn examine(name: &str, conduct: &[fn(&Server)]) {
    let subject = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../subjects")
        .join(name);
    let subject = Subject::load(&subject).expect("the file is right");
    for variant in &subject.variants {
        let Some(built) = build(&subject, variant) else {
            continue;
        };
        let server = Server::start(&built, format!("{name}/{}", variant.name));
        // Grizzly accepts before it can serve; the laboratory waits for the right answer, too.
        let is_ready = || server.connect().send(GET).status().contains(" 200");
        wait_until(&format!("{} serves", server.name), is_ready);
        conduct.iter().for_each(|examined| examined(&server));
        server.end();
    }
}

/// Builds a server; `None`, with the reason printed, if a need is missing.
fn build(subject: &Subject, variant: &Variant) -> Option<Built> {
    let cache = quick_builds("rest");
    match cache.build(subject, variant, "other", &AtomicBool::new(false)) {
        Ok(built) => Some(built),
        Err(missing @ BuildError::Missing { .. }) => {
            eprintln!("skipped: {missing} ({})", missing.help());
            None
        }
        // Maven Central may be out of reach.
        Err(error) if error.last_words().contains("Could not transfer") => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    }
}

#[test]
fn in_ada() {
    examine("rest-ada", ALL);
}

/// Tests libraries in their default state, including their handling of malformed requests.
#[test]
fn by_libraries_of_ada() {
    examine("rest-ada-libraries", &[answers_under_load]);
}

#[test]
fn in_c() {
    examine("rest-c", ALL);
}

#[test]
fn in_cpp() {
    examine("rest-cpp", ALL);
}

#[test]
fn in_go() {
    examine("rest-go", ALL);
}

#[test]
fn in_java() {
    examine("rest-java", ALL);
}

#[test]
fn by_libraries_of_java() {
    examine("rest-java-libraries", ALL);
}

#[test]
fn in_javascript() {
    examine("rest-node", ALL);
}

#[test]
fn in_python() {
    examine("rest-python", ALL);
}

#[test]
fn in_rust() {
    examine("rest-rust", ALL);
}
