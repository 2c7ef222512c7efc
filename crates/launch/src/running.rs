//! Processes that run, and what they write.

use crate::lines::Lines;
use crate::seats::Meeting;
use crate::{Ended, Launch, LaunchError, Line, Outcome, mpirun};
use antiphon_panda::platform::Rank;
use antiphon_runner::{Forwarding, Program, Signaller, Stream};
use parking_lot::Mutex;
use std::sync::Arc;

/// The processes of a session. Dropping it kills them and all that they started.
pub struct Running {
    members: Vec<Member>,
    signals: Signals,
    /// Held while they run.
    _meeting: Option<Meeting>,
}

struct Member {
    rank: Option<Rank>,
    process: Forwarding,
}

/// Passes signals on to all processes of a session, from any thread.
#[derive(Clone, Debug)]
pub struct Signals(Arc<Vec<Signaller>>);

impl Signals {
    /// Sends a signal to the process group of each process.
    pub fn signal(&self, number: i32) {
        self.0.iter().for_each(|member| member.signal(number));
    }
}

pub(crate) fn start(launch: &Launch) -> Result<Running, LaunchError> {
    let meeting = Meeting::new(launch)?;
    let mut members = Vec::new();
    for rank in 0..launch.count {
        let program = Program::new(&launch.program).args(&launch.args);
        let program = meeting
            .seat(rank)
            .to_environment()
            .into_iter()
            .fold(program, |program, (name, value)| program.env(name, value));
        members.push((Some(rank), program.forward(rank == 0)?));
    }
    Running::new(members, Some(meeting))
}

impl Running {
    pub(crate) fn new(
        members: Vec<(Option<Rank>, Forwarding)>,
        meeting: Option<Meeting>,
    ) -> Result<Self, LaunchError> {
        let signallers: Result<_, _> = members.iter().map(|(_, p)| p.signaller()).collect();
        Ok(Self {
            signals: Signals(Arc::new(signallers?)),
            members: members
                .into_iter()
                .map(|(rank, process)| Member { rank, process })
                .collect(),
            _meeting: meeting,
        })
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
        let ended = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let following: Vec<_> = self
                .members
                .into_iter()
                .map(|member| {
                    scope.spawn(|| {
                        let end = member.follow(&write);
                        ended.lock().push(end);
                    })
                })
                .collect();
            following.into_iter().for_each(|thread| {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            });
        });
        let ended: Result<_, _> = ended.into_inner().into_iter().collect();
        Ok(Outcome { ended: ended? })
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
        Ok(Ended { rank, end, usage })
    }
}
