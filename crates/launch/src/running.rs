//! Running processes and their output.

use crate::bootstrap::Bootstrap;
use crate::hosts::{Host, Hosts};
use crate::lines::Lines;
use crate::remote::{self, Beginning, Call, Orders, Remote};
use crate::{Ended, Launch, LaunchError, Line, Outcome, Over, mpirun};
use antiphon_panda::platform::{Joinable, LaunchInfo, Rank, Registry};
use antiphon_panda::session::SILENCE;
use antiphon_panda::starter::{
    LastWords, NotStarted, OnEnd, Processes, Signal, SpawnRequest, Starter, is_this_host,
};
use antiphon_runner::{Forwarding, Program, Signaller, Stream};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// The processes of a session. The drop kills them and all that they started.
pub struct Running {
    members: Vec<Member>,
    signals: Signals,
    /// Processes that were spawned since, and ends.
    news: (mpsc::Sender<News>, mpsc::Receiver<News>),
    /// Bootstrap and starter, held while the processes run.
    places: Option<Places>,
}

/// The places where the processes meet and ask for more. Processes of Open MPI start others
/// themselves.
pub(crate) struct Places {
    bootstrap: Bootstrap,
    _joinable: Option<Joinable>,
    _starter: Option<Starter>,
}

/// An event while processes are followed.
enum News {
    Came(Box<Member>),
    /// The end of a process, or a panic of the code that takes its lines.
    Ended(std::thread::Result<Result<Ended, LaunchError>>),
}

struct Member {
    rank: Option<Rank>,
    process: Forwarding,
    on_end: Option<OnEnd>,
    /// State of its start, if it is on another host.
    beginning: Option<Beginning>,
    _listed: Listed,
}

/// A handle that signals all processes of a session, from any thread.
#[derive(Clone, Debug)]
pub struct Signals(Arc<Mutex<Ways>>);

/// The ways to running processes, in the order of their start.
#[derive(Debug, Default)]
struct Ways {
    ways: BTreeMap<u64, (Option<Rank>, Way)>,
    next: u64,
}

/// A way to signal a process.
#[derive(Debug)]
enum Way {
    Here(Signaller),
    There(Orders),
}

/// A process that signals reach, until this drops.
struct Listed {
    signals: Signals,
    number: u64,
}

impl Signals {
    /// Sends a signal to the process group of each process.
    pub fn signal(&self, number: i32) {
        let listed = self.0.lock();
        listed.ways.values().for_each(|(_, way)| way.signal(number));
    }

    /// Sends a signal to the process group of one process; returns false if none of that rank runs.
    pub fn signal_one(&self, rank: Rank, number: i32) -> bool {
        let listed = self.0.lock();
        let mut ways = listed.ways.values();
        let way = ways.find(|(of, _)| *of == Some(rank));
        way.inspect(|(_, way)| way.signal(number)).is_some()
    }

    fn list(&self, rank: Option<Rank>, way: Way) -> Listed {
        let mut listed = self.0.lock();
        let number = listed.next;
        listed.next += 1;
        listed.ways.insert(number, (rank, way));
        Listed {
            signals: self.clone(),
            number,
        }
    }
}

impl Way {
    fn signal(&self, number: i32) {
        match self {
            Self::Here(signaller) => signaller.signal(number),
            Self::There(orders) => orders.signal(number),
        }
    }
}

impl Drop for Listed {
    /// Drops the way, since it holds a descriptor, and one to another host a thread.
    fn drop(&mut self) {
        let way = self.signals.0.lock().ways.remove(&self.number);
        drop(way);
    }
}

/// Processes for each processor of a host that all answer within the usual silence while they begin.
const CROWD: usize = 16;
/// The longest silence that a crowd gets.
const CROWDS_SILENCE: Duration = Duration::from_secs(60);

/// The silence of more processes than the processors of this host can begin side by side: each may
/// wait its turn for long. `None` for fewer, and where they are spread over hosts.
fn silence_of_crowd(launch: &Launch) -> Option<Duration> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let crowds = (launch.count as usize).div_ceil(CROWD * processors);
    let is_crowded = crowds > 1 && launch.hosts.is_none();
    is_crowded.then(|| (SILENCE * crowds as u32).min(CROWDS_SILENCE))
}

