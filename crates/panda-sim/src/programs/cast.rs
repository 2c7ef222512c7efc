//! The programs of a simulation's processes, and their results.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::Duration;

use antiphon_fiber::{Builder as FiberBuilder, StackError};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::engine;
use super::node::Node;
use super::switch::Starter;
use super::{NAME, Outcome, Simulation};
use crate::Kind;
use antiphon_panda::Session;
use antiphon_panda::hook::{Runtime as _, caught};
use antiphon_panda::platform::{LaunchInfo, Secret};
use antiphon_panda::thread::{Panic, ThreadError};
use antiphon_panda_core::protocol::group::{Bus, Sequencer};
use antiphon_panda_core::protocol::link::{Retransmit, Through};

/// Results of the programs so far, by their lives.
pub type Results<T> = Arc<Mutex<Returned<T>>>;
pub type Returned<T> = FxHashMap<usize, Result<T, Panic>>;
type Program<T> = Arc<dyn Fn(Session, Vec<OsString>) -> T + Send + Sync>;

/// A simulation with programs that its processes start by their names.
///
/// ```
/// use antiphon_panda::Message;
/// use antiphon_panda_sim::Simulation;
///
/// let run = Simulation::of(1)
///     .program("worker", |session, args| {
///         let parent = session.parent().expect("it was spawned");
///         session.port("done").send(parent, 0, Message::of(&args.len())?)?;
///         Ok(0)
///     })
///     .run(|session| {
///         let ranks = session.spawn("worker", ["--fast"], 2)?;
///         assert_eq!(ranks, [1, 2]);
///         let mut args = 0;
///         for rank in ranks {
///             args += session.port("done").receive(Some(rank), None)?.payload.value::<usize>()?;
///         }
///         Ok::<_, antiphon_panda::Error>(args)
///     })?;
/// let ends: Result<Vec<_>, _> = run.values()?.into_iter().collect();
/// assert_eq!(ends?, [2, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Programs<T> {
    simulation: Simulation,
    by_name: BTreeMap<OsString, Program<T>>,
}

impl<T: Send + 'static> Programs<T> {
    pub(super) fn of(simulation: Simulation) -> Self {
        Self {
            simulation,
            by_name: BTreeMap::new(),
        }
    }

    /// Adds a program, or replaces the one of that name: see [`Simulation::program`].
    #[must_use]
    pub fn program(
        mut self,
        name: impl Into<OsString>,
        program: impl Fn(Session, Vec<OsString>) -> T + Send + Sync + 'static,
    ) -> Self {
        self.by_name.insert(name.into(), Arc::new(program));
        self
    }

    /// Runs a program as each founder: see [`Simulation::run`].
    ///
    /// # Errors
    ///
    /// As for [`Simulation::run`].
    ///
    /// # Panics
    ///
    /// As for [`Simulation::run`], except that more processes than the founders may come.
    pub fn run(
        self,
        program: impl Fn(Session) -> T + Send + Sync + 'static,
    ) -> Result<Outcome<T>, ThreadError> {
        let simulation = self.simulation;
        simulation.check_faults(!self.by_name.is_empty());
        let cast = Cast {
            size: simulation.size,
            silence: simulation.silence,
            kind: simulation.network.kind,
            program: Arc::new(move |session, _| program(session)),
            by_name: self.by_name,
            results: Results::default(),
        };
        simulation.play(cast)
    }
}

/// The programs of a simulation while it runs.
pub struct Cast<T> {
    size: u32,
    silence: Duration,
    kind: Kind,
    /// Program of the founders.
    program: Program<T>,
    by_name: BTreeMap<OsString, Program<T>>,
    pub results: Results<T>,
}

impl<T: Send + 'static> Starter for Cast<T> {
    fn start(&self, node: &Arc<Node>) -> Result<(), StackError> {
        let session = self.session(node);
        let (program, args) = match &node.command {
            None => (&self.program, Vec::new()),
            Some(command) => (&self.by_name[&command.program], command.args.clone()),
        };
        let (results, program) = (self.results.clone(), program.clone());
        let builder = FiberBuilder {
            name: Some(format!("rank {}", node.rank)),
            priority: Some(0),
            region: None,
        };
        let life = node.life;
        let body = move || {
            let result = caught(|| program(session, args));
            results.lock().insert(life, result);
        };
        node.clone().spawn(builder, Box::new(body))
    }

    fn knows(&self, program: &OsStr) -> bool {
        self.by_name.contains_key(program)
    }
}

impl<T> Cast<T> {
    fn session(&self, node: &Arc<Node>) -> Session {
        let info = LaunchInfo {
            platform: NAME.into(),
            rank: node.rank,
            size: self.size,
            name: format!("rank {}", node.rank),
            bootstrap: String::new(),
            address: None,
            silence: Some(self.silence),
            parent: node.command.as_ref().map(|command| command.parent),
            starter: None,
            secret: Secret([0; 16]),
        };
        simulated(self.kind, node, &info)
    }
}

/// Makes a session over the protocols of a kind of network. They are compiled here once, whatever
/// programs return.
fn simulated(kind: Kind, node: &Arc<Node>, info: &LaunchInfo) -> Session {
    match kind {
        Kind::Datagrams | Kind::Multicast => engine::open::<Retransmit, Sequencer>(node, info),
        Kind::Streams => engine::open::<Through, Sequencer>(node, info),
        Kind::Bus => engine::open::<Through, Bus>(node, info),
    }
}
