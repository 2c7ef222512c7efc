//! Processes of a session that a test starts from its own executable. Each runs the ignored test
//! `member` of its module. They print lines, and do not outlive the test.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use antiphon_panda::LaunchInfo;
use antiphon_panda::platform::{Bootstrap, Rank, Secret, shm, udp};

use crate::process;

/// Bounds waits that end far sooner.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The processes of one session.
pub struct Members {
    processes: Vec<Member>,
    said: mpsc::Receiver<(Rank, String)>,
    /// Lines that were printed and not yet waited for.
    aside: Vec<(Rank, String)>,
    /// The bootstraps at which the processes meet.
    _bootstraps: (shm::Bootstrap, udp::Bootstrap, Bootstrap),
}

struct Member {
    process: Child,
    stdin: ChildStdin,
}

impl Members {
    /// Starts a session over a platform, with more variables in each process's environment.
    ///
    /// `module` is the `module_path!()` of the test `member`.
    pub fn start(module: &str, platform: &str, size: u32, variables: &[(&str, String)]) -> Self {
        let secret = Secret::fresh().unwrap();
        let shm = shm::Bootstrap::new(size, secret).unwrap();
        let udp = udp::Bootstrap::new(size, secret).unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let tcp = Bootstrap::hold(any, size, secret).unwrap();
        let launch_info = |rank| match platform {
            "shm" => shm.launch_info(rank),
            "udp" => udp.launch_info(rank),
            _ => tcp.launch_info("tcp", rank),
        };
        let (lines, said) = mpsc::channel();
        Self {
            processes: (0..size)
                .map(|rank| start(module, &launch_info(rank), variables, &lines))
                .collect(),
            said,
            aside: Vec::new(),
            _bootstraps: (shm, udp, tcp),
        }
    }

    /// Sends a signal to a member. If it is SIGSTOP or SIGKILL, waits until the member has stopped
    /// or ended.
    pub fn signal(&mut self, rank: Rank, number: i32) {
        let process = &mut self.processes[rank as usize].process;
        let id = i32::try_from(process.id()).unwrap();
        // SAFETY: it is our child, and has not been waited for.
        assert_eq!(unsafe { libc::kill(id, number) }, 0);
        match number {
            libc::SIGKILL => drop(process.wait().unwrap()),
            libc::SIGSTOP => {
                while !is_stopped(id) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            _ => {}
        }
    }

    /// Waits until a member ends, and checks that it succeeded.
    pub fn wait_until_it_ends(&mut self, rank: Rank) {
        let ended = self.processes[rank as usize].process.wait().unwrap();
        assert!(ended.success(), "rank {rank}: {ended}");
    }

    /// Writes a line to a member's standard input.
    pub fn tell(&mut self, rank: Rank, line: &str) {
        writeln!(self.processes[rank as usize].stdin, "{line}").unwrap();
    }

    /// Returns the rest of a member's first line that contains `beginning`. Lines of other members
    /// are kept.
    pub fn wait_for(&mut self, rank: Rank, beginning: &str) -> String {
        let fits = |line: &(Rank, String)| line.0 == rank && line.1.contains(beginning);
        let text = |(_, line): (Rank, String)| {
            let (_, rest) = line.split_once(beginning).expect("it fits");
            rest.to_owned()
        };
        if let Some(at) = self.aside.iter().position(fits) {
            return text(self.aside.remove(at));
        }
        loop {
            let line = self.said.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|_| {
                panic!(
                    "rank {rank} did not say `{beginning}`; said: {:?}",
                    self.aside
                )
            });
            if fits(&line) {
                return text(line);
            }
            let has_failed = line.1.contains("test result: FAILED");
            assert!(!has_failed, "rank {} panicked", line.0);
            self.aside.push(line);
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(
    module: &str,
    info: &LaunchInfo,
    variables: &[(&str, String)],
    lines: &mpsc::Sender<(Rank, String)>,
) -> Member {
    let mut process = process::command(module, "member")
        .envs(info.to_environment())
        .envs(variables.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(process.stdout.take().unwrap());
    let (rank, lines) = (info.rank, lines.clone());
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let _ = lines.send((rank, line));
        }
    });
    let stdin = process.stdin.take().unwrap();
    Member { process, stdin }
}

/// Returns whether all threads of a process have stopped.
fn is_stopped(id: i32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
    tasks.flatten().all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat"));
        // A thread that has ended since counts as stopped.
        stat.map_or(true, |stat| stat.contains(") T "))
    })
}

/// Prints a line, as a member.
pub fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}