pub(crate) fn start(launch: &Launch) -> Result<Running, LaunchError> {
    let failed = |source| LaunchError::Session {
        over: launch.over.name(),
        source,
    };
    let hosts = launch.hosts.as_deref();
    let hosts = hosts.map(|file| Hosts::read(file, launch.begins_here));
    let hosts = hosts.transpose()?;
    let bootstrap = Bootstrap::new(launch, own_address(hosts.as_ref()))?;
    let mut running = Running::empty();
    let plan = Arc::new(Plan {
        over: launch.over,
        info: LaunchInfo {
            silence: launch.silence.or_else(|| silence_of_crowd(launch)),
            ..bootstrap.launch_info(launch.over, 0)
        },
        hosts,
        start_limit: launch.start_limit,
    });
    let starter = running.starter(&plan).map_err(failed)?;
    let room = room_for_callers(launch).map_err(failed)?;
    let joinable = launch.joinable.as_ref().map(|name| {
        let info = LaunchInfo {
            starter: Some(starter.address()),
            address: plan.hosts.as_ref().map(|hosts| hosts.own),
            ..plan.info.clone()
        };
        Registry::of_user().and_then(|registry| registry.announce(name, &info))
    });
    let joinable = joinable.transpose()?;
    let directory = std::env::current_dir().map_err(failed)?;
    let settings: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| is_setting(name))
        .collect();
    for rank in 0..launch.count {
        let host = plan.hosts.as_ref().map(|hosts| hosts.of(rank));
        let info = LaunchInfo {
            starter: Some(starter.address()),
            ..plan.launch_info(rank, host)
        };
        let begun = match host.filter(|host| !host.is_here) {
            Some(host) => {
                let call = Call {
                    over: launch.over,
                    program: &launch.program,
                    args: &launch.args,
                    directory: &directory,
                    environment: &settings,
                    start_limit: launch.start_limit,
                };
                there(remote::start(&call, host, &info)?)
            }
            None => {
                let program = Program::new(&launch.program)
                    .args(&launch.args)
                    .envs(info.to_environment());
                here(program.forward(rank == 0)?)?
            }
        };
        running.push(Some(rank), begun);
    }
    drop(room);
    running.places = Some(Places {
        bootstrap,
        _joinable: joinable,
        _starter: Some(starter),
    });
    Ok(running)
}

/// Whether a variable has settings of a program, which go to processes of other hosts, too.
fn is_setting(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"ANTIPHON_")
}

/// Holds a descriptor for each process that will call the bootstrap, while the processes start. So a
/// lack of them is told at the start, and not found by processes that nobody lets in.
fn room_for_callers(launch: &Launch) -> io::Result<Vec<OwnedFd>> {
    let callers = match launch.over {
        Over::Tcp => launch.count,
        Over::Shm | Over::Udp | Over::Mpi => 0,
    };
    let any = File::open("/dev/null")?;
    let room = (0..callers).map(|_| any.as_fd().try_clone_to_owned());
    room.collect()
}

/// Returns this host's address, as the hosts reach it; without hosts the loopback.
fn own_address(hosts: Option<&Hosts>) -> IpAddr {
    hosts.map_or(Ipv4Addr::LOCALHOST.into(), |hosts| hosts.own)
}

/// A started process, and the way to it.
struct Begun {
    process: Forwarding,
    way: Way,
    beginning: Option<Beginning>,
}

/// Makes it of a process of this host.
fn here(process: Forwarding) -> Result<Begun, LaunchError> {
    let way = Way::Here(process.signaller()?);
    Ok(Begun {
        process,
        way,
        beginning: None,
    })
}

/// Makes it of a process of another host.
fn there(remote: Remote) -> Begun {
    Begun {
        process: remote.process,
        way: Way::There(remote.orders),
        beginning: Some(remote.beginning),
    }
}

/// The settings that all processes of a session share.
struct Plan {
    over: Over,
    /// Launch info of one of them.
    info: LaunchInfo,
    hosts: Option<Hosts>,
    /// Time that a process of another host may take to begin.
    start_limit: Duration,
}

