//! Starting threads, ending them early, and waiting for their results.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use antiphon_fiber::{Builder as FiberBuilder, ManyServers};

use super::any::{note_risen, note_woken};
use super::{Condition, Mutex, Panic, ThreadError, set_priority};
use crate::hook;

/// The settings of a thread to start.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    name: Option<String>,
    priority: Option<i32>,
}

/// A thread that may be waited for. Dropping it lets the thread go on by itself.
pub struct Handle<T> {
    packet: Arc<Packet<T>>,
}

/// The place where a thread leaves its result.
struct Packet<T> {
    result: Mutex<Option<Result<T, Panic>>>,
    has_ended: Condition,
}

/// The payload that unwinds a thread that ends early.
struct Exit<T>(T);

/// Starts a thread: a fiber if the caller is one, else an OS thread.
///
/// # Errors
///
/// There is no memory for its stack, or the system starts no more threads.
pub fn spawn<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<Handle<T>, ThreadError> {
    Builder::default().spawn(body)
}

/// Ends the calling thread early, with a value of the type that it was to return. Its values are
/// dropped, as at the end of its functions. A program built with `panic = "abort"` cannot do this,
/// and aborts.
pub fn exit<T: Send + 'static>(value: T) -> ! {
    resume_unwind(Box::new(Exit(value)))
}

/// Runs a thread's body to its end, or to its [`exit`].
pub fn caught<T: Send + 'static>(body: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(body))
        .or_else(|panic: Box<dyn Any + Send>| panic.downcast::<Exit<T>>().map(|exit| exit.0))
}

impl Builder {
    /// Makes the settings of a usual thread.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets its name, for debuggers and reports.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets its priority: see [`set_priority`].
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// As [`spawn`].
    pub fn spawn<T: Send + 'static>(
        self,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Handle<T>, ThreadError> {
        let packet = Arc::new(Packet {
            result: Mutex::new(None),
            has_ended: Condition::new(),
        });
        let left = packet.clone();
        self.launch(Box::new(move || {
            let result = caught(body);
            *left.result.lock() = Some(result);
            left.has_ended.broadcast();
        }))?;
        Ok(Handle { packet })
    }

    /// Starts the thread, without depending on its types. So this code is compiled once, and not
    /// for each thread of a program.
    fn launch(self, run: Box<dyn FnOnce() + Send>) -> Result<(), ThreadError> {
        if ManyServers::is_caller() {
            let builder = FiberBuilder {
                name: self.name,
                priority: self.priority,
                region: None,
            };
            match hook::runtime() {
                Some(runtime) => runtime.spawn(builder, run)?,
                // SAFETY: the caller of `run_on`, which started several servers, vouches for its
                // threads.
                None => drop(unsafe { ManyServers::spawn(builder, run) }?),
            }
        } else {
            let mut builder = std::thread::Builder::new();
            if let Some(name) = self.name {
                builder = builder.name(name);
            }
            let priority = self.priority;
            let run = move || {
                note_risen();
                priority.map(set_priority);
                run();
            };
            drop(builder.spawn(run).map_err(ThreadError::System)?);
            note_woken();
        }
        Ok(())
    }
}

impl<T> Handle<T> {
    /// Waits until the thread has ended, and takes its result.
    ///
    /// # Errors
    ///
    /// The thread's panic.
    #[track_caller]
    pub fn join(self) -> Result<T, Panic> {
        let mut result = self.packet.result.lock();
        loop {
            if let Some(result) = result.take() {
                return result;
            }
            self.packet.has_ended.wait(&mut result);
        }
    }

    /// Returns whether the thread has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.packet.result.lock().is_some()
    }
}
