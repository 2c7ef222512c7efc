//! Processes that run, and what they write.

use crate::hosts::Hosts;
use crate::lines::Lines;
use crate::remote::{self, Orders, Remote};
use crate::seats::Meeting;
use crate::{Ended, Launch, LaunchError, Line, Outcome, mpirun};
use antiphon_panda::platform::Rank;
use antiphon_panda::starter::{OnEnd, Starter};
use antiphon_runner::{Error, Forwarding, Program, Signaller, Stream};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc};

/// The processes of a session. Dropping it kills them and all that they started.
pub struct Running {
    members: Vec<Member>,
    signals: Signals,
    /// Those that were spawned since.
    news: (mpsc::Sender<News>, mpsc::Receiver<News>),
    /// Held while they run.
    _places: Option<Places>,
}

/// Where the processes meet, and where they ask for more.
pub(crate) struct Places {
    _meeting: Meeting,
    _starter: Starter,
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
}

/// Passes signals on to all processes of a session, from any thread.
#[derive(Clone, Debug)]
pub struct Signals(Arc<Mutex<Vec<Way>>>);

/// A way to signal a process.
#[derive(Debug)]
enum Way {
    Here(Signaller),
    There(Orders),
}

impl Signals {
    /// Sends a signal to the process group of each process.
    pub fn signal(&self, number: i32) {
        self.0.lock().iter().for_each(|member| match member {
            Way::Here(signaller) => signaller.signal(number),
            Way::There(orders) => orders.signal(number),
        });
    }
}

pub(crate) fn start(launch: &Launch) -> Result<Running, LaunchError> {
    let hosts = launch.hosts.as_deref().map(Hosts::read).transpose()?;
    let meeting = Meeting::new(launch, hosts.as_ref())?;
    let mut running = Running::empty();
    let starter = running.starter(&meeting).map_err(|source| {
        let over = launch.over.name();
        LaunchError::Session { over, source }
    })?;
    for rank in 0..launch.count {
        let host = hosts.as_ref().map(|hosts| hosts.of(rank));
        let mut seat = meeting.seat(rank);
        seat.address = host.map(|host| host.address);
        seat.silence = launch.silence;
        if let Some(host) = host.filter(|host| !host.is_here) {
            seat.name = format!("{}:{rank}", host.name);
            let Remote { process, orders } = remote::start(launch, host, &seat)?;
            running.push(Some(rank), process, Way::There(orders));
            continue;
        }
        let program = Program::new(&launch.program).args(&launch.args);
        let variables = seat.to_environment().into_iter();
        let program = variables
            .chain([starter.to_environment()])
            .fold(program, |program, (name, value)| program.env(name, value));
        running.add(Some(rank), program.forward(rank == 0)?)?;
    }
    running._places = Some(Places {
        _meeting: meeting,
        _starter: starter,
    });
    Ok(running)
}

impl Running {
    pub(crate) fn empty() -> Self {
        Self {
            members: Vec::new(),
            signals: Signals(Arc::default()),
            news: mpsc::channel(),
            _places: None,
        }
    }

    pub(crate) fn add(
        &mut self,
        rank: Option<Rank>,
        process: Forwarding,
    ) -> Result<(), LaunchError> {
        let way = Way::Here(process.signaller()?);
        self.push(rank, process, way);
        Ok(())
    }

    fn push(&mut self, rank: Option<Rank>, process: Forwarding, way: Way) {
        self.signals.0.lock().push(way);
        self.members.push(Member {
            rank,
            process,
            on_end: None,
        });
    }

    /// Starts what processes of the session ask for.
    fn starter(&self, meeting: &Meeting) -> std::io::Result<Starter> {
        let (signals, news) = (self.signals.clone(), self.news.0.clone());
        let start = move |rank, program: Program, on_end| -> Result<Signaller, Error> {
            let process = program.forward(false)?;
            let (signaller, own) = (process.signaller()?, process.signaller()?);
            signals.0.lock().push(Way::Here(own));
            let member = Member {
                rank: Some(rank),
                process,
                on_end: Some(on_end),
            };
            // If nobody follows any more, this ends the process.
            let _ = news.send(News::Came(Box::new(member)));
            Ok(signaller)
        };
        Starter::hold(meeting.seat(0).secret, Arc::new(start))
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
                let (tell, write) = (tell.clone(), &write);
                scope.spawn(move || {
                    let ended = catch_unwind(AssertUnwindSafe(|| member.follow(write)));
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
    fn follow(self, write: &Mutex<impl FnMut(Line)>) -> Result<Ended, LaunchError> {
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
        if let Some(on_end) = self.on_end {
            on_end(&end);
        }
        Ok(Ended { rank, end, usage })
    }
}
