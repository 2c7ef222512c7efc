//! Invocations of objects that another machine owns.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use antiphon_panda::{Call, DecodeError, Message, Rank, Reply};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::cell::Outcome;
use crate::entry::{Answer, Effect, Entry, ObjectId, Ticket};
use crate::envelope::behind_headers;
use crate::error::{BlockedProcess, Deadlock, Error};
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::order::Order;
use crate::placement::{Location, Placement};

/// The service of owners.
pub const SERVICE: &str = "orca.invoke";

/// An invocation that came from another machine.
pub struct Request {
    from: Rank,
    object: ObjectId,
    operation: usize,
    arguments: Bytes,
    ticket: Ticket,
    reply: Reply,
}

const DONE: u8 = 0;
const AGAIN: u8 = 1;
const FAILED: u8 = 2;

/// An error on its way to a caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Refusal {
    Lost(String, Rank),
    Failed(String, String, String),
    Broken(String, String),
    Deadlock(Vec<BlockedProcess>),
    Finished,
    Over,
    Other(String),
}

impl Refusal {
    pub fn of(error: &Error) -> Self {
        match error.clone() {
            Error::ObjectLost { object, machine } => Self::Lost(object, machine),
            Error::Failed {
                object,
                operation,
                why,
            } => Self::Failed(object, operation, why),
            Error::Broken { object, why } => Self::Broken(object, why),
            Error::Deadlock(deadlock) => Self::Deadlock(deadlock.blocked.clone()),
            Error::Finished => Self::Finished,
            Error::Over => Self::Over,
            other => Self::Other(other.to_string()),
        }
    }

    pub fn error(self) -> Error {
        match self {
            Self::Lost(object, machine) => Error::ObjectLost { object, machine },
            Self::Failed(object, operation, why) => Error::Failed {
                object,
                operation,
                why,
            },
            Self::Broken(object, why) => Error::Broken { object, why },
            Self::Deadlock(blocked) => Error::Deadlock(Arc::new(Deadlock { blocked })),
            Self::Finished => Error::Finished,
            Self::Over => Error::Over,
            Self::Other(why) => Error::Decode(why),
        }
    }
}

impl Machine {
    /// Has an object's owner execute an operation, and waits for the result.
    pub fn call_owner(
        &self,
        entry: &Entry,
        owner: Rank,
        (operation, arguments, ticket): (usize, &Bytes, u64),
    ) -> Result<Outcome, Error> {
        let place = match self.fault.is(Mutant::RequestWithoutPlace) {
            true => 0,
            false => self.begun.load(Ordering::Acquire),
        };
        let mut header = [0; 28];
        header[..8].copy_from_slice(&place.to_le_bytes());
        header[8..16].copy_from_slice(&entry.id.to_le_bytes());
        header[16..20].copy_from_slice(&(operation as u32).to_le_bytes());
        header[20..].copy_from_slice(&ticket.to_le_bytes());
        let mut request = behind_headers(arguments);
        request.push(&header);
        // The owner is a valid rank.
        let _ = self.quiescence.sent(owner);
        // A call that cannot block ends by itself. If the process became passive meanwhile, each
        // call would have the detection of quiescence ask all machines.
        let may_block = entry.object_type.operations()[operation].may_block();
        if may_block {
            self.pause();
        }
        let reply = self.session.call(owner, SERVICE, request, None);
        if may_block {
            self.resume();
        }
        match reply {
            Ok(reply) => {
                let _ = self.quiescence.received(owner);
                self.take_reply(reply)
            }
            Err(error @ antiphon_panda::Error::Lost { .. }) => {
                self.on_lost_owner(entry, owner, ticket, error)
            }
            Err(error) => self.check().and(Err(error.into())),
        }
    }

    fn take_reply(&self, mut reply: Message) -> Result<Outcome, Error> {
        let [kind] = reply.pop().map_err(Error::from)?;
        let place = u64::from_le_bytes(reply.pop().map_err(Error::from)?);
        if self.applied.load(Ordering::Acquire) < place && !self.fault.is(Mutant::ReplyDoesNotWait)
        {
            let group = self.group.get().ok_or(Error::Over)?;
            group.wait_for(place, None)?;
        }
        match kind {
            DONE => Ok(Outcome::Done(reply.into_bytes())),
            AGAIN => Ok(Outcome::Again),
            _ => Ok(Outcome::Failed(reply.value::<Refusal>()?.error())),
        }
    }

    /// Handles the loss of an owner. The order decides whether the object is lost, too.
    fn on_lost_owner(
        &self,
        entry: &Entry,
        owner: Rank,
        ticket: u64,
        error: antiphon_panda::Error,
    ) -> Result<Outcome, Error> {
        let is_member = || self.common.lock().members.contains(&owner);
        self.wait_until(|| !is_member() || self.session.why_lost(owner).is_none())?;
        match entry.unusable(&entry.copy.read()) {
            Some(error) => Ok(Outcome::Failed(error)),
            // The object has moved, and the operation may have been executed before.
            None => {
                let object = entry.id;
                self.send(&Order::GivesUp { object, ticket }, Bytes::new())?;
                Err(error.into())
            }
        }
    }

