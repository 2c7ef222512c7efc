//! A table of several rows.

use std::env;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use antiphon_panda::platform::{Bootstrap, LaunchInfo, Rank, Secret, shm, udp};

/// Round trips of a round. Another tenth before them is not timed.
const TRIPS: u32 = 10_000;
/// Rounds of each row, unless the environment sets them.
const ROUNDS: usize = 5;

/// The last word of a row whose waits sleep at once.
const SLEEPING: &str = "sleeping";

/// The round that a process runs.
pub struct Case {
    /// A platform and a way to use it: `tcp rpc`, `raw tcp`, or `tcp barrier sleeping`.
    pub contestant: String,
    /// The processor of all processes, or that of each second one.
    pub placement: String,
    pub rank: Rank,
    pub trips: u32,
    /// Where processes without a session meet.
    pub bootstrap: String,
}

impl Case {
    /// Returns the round of this process, if it is one of a round.
    pub fn of_this_process() -> Option<Self> {
        let text = |name: &str| env::var(format!("BENCH_{name}")).ok();
        Some(Self {
            contestant: text("CONTESTANT")?,
            placement: text("PLACEMENT")?,
            rank: text("RANK")?.parse().ok()?,
            trips: TRIPS,
            bootstrap: text("BOOTSTRAP").unwrap_or_default(),
        })
    }

    /// Returns the row's words without `sleeping`, which an environment variable sets.
    pub fn words(&self) -> Vec<&str> {
        let words = self.contestant.split(' ');
        words.filter(|word| *word != SLEEPING).collect()
    }

    fn command(&self) -> Command {
        let program = env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        if self.contestant.ends_with(SLEEPING) {
            command.env("ANTIPHON_SPIN", "never");
        }
        command
            .env("BENCH_CONTESTANT", &self.contestant)
            .env("BENCH_PLACEMENT", &self.placement)
            .env("BENCH_RANK", self.rank.to_string())
            .env("BENCH_BOOTSTRAP", &self.bootstrap)
            .stdout(Stdio::piped());
        command
    }
}

/// A table of several rows.
pub struct Table {
    title: String,
    placement: &'static str,
    processes: u32,
    /// Trips that go on at the same time.
    trips_at_once: u32,
}

/// The results of a round: nanoseconds and context switches a round trip.
struct Found {
    took_ns: f64,
    switches: f64,
}

impl Table {
    /// Makes a table of pairs.
    pub fn new(title: &str, placement: &'static str, processes: u32) -> Self {
        Self {
            title: title.to_owned(),
            placement,
            processes,
            trips_at_once: processes / 2,
        }
    }

    /// Makes a table of collective work of four processes.
    pub fn together(title: &str, placement: &'static str) -> Self {
        Self {
            trips_at_once: 1,
            ..Self::new(title, placement, 4)
        }
    }

    /// Runs the rows in turns, and prints medians.
    pub fn print(&self, contestants: &[&str]) {
        let only = env::var("ONLY").ok();
        let is_wanted = |name: &str| {
            only.as_ref()
                .is_none_or(|only| only.split(',').any(|o| o == name))
        };
        let contestants: Vec<&str> = contestants
            .iter()
            .copied()
            .filter(|c| is_wanted(c))
            .collect();
        if contestants.is_empty() {
            return;
        }
        let rounds = env::var("ROUNDS").ok().and_then(|text| text.parse().ok());
        let rounds: usize = rounds.unwrap_or(ROUNDS);
        let mut found: Vec<Vec<Found>> = contestants.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (contestant, found) in contestants.iter().zip(&mut found) {
                found.push(self.round(contestant));
            }
        }
        let place = match (self.processes, self.placement) {
            (4, "free") => "four processes free on all processors",
            (4, _) => "four processes, two on each processor",
            (_, "one") => "both on one processor",
            _ => "each on its own processor",
        };
        println!("\n{}, {place}: median of {rounds} rounds", self.title);
        let mut first = None;
        for (contestant, mut found) in contestants.iter().zip(found) {
            found.sort_by(|a, b| a.took_ns.total_cmp(&b.took_ns));
            let Found { took_ns, switches } = found[found.len() / 2];
            let ratio = took_ns / *first.get_or_insert(took_ns);
            println!(
                "  {contestant:22} {:9.2} µs  {ratio:6.2}  {switches:6.2} switches",
                took_ns / 1000.0
            );
        }
    }

    fn round(&self, contestant: &str) -> Found {
        let secret = Secret::fresh().expect("random numbers");
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let shm = shm::Bootstrap::new(self.processes, secret).expect("shared memory");
        let udp = udp::Bootstrap::new(self.processes, secret).expect("a port");
        let tcp = Bootstrap::hold(any, self.processes, secret).expect("a port");
        let platform = contestant.split(' ').next();
        let launch_info = |rank| -> LaunchInfo {
            match platform {
                Some("udp") => udp.launch_info(rank),
                Some("tcp") => tcp.launch_info("tcp", rank),
                _ => shm.launch_info(rank),
            }
        };
        let folder = env::temp_dir().join(format!("antiphon-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let processes = if platform == Some("local") {
            1
        } else {
            self.processes
        };
        let children: Vec<Child> = (0..processes)
            .map(|rank| {
                let case = Case {
                    contestant: contestant.to_owned(),
                    placement: self.placement.to_owned(),
                    rank,
                    trips: TRIPS,
                    bootstrap: folder.display().to_string(),
                };
                let mut command = case.command();
                let command = command.envs(launch_info(rank).to_environment());
                command.spawn().expect("started")
            })
            .collect();
        let outputs = children
            .into_iter()
            .map(|child| child.wait_with_output().expect("ended"));
        let mut found = Found {
            took_ns: 0.0,
            switches: 0.0,
        };
        for output in outputs {
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let mut numbers = line
                    .split_whitespace()
                    .map(|word| word.parse().unwrap_or(f64::NAN));
                found.took_ns = found.took_ns.max(numbers.next().unwrap_or(f64::NAN));
                let switches = numbers.next().unwrap_or(f64::NAN);
                // The threads of one process are counted together.
                found.switches = match processes {
                    1 => found.switches.max(switches),
                    _ => found.switches + switches,
                };
            }
        }
        let _ = std::fs::remove_dir_all(&folder);
        // Each process counts its switches for the trips that it takes part in.
        found.switches /= f64::from(self.trips_at_once);
        found
    }
}
