//! Sessions over several hosts. They are an executable of their own since the command that reaches
//! hosts is named by a variable of the process. What stands for ssh here runs the command on this
//! host, in a network namespace of its own if it is root's test.

use antiphon_launch::{Launch, LaunchError, Line, Outcome, Over};
use antiphon_runner::End;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

mod networks;
#[path = "../it/open_mpi.rs"]
mod open_mpi;
mod servers;
#[path = "../it/spawned.rs"]
mod spawned;
mod sshd;

use networks::Networks;
use open_mpi::has_mpi;

const MEMBER: &str = env!("CARGO_BIN_EXE_launch-test-member");
const STANDS_FOR_SSH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/ssh.sh");
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
        std::os::unix::fs::symlink(STANDS_FOR_SSH, &ssh).expect("linked");
        std::fs::write(folder.path().join("reach"), reach).expect("written");
        std::fs::write(folder.path().join("hosts"), hosts).expect("written");
        // By this name `mpirun` gives it no options of ssh's.
        let agent = folder.path().join("agent");
        std::os::unix::fs::symlink(STANDS_FOR_SSH, &agent).expect("linked");
        // SAFETY: tests of this file that read the environment hold the same lock.
        unsafe { std::env::set_var("ANTIPHON_SSH", &ssh) };
        // SAFETY: tests of this file that read the environment hold the same lock.
        unsafe { std::env::set_var("OMPI_MCA_plm_rsh_agent", &agent) };
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

/// Runs the command on this host, with a folder of its own for what is temporary: daemons of Open
/// MPI that shared one would map a file that another still writes.
const HERE: &str = "mkdir -p \"$beside/$host\" && TMPDIR=$beside/$host exec sh -c \"$*\"";

fn launch(hosts: &Path, over: Over, count: u32, words: &[&str]) -> Launch {
    Launch::new(over, count, MEMBER)
        .args(words)
        .hosts(Some(hosts.to_owned()))
}

fn follow(launch: &Launch) -> (Outcome, Vec<(u32, String)>) {
    let mut lines = Vec::new();
    let running = launch.start().expect("started");
    let outcome = running.to_end(|line: Line| {
        let text = String::from_utf8_lossy(&line.text).into_owned();
        lines.push((
            line.rank.unwrap_or_else(|| panic!("of no rank: {text}")),
            text,
        ));
    });
    lines.sort();
    (outcome.expect("followed"), lines)
}

