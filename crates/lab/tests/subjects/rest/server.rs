//! A server that is started as in the laboratory, and connections to it that a test writes and
//! reads by itself.

use crate::processes::processes_with;
use crate::waiting::wait_until;
use antiphon_lab::build::Built;
use rustix::net::sockopt::set_socket_linger;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

pub const GREETING: &str = r#"{"greeting":"Hello World!"}"#;

/// A server that says nothing for so long hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Variable that marks the processes of a server: its port, which no other has meanwhile.
const MARK: &str = "ANTIPHON_TEST_SERVES";

pub struct Server {
    process: Child,
    port: u16,
    pub name: String,
}

impl Server {
    pub fn start(built: &Built, name: String) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        drop(listener);
        let words: Vec<String> = built
            .run
            .iter()
            .map(|word| word.replace("{port}", &port.to_string()))
            .collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env(MARK, port.to_string());
        let process = command.spawn().expect("it starts");
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

    pub fn connect(&self) -> Connection<'_> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it accepts");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let (name, got) = (self.name.as_str(), String::new());
        Connection { stream, name, got }
    }

    /// Opens a connection that may wait to be accepted, if the system lets it.
    pub fn knock(&self) -> Option<TcpStream> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        TcpStream::connect_timeout(&address, Duration::from_millis(500)).ok()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it runs");
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/api", self.port)
    }

    /// Asks the server to end, as the laboratory does first: it must end with all its children, and
    /// release its port.
    pub fn end(mut self) {
        self.signal(Signal::TERM);
        let name = self.name.clone();
        let until = Instant::now() + PATIENCE;
        while self.process.try_wait().expect("it is ours").is_none() {
            assert!(Instant::now() < until, "{name} does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let mark = format!("{MARK}={}", self.port);
        let gone = || processes_with(&mark).is_empty();
        wait_until(&format!("nothing is left of {name}"), gone);
        let left = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        assert!(left.is_err(), "{name} has ended, and something accepts");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub struct Connection<'s> {
    stream: TcpStream,
    name: &'s str,
    /// Received text that was not examined yet.
    pub got: String,
}

impl Connection<'_> {
    pub fn send(&mut self, text: &str) -> &mut Self {
        // A server may have enough of a request before it has all of it.
        let _ = self.stream.write_all(text.as_bytes());
        self
    }

    /// Receives more; `false` at the end.
    pub fn receive(&mut self) -> bool {
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
    pub fn greeting(&mut self) -> String {
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
    pub fn head(&mut self) -> String {
        let end = loop {
            match self.got.find("\r\n\r\n") {
                Some(at) => break at + 4,
                None => assert!(self.receive(), "{}: `{}`", self.name, self.got),
            }
        };
        self.got.drain(..end).collect::<String>().to_lowercase()
    }

    /// Says that all was said, and breaks off, without waiting for an answer.
    pub fn break_off(self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let linger = Some(Duration::ZERO);
        set_socket_linger(&self.stream, linger).expect("a socket");
    }

    /// Shuts our side down and returns all remaining text.
    pub fn rest(mut self) -> String {
        let _ = self.stream.shutdown(Shutdown::Write);
        while self.receive() {}
        self.got
    }

    /// Returns the first line of the next answer.
    pub fn status(&mut self) -> String {
        while !self.got.contains("\r\n") && self.receive() {}
        self.got.lines().next().unwrap_or_default().to_owned()
    }
}
