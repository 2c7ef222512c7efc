//! `local`: threads of one process. A frame is passed by its pointers; a lock orders broadcasts.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::spin_policy::{self, SpinPolicy, Waits};
use super::{
    Event, Flow, Inbox, JoinError, LaunchInfo, Platform, Rank, launch_info::Secret, linger,
};
use crate::error::Error;
use crate::message::Message;
use crate::protocol::group::Bus;
use crate::protocol::link::Through;
use crate::session::{SILENCE, Session};

mod hub;
mod programs;

use hub::{FULL, Hub, NoPlace, Queue, name_of};
pub use programs::Programs;

const BATCH: usize = 256;

/// A thread's sending end.
#[derive(Debug)]
pub struct Local {
    rank: Rank,
    hub: Arc<Hub>,
    queue: Arc<Queue>,
}

/// A thread's receiving end.
#[derive(Debug)]
pub struct LocalInbox {
    rank: Rank,
    hub: Arc<Hub>,
    queue: Arc<Queue>,
    spin_policy: SpinPolicy,
}

impl Local {
    /// Returns the sessions of `size` parts of this process, rank by rank, for instance one for
    /// each thread.
    ///
    /// More can come later: threads that join with the launch infos of [`Session::allot`] by
    /// [`join`](super::join), and threads that run [`Programs`].
    ///
    /// # Errors
    ///
    /// The system starts no more threads.
    pub fn sessions(size: u32) -> Result<Vec<Session>, Error> {
        Self::begin(size, Programs::default())
    }

    fn begin(size: u32, programs: Programs) -> Result<Vec<Session>, Error> {
        let ends = Self::session_with(size, programs).into_iter();
        ends.map(|(info, local, inbox)| Session::over(local, inbox, &info, SILENCE))
            .collect()
    }

    /// Returns the launch infos and ends of a session of `size` members, several of which may share
    /// an OS thread.
    #[must_use]
    pub fn session(size: u32) -> Vec<(LaunchInfo, Self, LocalInbox)> {
        Self::session_with(size, Programs::default())
    }

    fn session_with(size: u32, programs: Programs) -> Vec<(LaunchInfo, Self, LocalInbox)> {
        let hub = Hub::new(size, programs);
        let end = |rank| {
            let queue = hub.queue(rank).expect("a founder's");
            let (local, inbox) = Self::ends(rank, &hub, queue);
            (launch_info(rank, &hub), local, inbox)
        };
        (0..size).map(end).collect()
    }

    fn broadcast(&self, frame: Message) {
        self.hub.put_to_all(self.rank, &frame);
    }

    fn ends(rank: Rank, hub: &Arc<Hub>, queue: Arc<Queue>) -> (Self, LocalInbox) {
        let local = Self {
            rank,
            hub: hub.clone(),
            queue: queue.clone(),
        };
        let inbox = LocalInbox {
            rank,
            hub: hub.clone(),
            queue,
            spin_policy: SpinPolicy::default(),
        };
        (local, inbox)
    }
}

fn launch_info(rank: Rank, hub: &Hub) -> LaunchInfo {
    LaunchInfo {
        platform: Local::NAME.into(),
        rank,
        size: hub.size(),
        name: name_of(rank),
        bootstrap: hub.bootstrap.clone(),
        address: None,
        silence: None,
        parent: None,
        starter: None,
        secret: Secret([0; 16]),
    }
}

/// Makes the error of a launch info that is of another process's session.
fn elsewhere(info: &LaunchInfo) -> JoinError {
    JoinError::refused::<Local>(format!(
        "{:?} is no session that goes on in this process: its threads join with what Session::allot gives, and begin it by Local::sessions; launch programs over shm or tcp",
        info.bootstrap
    ))
}

/// Makes the error of a rank that was used.
fn taken(rank: Rank) -> JoinError {
    JoinError::refused::<Local>(format!(
        "rank {rank} has been in this session already, or was allotted to nobody: ask for another rank by Session::allot"
    ))
}

/// Makes the error of too many ranks.
fn too_many(given: usize, count: u32) -> JoinError {
    JoinError::refused::<Local>(format!(
        "{given} ranks have been given, so {count} more processes cannot join: ask for fewer, or begin a new session"
    ))
}

impl Platform for Local {
    const NAME: &'static str = "local";
    const RELIABLE: bool = true;
    const ORDERED: bool = true;
    const BROADCAST: Option<fn(&Self, Message)> = Some(Self::broadcast);
    const LARGEST: usize = usize::MAX;
    type Links = Through;
    type Order = Bus;
    type Inbox = LocalInbox;

    fn join(info: &LaunchInfo) -> Result<(Self, LocalInbox), JoinError> {
        let hub = Hub::find(&info.bootstrap).ok_or_else(|| elsewhere(info))?;
        let queue = hub.come(info.rank).map_err(|why| match why {
            NoPlace::Over => elsewhere(info),
            NoPlace::Taken => taken(info.rank),
        })?;
        Ok(Self::ends(info.rank, &hub, queue))
    }

