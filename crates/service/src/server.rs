//! Servers: set up, started, asked for their settings, stopped.

use crate::account::Account;
use crate::{Kind, ServiceError, mariadb, postgresql};
use antiphon_runner::{
    End, Error as RunnerError, Process, ProcessStat, Program, free_port, holds_port,
};
use nix::fcntl::OFlag;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest start of a server until it answers. It takes about a second on an idle machine.
const START_LIMIT: Duration = Duration::from_secs(180);

/// The least time limit of a check whether a server answers, even for one that begins late.
const ASK_LEAST: Duration = Duration::from_secs(1);

/// Longest end of a server before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// The pause between two such checks.
const BETWEEN: Duration = Duration::from_millis(50);

/// Attempts at a port. Another process may take it between our check and the server's bind.
const PORTS: u32 = 10;

/// Bytes of a log's end that are read for its last lines.
const LOG_END: u64 = 64 * 1024;

/// Connection limit of a server. Sixteen of each subject, beside its own, stay open under each
/// placement until its next test.
pub(crate) const CONNECTIONS_MOST: u32 = 512;

/// A running server.
pub(crate) struct Server {
    kind: Kind,
    child: Option<Process>,
    log: PathBuf,
    setup: Setup,
}

/// Parameters of a server's start. Its folder is open to its account alone.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) account: Account,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    /// Password of programs on the port. Each attempted port has another.
    pub(crate) password: String,
    /// Our own password, on the socket in the folder.
    pub(crate) administrator: String,
}

impl Setup {
    /// Returns a program of a database, run as the account of its server.
    pub(crate) fn program(
        &self,
        kind: Kind,
        program: &'static str,
    ) -> Result<Program, ServiceError> {
        let path = kind.find(program)?;
        Ok(self.account.program(path, &self.folder))
    }

    /// Returns the same with its output in a file, because no process reads a server's output while
    /// it runs.
    pub(crate) fn logged(
        &self,
        kind: Kind,
        program: &'static str,
    ) -> Result<Program, ServiceError> {
        let path = kind.find(program)?;
        let shell = self.account.program("sh", &self.folder);
        Ok(shell.args(["-c", "exec \"$0\" \"$@\" >log 2>&1"]).arg(path))
    }

    /// Writes a file that the account alone can read. It is always a new one: a link that another
    /// process of the account put there is not followed.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, ServiceError> {
        let path = self.folder.join(name);
        let written = match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path),
        };
        let written = written.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            self.account.give_file(&file)
        });
        match written {
            Ok(()) => Ok(path),
            Err(source) => Err(ServiceError::File { path, source }),
        }
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
    start_on(kind, folder, free_port)
}

