//! The run-time of a small language; `docs/panda.md` shows and explains it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use antiphon_panda::{Error, Group, GroupEvent, Message, Rank, Reply, Session};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// This process's copies of all shared objects.
#[derive(Default)]
struct Copies {
    values: HashMap<String, i64>,
    /// Guards of other processes that do not hold yet: an object, its least value, who waits.
    guards: Vec<(String, i64, Reply)>,
    /// Why guards that do not hold yet may never hold.
    broken: Option<String>,
}

impl Copies {
    fn value(&self, object: &str) -> i64 {
        self.values.get(object).copied().unwrap_or(0)
    }

    /// Executes operations in the one order. It runs in an upcall, so it never waits.
    fn on_event(&mut self, event: GroupEvent) {
        match event {
            GroupEvent::Message { payload, .. } => {
                if let Ok((object, amount)) = payload.value::<(String, i64)>() {
                    *self.values.entry(object).or_default() += amount;
                }
            }
            GroupEvent::View { left, .. } if !left.is_empty() => {
                self.broken = Some(format!("ranks {left:?} left"));
            }
            GroupEvent::Expelled { why } => self.broken = Some(why),
            GroupEvent::View { .. } | GroupEvent::Left => {}
        }
        self.answer();
    }

    /// Continues what waited: a guard that holds is answered. The caller of one that is dropped gets an error.
    fn answer(&mut self) {
        for (object, least, reply) in std::mem::take(&mut self.guards) {
            if self.value(&object) >= least {
                reply.send(Message::new());
            } else if self.broken.is_none() {
                self.guards.push((object, least, reply));
            }
        }
    }
}

/// The run-time that compiled programs are linked with.
pub struct Runtime {
    session: Session,
    group: Group,
    copies: Arc<Mutex<Copies>>,
}

impl Runtime {
    /// Takes part in a program.
    pub fn begin(session: Session) -> Outcome<Self> {
        let copies = Arc::<Mutex<Copies>>::default();
        let (own, guarded) = (copies.clone(), copies.clone());
        let on_event = move |event| own.lock().unwrap().on_event(event);
        let group = session.join_group("objects", on_event)?;
        session.serve("guard", move |call| {
            if let Ok((object, least)) = call.payload.value() {
                let mut copies = guarded.lock().unwrap();
                copies.guards.push((object, least, call.reply));
                copies.answer();
            }
        })?;
        // Nobody begins before all copies exist.
        session.everyone()?.barrier()?;
        Ok(Self {
            session,
            group,
            copies,
        })
    }

    /// An operation that writes: sent to all copies.
    pub fn add(&self, object: &str, amount: i64) -> Outcome<()> {
        Ok(self.group.send(Message::of(&(object, amount))?)?)
    }

    /// An operation that only reads, on this process's copy and without a message. Who waits for its guard drives the session meanwhile.
    pub fn wait_for(&self, object: &str, least: i64) -> Outcome<i64> {
        let is_over = |copies: &Copies| copies.value(object) >= least || copies.broken.is_some();
        self.session
            .wait_until(|| is_over(&self.copies.lock().unwrap()), None)?;
        let copies = self.copies.lock().unwrap();
        match (copies.value(object), &copies.broken) {
            (value, _) if value >= least => Ok(value),
            (_, Some(why)) => Err(why.as_str().into()),
            (_, None) => Err(Error::Over.into()),
        }
    }

    /// Waits for a guard on another process's copy, which answers when it holds.
    pub fn wait_at(&self, place: Rank, object: &str, least: i64) -> Outcome<()> {
        let guard = Message::of(&(object, least))?;
        self.session.call(place, "guard", guard, None)?;
        Ok(())
    }

    /// Ends this process's part when all have come to theirs.
    pub fn end(self) -> Outcome<()> {
        self.session.everyone()?.barrier()?;
        Ok(self.group.leave()?)
    }
}

/// A compiled program: every process adds one, and goes on when all have, at process 0 and here.
fn main() -> Outcome<()> {
    let runtime = Runtime::begin(Session::join()?)?;
    let all = i64::from(runtime.session.size());
    runtime.add("here", 1)?;
    runtime.wait_at(0, "here", all)?;
    println!("{} are here", runtime.wait_for("here", all)?);
    runtime.end()
}
