//! Processes that run, and what they write.

use crate::bootstrap::Bootstrap;
use crate::hosts::{Host, Hosts};
use crate::lines::Lines;
use crate::remote::{self, Call, Orders, Remote};
use crate::{Ended, Launch, LaunchError, Line, Outcome, Over, mpirun};
use antiphon_panda::platform::{LaunchInfo, Rank};
use antiphon_panda::starter::{NotStarted, OnEnd, SpawnRequest, Starter};
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
    ways: BTreeMap<u64, Way>,
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
        self.0.lock().ways.values().for_each(|way| match way {
            Way::Here(signaller) => signaller.signal(number),
            Way::There(orders) => orders.signal(number),
        });
    }

    fn list(&self, way: Way) -> Listed {
        let mut listed = self.0.lock();
        let number = listed.next;
        listed.next += 1;
        listed.ways.insert(number, way);
        Listed {
            signals: self.clone(),
            number,
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

    /// Starts what a process of the session asks for, on its host.
    fn carry_out(&self, order: &SpawnRequest, rank: Rank) -> Result<(Forwarding, Way), NotStarted> {
        let host = match (&self.hosts, order.address) {
            (Some(hosts), Some(address)) => Some(hosts.at(address).ok_or_else(|| {
                format!(
                    "rank {} is at {address}, and no host of the file is",
                    order.parent
                )
            })?),
            _ => None,
        };
        let info = LaunchInfo {
            parent: Some(order.parent),
            starter: order.starter.clone(),
            ..self.launch_info(rank, host)
        };
        let Some(host) = host.filter(|host| !host.is_here) else {
            return Ok(here(order.program(&info).forward(false)?)?);
        };
        let call = Call {
            over: self.over,
            program: &order.program,
            args: &order.args,
            directory: &order.directory,
            environment: &order.environment,
        };
        let Remote { process, orders } = remote::start(&call, host, &info)?;
        Ok((process, Way::There(orders)))
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
            _starter: None,
        });
    }

    fn push(&mut self, rank: Option<Rank>, process: Forwarding, way: Way) {
        self.members.push(Member {
            rank,
            process,
            on_end: None,
            _listed: self.signals.list(way),
        });
    }

    /// Starts what processes of the session ask for.
    fn starter(&self, plan: &Arc<Plan>) -> std::io::Result<Starter> {
        let (signals, news) = (self.signals.clone(), self.news.0.clone());
        let own = plan.clone();
        let start = move |order: &SpawnRequest, rank, on_end| -> Result<Signaller, NotStarted> {
            let (process, way) = own.carry_out(order, rank)?;
            let signaller = process.signaller()?;
            let member = Member {
                rank: Some(rank),
                process,
                on_end: Some(on_end),
                _listed: signals.list(way),
            };
            // If nobody follows any more, this ends the process.
            let _ = news.send(News::Came(Box::new(member)));
            Ok(signaller)
        };
        Starter::hold(
            own_address(plan.hosts.as_ref()),
            plan.info.secret,
            Arc::new(start),
        )
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
        let (end, usage) = self.process.to_end(|stream, bytes| {
            let lines = match stream {
                Stream::Output => &mut output,
                Stream::Error => &mut error,
            };
            lines.push(bytes, |text| hand_on(stream, text));
        })?;
        output.finish(|text| hand_on(Stream::Output, text));
        error.finish(|text| hand_on(Stream::Error, text));
        if let Some((rank, places)) = rank.zip(places) {
            places.bootstrap.ended(rank);
        }
        if let Some(on_end) = self.on_end {
            on_end(&end);
        }
        Ok(Ended { rank, end, usage })
    }
}
