//! Sessions over several hosts. What stands for ssh here runs the command on this host, in a network namespace of its own if it is root's test.

use antiphon_launch::{Launch, LaunchError, Line, Outcome, Over};
use antiphon_runner::End;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const MEMBER: &str = env!("CARGO_BIN_EXE_launch-test-member");
const LIMIT: Duration = Duration::from_secs(60);

/// The variable that names the command is the process's, so tests take turns.
static SSH: Mutex<()> = Mutex::new(());

/// A folder with a command that is called as ssh is, and a file of hosts.
struct Fake {
    folder: TempDir,
    _turn: std::sync::MutexGuard<'static, ()>,
}

impl Fake {
    /// `reach` runs the command `$*` on the host `$host`.
    fn new(hosts: &str, reach: &str) -> Self {
        let turn = SSH.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let folder = tempfile::tempdir().expect("a folder");
        let ssh = folder.path().join("ssh");
        // It notes what is seen of it, as `ps` would show it.
        let log = folder.path().join("log");
        let text = format!(
            "#!/bin/sh\nhost=$1; shift\nprintf '%s\\n' \"$host $*\" >> {}\n{reach}\n",
            log.display()
        );
        std::fs::write(&ssh, text).expect("written");
        std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).expect("set");
        std::fs::write(folder.path().join("hosts"), hosts).expect("written");
        // SAFETY: tests of this file that read the environment hold the same lock.
        unsafe { std::env::set_var("ANTIPHON_SSH", &ssh) };
        Self {
            folder,
            _turn: turn,
        }
    }

    fn hosts(&self) -> PathBuf {
        self.folder.path().join("hosts")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

const HERE: &str = "exec sh -c \"$*\"";

fn launch(fake: &Fake, over: Over, count: u32, words: &[&str]) -> Launch {
    Launch::new(over, count, MEMBER)
        .args(words)
        .hosts(Some(fake.hosts()))
}

fn follow(launch: &Launch) -> (Outcome, Vec<(u32, String)>) {
    let mut lines = Vec::new();
    let running = launch.start().expect("started");
    let outcome = running.to_end(|line: Line| {
        let text = String::from_utf8_lossy(&line.text).into_owned();
        lines.push((line.rank.expect("a rank"), text));
    });
    lines.sort();
    (outcome.expect("followed"), lines)
}

fn all_hear_all(fake: &Fake, over: Over) {
    let (outcome, lines) = follow(&launch(fake, over, 3, &["greet"]));
    let heard = |rank, text: &str| (rank, text.to_owned());
    assert_eq!(
        lines,
        [
            heard(0, "heard [1, 2]"),
            heard(1, "heard [0, 2]"),
            heard(2, "heard [0, 1]")
        ]
    );
    assert_eq!(outcome.summary(), None);
}

#[test]
fn processes_of_several_hosts_hear_each_other() {
    let fake = Fake::new("localhost\n127.0.0.2\n127.0.0.3\n", HERE);
    all_hear_all(&fake, Over::Tcp);
    all_hear_all(&fake, Over::Udp);
    let log = fake.log();
    let calls = log
        .lines()
        .filter(|line| line.starts_with("127.0.0."))
        .count();
    assert_eq!(calls, 4, "two of three by ssh, twice: {log}");
    assert!(
        !log.contains("ANTIPHON_SECRET"),
        "a secret on a command line"
    );
}

#[test]
fn arguments_come_as_they_are_and_codes_come_back() {
    let fake = Fake::new("127.0.0.2 slots=2", HERE);
    let strange = "a  b'c\"$HOME`\\\nEND-0\n*";
    let (outcome, lines) = follow(&launch(&fake, Over::Tcp, 1, &["echo", strange]));
    assert_eq!(outcome.summary(), None, "{lines:?}");
    assert_eq!(lines, [(0, format!("{strange:?}"))]);
    let (outcome, _) = follow(&launch(&fake, Over::Tcp, 2, &["exit"]));
    assert_eq!(outcome.exit_code(), 7);
}

#[test]
fn signals_reach_processes_on_other_hosts() {
    let fake = Fake::new("127.0.0.2 slots=2", HERE);
    let running = launch(&fake, Over::Tcp, 2, &["hang"])
        .start()
        .expect("started");
    let signals = running.signals();
    let mut here = 0;
    let outcome = running.to_end(|_| {
        here += 1;
        if here == 2 {
            signals.signal(15);
        }
    });
    let ends: Vec<_> = outcome.expect("followed").ended;
    assert!(
        ends.iter().all(|ended| ended.end == End::Exited(128 + 15)),
        "{ends:?}"
    );
}

/// Whether a process is there and no zombie.
fn is_there(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn processes_on_other_hosts_end_when_ssh_is_cut_off() {
    // In a session of its own, as behind a real ssh: nothing but the end of its input tells the other side.
    let fake = Fake::new(
        "127.0.0.2",
        "mkfifo \"$0.$$\"; setsid sh -c \"$*\" < \"$0.$$\" & exec cat > \"$0.$$\"",
    );
    let running = launch(&fake, Over::Tcp, 1, &["hang"])
        .start()
        .expect("started");
    let signals = running.signals();
    let mut pid = String::new();
    let outcome = running.to_end(|line| {
        // The shell of the other side may tell of the end, too.
        let text = String::from_utf8_lossy(&line.text).into_owned();
        if let Some(id) = text.strip_prefix("here ") {
            pid = id.to_owned();
            assert!(is_there(&pid), "{text}");
            signals.signal(9);
        }
    });
    outcome.expect("followed");
    assert!(!pid.is_empty(), "it said nothing");
    wait_until("it outlived us", || !is_there(&pid));
}

#[test]
fn a_command_that_is_missing_is_named() {
    let fake = Fake::new("127.0.0.2", HERE);
    // SAFETY: as above.
    unsafe { std::env::set_var("ANTIPHON_SSH", "no-such-ssh -v") };
    let error = launch(&fake, Over::Tcp, 1, &["greet"]).start().err();
    assert!(
        matches!(&error, Some(LaunchError::NoSsh { command }) if command == "no-such-ssh -v"),
        "{error:?}"
    );
}

/// Two network namespaces and this one, on one bridge.
struct Networks {
    names: Vec<String>,
    bridge: String,
}

impl Networks {
    fn new() -> Result<Self, String> {
        let id = std::process::id() % 10_000;
        let (bridge, names) = (
            format!("apb{id}"),
            vec![format!("apn{id}a"), format!("apn{id}b")],
        );
        let networks = Self { names, bridge };
        let bridge = &networks.bridge;
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add 10.213.77.1/24 dev {bridge}"))?;
        ip(&format!("link set {bridge} up"))?;
        for (i, name) in (2..).zip(&networks.names) {
            ip(&format!("netns add {name}"))?;
            ip(&format!(
                "link add {name} type veth peer name e0 netns {name}"
            ))?;
            ip(&format!("link set {name} master {bridge} up"))?;
            ip(&format!("-n {name} addr add 10.213.77.{i}/24 dev e0"))?;
            ip(&format!("-n {name} link set e0 up"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        Ok(networks)
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = ip(&format!("netns del {name}"));
            let _ = ip(&format!("link del {name}"));
        }
        let _ = ip(&format!("link del {}", self.bridge));
    }
}

fn ip(words: &str) -> Result<(), String> {
    let output = Command::new("ip")
        .args(words.split_whitespace())
        .output()
        .map_err(|e| format!("ip: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {words}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

#[test]
fn processes_in_networks_of_their_own_hear_each_other() {
    let networks = match Networks::new() {
        Ok(networks) => networks,
        Err(why) => {
            eprintln!("skipped: no network namespaces here ({})", why.trim());
            return;
        }
    };
    let [a, b] = &networks.names[..] else {
        unreachable!("there are two")
    };
    let reach = format!(
        "case $host in 10.213.77.2) at={a};; *) at={b};; esac\nexec ip netns exec $at sh -c \"$*\""
    );
    let fake = Fake::new("localhost\n10.213.77.2\n10.213.77.3\n", &reach);
    all_hear_all(&fake, Over::Tcp);
    all_hear_all(&fake, Over::Udp);
}

/// A launch that is killed leaves nobody behind on other hosts. This test starts itself as the launch.
#[test]
fn a_launch_that_is_killed_leaves_nobody_on_other_hosts() {
    let fake = Fake::new("127.0.0.2", HERE);
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "launcher", "--ignored", "--nocapture"])
        .env("HOSTS", fake.hosts())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let lines = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let line = std::io::BufRead::lines(lines)
        .map_while(Result::ok)
        .find(|line| line.contains("here "))
        .expect("it says who it is");
    let (_, pid) = line.split_once("here ").expect("a number");
    assert!(is_there(pid), "{line}");
    child.kill().expect("killed");
    child.wait().expect("waited for");
    wait_until("it outlived the launch", || !is_there(pid));
}

#[test]
#[ignore = "the launch of another test"]
fn launcher() {
    let hosts = std::env::var_os("HOSTS").expect("a file of hosts");
    let launch = Launch::new(Over::Tcp, 1, MEMBER)
        .args(["hang"])
        .hosts(Some(Path::new(&hosts)));
    let running = launch.start().expect("started");
    let _ = running.to_end(|line| {
        println!("{}", String::from_utf8_lossy(&line.text));
        std::io::stdout().flush().expect("written");
    });
}