fn all_hear_all(hosts: &Path, over: Over) {
    let (outcome, lines) = follow(&launch(hosts, over, 3, &["greet"]));
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
    all_hear_all(&fake.hosts(), Over::Tcp);
    all_hear_all(&fake.hosts(), Over::Udp);
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

/// `mpirun` reads the same file, and reaches other hosts by itself.
#[test]
fn processes_of_several_hosts_hear_each_other_over_mpi() {
    if !has_mpi() {
        return;
    }
    let fake = Fake::new("localhost slots=1\n127.0.0.2 slots=2 # two\n", HERE);
    all_hear_all(&fake.hosts(), Over::Mpi);
    assert_eq!(daemons(&fake), 1, "{}", fake.log());
}

/// What `mpirun` has started on another host to start processes there.
fn daemons(fake: &Fake) -> usize {
    let log = fake.log();
    let calls = log.lines();
    calls.filter(|line| line.starts_with("127.0.0.2 ")).count()
}

/// A host may stand there once for each of its slots, and is filled again when all are full.
#[test]
fn a_host_may_be_named_twice_over_mpi() {
    if !has_mpi() {
        return;
    }
    let fake = Fake::new("127.0.0.2\n127.0.0.2\n", HERE);
    all_hear_all(&fake.hosts(), Over::Mpi);
    assert_eq!(daemons(&fake), 1, "{}", fake.log());
}

#[test]
fn arguments_come_as_they_are_and_codes_come_back() {
    let fake = Fake::new("127.0.0.2 slots=2", HERE);
    words_and_codes_come_through(&fake.hosts());
}

fn words_and_codes_come_through(hosts: &Path) {
    let strange = "a  b'c\"$HOME`\\\nEND-0\n*";
    let (outcome, lines) = follow(&launch(hosts, Over::Tcp, 1, &["echo", strange]));
    assert_eq!(outcome.summary(), None, "{lines:?}");
    assert_eq!(lines, [(0, format!("{strange:?}"))]);
    let (outcome, _) = follow(&launch(hosts, Over::Tcp, 2, &["exit"]));
    assert_eq!(outcome.exit_code(), 7);
}

#[test]
fn signals_reach_processes_on_other_hosts() {
    let fake = Fake::new("127.0.0.2 slots=2", HERE);
    signals_come_through(&fake.hosts());
}

fn signals_come_through(hosts: &Path) {
    let running = launch(hosts, Over::Tcp, 2, &["hang"])
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

#[test]
fn processes_are_spawned_on_a_host_that_is_named_and_signalled_there() {
    let fake = Fake::new("localhost\n127.0.0.2\n", HERE);
    for over in [Over::Tcp, Over::Udp] {
        let (outcome, lines) = follow(&launch(&fake.hosts(), over, 1, &["elsewhere", "127.0.0.2"]));
        let said = |text: &str| {
            lines
                .iter()
                .filter(|(rank, line)| *rank == 0 && line.contains(text))
                .count()
        };
        let reported = r#"(Some(127.0.0.2), Some("a \"green\" one"))"#;
        assert_eq!(
            (said(reported), said("lost: true")),
            (1, 1),
            "{over:?}: {lines:?}"
        );
        for why in [
            "127.0.0.2 has no program /no/such/program",
            "127.0.0.2 may not run /proc/version: make it executable",
            "127.0.0.2 has no program no-such-program",
            "127.0.0.2 has no directory /no/such/directory",
            "no host `node9.invalid`: name one of localhost, 127.0.0.2",
        ] {
            assert_eq!(said(why), 2, "{why}: {over:?}: {lines:?}");
        }
        // The spawned one was ended by a signal, which counts as all ends do.
        assert_eq!(outcome.exit_code(), 128 + 15, "{over:?}");
    }
}

/// What a process on another host spawns is the launch's there, as all others are.
#[test]
fn processes_spawned_on_other_hosts_are_followed() {
    let fake = Fake::new("127.0.0.2\n127.0.0.3\n", HERE);
    for over in [Over::Tcp, Over::Udp] {
        spawned_are_followed(&fake.hosts(), over);
    }
    // Two founders and two spawned ones, twice.
    let log = fake.log();
    let calls = |host| log.lines().filter(|line| line.starts_with(host)).count();
    assert_eq!((calls("127.0.0.2 "), calls("127.0.0.3 ")), (6, 2), "{log}");
}

/// They are their spawner's own, on its host, and reach those on others, too.
#[test]
fn processes_spawned_on_other_hosts_over_mpi_reach_all() {
    if !has_mpi() {
        return;
    }
    let fake = Fake::new("127.0.0.2\n127.0.0.3\n", HERE);
    let (outcome, lines) = follow(&launch(&fake.hosts(), Over::Mpi, 2, &["spawn"]));
    spawned::are_heard(&outcome, lines);
}

fn spawned_are_followed(hosts: &Path, over: Over) {
    let (outcome, lines) = follow(&launch(hosts, over, 2, &["spawn"]));
    spawned::are_followed(&outcome, lines);
}

/// They outlive who spawned them, take signals, and end with the session.
#[test]
fn signals_reach_processes_spawned_on_other_hosts() {
    let fake = Fake::new("127.0.0.2\n", HERE);
    let running = launch(&fake.hosts(), Over::Tcp, 1, &["spawn-leave"]).start();
    let running = running.expect("started");
    let signals = running.signals();
    let mut here = Vec::new();
    let outcome = running.to_end(|line| {
        let text = String::from_utf8_lossy(&line.text).into_owned();
        let id = text.strip_prefix("spawner gone: here ");
        here.extend(id.map(|id| (line.rank, id.to_owned())));
        // The shell of the other side may tell of the end, too.
        if here.len() == 2 && id.is_some() {
            assert!(here.iter().all(|(_, id)| is_there(id)), "{here:?}");
            signals.signal(15);
        }
    });
    let mut ends = outcome.expect("followed").ended;
    ends.sort_by_key(|ended| ended.rank);
    let ends: Vec<_> = ends.iter().map(|ended| &ended.end).collect();
    let by_signal = End::Exited(128 + 15);
    assert_eq!(ends[1..], [&by_signal, &by_signal]);
    // Its session ends before its process does, and the signal may come in between.
    assert!([&End::Exited(0), &by_signal].contains(&ends[0]), "{ends:?}");
    here.sort();
    let ranks: Vec<_> = here.iter().map(|(rank, _)| *rank).collect();
    assert_eq!(ranks, [Some(1), Some(2)]);
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
    // In a session of its own, as behind a real ssh: nothing but the end of its input tells the
    // other side.
    let fake = Fake::new(
        "127.0.0.2",
        "mkfifo \"$0.$$\"; setsid sh -c \"$*\" < \"$0.$$\" & exec cat > \"$0.$$\"",
    );
    let running = launch(&fake.hosts(), Over::Tcp, 1, &["hang"])
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
    // SAFETY: tests of this file that read the environment hold the same lock.
    unsafe { std::env::set_var("ANTIPHON_SSH", "no-such-ssh -v") };
    let error = launch(&fake.hosts(), Over::Tcp, 1, &["greet"])
        .start()
        .err();
    assert!(
        matches!(&error, Some(LaunchError::NoSsh { command }) if command == "no-such-ssh -v"),
        "{error:?}"
    );
}

#[test]
fn processes_in_networks_of_their_own_hear_each_other() {
    let Some(networks) = Networks::try_new() else {
        return;
    };
    let ([a, b], [first, second]) = (&networks.names, &networks.addresses);
    let reach = format!(
        "case $host in {first}) at={a};; *) at={b};; esac\nexec ip netns exec $at sh -c \"$*\""
    );
    let fake = Fake::new(&format!("localhost\n{first}\n{second}\n"), &reach);
    all_hear_all(&fake.hosts(), Over::Tcp);
    all_hear_all(&fake.hosts(), Over::Udp);
}

/// A launch that is killed leaves nobody behind on other hosts. This test starts itself as the
/// launch.
#[test]
fn a_launch_that_is_killed_leaves_nobody_on_other_hosts() {
    let fake = Fake::new("127.0.0.2", HERE);
    nobody_outlives_a_killed_launch(&fake.hosts(), 1);
}

#[test]
fn a_launch_that_is_killed_leaves_nobody_who_was_spawned_on_other_hosts() {
    let fake = Fake::new("127.0.0.2", HERE);
    nobody_outlives_a_killed_launch_in(&fake.hosts(), 1, "spawn-hang", 2);
}

fn nobody_outlives_a_killed_launch(hosts: &Path, count: usize) {
    nobody_outlives_a_killed_launch_in(hosts, count, "hang", count);
}

/// Of `count` founders in some mode, and those that they spawn, `heard` say who they are and hang.
fn nobody_outlives_a_killed_launch_in(hosts: &Path, count: usize, mode: &str, heard: usize) {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "launcher", "--ignored", "--nocapture"])
        .envs([("HOSTS", hosts), ("COUNT", Path::new(&count.to_string()))])
        .env("MODE", mode)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let lines = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let ids = std::io::BufRead::lines(lines)
        .map_while(Result::ok)
        .filter_map(|line| Some(line.split_once("here ")?.1.to_owned()));
    let ids: Vec<String> = ids.take(heard).collect();
    assert_eq!(ids.len(), heard, "{ids:?} said who they are");
    assert!(ids.iter().all(|pid| is_there(pid)), "{ids:?}");
    child.kill().expect("killed");
    child.wait().expect("waited for");
    let is_left = || ids.iter().any(|pid| is_there(pid));
    wait_until("one outlived the launch", || !is_left());
}

