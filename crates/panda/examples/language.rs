//! The run-time of a small language; `docs/guide/language-runtime.md` shows and explains it.

use antiphon_panda::{Error, Group, GroupEvent, Message, Rank, Reply, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// An object, its least value, and who waits for that.
type Guard = (String, i64, Reply);

/// This process's copies of all shared objects.
#[derive(Default)]
struct Copies {
    values: HashMap<String, i64>,
    /// Those that do not hold yet.
    guards: Vec<Guard>,
    /// A process has left, so guards that do not hold yet may never hold.
    is_broken: bool,
}

impl Copies {
    /// Executes operations in the one order. It runs in an upcall, so it never waits.
    fn on_event(&mut self, event: GroupEvent) {
        if let GroupEvent::Message { payload, .. } = event {
            let (object, amount) = payload.value::<(String, i64)>().expect("what add sends");
            *self.values.entry(object).or_default() += amount;
        } else if !matches!(&event, GroupEvent::View { left, .. } if left.is_empty()) {
            self.is_broken = true;
        }
        self.answer();
    }

    /// Continues what waits: a guard that holds is answered. The caller of one that is dropped gets
    /// an error.
    fn answer(&mut self) {
        let holds = |guard: &mut Guard| self.values.get(&guard.0).unwrap_or(&0) >= &guard.1;
        for (.., reply) in self.guards.extract_if(.., holds) {
            reply.send(Message::new());
        }
        self.guards.retain(|_| !self.is_broken);
    }
}

/// The run-time that compiled programs are linked with.
pub struct Runtime {
    session: Session,
    group: Group,
}

impl Runtime {
    /// Takes part in a program. Nobody begins before all copies exist.
    pub fn begin(session: Session) -> Result<Self, Error> {
        let copies = Arc::new(Mutex::new(Copies::default()));
        let own = copies.clone();
        let on_event = move |event| own.lock().unwrap().on_event(event);
        let group = session.join_group("objects", on_event)?;
        session.serve("guard", move |call| {
            let (object, least) = call.payload.value().expect("what wait_for sends");
            let mut copies = copies.lock().unwrap();
            copies.guards.push((object, least, call.reply));
            copies.answer();
        })?;
        session.everyone()?.barrier()?;
        Ok(Self { session, group })
    }

    /// An operation that writes: sent to all copies.
    pub fn add(&self, object: &str, amount: i64) -> Result<(), Error> {
        self.group.send(Message::of(&(object, amount))?)
    }

    /// Waits until a guard holds on a process's copy, this one's or another's, which answers then.
    pub fn wait_for(&self, place: Rank, object: &str, least: i64) -> Result<(), Error> {
        let guard = Message::of(&(object, least))?;
        self.session.call(place, "guard", guard, None).map(drop)
    }

    /// Ends this process's part when all have come to theirs.
    pub fn end(self) -> Result<(), Error> {
        self.session.everyone()?.barrier()?;
        self.group.leave()
    }
}

/// A compiled program: every process adds one, and goes on when all have.
fn main() -> Result<(), Error> {
    let runtime = Runtime::begin(Session::join()?)?;
    let (rank, all) = (runtime.session.rank(), runtime.session.size());
    runtime.add("here", 1)?;
    runtime.wait_for(rank, "here", all.into())?;
    println!("all {all} are here");
    runtime.end()
}
