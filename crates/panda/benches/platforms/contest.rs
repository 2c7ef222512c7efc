//! The implementations, and the table of their times.

use std::env;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use antiphon_panda::platform::{Bootstrap, LaunchInfo, Secret, shm, udp};

/// One round of one implementation, as a process of its pair gets it.
pub struct Case {
    pub contestant: String,
    pub placement: String,
    pub bytes: usize,
    pub trips: u32,
    /// Messages in one direction, of which the last is confirmed; 0 for round trips.
    pub burst: u32,
    /// 0 or 1; under `mpirun` it sets the rank.
    pub rank: u32,
    /// A file that both processes map, for those without a platform.
    pub shared: String,
}

impl Case {
    /// Returns the round of this process, if it is one of a pair.
    pub fn of_this_process() -> Option<Self> {
        let text = |name: &str| env::var(format!("BENCH_{name}")).ok();
        let rank = env::var("OMPI_COMM_WORLD_RANK").ok();
        Some(Self {
            contestant: text("CONTESTANT")?,
            placement: text("PLACEMENT")?,
            bytes: text("BYTES")?.parse().ok()?,
            trips: text("TRIPS")?.parse().ok()?,
            burst: text("BURST")?.parse().ok()?,
            rank: rank.or_else(|| text("RANK"))?.parse().ok()?,
            shared: text("SHARED").unwrap_or_default(),
        })
    }

    fn command(&self, mut command: Command) -> Command {
        command
            .env("BENCH_CONTESTANT", &self.contestant)
            .env("BENCH_PLACEMENT", &self.placement)
            .env("BENCH_BYTES", self.bytes.to_string())
            .env("BENCH_TRIPS", self.trips.to_string())
            .env("BENCH_BURST", self.burst.to_string())
            .env("BENCH_RANK", self.rank.to_string())
            .env("BENCH_SHARED", &self.shared)
            .stderr(Stdio::inherit());
        command
    }
}

/// A table of several implementations.
pub struct Table {
    title: String,
    placement: &'static str,
    bytes: usize,
    trips: u32,
    burst: u32,
    contestants: Vec<&'static str>,
}

impl Table {
    pub fn new(title: &str, placement: &'static str, bytes: usize, trips: u32) -> Self {
        Self {
            title: title.to_owned(),
            placement,
            bytes,
            trips,
            burst: 0,
            contestants: Vec::new(),
        }
    }

    /// Measures messages in one direction, `burst` of them to a confirmation.
    pub fn one_way(mut self, burst: u32) -> Self {
        self.burst = burst;
        self
    }

    pub fn of(mut self, contestants: &[&'static str]) -> Self {
        let is_wanted = |name: &&&str| is_listed("ONLY", name);
        self.contestants = contestants.iter().filter(is_wanted).copied().collect();
        self
    }

    /// Runs the rounds in turns, and prints medians of the times. It also prints the ratios to the
    /// first row within the same turn: their median, least and most.
    pub fn print(&self, rounds: usize) {
        if self.contestants.is_empty() || !self.is_wanted() {
            return;
        }
        let turn =
            |_| -> Vec<Option<f64>> { self.contestants.iter().map(|c| self.round(c)).collect() };
        let turns: Vec<_> = (0..rounds).map(turn).collect();
        let where_to = match self.placement {
            "one" => "both on one processor",
            _ => "each on its own processor",
        };
        println!(
            "\n{}, {where_to}: {}, median of {rounds} rounds; ratio to the first in the same round: median, least to most",
            self.title,
            self.what()
        );
        for (at, contestant) in self.contestants.iter().enumerate() {
            let times = sorted(turns.iter().filter_map(|turn| turn[at]));
            let ratios = sorted(turns.iter().filter_map(|turn| Some(turn[at]? / turn[0]?)));
            let (Some(median), Some(ratio)) =
                (times.get(times.len() / 2), ratios.get(ratios.len() / 2))
            else {
                println!("  {contestant:12} not there");
                continue;
            };
            println!(
                "  {contestant:12} {:9.2} µs  {ratio:6.2}  {:.2} to {:.2}",
                median / 1000.0,
                ratios[0],
                ratios[ratios.len() - 1]
            );
        }
    }

    fn what(&self) -> String {
        match self.burst {
            0 => "round trip".to_owned(),
            1 => "one way, each confirmed".to_owned(),
            burst => format!("one way, {burst} to a confirmation"),
        }
    }

    /// Returns whether the environment asks for this table: `PLACES` for placements, `BYTES` for
    /// lengths, `BURST` for messages in one direction.
    fn is_wanted(&self) -> bool {
        is_listed("BURST", &self.burst.to_string())
            && is_listed("PLACES", self.placement)
            && is_listed("BYTES", &self.bytes.to_string())
    }

    /// Returns nanoseconds a round trip, or `None` if the implementation is missing.
    fn round(&self, contestant: &str) -> Option<f64> {
        let case = |rank| Case {
            contestant: contestant.to_owned(),
            placement: self.placement.to_owned(),
            bytes: self.bytes,
            trips: self.trips,
            burst: self.burst,
            rank,
            shared: String::new(),
        };
        let program = env::current_exe().expect("this program has a path");
        if contestant.contains("mpi") {
            let mut mpirun = Command::new("mpirun");
            mpirun
                .args([
                    "--allow-run-as-root",
                    "--oversubscribe",
                    "--bind-to",
                    "none",
                    "-n",
                    "2",
                ])
                .arg(program);
            if contestant == "open mpi tcp" {
                mpirun.env("OMPI_MCA_btl", "self,tcp");
                mpirun.env("OMPI_MCA_pml", "ob1");
                mpirun.env("OMPI_MCA_btl_tcp_if_include", "lo");
            }
            if self.placement == "one" {
                // A process that polls without yielding would keep the other from running.
                mpirun.env("OMPI_MCA_mpi_yield_when_idle", "1");
            }
            let output = case(0).command(mpirun).output().ok()?;
            return String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        }
        let secret = Secret::fresh().expect("random numbers");
        let shm = shm::Bootstrap::new(2, secret).expect("shared memory");
        let udp = udp::Bootstrap::new(2, secret).expect("a port");
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        let tcp = Bootstrap::hold(any, 2, secret).expect("a port");
        let launch_info = |rank| -> LaunchInfo {
            match contestant {
                "tcp" | "tcp session" => tcp.launch_info("tcp", rank),
                "udp" | "udp session" => udp.launch_info(rank),
                _ => shm.launch_info(rank),
            }
        };
        let pair: Vec<_> = (0..2)
            .map(|rank| {
                let mut case = case(rank);
                case.shared = shm.launch_info(0).bootstrap;
                let mut command = case.command(Command::new(&program));
                command
                    .envs(launch_info(rank).to_environment())
                    .stdout(Stdio::piped());
                command.spawn().expect("started")
            })
            .collect();
        let outputs: Vec<_> = pair.into_iter().map(Child::wait_with_output).collect();
        let first = outputs.into_iter().next()?.ok()?;
        String::from_utf8_lossy(&first.stdout).trim().parse().ok()
    }
}

/// Returns whether an environment variable is unset, or lists a word.
fn is_listed(variable: &str, word: &str) -> bool {
    let listed = env::var(variable).ok();
    listed.is_none_or(|listed| listed.split(',').any(|other| other == word))
}

fn sorted(of: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut of: Vec<f64> = of.collect();
    of.sort_by(f64::total_cmp);
    of
}
