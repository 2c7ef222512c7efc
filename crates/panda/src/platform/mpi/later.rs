//! Later processes, which founders reach over `tcp`.
//!
//! Nothing of this exists before the first request for one. A founder that wants some asks rank 0.
//! Rank 0 answers with a [bootstrap](crate::platform::bootstrap) and its secret, where founders and
//! later processes find each other. If the launcher holds a bootstrap, as with several hosts, it is
//! that one; otherwise rank 0 holds one itself. All founders enter it, and listen from then on.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use super::Mpi;
use crate::message::Message;
use crate::platform::tcp::{Tcp, TcpInbox};
use crate::platform::{
    Bootstrap, Event, Flow, JoinError, LaunchInfo, Platform, Rank, Secret, Transfer, bootstrap,
};

/// The place where founders and later processes find each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    bootstrap: String,
    secret: [u8; 16],
}

/// A founder's means to reach later processes.
pub struct Later {
    /// Launch info of this process, with the bootstrap if the launcher holds one.
    info: LaunchInfo,
    state: Mutex<State>,
    changed: Condvar,
    tcp: OnceLock<Tcp>,
    inbox: Mutex<Option<TcpInbox>>,
    /// Rank 0's own bootstrap.
    bootstrap: Mutex<Option<Bootstrap>>,
    /// Number of processes of the session that `mpirun` has placed on this host, if it says so.
    here: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// No founder has asked, or the last attempt failed.
    Closed,
    Opening,
    Open,
    /// Reason why it is impossible.
    Refused(String),
    /// This process has left.
    Left,
}

impl Later {
    pub fn new(info: &LaunchInfo) -> Self {
        let here = std::env::var("OMPI_COMM_WORLD_LOCAL_SIZE").ok();
        Self {
            here: here.and_then(|here| here.parse().ok()),
            info: info.clone(),
            state: Mutex::new(State::Closed),
            changed: Condvar::new(),
            tcp: OnceLock::new(),
            inbox: Mutex::default(),
            bootstrap: Mutex::default(),
        }
    }

    /// Returns the meeting place, or why there is none. Called at rank 0 only.
    pub fn place(&self) -> Result<Place, String> {
        let size = self.info.size;
        if !self.info.bootstrap.is_empty() {
            return Ok(Place::of(&self.info));
        }
        if self.here.is_some_and(|here| here != size) {
            return Err("the session has several hosts, and nobody holds a bootstrap for more processes: start it with `antiphon launch --over mpi --hosts FILE`".into());
        }
        let mut own = self.bootstrap.lock();
        if own.is_none() {
            let secret = Secret::fresh();
            let held = secret.and_then(|secret| Bootstrap::hold(LOOPBACK.into(), size, secret));
            let held =
                held.map_err(|e| format!("cannot hold a bootstrap for more processes: {e}"))?;
            *own = Some(held);
        }
        let bootstrap = own.as_ref().expect("it was made");
        Ok(Place::of(&bootstrap.launch_info(Mpi::NAME, 0)))
    }

    /// Opens this process, once all founders do.
    pub fn open(&self, place: &Place) {
        let info = place.launch_info(&self.info);
        let mut state = self.state.lock();
        match *state {
            State::Opening | State::Open => return,
            State::Left => {
                drop(state);
                // A process that waits for this one finds out by itself if this message is lost.
                let _ = bootstrap::excuse(&info);
                return;
            }
            State::Closed | State::Refused(_) => *state = State::Opening,
        }
        drop(state);
        let opened = Tcp::beside(&info);
        let mut state = self.state.lock();
        let too_late = match opened {
            Ok(both) if *state == State::Left => Some(both),
            Ok((tcp, inbox)) => {
                *self.inbox.lock() = Some(inbox);
                // No other thread has opened meanwhile.
                let _ = self.tcp.set(tcp);
                *state = State::Open;
                None
            }
            Err(error) => {
                if *state == State::Opening {
                    *state = State::Refused(error.to_string());
                }
                None
            }
        };
        drop(state);
        drop(too_late);
        self.changed.notify_all();
    }