impl Plan {
    fn launch_info(&self, rank: Rank, host: Option<&Host>) -> LaunchInfo {
        let there = host.filter(|host| !host.is_here);
        LaunchInfo {
            rank,
            name: there.map_or_else(
                || format!("rank {rank}"),
                |host| format!("{}:{rank}", host.name),
            ),
            address: host.map(|host| host.address),
            ..self.info.clone()
        }
    }

    /// Returns the host for a process: the one that the request names, or else its spawner's.
    fn host_for(&self, request: &SpawnRequest) -> Result<Option<&Host>, NotStarted> {
        Ok(match (&self.hosts, &request.host, request.address) {
            (Some(hosts), Some(name), _) => Some(hosts.named(name)?),
            (None, Some(name), _) if !is_this_host(name) => {
                return Err(format!(
                    "this session has no host `{name}`, but only this one: start it with `antiphon launch --hosts FILE`, and name {name} in the file"
                )
                .into());
            }
            (Some(hosts), None, Some(address)) => Some(hosts.at(address).ok_or_else(|| {
                format!(
                    "rank {} is at {address}, and no host of the file is",
                    request.parent
                )
            })?),
            _ => None,
        })
    }

    /// Starts the process that a process of the session requests.
    fn carry_out(&self, request: &SpawnRequest, rank: Rank) -> Result<Begun, NotStarted> {
        let host = self.host_for(request)?;
        let info = LaunchInfo {
            parent: Some(request.parent),
            starter: request.starter.clone(),
            ..self.launch_info(rank, host)
        };
        let Some(host) = host.filter(|host| !host.is_here) else {
            return Ok(here(request.start(&info)?)?);
        };
        let call = Call {
            over: self.over,
            program: &request.program,
            args: &request.args,
            directory: &request.directory,
            environment: &request.environment,
            start_limit: self.start_limit,
        };
        Ok(there(remote::start(&call, host, &info)?))
    }
}

/// The processes that the session's starter has started.
struct Children {
    plan: Arc<Plan>,
    signals: Signals,
    news: mpsc::Sender<News>,
    /// Held for reading from before a process starts until it is listed. It may join and be
    /// signalled by its parent before it is.
    starting: RwLock<()>,
}

impl Processes for Children {
    fn start(
        &self,
        request: &SpawnRequest,
        rank: Rank,
        on_end: OnEnd,
    ) -> Result<Arc<Signaller>, NotStarted> {
        let _until_listed = self.starting.read();
        let Begun {
            process,
            way,
            beginning,
        } = self.plan.carry_out(request, rank)?;
        let signaller = Arc::new(process.signaller()?);
        let member = Member {
            rank: Some(rank),
            process,
            on_end: Some(on_end),
            beginning,
            _listed: self.signals.list(Some(rank), way),
        };
        // If the session is no longer followed, the failed send drops the member, which ends the
        // process.
        let _ = self.news.send(News::Came(Box::new(member)));
        Ok(signaller)
    }

    fn signal(&self, rank: Rank, signal: Signal) -> Result<(), NotStarted> {
        let send = || self.signals.signal_one(rank, signal.number());
        let send_when_listed = || {
            drop(self.starting.write());
            send()
        };
        match send() || send_when_listed() {
            true => Ok(()),
            false => Err("it has ended, or `antiphon launch` has not started it: signal it where it was started".into()),
        }
    }
}

impl Running {
    pub(crate) fn empty() -> Self {
        Self {
            members: Vec::new(),
            signals: Signals(Arc::default()),
            news: mpsc::channel(),
            places: None,
        }
    }

    pub(crate) fn add(
        &mut self,
        rank: Option<Rank>,
        process: Forwarding,
    ) -> Result<(), LaunchError> {
        self.push(rank, here(process)?);
        Ok(())
    }

    /// Holds a bootstrap while the processes run.
    pub(crate) fn hold(&mut self, bootstrap: Bootstrap) {
        self.places = Some(Places {
            bootstrap,
            _joinable: None,
            _starter: None,
        });
    }

    fn push(&mut self, rank: Option<Rank>, begun: Begun) {
        self.members.push(Member {
            rank,
            process: begun.process,
            on_end: None,
            beginning: begun.beginning,
            _listed: self.signals.list(rank, begun.way),
        });
    }

