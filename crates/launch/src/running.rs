//! Processes that run, and what they write.

use crate::bootstrap::Bootstrap;
use crate::hosts::{Host, Hosts};
use crate::lines::Lines;
use crate::remote::{self, Call, Orders, Remote};
use crate::{Ended, Launch, LaunchError, Line, Outcome, Over, mpirun};
use antiphon_panda::platform::{Joinable, LaunchInfo, Rank, Registry};
use antiphon_panda::starter::{
    LastWords, NotStarted, OnEnd, Processes, Signal, SpawnRequest, Starter, is_this_host,
};
use antiphon_runner::{Forwarding, Program, Signaller, Stream};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc};

/// The processes of a session. Dropping it kills them and all that they started.
pub struct Running {
    members: Vec<Member>,
    signals: Signals,
    /// Those that were spawned since.
    news: (mpsc::Sender<News>, mpsc::Receiver<News>),
    /// Held while they run.
    places: Option<Places>,
}

/// Where the processes meet, and where they ask for more, which those of Open MPI start themselves.
pub(crate) struct Places {
    bootstrap: Bootstrap,
    _joinable: Option<Joinable>,
    _starter: Option<Starter>,
}

/// What happens while processes are followed.
enum News {
    Came(Box<Member>),
    /// Or whoever takes its lines panicked.
    Ended(std::thread::Result<Result<Ended, LaunchError>>),
}

struct Member {
    rank: Option<Rank>,
    process: Forwarding,
    on_end: Option<OnEnd>,
    _listed: Listed,
}

/// Passes signals on to all processes of a session, from any thread.
#[derive(Clone, Debug)]
pub struct Signals(Arc<Mutex<Ways>>);

/// The ways to those that run, by the order in which they were started.
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

/// A process that signals reach, until it is let go of.
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

    /// Sends a signal to the process group of one process; false if none of that rank runs.
    fn signal_one(&self, rank: Rank, number: i32) -> bool {
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
    /// A way holds a descriptor, and one to another host a thread.
    fn drop(&mut self) {
        let way = self.signals.0.lock().ways.remove(&self.number);
        drop(way);
    }
}

pub(crate) fn start(launch: &Launch) -> Result<Running, LaunchError> {
    let failed = |source| LaunchError::Session {
        over: launch.over.name(),
        source,
    };
    let hosts = launch.hosts.as_deref().map(Hosts::read).transpose()?;
    let bootstrap = Bootstrap::new(launch, own_address(hosts.as_ref()))?;
    let mut running = Running::empty();
    let plan = Arc::new(Plan {
        over: launch.over,
        info: LaunchInfo {
            silence: launch.silence,
            ..bootstrap.launch_info(launch.over, 0)
        },
        hosts,
    });
    let starter = running.starter(&plan).map_err(failed)?;
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
    for rank in 0..launch.count {
        let host = plan.hosts.as_ref().map(|hosts| hosts.of(rank));
        let info = LaunchInfo {
            starter: Some(starter.address()),
            ..plan.launch_info(rank, host)
        };
        let (process, way) = match host.filter(|host| !host.is_here) {
            Some(host) => {
                let call = Call {
                    over: launch.over,
                    program: &launch.program,
                    args: &launch.args,
                    directory: &directory,
                    environment: &[],
                };
                let Remote { process, orders } = remote::start(&call, host, &info)?;
                (process, Way::There(orders))
            }
            None => {
                let program = Program::new(&launch.program)
                    .args(&launch.args)
                    .envs(info.to_environment());
                here(program.forward(rank == 0)?)?
            }
        };
        running.push(Some(rank), process, way);
    }
    running.places = Some(Places {
        bootstrap,
        _joinable: joinable,
        _starter: Some(starter),
    });
    Ok(running)
}

/// This host's address, as the hosts reach it; without hosts that of the loopback.
fn own_address(hosts: Option<&Hosts>) -> IpAddr {
    hosts.map_or(Ipv4Addr::LOCALHOST.into(), |hosts| hosts.own)
}

/// A process of this host, and the way to it.
fn here(process: Forwarding) -> Result<(Forwarding, Way), LaunchError> {
    let way = Way::Here(process.signaller()?);
    Ok((process, way))
}

/// What all processes of a session have in common.
struct Plan {
    over: Over,
    /// The launch info of one of them.
    info: LaunchInfo,
    hosts: Option<Hosts>,
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

    /// The host that a process is wanted on: the one that the request names, or else its spawner's.
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

    /// Starts what a process of the session asks for.
    fn carry_out(
        &self,
        request: &SpawnRequest,
        rank: Rank,
    ) -> Result<(Forwarding, Way), NotStarted> {
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
        };
        let Remote { process, orders } = remote::start(&call, host, &info)?;
        Ok((process, Way::There(orders)))
    }
}

