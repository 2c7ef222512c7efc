//! The notices of `pvm_notify`: ends of tasks, and changes of hosts.
//!
//! A notice must come after all messages of the ended task, so each task watches for itself. The
//! session delivers a peer's messages before it reports that the peer has left. A task that leaves
//! the machine and goes on reports this on the same path as its messages.

use std::collections::BTreeSet;
use std::ffi::c_int;

use antiphon_panda::{Message, Rank, WeakSession};

use crate::buffer::Encoding;
use crate::protocol::MESSAGES;
use crate::task::with_header;
use crate::tid::Tid;

/// A requested notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    pub tag: c_int,
    pub context: c_int,
    /// The task that ends, or the host that is removed.
    pub about: Tid,
}

/// A notice of added hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HostNotice {
    tag: c_int,
    context: c_int,
    /// How many notices are left; `None` means no limit.
    left: Option<u32>,
}

/// The notices of a task.
#[derive(Default)]
pub struct Notices {
    wanted: Vec<Notice>,
    wanted_of_hosts: Vec<HostNotice>,
    gone: BTreeSet<Rank>,
    /// Whether the session reports peers to this.
    pub is_following: bool,
}

impl Notices {
    /// Requests a notice. It comes at once if the task has ended.
    pub fn want(&mut self, notice: Notice, is_there: bool, session: &WeakSession) {
        let rank = notice.about.rank();
        let is_gone = rank.is_some_and(|rank| self.gone.contains(&rank));
        match is_there && !is_gone {
            true => self.wanted.push(notice),
            false => send(notice, session),
        }
    }

    /// Sends a requested notice at once.
    pub fn cancel(&mut self, notice: Notice, session: &WeakSession) {
        let (cancelled, kept) = self.wanted.iter().partition(|wanted| **wanted == notice);
        self.wanted = kept;
        let cancelled: Vec<Notice> = cancelled;
        cancelled
            .into_iter()
            .for_each(|notice| send(notice, session));
    }

    /// Records that a task has left the machine.
    pub fn left(&mut self, rank: Rank, session: &WeakSession) {
        self.gone.insert(rank);
        let is_about = |notice: &&Notice| notice.about.rank() == Some(rank);
        let (reported, kept) = self.wanted.iter().partition(is_about);
        self.wanted = kept;
        let reported: Vec<Notice> = reported;
        reported
            .into_iter()
            .for_each(|notice| send(notice, session));
    }

    /// Requests notices of added hosts, `left` of them or all, in place of earlier requests with
    /// the same tag.
    pub fn want_hosts(&mut self, (tag, context): (c_int, c_int), left: Option<u32>) {
        self.cancel_hosts((tag, context));
        let notice = HostNotice { tag, context, left };
        self.wanted_of_hosts.push(notice);
    }

    /// Cancels the notices of added hosts.
    pub fn cancel_hosts(&mut self, (tag, context): (c_int, c_int)) {
        let is_it = |notice: &HostNotice| (notice.tag, notice.context) == (tag, context);
        self.wanted_of_hosts.retain(|notice| !is_it(notice));
    }

    /// Records that a host was added.
    pub fn host_added(&mut self, host: Tid, session: &WeakSession) {
        for notice in &mut self.wanted_of_hosts {
            let numbers = [1, host.0].map(c_int::to_be_bytes).concat();
            send_numbers((notice.tag, notice.context), &numbers, session);
            notice.left = notice.left.map(|left| left.saturating_sub(1));
        }
        self.wanted_of_hosts.retain(|notice| notice.left != Some(0));
    }

    /// Records that a host was removed.
    pub fn host_deleted(&mut self, host: Tid, session: &WeakSession) {
        let is_about = |notice: &&Notice| notice.about == host;
        let (told, kept) = self.wanted.iter().partition(is_about);
        self.wanted = kept;
        let told: Vec<Notice> = told;
        told.into_iter().for_each(|notice| send(notice, session));
    }

    /// Returns whether a task has left the machine.
    #[must_use]
    pub fn is_gone(&self, rank: Rank) -> bool {
        self.gone.contains(&rank)
    }
}

/// Sends a notice to this process itself.
fn send(notice: Notice, session: &WeakSession) {
    let number = notice.about.0.to_be_bytes();
    send_numbers((notice.tag, notice.context), &number, session);
}

/// Sends numbers in XDR to this process itself.
fn send_numbers((tag, context): (c_int, c_int), numbers: &[u8], session: &WeakSession) {
    let Ok(session) = session.upgrade() else {
        return;
    };
    let content = Message::copy_of(numbers);
    let message = with_header(content, (context, 0), Encoding::Xdr, Tid::MACHINE);
    // The session may be ending.
    let _ = session
        .port(MESSAGES)
        .send(session.rank(), tag as u32, message);
}