    /// Records that it is impossible, unless it is under way or done.
    pub fn refuse(&self, why: String) {
        let mut state = self.state.lock();
        if matches!(*state, State::Closed | State::Refused(_)) {
            *state = State::Refused(why);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Allots ranks once this process is open. If it is not, `ask` has all founders open, and this
    /// waits for them for `patience`.
    pub fn allot(
        &self,
        count: u32,
        patience: Duration,
        ask: impl FnOnce(),
    ) -> Result<Vec<LaunchInfo>, JoinError> {
        let refused = JoinError::refused::<Mpi>;
        let mut state = self.state.lock();
        if *state != State::Open {
            if let State::Refused(_) = *state {
                *state = State::Closed;
            }
            drop(state);
            ask();
            state = self.state.lock();
        }
        let until = Instant::now() + patience;
        while matches!(*state, State::Closed | State::Opening) {
            if self.changed.wait_until(&mut state, until).timed_out() {
                return Err(refused(format!(
                    "waited {} s for all processes that the session began with to listen for more: see whether one of them is stopped or cut off",
                    patience.as_secs()
                )));
            }
        }
        match &*state {
            State::Refused(why) => return Err(refused(why.clone())),
            State::Left => return Err(refused("this process has left the session".into())),
            _ => drop(state),
        }
        self.tcp.get().expect("it is open").allot(count)
    }

    pub fn send(&self, to: Rank, frame: Message) -> Flow {
        let tcp = self.tcp.get();
        tcp.map_or(Flow::Free, |tcp| tcp.send(to, frame))
    }

    /// Takes what is there. `sleeps` is the time at which this process is about to sleep, if it is.
    pub fn poll(&self, sleeps: Option<Instant>, events: &mut Vec<Event>) {
        if self.tcp.get().is_none() {
            return;
        }
        if let Some(inbox) = &mut *self.inbox.lock() {
            inbox.poll(sleeps, events);
        }
    }

    /// Takes leave of later processes. A process that comes from now on does not find this one.
    pub fn leave(&self, patience: Duration) {
        *self.state.lock() = State::Left;
        self.changed.notify_all();
        if let Some(tcp) = self.tcp.get() {
            tcp.leave(patience);
        }
        drop(self.inbox.lock().take());
    }

    pub fn untaken(&self, to: Rank) -> usize {
        self.tcp.get().map_or(0, |tcp| tcp.untaken(to))
    }

    pub fn transfer(&self, peer: Rank) -> Transfer {
        let tcp = self.tcp.get();
        tcp.map_or_else(Transfer::default, |tcp| tcp.transfer(peer))
    }

    pub fn cut_off(&self, rank: Rank) {
        if let Some(tcp) = self.tcp.get() {
            tcp.cut_off(rank);
        }
    }
}

/// Address of a bootstrap if all founders are on one host.
const LOOPBACK: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

impl Place {
    fn of(info: &LaunchInfo) -> Self {
        Self {
            bootstrap: info.bootstrap.clone(),
            secret: info.secret.0,
        }
    }

    /// Returns a process's launch info for this place.
    fn launch_info(&self, info: &LaunchInfo) -> LaunchInfo {
        LaunchInfo {
            bootstrap: self.bootstrap.clone(),
            secret: Secret(self.secret),
            ..info.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::platform::Inbox;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    fn founder(rank: Rank, bootstrap: &str, here: u32) -> Later {
        let info = LaunchInfo {
            platform: Mpi::NAME.into(),
            rank,
            size: 2,
            name: format!("rank {rank}"),
            bootstrap: bootstrap.into(),
            address: None,
            silence: None,
            parent: None,
            starter: None,
            secret: Secret([7; 16]),
        };
        Later {
            here: Some(here),
            ..Later::new(&info)
        }
    }

    #[test]
    fn all_meet_where_a_launch_says_and_else_at_rank_0_of_one_host() {
        let given = founder(0, "192.0.2.1:9", 1).place().unwrap();
        assert_eq!(given.bootstrap, "192.0.2.1:9");
        assert_eq!(given.secret, [7; 16]);
        let alone = founder(0, "", 2);
        let own = alone.place().unwrap();
        assert!(own.bootstrap.starts_with("127.0.0.1:"), "{own:?}");
        assert_ne!(own.secret, [7; 16]);
        assert_eq!(alone.place(), Ok(own));
        let why = founder(0, "", 1).place().unwrap_err();
        assert!(why.contains("antiphon launch --over mpi --hosts"), "{why}");
    }

    #[test]
    fn who_wants_processes_hears_why_there_are_none_and_may_ask_again() {
        let (later, asks) = (founder(1, "", 2), Cell::new(0));
        let allot = |ask: &dyn Fn()| {
            let refusal = later.allot(1, SHORT, || {
                asks.set(asks.get() + 1);
                ask();
            });
            refusal.unwrap_err().to_string()
        };
        let reported = allot(&|| later.refuse("no room".into()));
        assert_eq!(reported, "mpi: no room");
        let reported = allot(&|| ());
        assert!(reported.contains("stopped or cut off"), "{reported}");
        later.leave(SHORT);
        assert!(allot(&|| ()).contains("has left"));
        assert_eq!(asks.get(), 3);
    }

    #[test]
    fn founders_that_open_are_reached_by_who_comes_later() {
        let founders = [0, 1].map(|rank| Arc::new(founder(rank, "", 2)));
        let place = founders[0].place().unwrap();
        let mut infos = (founders[0].allot(1, LONG, || {
            for founder in &founders {
                let (founder, place) = (founder.clone(), place.clone());
                thread::spawn(move || founder.open(&place));
            }
        }))
        .unwrap();
        let info = infos.pop().unwrap();
        assert_eq!(
            (info.platform.as_str(), info.rank, info.size),
            ("mpi", 2, 2)
        );
        let coming = thread::spawn(move || Tcp::join(&info).unwrap());
        let next = |founder: &Later| {
            let (mut events, until) = (Vec::new(), Instant::now() + LONG);
            while events.is_empty() {
                assert!(Instant::now() < until, "nothing comes");
                founder.poll(None, &mut events);
            }
            events.remove(0)
        };
        // The founders are polled in turns, since the new process waits for both.
        let mut joined = [false; 2];
        while joined != [true; 2] {
            for (founder, joined) in founders.iter().zip(&mut joined) {
                let mut events = Vec::new();
                founder.poll(None, &mut events);
                *joined |= matches!(events[..], [Event::Joined { rank: 2, .. }]);
            }
        }
        let (tcp, mut inbox) = coming.join().unwrap();
        for (rank, founder) in (0..).zip(&founders) {
            let sent = Message::from(vec![rank; 5]);
            let _ = tcp.send(rank.into(), sent.clone());
            let came = next(founder);
            assert!(matches!(came, Event::Frame { from: 2, frame } if frame == sent));
            let _ = founder.send(2, sent);
        }
        let mut answers = 0;
        while answers < 2 {
            let mut events = Vec::new();
            inbox.receive(Some(Instant::now() + LONG), &mut events);
            answers += (events.iter())
                .filter(|event| matches!(event, Event::Frame { .. }))
                .count();
        }
        founders[1].leave(SHORT);
        let mut events = Vec::new();
        inbox.receive(Some(Instant::now() + LONG), &mut events);
        assert!(matches!(&events[..], [Event::Lost { rank: 1, loss }] if loss.is_certain));
    }
}
