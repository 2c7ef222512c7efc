//! Calls of rank 1 by the leader. An upcall answers them, a thread that it starts, or a thread that
//! waits for calls. Threads are the system's, or fibers.

use std::collections::VecDeque;
use std::sync::{Arc, mpsc};

use antiphon_panda::thread::{self, Condition, Handle, Mutex, ThreadError, Threads};
use antiphon_panda::{Call, Message, Session};
use bytes::Bytes;

use super::served::{Served, Serving};
use super::{Passive, payload, weight};
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

struct Calls {
    session: Session,
    service: &'static str,
    payload: Bytes,
}

impl Part for Calls {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let mut sum = 0;
        for _ in 0..iterations {
            let payload = self.payload.clone();
            let reply = self.session.call(1, self.service, payload, None)?;
            sum += weight(reply.len());
        }
        Ok(sum)
    }
}

fn caller(session: Session, service: &'static str, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Calls {
        session,
        service,
        payload: payload(bytes),
    }))
}

/// Prepares a call with `bytes` of arguments, whose empty reply comes from the upcall.
pub fn rpc(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let session = member_state.session()?;
    if member_state.rank == 0 {
        return caller(session, "null", bytes);
    }
    let served = Served::new(member_state);
    let own = served.clone();
    session.serve("null", move |call| {
        own.one();
        call.reply.send(Message::new());
    })?;
    Ok(Box::new(Serving::new(served, session)))
}

/// Prepares a call that a new system thread serves, which the upcall starts. An SR operation that
/// may block works like this.
pub fn rpc_thread(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let session = member_state.session()?;
    if member_state.rank == 0 {
        return caller(session, "thread", bytes);
    }
    serve_by_threads(&session)?;
    Ok(Box::new(Passive(session)))
}

/// Prepares the same call with fibers as the process's threads.
pub fn rpc_fiber(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let session = member_state.session()?;
    if member_state.rank == 0 {
        return caller(session, "thread", bytes);
    }
    Server::start(session, Threads::Fibers, |session, _| {
        serve_by_threads(session)
    })
}

fn serve_by_threads(session: &Session) -> Result<(), antiphon_panda::Error> {
    session.serve("thread", |call| {
        // Without a thread the reply is dropped, which the caller is told.
        drop(thread::spawn(move || call.reply.send(Message::new())));
    })
}

/// Calls that wait for the server.
#[derive(Default)]
struct Entry {
    waiting: VecDeque<Call>,
    is_over: bool,
}

/// A server that accepts calls one after the other.
struct Server {
    entry: Shared,
    thread: Option<Handle<Result<(), ThreadError>>>,
    _session: Session,
}

type Shared = Arc<(Mutex<Entry>, Condition)>;

impl Server {
    /// Starts it on threads of a kind, on which it registers its services.
    fn start(
        session: Session,
        kind: Threads,
        register: impl FnOnce(&Session, &Shared) -> Result<(), antiphon_panda::Error> + Send + 'static,
    ) -> Result<Box<dyn Part>, Failed> {
        let entry = Arc::new((Mutex::new(Entry::default()), Condition::new()));
        let (own, serves) = (entry.clone(), session.clone());
        let (tells, reported) = mpsc::channel();
        let main = move || {
            let outcome = register(&serves, &own);
            let is_registered = outcome.is_ok();
            // The starter of this thread waits for the outcome.
            let _ = tells.send(outcome);
            if is_registered {
                accept(&own.0, &own.1);
            }
        };
        let failed = |error: ThreadError| Failed(error.to_string());
        let thread = thread::spawn(move || thread::run(kind, main)).map_err(failed)?;
        if let Ok(outcome) = reported.recv() {
            outcome?;
        } else if let Ok(Err(why)) = thread.join() {
            return Err(failed(why));
        } else {
            return Err(Failed("the server's thread panicked".into()));
        }
        Ok(Box::new(Self {
            entry,
            thread: Some(thread),
            _session: session,
        }))
    }
}

fn accept(entry: &Mutex<Entry>, called: &Condition) {
    let mut guard = entry.lock();
    loop {
        if let Some(call) = guard.waiting.pop_front() {
            drop(guard);
            call.reply.send(Message::new());
            guard = entry.lock();
        } else if guard.is_over {
            return;
        } else {
            called.wait(&mut guard);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.entry.0.lock().is_over = true;
        self.entry.1.signal();
        // It does not panic: nothing in it can.
        let _ = self.thread.take().map(Handle::join);
    }
}

impl Part for Server {
    fn run(&mut self, _iterations: u64) -> Result<u64, Failed> {
        Ok(0)
    }
}

/// Prepares a rendezvous: the upcall queues the call, and a waiting thread accepts it and replies.
pub fn rendezvous(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    rendezvous_on(Threads::System, member_state, bytes)
}

/// Prepares the same rendezvous with fibers as the process's threads.
pub fn rendezvous_fiber(
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    rendezvous_on(Threads::Fibers, member_state, bytes)
}

fn rendezvous_on(
    kind: Threads,
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    let session = member_state.session()?;
    if member_state.rank == 0 {
        return caller(session, "entry", bytes);
    }
    Server::start(session, kind, |session, entry| {
        let called = entry.clone();
        session.serve("entry", move |call| {
            called.0.lock().waiting.push_back(call);
            called.1.signal();
        })
    })
}
