//! Hosts behind a real ssh and sshd, with keys and settings of their own. As root, each host is a
//! network namespace with an sshd. Otherwise an sshd listens at another address of the loopback for
//! each.

use super::networks::Networks;
use antiphon_runner::{Process, Program};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where distributions put what only root calls.
const SBIN: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// How long an sshd may take until it answers.
const LIMIT: Duration = Duration::from_secs(60);

/// Two hosts with an sshd each, and a folder with keys, settings and files of hosts: `hosts` names
/// the two, `all` this one before them.
pub struct Servers {
    folder: TempDir,
    servers: Vec<Process>,
    /// The two hosts' addresses.
    pub hosts: Vec<String>,
    networks: Option<Networks>,
}

impl Servers {
    /// Starts them, or prints why that is impossible here.
    pub fn try_new() -> Option<Self> {
        let started = Self::new();
        started.inspect_err(|why| eprintln!("skipped: {why}")).ok()
    }

    fn new() -> Result<Self, String> {
        let sshd = SBIN.map(|folder| Path::new(folder).join("sshd"));
        let sshd = sshd.into_iter().find(|sshd| sshd.exists());
        let sshd = sshd.ok_or("no sshd here: apt-get install openssh-server")?;
        let is_root = run("id", ["-u"])? == "0\n";
        let networks = is_root.then(Networks::try_new).flatten();
        let mut servers = Self {
            folder: tempfile::tempdir().map_err(|e| e.to_string())?,
            servers: Vec::new(),
            hosts: ["127.0.0.2", "127.0.0.3"].map(String::from).into(),
            networks,
        };
        if let Some(networks) = &servers.networks {
            servers.hosts = networks.addresses.to_vec();
        }
        let port = free_port()?;
        servers.write_keys_and_settings(port)?;
        for at in 0..servers.hosts.len() {
            servers.start(&sshd, at, is_root)?;
        }
        for at in 0..servers.hosts.len() {
            servers.await_answer(at)?;
        }
        Ok(servers)
    }

    /// Returns the path of a file in the folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Nothing of the user's own or the system's is read or written.
    fn write_keys_and_settings(&self, port: u16) -> Result<(), String> {
        for name in ["host", "user"] {
            let file = self.at(name);
            let words = ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"].map(OsStr::new);
            run("ssh-keygen", words.into_iter().chain([file.as_os_str()]))?;
        }
        let key = self.read("host.pub")?;
        self.write("known", &format!("* {key}"))?;
        self.write("authorized", &self.read("user.pub")?)?;
        let folder = self.folder.path().display();
        // Keys alone, wherever the folder lies.
        let server = format!(
            "HostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\nPidFile none\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nStrictModes no\nUsePAM no\nPort {port}\n"
        );
        for (at, host) in self.hosts.iter().enumerate() {
            self.write(
                &format!("sshd{at}"),
                &format!("{server}ListenAddress {host}\n"),
            )?;
        }
        let client = format!(
            "Host *\nPort {port}\nIdentityFile {folder}/user\nIdentitiesOnly yes\nBatchMode yes\n\
             UserKnownHostsFile {folder}/known\nGlobalKnownHostsFile /dev/null\n\
             StrictHostKeyChecking yes\nServerAliveInterval 5\nLogLevel ERROR\n"
        );
        self.write("settings", &client)?;
        let hosts = self.hosts.join("\n");
        self.write("hosts", &format!("{hosts}\n"))?;
        self.write("all", &format!("localhost\n{hosts}\n"))
    }

    fn read(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.at(name)).map_err(|e| format!("{name}: {e}"))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.at(name), text).map_err(|e| format!("{name}: {e}"))
    }

    fn start(&mut self, sshd: &Path, at: usize, is_root: bool) -> Result<(), String> {
        let (settings, log) = (self.at(&format!("sshd{at}")), self.at(&format!("log{at}")));
        let words = [OsStr::new("-D"), "-f".as_ref(), settings.as_ref()];
        let words = words.into_iter().chain(["-E".as_ref(), log.as_os_str()]);
        // Root's sshd wants a folder in /run, which is its own here.
        let own_run = "mount -t tmpfs none /run && mkdir /run/sshd && exec \"$0\" \"$@\"";
        let program = match (&self.networks, is_root) {
            (Some(networks), _) => Program::new("ip").args(["netns", "exec", &networks.names[at]]),
            (None, _) => Program::new("env"),
        };
        let program = match is_root {
            true => program.args(["unshare", "--mount", "sh", "-c", own_run]),
            false => program,
        };
        let server = program.arg(sshd).args(words).spawn();
        self.servers.push(server.map_err(|e| e.to_string())?);
        Ok(())
    }

    /// Waits until a host can be reached. One that refuses, for reasons of the system's, is no
    /// fault of ours.
    fn await_answer(&self, at: usize) -> Result<(), String> {
        let ssh = self.ssh();
        let words = ssh.split(' ').skip(1);
        let words: Vec<&str> = words.chain([self.hosts[at].as_str(), "true"]).collect();
        let end = Instant::now() + LIMIT;
        let answer = loop {
            let answer = run("ssh", &words);
            let is_early = answer
                .as_ref()
                .is_err_and(|said| said.contains("Connection refused"));
            if !is_early || self.has_ended(at) || Instant::now() > end {
                break answer;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let log = self.read(&format!("log{at}")).unwrap_or_default();
        let last_words = self.servers[at].last_words();
        answer
            .map(drop)
            .map_err(|said| format!("sshd lets nobody in: {said}{log}{last_words}"))
    }

    fn has_ended(&self, at: usize) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.servers[at].id()));
        stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
    }

    /// Returns the value of `ANTIPHON_SSH` that reaches the hosts.
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.at("settings").display())
    }
}

fn run(
    program: &str,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<String, String> {
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

fn free_port() -> Result<u16, String> {
    let taken = std::net::TcpListener::bind(("127.0.0.2", 0)).and_then(|one| one.local_addr());
    taken.map(|one| one.port()).map_err(|e| e.to_string())
}
