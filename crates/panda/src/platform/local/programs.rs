//! Programs that threads of a session start by their names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

use super::Local;
use crate::error::Error;
use crate::platform::{JoinError, LaunchInfo, Rank, join_over};
use crate::session::Session;

type Program = Arc<dyn Fn(Session, Vec<OsString>) + Send + Sync>;

/// Programs by their names, for [`Session::spawn`] over `local`. A thread that runs one has a
/// session of its own, under a rank of its own. It may outlive the session that it was spawned
/// from, and ends with the process at the latest.
///
/// ```
/// use antiphon_panda::Message;
/// use antiphon_panda::platform::local::Programs;
///
/// let programs = Programs::default().program("worker", |session, args| {
///     let parent = session.parent().expect("it was spawned");
///     let count = Message::of(&args.len()).expect("a number");
///     session.port("done").send(parent, 0, count).expect("the parent waits");
/// });
/// let session = programs.sessions(1)?.remove(0);
/// let ranks = session.spawn("worker", ["--fast"], 2)?;
/// assert_eq!(ranks, [1, 2]);
/// for rank in ranks {
///     let arrived = session.port("done").receive(Some(rank), None)?;
///     assert_eq!(arrived.payload.value::<usize>()?, 1);
/// }
/// # Ok::<(), antiphon_panda::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Programs {
    by_name: BTreeMap<OsString, Program>,
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

impl Programs {
    /// Adds a program, or replaces the one of that name. It gets its session, and the arguments of
    /// the thread that starts it. To run on fibers it calls [`thread::run`](crate::thread::run).
    #[must_use]
    pub fn program(
        mut self,
        name: impl Into<OsString>,
        program: impl Fn(Session, Vec<OsString>) + Send + Sync + 'static,
    ) -> Self {
        self.by_name.insert(name.into(), Arc::new(program));
        self
    }

    /// Returns the sessions of `size` parts of this process, as [`Local::sessions`] does. They can
    /// start these programs.
    ///
    /// # Errors
    ///
    /// As for [`Local::sessions`].
    pub fn sessions(self, size: u32) -> Result<Vec<Session>, Error> {
        Local::begin(size, self)
    }

    /// Starts a program on a thread for each launch info that `allot` returns. `begun` gets their
    /// sessions before they run.
    pub(super) fn start(
        &self,
        name: &OsStr,
        args: &[OsString],
        next: Rank,
        allot: &dyn Fn() -> Result<Vec<LaunchInfo>, JoinError>,
        begun: impl FnOnce(&[Session]),
    ) -> Result<Vec<Rank>, Error> {
        let not_spawned = |rank, why: String| Error::NotSpawned {
            program: name.to_string_lossy().into_owned(),
            rank,
            why,
        };
        let unknown = || "this process has no program of that name: give it by local::Programs";
        let program = self.by_name.get(name);
        let program = program.ok_or_else(|| not_spawned(next, unknown().into()))?;
        let infos = allot()?;
        // All threads have sessions before any program runs, so that none runs if not all can.
        let sessions = infos.iter().map(join_over::<Local>);
        let sessions: Vec<Session> = sessions.collect::<Result<_, _>>()?;
        begun(&sessions);
        for session in &sessions {
            let rank = session.rank();
            let (own, program, args) = (session.clone(), program.clone(), args.to_vec());
            let thread = std::thread::Builder::new().name(super::hub::name_of(rank));
            if let Err(why) = thread.spawn(move || program(own, args)) {
                sessions.iter().for_each(Session::end_for_all);
                return Err(not_spawned(
                    rank,
                    format!("the system has no thread for it: {why}"),
                ));
            }
        }
        Ok(sessions.iter().map(Session::rank).collect())
    }
}
