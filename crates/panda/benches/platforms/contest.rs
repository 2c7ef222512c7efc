//! Contestants, and the table of what they took.

use std::env;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use antiphon_panda::platform::{Meeting, Seat, Secret, shm, udp};

/// One round of one contestant: what a process of its pair is told.
pub struct Case {
    pub contestant: String,
    pub placement: String,
    pub bytes: usize,
    pub trips: u32,
    /// 0 or 1; `mpirun` gives it.
    pub rank: u32,
    /// A file that both map, for those that are bare.
    pub shared: String,
}

impl Case {
    /// What this process was told, if it is one of a pair.
    pub fn of_this_process() -> Option<Self> {
        let text = |name: &str| env::var(format!("BENCH_{name}")).ok();
        let rank = env::var("OMPI_COMM_WORLD_RANK").ok();
        Some(Self {
            contestant: text("CONTESTANT")?,
            placement: text("PLACEMENT")?,
            bytes: text("BYTES")?.parse().ok()?,
            trips: text("TRIPS")?.parse().ok()?,
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
            .env("BENCH_RANK", self.rank.to_string())
            .env("BENCH_SHARED", &self.shared)
            .stderr(Stdio::inherit());
        command
    }
}

/// Contestants side by side.
pub struct Table {
    title: String,
    placement: &'static str,
    bytes: usize,
    trips: u32,
    contestants: Vec<&'static str>,
}

impl Table {
    pub fn new(title: &str, placement: &'static str, bytes: usize, trips: u32) -> Self {
        Self {
            title: title.to_owned(),
            placement,
            bytes,
            trips,
            contestants: Vec::new(),
        }
    }

    pub fn of(mut self, contestants: &[&'static str]) -> Self {
        let only = env::var("ONLY").ok();
        let is_wanted = |name: &&&str| {
            only.as_ref()
                .is_none_or(|only| only.split(',').any(|o| o == **name))
        };
        self.contestants = contestants.iter().filter(is_wanted).copied().collect();
        self
    }

    /// Lets them take turns and prints medians.
    pub fn print(&self, rounds: usize) {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); self.contestants.len()];
        for _ in 0..rounds {
            for (contestant, times) in self.contestants.iter().zip(&mut times) {
                times.extend(self.round(contestant));
            }
        }
        let where_to = match self.placement {
            "one" => "both on one processor",
            _ => "each on its own processor",
        };
        println!(
            "\n{}, {where_to}: round trip, median of {rounds} rounds",
            self.title
        );
        let mut first = None;
        for (contestant, mut times) in self.contestants.iter().zip(times) {
            times.sort_by(f64::total_cmp);
            let Some(&median) = times.get(times.len() / 2) else {
                println!("  {contestant:12} not there");
                continue;
            };
            let first = *first.get_or_insert(median);
            println!(
                "  {contestant:12} {:9.2} µs  {:6.2}",
                median / 1000.0,
                median / first
            );
        }
    }

    /// Nanoseconds a round trip, if the contestant is there.
    fn round(&self, contestant: &str) -> Option<f64> {
        let case = |rank| Case {
            contestant: contestant.to_owned(),
            placement: self.placement.to_owned(),
            bytes: self.bytes,
            trips: self.trips,
            rank,
            shared: String::new(),
        };
        let program = env::current_exe().expect("this program has a path");
        if contestant.ends_with("mpi") {
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
            let output = case(0).command(mpirun).output().ok()?;
            return String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        }
        let secret = Secret::fresh().expect("random numbers");
        let shm = shm::Meeting::new(2, secret).expect("shared memory");
        let udp = udp::Meeting::new(2, secret).expect("a port");
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        let tcp = Meeting::hold(any, 2, secret).expect("a port");
        let seat = |rank| -> Seat {
            match contestant {
                "tcp" => tcp.seat("tcp", rank),
                "udp" => udp.seat(rank),
                _ => shm.seat(rank),
            }
        };
        let pair: Vec<_> = (0..2)
            .map(|rank| {
                let mut case = case(rank);
                case.shared = shm.seat(0).meeting;
                let mut command = case.command(Command::new(&program));
                command
                    .envs(seat(rank).to_environment())
                    .stdout(Stdio::piped());
                command.spawn().expect("started")
            })
            .collect();
        let outputs: Vec<_> = pair.into_iter().map(Child::wait_with_output).collect();
        let first = outputs.into_iter().next()?.ok()?;
        String::from_utf8_lossy(&first.stdout).trim().parse().ok()
    }
}
