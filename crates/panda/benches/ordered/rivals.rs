//! Members of other implementations: JGroups' SEQUENCER over TCP (`jgroups/Member.java`), and NATS
//! JetStream with one replica in memory (`nats/`). `install.sh` installs their dependencies.

use std::any::Any;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::contestant::Cast;

const JGROUPS: &str = "jgroups-5.5.4.Final.jar";
const INSTALL: &str = "crates/panda/benches/ordered/install.sh";
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

fn sources() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ordered"))
}

/// Returns the folder where `install.sh` puts its files, and where they are built.
fn place() -> PathBuf {
    match std::env::var_os("RIVALS") {
        Some(place) => PathBuf::from(place),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rivals"),
    }
}

fn needed(what: &str, rival: &str) -> String {
    format!("{what} is not there; `{INSTALL} {rival}` brings it")
}

fn build(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|e| format!("cannot start {command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// Returns JGroups, with one Java process a member.
pub fn jgroups(members: u32) -> Result<Cast, String> {
    let jar = place().join(JGROUPS);
    if !jar.exists() {
        return Err(needed(JGROUPS, "jgroups"));
    }
    let classes = place().join("jgroups");
    build(
        Command::new("javac")
            .arg("-cp")
            .arg(&jar)
            .arg("-d")
            .arg(&classes)
            .arg(sources().join("jgroups/Member.java")),
    )?;
    let path = format!("{}:{}", jar.display(), classes.display());
    let ports: Vec<String> = free_ports(members)?
        .iter()
        .map(SocketAddr::port)
        .map(|port| port.to_string())
        .collect();
    let member = |rank: u32| {
        let mut command = Command::new("java");
        command
            .args(["-cp", &path, "-Xmx1g", "Member", &rank.to_string()])
            .args(&ports);
        command
    };
    Ok(Cast {
        commands: (0..members).map(member).collect(),
        is_one_by_one: true,
        members_each: 1,
        keeps: Box::new(()),
    })
}

/// Returns free addresses on the loopback.
fn free_ports(count: u32) -> Result<Vec<SocketAddr>, String> {
    let listeners: Result<Vec<_>, _> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect();
    let addresses =
        listeners.map(|listeners| listeners.iter().map(TcpListener::local_addr).collect());
    addresses
        .and_then(|addresses: Result<Vec<_>, _>| addresses)
        .map_err(|e| format!("no free ports: {e}"))
}

/// Returns NATS, with one server, and one client process a member.
pub fn nats(members: u32) -> Result<Cast, String> {
    let server = place().join("nats-server");
    if !server.exists() {
        return Err(needed("nats-server", "nats"));
    }
    let client = place().join("nats-member");
    build(
        Command::new("go")
            .args(["build", "-o"])
            .arg(&client)
            .arg(".")
            .current_dir(sources().join("nats")),
    )?;
    let server = Server::start(&server)?;
    let url = format!("nats://{}", server.address);
    let member = |rank: u32| {
        let mut command = Command::new(&client);
        command.args([&rank.to_string(), &members.to_string(), &url]);
        command
    };
    Ok(Cast {
        commands: (0..members).map(member).collect(),
        is_one_by_one: true,
        members_each: 1,
        keeps: Box::new(server) as Box<dyn Any>,
    })
}

struct Server {
    child: Child,
    address: SocketAddr,
    store: PathBuf,
}

impl Server {
    fn start(program: &Path) -> Result<Self, String> {
        let address = free_ports(1)?[0];
        let store = place().join(format!("nats-{}", std::process::id()));
        let child = Command::new(program)
            .args(["-a", "127.0.0.1", "-p", &address.port().to_string(), "-js"])
            .arg("-sd")
            .arg(&store)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", program.display()))?;
        let server = Self {
            child,
            address,
            store,
        };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(address).is_err() {
            if Instant::now() > until {
                return Err(format!("nats-server does not listen at {address}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.store);
    }
}
