//! Servers: set up, started, asked whether they keep their settings, stopped.

use crate::account::Account;
use crate::{Kind, ServiceError, mariadb, postgresql};
use antiphon_runner::{End, Error as RunnerError, Process, ProcessStat, Program, free_port};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a server may take until it answers. It takes about a second on an idle machine.
const START_LIMIT: Duration = Duration::from_secs(60);

/// The least that a question whether it answers may take, also one that is begun late.
const ASK_LEAST: Duration = Duration::from_secs(1);

/// How long it may take to end before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// Between two questions whether it answers.
const BETWEEN: Duration = Duration::from_millis(50);

/// Another process may take the port between our looking and the server's: then another one is tried.
const PORTS: u32 = 3;

/// Connections that a server takes at most. Sixteen of each subject, beside its own, stay open under each placement until its next test.
pub(crate) const CONNECTIONS_MOST: u32 = 512;

/// A running server.
pub(crate) struct Server {
    kind: Kind,
    child: Option<Process>,
    log: PathBuf,
    pub(crate) port: u16,
    pub(crate) password: String,
}

/// What a server is started with.
pub(crate) struct Setup<'f> {
    pub(crate) account: Account,
    pub(crate) folder: &'f Path,
    pub(crate) port: u16,
    pub(crate) password: String,
}

impl Setup<'_> {
    /// A program of a database, as the account of its server.
    pub(crate) fn program(
        &self,
        kind: Kind,
        program: &'static str,
    ) -> Result<Program, ServiceError> {
        let path = kind.find(program)?;
        Ok(self.account.program(path, self.folder))
    }

    /// The same, with all that it writes in a file: nobody reads a server's output while it runs.
    pub(crate) fn logged(
        &self,
        kind: Kind,
        program: &'static str,
    ) -> Result<Program, ServiceError> {
        let path = kind.find(program)?;
        let shell = self.account.program("sh", self.folder);
        Ok(shell.args(["-c", "exec \"$0\" \"$@\" >log 2>&1"]).arg(path))
    }

    /// Writes a file that the account alone can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, ServiceError> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.join(name);
        let written = std::fs::write(&path, text)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)));
        written.map_err(|source| ServiceError::File {
            path: path.clone(),
            source,
        })?;
        self.account.give(&path)?;
        Ok(path)
    }

    /// Runs a command that prepares the server.
    pub(crate) fn prepare(&self, kind: Kind, program: Program) -> Result<(), ServiceError> {
        let output = program.time_limit(START_LIMIT).run();
        let done = output.and_then(antiphon_runner::Output::success);
        done.map(|_| ()).map_err(|source| ServiceError::NotSetUp {
            title: kind.title(),
            source: Box::new(source),
        })
    }
}

/// Starts a server with its data in `folder`, and returns when it has confirmed its settings.
pub(crate) fn start(kind: Kind, folder: &Path) -> Result<Server, ServiceError> {
    let mut setup = Setup {
        account: Account::choose()?,
        folder,
        port: 0,
        password: secret()?,
    };
    setup.account.give(folder)?;
    match kind {
        Kind::Mariadb => mariadb::set_up(&setup)?,
        _ => postgresql::set_up(&setup)?,
    }
    let mut tries = 0;
    loop {
        tries += 1;
        setup.port = free_port().map_err(|source| ServiceError::File {
            path: folder.to_owned(),
            source,
        })?;
        match start_at(kind, &setup) {
            Err(ServiceError::Ended { last_words, .. })
                if tries < PORTS
                    && last_words.to_lowercase().contains("address already in use") => {}
            other => return other,
        }
    }
}

fn start_at(kind: Kind, setup: &Setup) -> Result<Server, ServiceError> {
    let program = match kind {
        Kind::Mariadb => mariadb::server(setup)?,
        _ => postgresql::server(setup)?,
    };
    let child = program.spawn().map_err(|source| ServiceError::NotSetUp {
        title: kind.title(),
        source: Box::new(source),
    })?;
    let server = Server {
        kind,
        child: Some(child),
        log: setup.folder.join("log"),
        port: setup.port,
        password: setup.password.clone(),
    };
    let told = server.settings(setup)?;
    for setting in kind.settings() {
        let found = told.iter().find(|(name, _)| name == setting.name);
        let found = found.map_or("nothing", |(_, value)| value);
        if !found.eq_ignore_ascii_case(setting.value) {
            return Err(ServiceError::Unconfirmed {
                title: kind.title(),
                name: setting.name.to_owned(),
                wanted: setting.value.to_owned(),
                found: found.to_owned(),
            });
        }
    }
    Ok(server)
}