    /// Takes an invocation from another machine.
    pub fn on_call(&self, call: Call) {
        self.quiescence.active();
        // A caller's rank is valid.
        let _ = self.quiescence.received(call.from);
        if let Ok((place, request)) = Request::of(call) {
            self.take_request(place, request);
        }
        self.quiescence.passive();
    }

    fn take_request(&self, place: u64, request: Request) {
        let request = {
            let mut own = self.own.lock();
            let is_here = self.applied.load(Ordering::Acquire) >= place;
            if !is_here && !self.fault.is(Mutant::RequestDoesNotWait) {
                own.deferred.entry(place).or_default().push(request);
                return;
            }
            request
        };
        self.execute_request(request);
    }

    /// Executes requests that have waited for a place.
    pub fn run_deferred(&self, place: u64) {
        let ready = {
            let mut own = self.own.lock();
            if own.deferred.is_empty() {
                return;
            }
            let later = own.deferred.split_off(&(place + 1));
            std::mem::replace(&mut own.deferred, later)
        };
        self.quiescence.active();
        for request in ready.into_values().flatten() {
            self.execute_request(request);
        }
        self.quiescence.passive();
    }

    fn execute_request(&self, request: Request) {
        let Request {
            from,
            object,
            operation,
            arguments,
            ticket,
            reply,
        } = request;
        let answer = Answer::Caller(reply, from);
        let entry = self.entry(object);
        let entry = entry.filter(|it| operation < it.object_type.operations().len());
        let Some(entry) = entry else {
            let effect = Effect::Answer(answer, Outcome::Failed(Error::Over));
            self.perform(vec![effect]);
            return;
        };
        let effects = {
            let mut copy = entry.copy.write();
            let only_reads = entry.object_type.operations()[operation].only_reads();
            let is_frozen = copy.is_moving && !only_reads && !self.fault.is(Mutant::DoesNotFreeze);
            if let Some(error) = entry.unusable(&copy) {
                vec![Effect::Answer(answer, Outcome::Failed(error))]
            } else if copy.location != Location::Owned(self.rank) {
                vec![Effect::Answer(answer, Outcome::Again)]
            } else if is_frozen {
                copy.held.push(answer);
                Vec::new()
            } else {
                let (reads, writes) = if only_reads { (1, 0) } else { (0, 1) };
                copy.usage.note(from, reads, writes);
                let invocation = (operation, arguments, ticket);
                let answer = Some(answer);
                let mut effects = self.execute(&entry, &mut copy, invocation, answer, false);
                if copy.wanted == Placement::Adaptive && !copy.is_moving && copy.usage.is_due() {
                    let reads = entry.take_reads();
                    copy.usage.note(self.rank, reads, 0);
                    copy.usage.look();
                    let is_possible = |to: &Location| match to {
                        Location::Owned(owner) => self.is_machine(*owner),
                        _ => !entry.object_type.does_io(),
                    };
                    let decided = copy.usage.decide(copy.location, self.costs());
                    if let Some((to, why)) = decided.filter(|(to, _)| is_possible(to))
                        && copy.broken.is_none()
                    {
                        effects.extend(self.begin_move(&entry, &mut copy, to, why));
                    }
                }
                effects
            }
        };
        self.perform(effects);
    }

    /// Answers a caller.
    pub fn reply(&self, reply: Reply, from: Rank, outcome: Outcome) {
        let (kind, mut message) = match outcome {
            Outcome::Done(result) => (DONE, behind_headers(&result)),
            Outcome::Again => (AGAIN, Message::new()),
            // It holds strings and numbers.
            Outcome::Failed(error) => (
                FAILED,
                Message::of(&Refusal::of(&error)).unwrap_or_default(),
            ),
        };
        let place = match self.fault.is(Mutant::ReplyWithoutPlace) {
            true => 0,
            false => self.begun.load(Ordering::Acquire),
        };
        let mut header = [kind; 9];
        header[1..].copy_from_slice(&place.to_le_bytes());
        message.push(&header);
        let _ = self.quiescence.sent(from);
        reply.send(message);
    }
}

impl Request {
    fn of(call: Call) -> Result<(u64, Self), DecodeError> {
        let mut payload = call.payload;
        let place = u64::from_le_bytes(payload.pop()?);
        let object = u64::from_le_bytes(payload.pop()?);
        let operation = u32::from_le_bytes(payload.pop()?) as usize;
        let ticket = (call.from, u64::from_le_bytes(payload.pop()?));
        let request = Self {
            from: call.from,
            object,
            operation,
            arguments: payload.into_bytes(),
            ticket,
            reply: call.reply,
        };
        Ok((place, request))
    }
}
