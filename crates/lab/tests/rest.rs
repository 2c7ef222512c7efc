//! The REST servers of every language that is here: they answer what is right, refuse what is not, and serve on afterwards, whatever clients send.

use antiphon_lab::build::{BuildError, Built, Cache};
use antiphon_lab::subject::Subject;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const GET: &str = "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n";
const GREETING: &str = r#"{"greeting":"Hello World!"}"#;

/// A server that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than the smallest pool has tasks.
const TIMES: usize = 9;

struct Server {
    process: Child,
    port: u16,
    name: String,
}

impl Server {
    fn start(built: &Built, name: String) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        drop(listener);
        let words: Vec<String> = built
            .run
            .iter()
            .map(|word| word.replace("{port}", &port.to_string()))
            .collect();
        let mut command = Command::new(&words[0]);
        let process = command.args(&words[1..]).spawn().expect("it starts");
        let server = Server {
            process,
            port,
            name,
        };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(Instant::now() < until, "{} does not accept", server.name);
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn connect(&self) -> Connection<'_> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it accepts");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let (name, got) = (self.name.as_str(), String::new());
        Connection { stream, name, got }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it runs");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Connection<'s> {
    stream: TcpStream,
    name: &'s str,
    /// What came and was not looked at.
    got: String,
}

impl Connection<'_> {
    fn send(&mut self, text: &str) -> &mut Self {
        // A server may have enough of a request before it has all of it.
        let _ = self.stream.write_all(text.as_bytes());
        self
    }

    /// Receives more; `false` at the end.
    fn receive(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(count) => {
                self.got.push_str(&String::from_utf8_lossy(&bytes[..count]));
                count > 0
            }
            Err(why) if why.kind() == ErrorKind::ConnectionReset => false,
            Err(why) => panic!("{} hangs: {why}", self.name),
        }
    }

    /// Takes the next answer, which must be the greeting, and gives its head.
    fn greeting(&mut self) -> String {
        let end = loop {
            match self.got.find(GREETING) {
                Some(at) => break at,
                None => assert!(self.receive(), "{}: `{}`", self.name, self.got),
            }
        };
        let head = self.got[..end].to_lowercase();
        self.got.drain(..end + GREETING.len());
        assert!(head.starts_with("http/1.1 200 "), "{}: {head}", self.name);
        assert_eq!(head.matches("http/1.1").count(), 1, "{}: {head}", self.name);
        head
    }

    /// Takes the next head, in lower case.
    fn head(&mut self) -> String {
        let end = loop {
            match self.got.find("\r\n\r\n") {
                Some(at) => break at + 4,
                None => assert!(self.receive(), "{}: `{}`", self.name, self.got),
            }
        };
        self.got.drain(..end).collect::<String>().to_lowercase()
    }

    /// All that still comes, when we have said all.
    fn rest(mut self) -> String {
        let _ = self.stream.shutdown(Shutdown::Write);
        while self.receive() {}
        self.got
    }
}

fn answers_what_is_right(server: &Server) {
    let head = server.connect().send(GET).greeting();
    assert!(head.contains("\r\ndate: "), "{}: {head}", server.name);
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

impl Connection<'_> {
    /// The line that the next answer begins with.
    fn status(&mut self) -> String {
        while !self.got.contains("\r\n") && self.receive() {}
        self.got.lines().next().unwrap_or_default().to_owned()
    }
}

/// An answer to HEAD has no content, whatever it says of it, so what follows it is understood (RFC 9110, 9.3.2). Some frameworks answer HEAD as they
/// answer GET, others take it for a method that nobody asked them to serve. And whom a request of HTTP/1.0 is for need not be said.
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
    // It is the server that ends such a connection: to some, a client that has said all is one that went away.
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

/// More connections at a time than the smallest pool has tasks.
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

/// What is no request, or half of one, or too much of one; with the status of our own server for it. Those of others let some of it pass.
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

fn examine(name: &str) {
    examine_without(name, "");
}

fn examine_without(name: &str, left_out: &str) {
    let subject = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../subjects")
        .join(name);
    let subject = Subject::load(&subject).expect("the file is right");
    let variants = subject.variants.iter();
    for variant in variants.filter(|variant| variant.name != left_out) {
        let cache = tempfile::tempdir().expect("there is room for a build");
        let never = AtomicBool::new(false);
        let built = match Cache::at(cache.path()).build(&subject, variant, "other", &never) {
            Ok(built) => built,
            Err(missing @ BuildError::Missing { .. }) => {
                eprintln!("skipped: {missing} ({})", missing.mend());
                return;
            }
            Err(error) => panic!("{error}\n{}", error.last_words()),
        };
        let server = Server::start(&built, format!("{name}/{}", variant.name));
        answers_what_is_right(&server);
        answers_what_is_asked_less_often(&server);
        serves_many_at_once(&server);
        goes_on_after_a_stop(&server);
        survives_what_is_wrong(&server);
    }
}

#[test]
fn in_ada() {
    examine("rest-ada");
}

#[test]
fn in_go() {
    examine("rest-go");
}

#[test]
fn in_java() {
    examine("rest-java");
}

#[test]
fn in_javascript() {
    examine("rest-node");
}

#[test]
fn in_python() {
    examine("rest-python");
}

/// axum answers by hyper, and builds as long again.
#[test]
fn in_rust() {
    examine_without("rest-rust", "axum");
}