    fn open(
        self,
        inbox: Self::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Session, Error> {
        Session::with_protocols(self, inbox, info, silence)
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        let from = self.rank;
        self.hub.put(to, Event::Frame { from, frame }, from)
    }

    fn wake(&self) {
        let mut state = self.queue.state.lock();
        state.is_woken = true;
        self.queue.is_ready.store(true, Relaxed);
        drop(state);
        self.queue.changed.notify_one();
    }

    fn leave(&self, _patience: Duration) {
        self.hub.go(self.rank, &self.queue);
    }

    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        let first = (self.hub.allot(count)).map_err(|given| too_many(given, count))?;
        let ranks = first..first + count;
        Ok(ranks.map(|rank| launch_info(rank, &self.hub)).collect())
    }

    fn start(
        &self,
        program: &OsStr,
        args: &[OsString],
        allot: &dyn Fn() -> Result<Vec<LaunchInfo>, JoinError>,
    ) -> Option<Result<Vec<Rank>, Error>> {
        let next = self.hub.population();
        let begun = |sessions: &[Session]| {
            let weak = (sessions.iter()).map(|session| (session.rank(), session.downgrade()));
            self.hub.started.lock().extend(weak);
        };
        Some((self.hub.programs).start(program, args, next, allot, begun))
    }

    fn take_back(&self, started: &[Rank]) {
        for rank in started {
            let weak = self.hub.started.lock().remove(rank);
            if let Some(session) = weak.and_then(|weak| weak.upgrade().ok()) {
                session.end_for_all();
            }
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.leave(linger::PATIENCE);
    }
}

impl LocalInbox {
    /// Takes what is there. Returns true if there was anything, or it was woken.
    fn take(&self, events: &mut Vec<Event>) -> bool {
        let queue = &self.queue;
        let mut state = queue.state.lock();
        let was_woken = std::mem::take(&mut state.is_woken);
        let count = state.events.len().min(BATCH);
        events.extend(state.events.drain(..count));
        queue.is_ready.store(!state.events.is_empty(), Relaxed);
        if count > 0 {
            // The lock protects this load and store, since every taker holds it.
            let taken = queue.taken.load(Relaxed);
            queue.taken.store(taken.wrapping_add(1), Relaxed);
        }
        let has_room = state.events.len() < FULL / 2;
        let reported = if has_room {
            std::mem::take(&mut state.reported_full)
        } else {
            BTreeSet::new()
        };
        drop(state);
        for to in reported {
            self.hub.put(to, Event::Room { to: self.rank }, to);
        }
        count > 0 || was_woken
    }
}

impl Waits for LocalInbox {
    const LOOKS: u32 = 32;

    fn spin_policy(&mut self) -> &mut SpinPolicy {
        &mut self.spin_policy
    }

    fn look(&mut self, events: &mut Vec<Event>) -> bool {
        // The look takes no lock, which senders need.
        self.queue.is_ready.load(Relaxed) && self.take(events)
    }

    fn taken_here(&self) -> Option<u32> {
        Some(self.hub.taken())
    }

    fn sleep(&mut self, _now: Option<Instant>, until: Option<Instant>, _events: &mut Vec<Event>) {
        let queue = &self.queue;
        let mut state = queue.state.lock();
        while state.events.is_empty() && !state.is_woken {
            match until {
                None => queue.changed.wait(&mut state),
                Some(until) if Instant::now() >= until => return,
                Some(until) => drop(queue.changed.wait_until(&mut state, until)),
            }
        }
    }
}

impl Inbox for LocalInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let now = Instant::now();
        if self.take(events) || until.is_some_and(|until| until <= now) {
            return Some(now);
        }
        let before = events.len();
        let seen = spin_policy::wait(self, now, Duration::ZERO, until, events);
        if events.len() == before {
            self.take(events);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn programs_that_are_taken_back_have_no_session_any_more() {
        let (ends, ended) = channel();
        let programs = Programs::default().program("waits", move |session, _| {
            let error = session.port("nothing").receive(None, None).unwrap_err();
            let _ = ends.send((session.rank(), error.to_string()));
        });
        let (_, local, _inbox) = Local::session_with(1, programs).remove(0);
        let allot = || local.allot(2);
        let started = local.start("waits".as_ref(), &[], &allot);
        let ranks = started.expect("it starts them").unwrap();
        assert_eq!((ranks, local.hub.started.lock().len()), (vec![1, 2], 2));
        local.take_back(&[2]);
        let over = Error::Over.to_string();
        assert_eq!(ended.recv().unwrap(), (2, over.clone()));
        local.take_back(&[1]);
        assert_eq!(ended.recv().unwrap(), (1, over));
        assert!(local.hub.started.lock().is_empty());
    }
}