#[test]
#[ignore = "the launch of another test"]
fn launcher() {
    let hosts = std::env::var_os("HOSTS").expect("a file of hosts");
    let count = std::env::var("COUNT").expect("a number of processes");
    let count = count.parse().expect("a number");
    let mode = std::env::var("MODE").expect("a mode");
    let launch = launch(Path::new(&hosts), Over::Tcp, count, &[&mode]);
    let running = launch.start().expect("started");
    let _ = running.to_end(|line| {
        println!("{}", String::from_utf8_lossy(&line.text));
        std::io::stdout().flush().expect("written");
    });
}

/// What stands for ssh neither starts the process nor ends.
#[test]
fn what_reaches_other_hosts_has_a_time_limit() {
    let fake = Fake::new("localhost\n127.0.0.2\n", "exec sleep 1000");
    let launch = launch(&fake.hosts(), Over::Tcp, 2, &["never"]);
    let (outcome, lines) = follow(&launch.start_limit(Duration::from_secs(1)));
    let says = |rank: u32, what: &str| {
        let is_it = |(whose, line): &(u32, String)| *whose == rank && line.contains(what);
        assert!(lines.iter().any(is_it), "{lines:?}");
    };
    says(1, "nothing was started on 127.0.0.2 within 1s");
    says(0, "rank 1 ended before joining");
    assert_eq!(outcome.exit_code(), 128 + libc::SIGKILL, "{lines:?}");
}