/// What the session's starter can do.
struct Children {
    plan: Arc<Plan>,
    signals: Signals,
    news: mpsc::Sender<News>,
}

impl Processes for Children {
    fn start(
        &self,
        request: &SpawnRequest,
        rank: Rank,
        on_end: OnEnd,
    ) -> Result<Arc<Signaller>, NotStarted> {
        let (process, way) = self.plan.carry_out(request, rank)?;
        let signaller = Arc::new(process.signaller()?);
        let member = Member {
            rank: Some(rank),
            process,
            on_end: Some(on_end),
            _listed: self.signals.list(Some(rank), way),
        };
        // If nobody follows any more, this ends the process.
        let _ = self.news.send(News::Came(Box::new(member)));
        Ok(signaller)
    }

    fn signal(&self, rank: Rank, signal: Signal) -> Result<(), NotStarted> {
        match self.signals.signal_one(rank, signal.number()) {
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
        let (process, way) = here(process)?;
        self.push(rank, process, way);
        Ok(())
    }

    /// Holds a bootstrap while they run.
    pub(crate) fn hold(&mut self, bootstrap: Bootstrap) {
        self.places = Some(Places {
            bootstrap,
            _joinable: None,
            _starter: None,
        });
    }

    fn push(&mut self, rank: Option<Rank>, process: Forwarding, way: Way) {
        self.members.push(Member {
            rank,
            process,
            on_end: None,
            _listed: self.signals.list(rank, way),
        });
    }

    /// Starts what processes of the session ask for.
    fn starter(&self, plan: &Arc<Plan>) -> std::io::Result<Starter> {
        let children = Children {
            plan: plan.clone(),
            signals: self.signals.clone(),
            news: self.news.0.clone(),
        };
        let address = own_address(plan.hosts.as_ref());
        Starter::hold(address, plan.info.secret, Arc::new(children))
    }

    /// A handle to signal them by.
    #[must_use]
    pub fn signals(&self) -> Signals {
        self.signals.clone()
    }

    /// The process numbers, by rank; one for `mpirun`.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        self.members.iter().map(|m| m.process.id()).collect()
    }

    /// Hands on what they write, line by line, until all have ended. `write` is called from one thread at a time; while it does not return, they wait once their
    /// pipes are full.
    ///
    /// # Errors
    /// The system failed at waiting.
    pub fn to_end(self, write: impl FnMut(Line) + Send) -> Result<Outcome, LaunchError> {
        let write = Mutex::new(write);
        let mut outcome = Outcome { ended: Vec::new() };
        let (tell, news) = self.news;
        std::thread::scope(|scope| {
            let follow = |member: Member| {
                let (tell, write, places) = (tell.clone(), &write, self.places.as_ref());
                scope.spawn(move || {
                    let ended = catch_unwind(AssertUnwindSafe(|| member.follow(places, write)));
                    tell.send(News::Ended(ended))
                });
            };
            let mut count = self.members.len();
            self.members.into_iter().for_each(follow);
            while count > 0 {
                // Who comes after the last end was wanted by nobody who is left, and ends with this.
                match news.recv().expect("we hold a sender ourselves") {
                    News::Came(member) => {
                        count += 1;
                        follow(*member);
                    }
                    News::Ended(ended) => {
                        count -= 1;
                        outcome
                            .ended
                            .push(ended.unwrap_or_else(|panic| resume_unwind(panic))?);
                    }
                }
            }
            Ok(outcome)
        })
    }
}

impl Member {
    /// Hands on what the process writes until it ends. The bootstrap hears of the end first, so that a
    /// process that is told of it finds the bootstrap told as well.
    fn follow(
        self,
        places: Option<&Places>,
        write: &Mutex<impl FnMut(Line)>,
    ) -> Result<Ended, LaunchError> {
        let rank = self.rank;
        let hand_on = |stream, text| {
            let line = Line { rank, stream, text };
            // A line of mpirun's says whose it is.
            let line = if rank.is_none() {
                mpirun::untag(line)
            } else {
                line
            };
            write.lock()(line);
        };
        let (mut output, mut error) = (Lines::default(), Lines::default());
        let mut words = LastWords::default();
        let (end, usage) = self.process.to_end(|stream, bytes| {
            let lines = match stream {
                Stream::Output => &mut output,
                Stream::Error => {
                    words.push(bytes);
                    &mut error
                }
            };
            lines.push(bytes, |text| hand_on(stream, text));
        })?;
        output.finish(|text| hand_on(Stream::Output, text));
        error.finish(|text| hand_on(Stream::Error, text));
        if let Some((rank, places)) = rank.zip(places) {
            places.bootstrap.ended(rank);
        }
        if let Some(on_end) = self.on_end {
            on_end(&end, &words.text());
        }
        Ok(Ended { rank, end, usage })
    }
}
