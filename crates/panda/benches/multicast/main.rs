//! Compares totally ordered broadcast over `udp` with and without IP multicast, in one run:
//! `sudo -E cargo bench -p antiphon-panda --bench multicast`.
//!
//! Members are processes in network namespaces of their own, connected by a bridge of the kernel.
//! This takes root and `ip`. With `WHERE=host` they are processes of this host over the loopback,
//! and over IPv4 alone.
//!
//! All members send as fast as they can, until each has delivered all. The two ways take turns. The
//! table shows messages a second (median of rounds), and the bytes and frames that the members'
//! cards sent for each message. Bytes include all headers.
//!
//! Both versions of IP take turns on the same cards, too. For them the table shows multicast over
//! IPv6 relative to IPv4: messages a second (median ratio within rounds, least and most) and bytes.
//!
//! `MEMBERS=3,4,8`, `BYTES=100,8192,65536`, `ROUNDS=5` and `MIB=8` (in a round, at most 4000
//! messages) choose.

mod hosts;
mod member;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use antiphon_panda::platform::{Secret, udp::Bootstrap};
use hosts::{Hosts, Sent, Version};

/// Messages of one round at most.
const MESSAGES_MAX: usize = 4000;

fn main() {
    if member::is_one() {
        member::run();
        return;
    }
    let text = |name: &str, other: &str| std::env::var(name).unwrap_or_else(|_| other.into());
    let numbers = |name: &str, other: &str| -> Vec<usize> {
        let text = text(name, other);
        text.split(',')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let rounds = numbers("ROUNDS", "5").first().copied().unwrap_or(5);
    let mib = numbers("MIB", "8").first().copied().unwrap_or(8);
    let is_on_host = text("WHERE", "namespaces") == "host";
    for members in numbers("MEMBERS", "3,4,8") {
        let hosts = match is_on_host {
            true => Hosts::this(),
            false => match Hosts::new(members) {
                Ok(hosts) => hosts,
                Err(why) => {
                    println!("skipped: {why}: be root, or say WHERE=host");
                    return;
                }
            },
        };
        compare(
            &hosts,
            members,
            &numbers("BYTES", "100,8192,65536"),
            rounds,
            mib << 20,
        );
    }
}

/// Compares both ways with `members` members, at all lengths.
fn compare(hosts: &Hosts, members: usize, lengths: &[usize], rounds: usize, bytes: usize) {
    let versions = hosts.versions().iter();
    let mut contests: Vec<_> = versions
        .map(|&version| Contest::start(hosts, members, version))
        .collect();
    println!();
    for contest in &mut contests {
        let report = contest.ways[1].report();
        println!(
            "{members} members, {}; multicast: {report}",
            contest.version
        );
    }
    println!(
        "bytes   over  messages/s alone  multicast  ratio | bytes sent alone  multicast | frames alone  multicast"
    );
    for &length in lengths {
        let each = (bytes / length / members).clamp(20, MESSAGES_MAX / members);
        contests
            .iter_mut()
            .for_each(|contest| contest.rows = Default::default());
        for round in 0..=rounds {
            for contest in &mut contests {
                contest.take_turn(hosts, (members, each, length), round > 0);
            }
        }
        let messages = (rounds * each * members) as f64;
        for contest in &contests {
            contest.print(length, messages);
        }
        if let [v4, v6] = &contests[..] {
            v6.print_beside(v4, messages);
        }
    }
}

/// The same broadcast with and without multicast, over one version of IP.
struct Contest {
    version: Version,
    ways: [Way; 2],
    rows: [Row; 2],
}

/// The results of one way: messages a second of each round, and the traffic of all rounds.
#[derive(Default)]
struct Row {
    rates: Vec<f64>,
    sent: Sent,
}

impl Contest {
    fn start(hosts: &Hosts, members: usize, version: Version) -> Self {
        let start = |is_multicast| Way::start(hosts, members, version, is_multicast);
        Self {
            version,
            ways: [false, true].map(start),
            rows: Default::default(),
        }
    }

    /// Runs a round of each of the two ways.
    fn take_turn(
        &mut self,
        hosts: &Hosts,
        (members, each, length): (usize, usize, usize),
        counts: bool,
    ) {
        for (way, row) in self.ways.iter_mut().zip(&mut self.rows) {
            let before = hosts.sent();
            let rate = (each * members) as f64 / way.round(each, length);
            if counts {
                row.rates.push(rate);
                row.sent += hosts.sent() - before;
            }
        }
    }

    fn print(&self, length: usize, messages: f64) {
        let [(alone, by_alone), (both, by_both)] = self
            .rows
            .each_ref()
            .map(|row| (median(&row.rates), row.sent.per(messages)));
        println!(
            "{length:6}  {}  {alone:16.0}  {both:9.0}  {:5.2} | {:16.0}  {:9.0} | {:12.1}  {:9.1}",
            self.version,
            both / alone,
            by_alone.0,
            by_both.0,
            by_alone.1,
            by_both.1,
        );
    }

    /// Prints multicast over this version relative to another version.
    fn print_beside(&self, other: &Self, messages: f64) {
        let versions = format!("{} ÷ over {}", self.version, other.version);
        let (own, other) = (&self.rows[1], &other.rows[1]);
        let rates = own.rates.iter().zip(&other.rates);
        let ratios: Vec<f64> = rates.map(|(own, other)| own / other).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        println!(
            "        multicast over {versions}: messages/s {:.2} ({least:.2} to {most:.2}), bytes {:.2}",
            median(&ratios),
            own.sent.per(messages).0 / other.sent.per(messages).0,
        );
    }
}

fn median(of: &[f64]) -> f64 {
    let mut of = of.to_vec();
    of.sort_unstable_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The processes of one session.
struct Way {
    members: Vec<(Child, BufReader<std::process::ChildStdout>)>,
    _bootstrap: Bootstrap,
}

impl Way {
    fn start(hosts: &Hosts, members: usize, version: Version, is_multicast: bool) -> Self {
        let secret = Secret::fresh().expect("random numbers");
        let bootstrap =
            Bootstrap::at(hosts.bootstrap_at(version), members as u32, secret).expect("a port");
        let bootstrap = bootstrap.multicast(is_multicast);
        let start = |rank: usize| {
            let mut command: Command = hosts.command(rank);
            member::mark(&mut command, &bootstrap.launch_info(rank as u32));
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("this program");
            let output = child.stdout.take().expect("piped");
            (child, BufReader::new(output))
        };
        let mut way = Self {
            members: (0..members).map(start).collect(),
            _bootstrap: bootstrap,
        };
        way.answers();
        way
    }

    fn ask(&mut self, line: &str) -> Vec<String> {
        for (child, _) in &mut self.members {
            let input = child.stdin.as_mut().expect("piped");
            writeln!(input, "{line}").expect("it reads");
        }
        self.answers()
    }

    fn answers(&mut self) -> Vec<String> {
        let answer = |output: &mut BufReader<_>| {
            let mut line = String::new();
            output.read_line(&mut line).expect("it answers");
            line.trim().to_owned()
        };
        let members = self.members.iter_mut();
        members.map(|(_, output)| answer(output)).collect()
    }

    /// Runs a round, and returns how long it took, in seconds.
    fn round(&mut self, each: usize, length: usize) -> f64 {
        let times = self.ask(&format!("rate {each} {length}"));
        let times = times.iter().filter_map(|time| time.parse::<f64>().ok());
        times.fold(1.0, f64::max) / 1e9
    }

    /// Returns which processes hear which.
    fn report(&mut self) -> String {
        self.ask("report").join("; ")
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        for (child, _) in &mut self.members {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