    /// Returns a starter, which starts processes on request of the session.
    fn starter(&self, plan: &Arc<Plan>) -> io::Result<Starter> {
        let children = Children {
            plan: plan.clone(),
            signals: self.signals.clone(),
            news: self.news.0.clone(),
            starting: RwLock::default(),
        };
        let address = own_address(plan.hosts.as_ref());
        Starter::hold(address, plan.info.secret, Arc::new(children))
    }

    /// Returns a handle to signal the processes.
    #[must_use]
    pub fn signals(&self) -> Signals {
        self.signals.clone()
    }

    /// Returns the process numbers, by rank; one for `mpirun`.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        self.members.iter().map(|m| m.process.id()).collect()
    }

    /// Hands on the processes' output, line by line, until all have ended.
    ///
    /// One thread at a time calls `write`. While it does not return, the processes wait once their
    /// pipes are full.
    ///
    /// # Errors
    ///
    /// A system call failed while waiting.
    pub fn to_end(self, write: impl FnMut(Line) + Send) -> Result<Outcome, LaunchError> {
        let write = Mutex::new(write);
        let mut outcome = Outcome { ended: Vec::new() };
        let (tell, news) = self.news;
        std::thread::scope(|scope| {
            let follow = |member: Member| {
                let (told, write, places) = (tell.clone(), &write, self.places.as_ref());
                let follower = move || {
                    let ended = catch_unwind(AssertUnwindSafe(|| member.follow(places, write)));
                    let _ = told.send(News::Ended(ended));
                };
                // Without a thread, the process ends with the closure that holds it.
                let thread = std::thread::Builder::new().name("launch output".into());
                if let Err(source) = thread.spawn_scoped(scope, follower) {
                    let refused = LaunchError::NoThread { source };
                    let _ = tell.send(News::Ended(Ok(Err(refused))));
                }
            };
            let mut count = self.members.len();
            self.members.into_iter().for_each(follow);
            while count > 0 {
                // A process that comes after the last end has no process left that wants it. It
                // ends with this function.
                match news.recv().expect("we hold a sender ourselves") {
                    News::Came(member) => {
                        count += 1;
                        follow(*member);
                    }
                    News::Ended(ended) => {
                        count -= 1;
                        let ended = ended.unwrap_or_else(|panic| resume_unwind(panic));
                        // The others would be waited for, though nothing is left to say of them.
                        outcome.ended.push(ended.inspect_err(|_| {
                            self.signals.signal(libc::SIGKILL);
                        })?);
                    }
                }
            }
            Ok(outcome)
        })
    }
}

impl Member {
    /// Hands on a process's output until it ends. The bootstrap hears of the end first. So a
    /// process that is told of the end finds the bootstrap told as well.
    fn follow(
        self,
        places: Option<&Places>,
        write: &Mutex<impl FnMut(Line)>,
    ) -> Result<Ended, LaunchError> {
        let rank = self.rank;
        let beginning = self.beginning;
        let mut words = LastWords::default();
        let mut hand_on = |stream, text: Vec<u8>| {
            let is_mark = |beginning: &Beginning| beginning.is_said_by(&text);
            if stream == Stream::Error && beginning.as_ref().is_some_and(is_mark) {
                return;
            }
            if stream == Stream::Error {
                words.push(&text);
                words.push(b"\n");
            }
            let line = Line { rank, stream, text };
            // A line of mpirun's is marked with its rank.
            let line = if rank.is_none() {
                mpirun::untag(line)
            } else {
                line
            };
            write.lock()(line);
        };
        let (mut output, mut error) = (Lines::default(), Lines::default());
        let (end, usage) = self.process.to_end(|stream, bytes| {
            let lines = match stream {
                Stream::Output => &mut output,
                Stream::Error => &mut error,
            };
            lines.push(bytes, |text| hand_on(stream, text));
        })?;
        output.finish(|text| hand_on(Stream::Output, text));
        error.finish(|text| hand_on(Stream::Error, text));
        if let Some(complaint) = beginning.as_ref().and_then(Beginning::complaint) {
            hand_on(Stream::Error, complaint.into_bytes());
        }
        if let Some((rank, places)) = rank.zip(places) {
            places.bootstrap.ended(rank);
        }
        if let Some(on_end) = self.on_end {
            on_end(&end, &words.text());
        }
        Ok(Ended { rank, end, usage })
    }
}
