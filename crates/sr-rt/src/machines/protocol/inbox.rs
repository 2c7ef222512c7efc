//! Events that panda's threads deliver and the serving process handles.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

use super::letters::Letter;

/// An event of a machine. It counts as an activity of the machine until it has been handled.
#[derive(Debug)]
pub enum Event {
    /// A letter of work came.
    Letter {
        from: u32,
        letter: Letter,
        /// The message's number, for timelines.
        number: u32,
        body: Bytes,
    },
    /// No process of any machine can go on, and no message is under way. This machine had handled
    /// so many events.
    Verdict { handled: u64 },
    /// A machine is lost.
    Lost { machine: u32 },
    /// The program is to end with a code.
    Exit(i32),
    /// A signal is to end the program. Before that, the processes of all machines are reported.
    Signal,
}

#[derive(Default)]
pub struct Inbox {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    waker: Option<Waker>,
}

impl Inbox {
    /// Appends an event, from any thread.
    pub fn push(&self, event: Event) {
        let mut state = self.state.lock();
        state.events.push_back(event);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns the next event when there is one.
    pub fn next(&self) -> Next<'_> {
        Next(self)
    }
}

/// The next event of an inbox.
pub struct Next<'a>(&'a Inbox);

impl Future for Next<'_> {
    type Output = Event;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Event> {
        let mut state = self.0.state.lock();
        if let Some(event) = state.events.pop_front() {
            return Poll::Ready(event);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A flag that processes can wait for.
#[derive(Default)]
pub struct Flag {
    state: Mutex<(bool, Option<Waker>)>,
}

impl Flag {
    pub fn set(&self) {
        let mut state = self.state.lock();
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until the flag is set, and clears it.
    pub fn taken(&self) -> Taken<'_> {
        Taken(self)
    }
}

pub struct Taken<'a>(&'a Flag);

impl Future for Taken<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.state.lock();
        if std::mem::take(&mut state.0) {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}
