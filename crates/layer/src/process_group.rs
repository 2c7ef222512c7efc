//! The processes of a process group: started over a platform, and ended together.

use std::fmt::Display;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_panda::platform::{self, LaunchInfo, Secret, shm, udp};
use antiphon_runner::{Process, Program, Signaller};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::control_page::ControlPage;
use crate::place::Place;
use crate::transport::{Platform, Transport};

/// Time of a process group for its end on request: the laboratory gives a second.
const END: Duration = Duration::from_millis(800);

/// The leader to talk to, and the others.
pub struct ProcessGroup {
    leader: Process,
    others: Vec<Other>,
    is_ending: Arc<AtomicBool>,
    size: usize,
    /// Held while they live.
    _bootstrap: Bootstrap,
    _board: ControlPage,
}

/// A process that is not talked to: its words are passed on, and its end is noticed.
struct Other {
    signaller: Signaller,
    follower: JoinHandle<()>,
}

/// Means by which processes learn of each other.
enum Bootstrap {
    /// Elsewhere, or by the control_page.
    Elsewhere,
    Shm(shm::Bootstrap),
    Tcp(platform::Bootstrap),
    Udp(udp::Bootstrap),
}

impl Bootstrap {
    fn new(transport: Transport, size: usize) -> io::Result<Self> {
        let (secret, size) = (Secret::fresh()?, size as u32);
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(match transport.platform() {
            Some(Platform::Shm) => Self::Shm(shm::Bootstrap::new(size, secret)?),
            Some(Platform::Tcp) => Self::Tcp(platform::Bootstrap::hold(any, size, secret)?),
            Some(Platform::Udp) => Self::Udp(udp::Bootstrap::new(size, secret)?),
            _ => Self::Elsewhere,
        })
    }

    fn launch_info(&self, rank: usize) -> Option<LaunchInfo> {
        let rank = rank as u32;
        match self {
            Self::Elsewhere => None,
            Self::Shm(bootstrap) => Some(bootstrap.launch_info(rank)),
            Self::Tcp(bootstrap) => Some(bootstrap.launch_info("tcp", rank)),
            Self::Udp(bootstrap) => Some(bootstrap.launch_info(rank)),
        }
    }
}

impl ProcessGroup {
    /// Starts `size` processes of this same program, with the same arguments.
    pub fn start(transport: Transport, size: usize) -> Result<Self, String> {
        let failed = |error: &dyn Display| format!("{size} processes were not started: {error}");
        let control_page = ControlPage::new().map_err(|error| failed(&error))?;
        let bootstrap = Bootstrap::new(transport, size).map_err(|error| failed(&error))?;
        let platform = transport.platform();
        let alone = matches!(platform, Some(Platform::Local | Platform::Mpi));
        let mut programs = Vec::new();
        for rank in 0..if alone { 1 } else { size } {
            let program =
                member(transport, &control_page, rank, size).map_err(|error| failed(&error))?;
            let info = bootstrap
                .launch_info(rank)
                .map(|info| info.to_environment());
            programs.push(program.envs(info.unwrap_or_default()));
        }
        let mut programs = programs.into_iter();
        let leader = programs.next().map(|program| program.spawn());
        let leader = leader
            .expect("there is a leader")
            .map_err(|error| failed(&error))?;
        let mut process_group = Self {
            leader,
            others: Vec::new(),
            is_ending: Arc::default(),
            size,
            _bootstrap: bootstrap,
            _board: control_page,
        };
        // From here on the running ones end with the process group.
        for (rank, program) in (1..).zip(programs) {
            let other = process_group
                .follow(rank, program)
                .map_err(|error| failed(&error))?;
            process_group.others.push(other);
        }
        Ok(process_group)
    }

    /// Returns the number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Starts one of the others. An early end of it also ends the leader, which may wait for it.
    fn follow(&self, rank: usize, program: Program) -> Result<Other, Box<dyn std::error::Error>> {
        let process = program.forward(false)?;
        let signaller = process.signaller()?;
        let leader = process_handle(self.leader.id())?;
        let is_ending = self.is_ending.clone();
        let follower = std::thread::Builder::new().spawn(move || {
            let end = process.to_end(|_, bytes| {
                let _ = io::Write::write_all(&mut io::stderr(), bytes);
            });
            if !is_ending.load(SeqCst) {
                let how = end.map_or_else(|error| error.to_string(), |(end, _)| format!("{end:?}"));
                eprintln!("member {rank} ended: {how}");
                let _ = pidfd_send_signal(leader, Signal::KILL);
            }
        })?;
        Ok(Other {
            signaller,
            follower,
        })
    }

    /// Asks the leader; its answer, the closing line last.
    pub fn ask(&mut self, request: &str) -> Result<Vec<String>, String> {
        let went = self.leader.write_line(request);
        went.map_err(|error| error.to_string())?;
        let mut lines = Vec::new();
        loop {
            let line = self.leader.read_line().map_err(|error| error.to_string())?;
            let is_last = line == "@@ ok" || line.starts_with("@@ error ");
            lines.push(line);
            if is_last {
                return Ok(lines);
            }
        }
    }

    /// Lets it end by itself.
    pub fn end(mut self) {
        self.is_ending.store(true, SeqCst);
        self.leader.close_input();
        let _ = self.leader.wait(END);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.is_ending.store(true, SeqCst);
        self.leader.kill();
        for other in &self.others {
            other.signaller.signal(libc::SIGKILL);
        }
        for other in self.others.drain(..) {
            let _ = other.follower.join();
        }
    }
}

/// Returns the program of one process.
fn member(
    transport: Transport,
    control_page: &ControlPage,
    rank: usize,
    size: usize,
) -> io::Result<Program> {
    let own = std::env::current_exe()?;
    let args = std::env::args_os().skip(1);
    let is_mpi = transport.platform() == Some(Platform::Mpi);
    let program = if is_mpi {
        mpirun(size).arg(own)
    } else {
        Program::new(own)
    };
    let place = Place {
        control_page: control_page.name(),
        rank: (!is_mpi).then_some(rank),
        size,
    };
    Ok(program.args(args).envs(place.to_environment()))
}

/// Returns Open MPI's launcher; the processes pin themselves.
fn mpirun(size: usize) -> Program {
    let program = Program::new("mpirun")
        .env("ANTIPHON_PLATFORM", "mpi")
        .args(["--oversubscribe", "--bind-to", "none", "-n"])
        .arg(size.to_string());
    match rustix::process::geteuid().is_root() {
        true => program.arg("--allow-run-as-root"),
        false => program,
    }
}

fn process_handle(id: u32) -> io::Result<OwnedFd> {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    let id = id.ok_or_else(|| io::Error::other("it has no process number"))?;
    Ok(pidfd_open(id, PidfdFlags::empty())?)
}
