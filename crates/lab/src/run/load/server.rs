//! A running server: started with a port of loopback, ended with all that it started.

use super::of_generator;
use super::orphan_server::Note;
use super::processors::Places;
use crate::build::Built;
use crate::record::Absence;
use crate::run::process_pool;
use antiphon_load::Error as LoadError;
use antiphon_runner::{End, Signaller, free_port, holds_port};
use rustix::process::Signal;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// A server that does not accept by then will not.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Longest life of a server. The keeper ends it with us; this is for a machine on which we are
/// stopped and forgotten.
///
/// It is a week, because a server lives for an epoch, as long as the run's budget permits. A limit
/// of half an hour would end servers in the midst of a full run.
const LIFE_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Between asking a server to end and ending it.
const GRACE: Duration = Duration::from_millis(500);

/// Attempts at a port. Another process may take it between our check and the server's listen.
const PORTS: u32 = 3;

/// Kept bytes of the server's last output.
const WORDS: usize = 2000;

pub(super) struct Server {
    port: u16,
    process: u32,
    signaller: Signaller,
    /// Reads the server's output to its end; returns the server's end.
    thread: Option<JoinHandle<Option<End>>>,
    words: Arc<Mutex<Vec<u8>>>,
    _note: Note,
}

impl Server {
    /// Starts a server, and waits until it accepts.
    pub(super) fn start(
        built: &Built,
        policy: &str,
        places: &Places,
        cache: &Path,
    ) -> Result<Server, Absence> {
        let mut attempt = 1;
        loop {
            let server = Server::on_port(built, policy, places, cache)?;
            match server.wait_until_it_accepts() {
                Ok(()) => return Ok(server),
                Err(absence) if attempt == PORTS || !server.has_ended() => return Err(absence),
                Err(_) => attempt += 1,
            }
        }
    }

    fn on_port(
        built: &Built,
        policy: &str,
        places: &Places,
        cache: &Path,
    ) -> Result<Server, Absence> {
        let port = free_port().map_err(|why| {
            Absence::new(
                format!("no port of loopback is free: {why}"),
                "end what uses them",
            )
        })?;
        let mut launch = process_pool::launch(built, policy, places.server);
        for word in &mut launch.argv {
            *word = word.replace("{port}", &port.to_string());
        }
        launch.start_limit = LIFE_LIMIT;
        let program = launch
            .program()
            .ok_or_else(|| Absence::new("its subject has no `run`", "give it one"))?;
        let running = program
            .comes_first()
            .forward(false)
            .map_err(Absence::of_message)?;
        let process = running.id();
        let signaller = running.signaller().map_err(Absence::of_message)?;
        let words = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&words);
        let take_in = move || {
            let ended = running.to_end(|_, bytes| {
                let mut words = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                words.extend_from_slice(bytes);
                let surplus = words.len().saturating_sub(WORDS);
                words.drain(..surplus);
            });
            ended.ok().map(|(end, _)| end)
        };
        // If no thread can be started, the server ends with the thread's closure.
        let thread = Builder::new().spawn(take_in).map_err(|why| {
            Absence::new(
                format!("there is no thread to take in what it writes: {why}"),
                "end other programs, or permit more threads (`ulimit -u`)",
            )
        })?;
        Ok(Server {
            port,
            process,
            signaller,
            thread: Some(thread),
            words,
            _note: Note::of(cache, process),
        })
    }

    fn wait_until_it_accepts(&self) -> Result<(), Absence> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let until = Instant::now() + START_LIMIT;
        let mut is_anothers = false;
        while Instant::now() < until {
            let accepts = TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok();
            // If it has ended, another process may be accepting.
            if self.has_ended() {
                return Err(self.with_words(Absence::new(
                    "it ended before it accepted a connection",
                    "run it by hand to see why",
                )));
            }
            // A server that lives on without its port would have another process measured.
            is_anothers = accepts && holds_port(self.process, self.port) == Some(false);
            if accepts && !is_anothers {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if is_anothers {
            return Err(self.with_words(Absence::new(
                format!("another process holds port {}", self.port),
                "let it end when it does not get the port that it is given",
            )));
        }
        let reason = format!(
            "it did not accept a connection within {} s",
            START_LIMIT.as_secs()
        );
        Err(self.with_words(Absence::new(
            reason,
            "let it listen on the port that it is given, on 127.0.0.1",
        )))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Its process, which leads its group.
    pub(super) fn process(&self) -> u32 {
        self.process
    }

    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Checks whether the server ends within a moment: its connections end before it does.
    pub(super) fn ends_now(&self) -> bool {
        let until = Instant::now() + GRACE;
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.has_ended()
    }

    /// Stops it where it stands.
    pub(super) fn freeze(&self) {
        self.signaller.signal(Signal::STOP.as_raw());
    }

    /// Lets it go on.
    pub(super) fn thaw(&self) {
        self.signaller.signal(Signal::CONT.as_raw());
    }

    /// Returns the reason for a missing figure, with the server's last output.
    pub(super) fn absence(&self, error: &LoadError) -> Absence {
        let mut absence = of_generator(error);
        if self.ends_now() {
            absence.reason = format!("the server ended under load: {}", absence.reason);
        }
        self.with_words(absence)
    }

    /// Adds the server's last output.
    pub(super) fn with_words(&self, absence: Absence) -> Absence {
        let words = self
            .words
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        absence.with_last_words(String::from_utf8_lossy(&words).trim())
    }

    /// Ends it, with all that it started.
    fn end(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.signaller.signal(Signal::TERM.as_raw());
        let until = Instant::now() + GRACE;
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.signaller.signal(Signal::KILL.as_raw());
        // The way it ends does not matter to earlier measurements.
        let _ = thread.join();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::LIFE_LIMIT;
    use crate::suite::Suite;
    use std::path::Path;

    #[test]
    fn a_server_outlives_the_run_that_it_is_started_for() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/rest.toml");
        let (suite, _) = Suite::load(&path).expect("it is sound");
        let seconds = suite.full.seconds.expect("its full run has a budget");
        // A user may ask for ten times as long.
        assert!(LIFE_LIMIT.as_secs_f64() > 10.0 * seconds);
    }
}
