//! The progress fiber: it drives while all other fibers wait for each other or for a time. So no OS
//! thread is needed to bring arrivals to them.

use std::sync::Weak;
use std::sync::atomic::Ordering;

use antiphon_fiber::{Builder as FiberBuilder, ManyServers, Threads as _};

use super::node::Node;
use super::progress_thread::ASIDE_MAX;
use super::wait::{Driven, Wait};
use super::{Interest, Nobody};
use crate::platform::Platform;

impl<P: Platform> Node<P> {
    /// Starts a progress fiber where the caller's run rests, if the caller is a fiber and there is
    /// none. If there is no memory for its stack, the session's progress thread does all the work.
    pub(super) fn start_progress_fiber(&self) {
        let has_progress_fiber = || {
            self.has_progress_fiber.load(Ordering::Relaxed)
                || self.has_progress_fiber.swap(true, Ordering::Relaxed)
        };
        if !ManyServers::is_caller() || has_progress_fiber() {
            return;
        }
        let builder = FiberBuilder {
            name: Some(format!("panda {}", self.rank)),
            ..FiberBuilder::default()
        };
        let node = self.itself.clone();
        // SAFETY: the caller of `thread::run_on`, which started several servers, vouches for its
        // threads. They run this same code where they wait.
        let fiber = unsafe { ManyServers::spawn(builder, move || attend(&node)) };
        self.has_progress_fiber
            .store(fiber.is_ok(), Ordering::Relaxed);
    }

    fn drive_for_others(&self) {
        let mut wait = Wait {
            interest: Interest::Change,
            awaited: &mut Nobody,
            until: None,
        };
        if let Driven::Taken = self.drive_as_fiber(&mut wait) {
            // An OS thread waits, or an upcall takes long.
            ManyServers::sleep(ASIDE_MAX);
        }
        self.see_to_its_end();
    }
}

/// Drives a session whenever a server rests, until it or the run is over.
fn attend<P: Platform>(node: &Weak<Node<P>>) {
    while ManyServers::wait_for_idle() {
        match node.upgrade() {
            Some(node) if !node.is_over() => node.drive_for_others(),
            _ => return,
        }
    }
    if let Some(node) = node.upgrade() {
        node.has_progress_fiber.store(false, Ordering::Relaxed);
    }
}
