//! Totally ordered broadcast over `udp` with IP multicast beside the same without, in one run: `sudo -E cargo bench -p antiphon-panda --bench multicast`.
//!
//! Members are processes in network namespaces of their own, connected by a bridge of the kernel (it takes root and `ip`), or with `WHERE=host` processes of this host over
//! the loopback. All members send as fast as they can, until each has delivered all: messages a second, median of rounds, in which the two take turns; and what the
//! members' cards sent for each message, bytes with all headers, and frames.
//!
//! `MEMBERS=3,4,8`, `BYTES=100,8192,65536`, `ROUNDS=5` and `MIB=8` (in a round, at most 4000 messages) choose.

mod hosts;
mod member;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use antiphon_panda::platform::{Secret, udp::Meeting};
use hosts::{Hosts, Sent};

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

/// Both with so many members, at all lengths.
fn compare(hosts: &Hosts, members: usize, lengths: &[usize], rounds: usize, bytes: usize) {
    let mut ways = [false, true].map(|is_multicast| Way::start(hosts, members, is_multicast));
    println!("\n{members} members; multicast: {}", ways[1].report());
    println!(
        "bytes   messages/s alone  multicast  ratio | bytes sent alone  multicast | frames alone  multicast"
    );
    for &length in lengths {
        let each = (bytes / length / members).clamp(20, MESSAGES_MAX / members);
        let mut rows = [(); 2].map(|()| (Vec::new(), Sent::default()));
        for round in 0..=rounds {
            for (way, row) in ways.iter_mut().zip(&mut rows) {
                let before = hosts.sent();
                let rate = (each * members) as f64 / way.round(each, length);
                if round > 0 {
                    row.0.push(rate);
                    row.1 += hosts.sent() - before;
                }
            }
        }
        let messages = (rounds * each * members) as f64;
        let [(alone, by_alone), (both, by_both)] =
            rows.map(|(rates, sent)| (median(rates), sent.per(messages)));
        println!(
            "{length:6}  {alone:16.0}  {both:9.0}  {:5.2} | {:16.0}  {:9.0} | {:12.1}  {:9.1}",
            both / alone,
            by_alone.0,
            by_both.0,
            by_alone.1,
            by_both.1,
        );
    }
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_unstable_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The processes of one session.
struct Way {
    members: Vec<(Child, BufReader<std::process::ChildStdout>)>,
    _meeting: Meeting,
}

impl Way {
    fn start(hosts: &Hosts, members: usize, is_multicast: bool) -> Self {
        let secret = Secret::fresh().expect("random numbers");
        let meeting = Meeting::at(hosts.meeting_at(), members as u32, secret).expect("a port");
        let meeting = meeting.multicast(is_multicast);
        let start = |rank: usize| {
            let mut command: Command = hosts.command(rank);
            member::mark(&mut command, &meeting.seat(rank as u32));
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("this program");
            let output = child.stdout.take().expect("piped");
            (child, BufReader::new(output))
        };
        let mut way = Self {
            members: (0..members).map(start).collect(),
            _meeting: meeting,
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

    /// How long a round took, in seconds.
    fn round(&mut self, each: usize, length: usize) -> f64 {
        let times = self.ask(&format!("rate {each} {length}"));
        let times = times.iter().filter_map(|time| time.parse::<f64>().ok());
        times.fold(1.0, f64::max) / 1e9
    }

    /// Who hears whom.
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