/// Starts a server on one of the ports that `next_port` names.
///
/// Our check of a port ends before the server binds it, and another user may take it in between.
/// Therefore nothing secret goes to the port before the server certainly holds it. The server opens
/// its socket only after its port, in a folder of its account alone. It ends if it does not get the
/// port.
fn start_on(
    kind: Kind,
    folder: &Path,
    mut next_port: impl FnMut() -> io::Result<u16>,
) -> Result<Server, ServiceError> {
    let mut setup = Setup {
        account: Account::choose()?,
        folder: folder.to_owned(),
        port: 0,
        password: String::new(),
        administrator: secret()?,
    };
    setup.account.give(folder)?;
    match kind {
        Kind::Mariadb => mariadb::set_up(&setup)?,
        _ => postgresql::set_up(&setup)?,
    }
    let mut tries = 0;
    loop {
        tries += 1;
        setup.port = next_port().map_err(|source| ServiceError::File {
            path: folder.to_owned(),
            source,
        })?;
        setup.password = secret()?;
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
        setup: setup.clone(),
    };
    let reported = server.settings()?;
    for setting in kind.settings() {
        let found = reported.iter().find(|(name, _)| name == setting.name);
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
    if holds_port(server.process(), setup.port) == Some(false) {
        return Err(ServiceError::Ended {
            title: kind.title(),
            last_words: format!("port {}: address already in use", setup.port),
        });
    }
    if kind == Kind::Postgresql {
        server.administer(&postgresql::admit(&setup.password))?;
    }
    Ok(server)
}

impl Server {
    /// Returns its process. All its work happens in descendants of it.
    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().map_or(0, Process::id)
    }

    /// Checks whether the server runs. An ended one remains visible until its keeper reaps it.
    fn is_running(&self) -> bool {
        !has_ended(&ProcessStat::of(self.process()))
    }

    /// Returns the error of a server that has ended by itself.
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

    pub(crate) fn port(&self) -> u16 {
        self.setup.port
    }

    /// Returns the password of programs on the port.
    pub(crate) fn password(&self) -> &str {
        &self.setup.password
    }

    /// Its log, which grows.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// Runs statements over its socket, as its administrator if it has one, and returns the
    /// client's output.
    pub(crate) fn administer(&self, statements: &str) -> Result<String, ServiceError> {
        self.client(statements)?
            .time_limit(START_LIMIT)
            .run()
            .and_then(antiphon_runner::Output::success)
            .and_then(|output| output.text().map(str::to_owned))
            .map_err(|source| ServiceError::NotSetUp {
                title: self.kind.title(),
                source: Box::new(source),
            })
    }

    fn client(&self, statements: &str) -> Result<Program, ServiceError> {
        match self.kind {
            Kind::Mariadb => mariadb::client(&self.setup, statements),
            _ => postgresql::client(&self.setup, statements),
        }
    }

    /// Asks for its settings until it answers.
    fn settings(&self) -> Result<Vec<(String, String)>, ServiceError> {
        let until = Instant::now() + START_LIMIT;
        let title = self.kind.title();
        let query = match self.kind {
            Kind::Mariadb => mariadb::settings_query(),
            _ => postgresql::settings_query(),
        };
        loop {
            let why = match ask(self.client(&query)?, left(until, Instant::now())) {
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

    /// Asks it to end, waits for that, and kills the rest.
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

    /// Returns the error of an end other than the requested one.
    fn not_stopped(&self, end: End) -> ServiceError {
        let program = self.kind.name().to_owned();
        not_stopped(self.kind, end.into_error(program, last_words(&self.log)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Dropping the child kills it if it has not ended by itself.
        let _ = self.end();
    }
}

fn not_stopped(kind: Kind, source: RunnerError) -> ServiceError {
    ServiceError::NotStopped {
        title: kind.title(),
        source: Box::new(source),
    }
}

/// Checks whether a process has ended, by the system's answer. If it cannot be read for want of a
/// resource (a descriptor, say), the process counts as running.
fn has_ended(stat: &io::Result<ProcessStat>) -> bool {
    match stat {
        Ok(stat) => stat.has_ended(),
        Err(error) => ProcessStat::says_that_it_ended(error),
    }
}

/// Returns the time limit of a question that is asked at `now`, if the whole must end at `until`.
fn left(until: Instant, now: Instant) -> Duration {
    until.saturating_duration_since(now).max(ASK_LEAST)
}

/// Runs a client within a time and parses its output: a setting a line, with name and value
/// separated by a tab.
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

/// Returns the first line of a client's output, which names the fault, or without output its end.
fn first_words(error: &RunnerError) -> String {
    let first = error.last_words().lines().next().map(str::trim);
    first.map_or_else(|| error.to_string(), str::to_owned)
}

/// Returns the end of a log. Its folder belongs to the server's account, so a link or a FIFO in its
/// place is not read.
fn last_words(log: &Path) -> String {
    let end_of = || -> io::Result<Vec<u8>> {
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let mut options = File::options();
        let mut file = options.read(true).custom_flags(flags.bits()).open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
        let mut text = Vec::new();
        file.take(LOG_END).read_to_end(&mut text)?;
        Ok(text)
    };
    let text = end_of().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Creates a password, so that no other user of the machine reaches the server.
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

    /// Creates a server that is a shell, and ends in this way on request.
    fn server(ends: &str, log: PathBuf) -> Server {
        let script = format!("trap '{ends}' TERM; echo ready; while :; do sleep 0.01; done");
        let mut child = Program::new("sh").args(["-c", &script]).spawn().unwrap();
        assert_eq!(child.read_line().unwrap(), "ready");
        Server {
            kind: Kind::Mariadb,
            child: Some(child),
            log,
            setup: Setup {
                account: Account::Ours,
                folder: PathBuf::new(),
                port: 0,
                password: String::new(),
                administrator: String::new(),
            },
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

    /// Creates a place that the account of servers may enter.
    fn place() -> (tempfile::TempDir, crate::Place) {
        let folder = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let place = crate::Place::at(folder.path().to_owned()).unwrap();
        (folder, place)
    }

    fn is_installed(kind: Kind) -> bool {
        let found = kind.check();
        if let Err(error) = &found {
            println!("skipped: {error}");
        }
        found.is_ok()
    }

    /// Returns the first message of a PostgreSQL client: its length, the protocol's version, and
    /// the user.
    fn startup() -> Vec<u8> {
        let words = format!("user\0{}\0database\0postgres\0\0", crate::address::USER);
        let length = u32::try_from(8 + words.len()).unwrap();
        let head = [length.to_be_bytes(), 0x0003_0000_u32.to_be_bytes()].concat();
        [head, words.into_bytes()].concat()
    }

    /// Listens in place of the server, asks each client for its password in clear, and returns the
    /// count of clients.
    fn thief(kind: Kind) -> (u16, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let victims = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&victims);
        let asks: &[u8] = match kind {
            // A greeting of protocol 10 with the plugin for cleartext passwords.
            Kind::Mariadb => {
                b"\x4d\0\0\0\x0a10.11\0\x01\0\0\0saltsalt\0\xff\xf7\x08\x02\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0saltsaltsalt\0mysql_clear_password\0"
            }
            _ => b"R\0\0\0\x08\0\0\0\x03",
        };
        std::thread::spawn(move || {
            for mut victim in listener.incoming().flatten() {
                count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let mut words = [0; 512];
                if kind == Kind::Postgresql {
                    let _ = victim.read(&mut words);
                }
                let _ = victim.write_all(asks);
                let _ = victim.read(&mut words);
            }
        });
        (port, victims)
    }

    fn tells_a_thief_nothing(kind: Kind) {
        if !is_installed(kind) {
            return;
        }
        let (_folder, place) = place();
        let folder = place.folder(kind.name()).unwrap();
        let (taken, victims) = thief(kind);
        let mut passwords = Vec::new();
        let mut tries = 0;
        let server = start_on(kind, folder.path(), || {
            tries += 1;
            if let Ok(text) = std::fs::read_to_string(folder.path().join("setup.sql")) {
                passwords.push(text);
            }
            if tries < 3 { Ok(taken) } else { free_port() }
        });
        let server = server.unwrap();
        assert_eq!(tries, 3);
        assert_ne!(server.port(), taken);
        let victims = victims.load(std::sync::atomic::Ordering::SeqCst);
        assert_eq!(victims, 0, "{kind}: a client went to the thief");
        passwords.dedup();
        let different = if kind == Kind::Mariadb { 2 } else { 0 };
        assert_eq!(passwords.len(), different, "each try has other passwords");
        assert_ne!(server.password(), server.setup.administrator);
        server.stop().unwrap();
    }

    #[test]
    fn whoever_takes_the_port_of_postgresql_learns_nothing() {
        tells_a_thief_nothing(Kind::Postgresql);
    }

    #[test]
    fn whoever_takes_the_port_of_mariadb_learns_nothing() {
        tells_a_thief_nothing(Kind::Mariadb);
    }

    #[test]
    fn programs_are_no_superusers_and_tell_postgresql_no_password() {
        if !is_installed(Kind::Postgresql) {
            return;
        }
        let (_folder, place) = place();
        let folder = place.folder("postgresql").unwrap();
        let server = start(Kind::Postgresql, folder.path()).unwrap();
        let asked = |user: &str| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            let words = String::from_utf8(startup()).unwrap();
            let padded = words.replace(crate::address::USER, user);
            let mut bytes = padded.into_bytes();
            let length = u32::try_from(bytes.len()).unwrap();
            bytes[..4].copy_from_slice(&length.to_be_bytes());
            stream.write_all(&bytes).unwrap();
            let mut head = [0; 9];
            stream.read_exact(&mut head).unwrap();
            head
        };
        let head = asked(crate::address::USER);
        // R: authentication; 10: SASL, of which SCRAM is the only kind.
        assert_eq!((head[0], &head[5..]), (b'R', &[0, 0, 0, 10][..]));
        // E: an error. The administrator cannot log in over the port.
        assert_eq!(asked("administrator")[0], b'E');
        let query = "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = 'antiphon';";
        assert_eq!(server.administer(query).unwrap().trim(), "f");
        let as_program = "SET ROLE antiphon; COPY (SELECT 1) TO PROGRAM 'true';";
        let refused = server.administer(as_program).unwrap_err();
        assert!(
            refused.last_words().contains("external program"),
            "{}",
            refused.last_words()
        );
        server.stop().unwrap();
    }

    /// Tests a link in place of a written file, which another process of the servers' account may
    /// create.
    #[test]
    fn a_file_of_the_setup_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "whole").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("setup.sql")).unwrap();
        let setup = Setup {
            account: Account::Ours,
            folder: folder.path().to_owned(),
            port: 0,
            password: String::new(),
            administrator: String::new(),
        };
        let path = setup.write("setup.sql", "secret").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "whole");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "secret");
        let mode = std::os::unix::fs::MetadataExt::mode(&path.symlink_metadata().unwrap());
        assert_eq!(mode & 0o7777, 0o600);
        std::os::unix::fs::symlink(&victim, folder.path().join("log")).unwrap();
        assert_eq!(last_words(&folder.path().join("log")), "");
    }
}
