//! The processes of one implementation under comparison. They read rounds from their standard
//! input, a line each. They answer on their standard output, a line for each member:
//!
//! ```text
//!   ready                             (from each, when it is in the group)
//!   rate COUNT            -> NS       send COUNT messages, wait until all members' are delivered
//!   alone RANK COUNT      -> NS …     RANK: COUNT times send one and wait for its delivery here;
//!                                     the others answer at once, with nothing
//!   together COUNT        -> NS …     all members do that at once
//! ```

use std::any::Any;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use antiphon_panda::platform::{Bootstrap, LaunchInfo, Secret, shm, udp};

use crate::{member, rivals};

/// The processes of one implementation's members.
pub struct Cast {
    /// The command of each process.
    pub commands: Vec<Command>,
    /// Whether a process begins only when the one before has joined the group. The processes of a
    /// session must begin together instead.
    pub is_one_by_one: bool,
    /// Members in each process.
    pub members_each: u32,
    /// A value that must live as long as they do: a bootstrap, a server.
    pub keeps: Box<dyn Any>,
}

/// A group of members of one implementation. All of them have joined.
pub struct Contestant {
    processes: Vec<Process>,
    members_each: u32,
    _keeps: Box<dyn Any>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Contestant {
    /// # Errors
    /// It cannot take part; the error says why and how to fix it.
    pub fn start(name: &str, members: u32) -> Result<Self, String> {
        let cast = match name {
            "local" => Cast {
                commands: vec![member::all(members)],
                is_one_by_one: true,
                members_each: members,
                keeps: Box::new(()),
            },
            "nats" => rivals::nats(members)?,
            "jgroups" => rivals::jgroups(members)?,
            over => session(over, members)?,
        };
        let mut contestant = Self {
            processes: Vec::new(),
            members_each: cast.members_each,
            _keeps: cast.keeps,
        };
        for command in cast.commands {
            let mut process = Process::start(command)?;
            if cast.is_one_by_one {
                process.hear_ready()?;
            }
            contestant.processes.push(process);
        }
        if !cast.is_one_by_one {
            contestant
                .processes
                .iter_mut()
                .try_for_each(Process::hear_ready)?;
        }
        Ok(contestant)
    }

    /// Runs a round, and returns each member's answer.
    ///
    /// # Errors
    /// A member has ended, or its answer is malformed.
    pub fn round(&mut self, line: &str) -> Result<Vec<Vec<u64>>, String> {
        for process in &mut self.processes {
            writeln!(process.input, "{line}").map_err(|e| format!("a member has ended: {e}"))?;
        }
        let mut answers = Vec::new();
        for process in &mut self.processes {
            for _ in 0..self.members_each {
                let line = process.hear()?;
                let times: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
                answers.push(times.map_err(|e| format!("a member said {line:?}: {e}"))?);
            }
        }
        Ok(answers)
    }
}

impl Process {
    fn start(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let mut child = started.map_err(|e| format!("cannot start {command:?}: {e}"))?;
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self {
            child,
            input,
            output,
        })
    }

    fn hear(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(1..) => Ok(line),
            Ok(0) => Err("a member has ended".into()),
            Err(e) => Err(format!("a member cannot be heard: {e}")),
        }
    }

    fn hear_ready(&mut self) -> Result<(), String> {
        while self.hear()?.trim() != "ready" {}
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn session(over: &str, members: u32) -> Result<Cast, String> {
    let secret = Secret::fresh().map_err(|e| e.to_string())?;
    let (infos, keeps): (Vec<LaunchInfo>, Box<dyn Any>) = match over {
        "shm" => {
            let bootstrap = shm::Bootstrap::new(members, secret).map_err(|e| e.to_string())?;
            let infos = (0..members).map(|rank| bootstrap.launch_info(rank));
            (infos.collect(), Box::new(bootstrap))
        }
        "udp" => {
            let bootstrap = udp::Bootstrap::new(members, secret).map_err(|e| e.to_string())?;
            let infos = (0..members).map(|rank| bootstrap.launch_info(rank));
            (infos.collect(), Box::new(bootstrap))
        }
        "tcp" => {
            let any = SocketAddr::from(([127, 0, 0, 1], 0));
            let bootstrap = Bootstrap::hold(any, members, secret).map_err(|e| e.to_string())?;
            let infos = (0..members).map(|rank| bootstrap.launch_info("tcp", rank));
            (infos.collect(), Box::new(bootstrap))
        }
        other => return Err(format!("there is no contestant {other:?}")),
    };
    Ok(Cast {
        commands: infos.iter().map(member::one).collect(),
        is_one_by_one: false,
        members_each: 1,
        keeps,
    })
}