impl Server {
    /// Its process, as whose descendants it does all its work.
    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().map_or(0, Process::id)
    }

    /// One that has ended lies there until its keeper has seen it.
    fn is_running(&self) -> bool {
        !has_ended(&ProcessStat::of(self.process()))
    }

    /// How it ended, should it have done so unasked.
    pub(crate) fn lost(&mut self) -> Option<ServiceError> {
        if self.is_running() {
            return None;
        }
        let end = match self.child.take()?.wait(STOP_LIMIT) {
            Ok((end, _)) => end.to_string(),
            Err(error) => error.to_string(),
        };
        Some(ServiceError::Lost {
            title: self.kind.title(),
            end,
            last_words: last_words(&self.log),
        })
    }

    /// Asks for its settings until it answers.
    fn settings(&self, setup: &Setup) -> Result<Vec<(String, String)>, ServiceError> {
        let until = Instant::now() + START_LIMIT;
        let title = self.kind.title();
        loop {
            let client = match self.kind {
                Kind::Mariadb => mariadb::client(setup)?,
                _ => postgresql::client(setup)?,
            };
            let why = match ask(client, left(until, Instant::now())) {
                Ok(settings) => return Ok(settings),
                Err(why) => why,
            };
            let last_words = || last_words(&self.log);
            if !self.is_running() {
                let last_words = last_words();
                return Err(ServiceError::Ended { title, last_words });
            }
            if Instant::now() >= until {
                return Err(ServiceError::Silent {
                    title,
                    seconds: START_LIMIT.as_secs(),
                    why,
                    last_words: last_words(),
                });
            }
            std::thread::sleep(BETWEEN);
        }
    }

    /// Asks it to end, waits for that, and kills what does not.
    pub(crate) fn stop(mut self) -> Result<(), ServiceError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), ServiceError> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        child.signal(match self.kind {
            Kind::Mariadb => mariadb::STOP,
            _ => postgresql::STOP,
        });
        let ended = child.wait(STOP_LIMIT).map(|(end, _)| end);
        match ended {
            Ok(End::Exited(0)) => Ok(()),
            Ok(end) => Err(self.not_stopped(end)),
            Err(source) => Err(not_stopped(self.kind, source)),
        }
    }

    /// It ended otherwise than it was asked to.
    fn not_stopped(&self, end: End) -> ServiceError {
        let program = self.kind.name().to_owned();
        not_stopped(self.kind, end.into_error(program, last_words(&self.log)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The child is killed when it is dropped, should it not end of itself.
        let _ = self.end();
    }
}

fn not_stopped(kind: Kind, source: RunnerError) -> ServiceError {
    ServiceError::NotStopped {
        title: kind.title(),
        source: Box::new(source),
    }
}

/// Whether a process has ended, by what the system says of it. Where it cannot be read for want of something (a descriptor, say) nobody
/// knows, and the process may be as it should.
fn has_ended(stat: &io::Result<ProcessStat>) -> bool {
    match stat {
        Ok(stat) => stat.has_ended(),
        Err(error) => ProcessStat::says_that_it_ended(error),
    }
}

/// How long a question may take that is asked at `now` of who is to have answered at `until`.
fn left(until: Instant, now: Instant) -> Duration {
    until.saturating_duration_since(now).max(ASK_LEAST)
}

/// What a client prints within that time: a setting a line, its name and value apart by a tab.
fn ask(client: Program, limit: Duration) -> Result<Vec<(String, String)>, String> {
    let output = client.time_limit(limit).run();
    let output = output.and_then(antiphon_runner::Output::success);
    let output = output.map_err(|error| first_words(&error))?;
    let text = output.text().map_err(|error| error.to_string())?;
    let pair = |line: &str| {
        let (name, value) = line.split_once('\t')?;
        Some((name.to_owned(), value.to_owned()))
    };
    Ok(text.lines().filter_map(pair).collect())
}

/// What a client said first, which names what it lacks, on a line; what became of it, where it said nothing.
fn first_words(error: &RunnerError) -> String {
    let first = error.last_words().lines().next().map(str::trim);
    first.map_or_else(|| error.to_string(), str::to_owned)
}

/// The end of a log.
fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// A password, so that no other user of the machine reaches the server.
fn secret() -> Result<String, ServiceError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ServiceError::NoSecret)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;

    #[test]
    fn a_process_that_cannot_be_looked_at_has_not_ended() {
        let line = |state| format!("7 (a) b) {state} 1 7 7");
        let stat = |state| Ok(ProcessStat::parse(line(state).as_bytes()).unwrap());
        for state in ["R", "S", "D", "T", "I"] {
            assert!(!has_ended(&stat(state)), "{state}");
        }
        assert!(has_ended(&stat("Z")) && has_ended(&stat("X")));
        let failed = |errno: Errno| has_ended(&Err(errno.into()));
        assert!(failed(Errno::ENOENT) && failed(Errno::ESRCH));
        assert!(!failed(Errno::EMFILE) && !failed(Errno::ENFILE) && !failed(Errno::ENOMEM));
    }

    #[test]
    fn questions_share_one_limit() {
        let now = Instant::now();
        assert_eq!(left(now + START_LIMIT, now), START_LIMIT);
        let later = now + START_LIMIT / 2;
        assert_eq!(left(now + START_LIMIT, later), START_LIMIT / 2);
        assert_eq!(left(now, later), ASK_LEAST);
    }

    /// A server that is a shell, and ends in this way when it is asked to.
    fn server(ends: &str, log: PathBuf) -> Server {
        let script = format!("trap '{ends}' TERM; echo ready; while :; do sleep 0.01; done");
        let mut child = Program::new("sh").args(["-c", &script]).spawn().unwrap();
        assert_eq!(child.read_line().unwrap(), "ready");
        Server {
            kind: Kind::Mariadb,
            child: Some(child),
            log,
            port: 0,
            password: String::new(),
        }
    }

    #[test]
    fn a_server_that_does_not_stop_as_it_should_says_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "the disk is gone\n").unwrap();
        server("exit 0", log.clone()).stop().unwrap();
        let error = server("exit 3", log.clone()).stop().unwrap_err();
        assert_eq!(
            error.reason(),
            "MariaDB could not be stopped: `mariadb` ended with exit code 3"
        );
        assert_eq!(error.last_words(), "the disk is gone");
        let killed = server("exit 0", log).not_stopped(End::TimedOut { limit: STOP_LIMIT });
        assert_eq!(
            killed.reason(),
            "MariaDB could not be stopped: `mariadb` did not finish within 20s and was killed"
        );
    }
}
