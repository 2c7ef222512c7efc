//! Clocks of a subject's processes and of its database's, and differences of such readings.

use crate::run::compilers::Compilers;
use crate::run::tree::{Followed, Tree, Used};
use antiphon_service::Kind;
use std::collections::HashMap;

/// The subject's process, and its database's.
#[derive(Clone, Copy)]
pub(super) struct Roots {
    pub(super) subject: u32,
    pub(super) server: Option<(Kind, u32)>,
}

/// Clocks of both trees, or a difference of such.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) subject: Clock,
    pub(super) server: Clock,
}

/// Processor time of a tree, without that of a virtual machine's compilers.
#[derive(Clone, Copy, Default)]
pub(super) struct Clock {
    pub(super) all_ns: f64,
    /// Part of it that ended children used, in coarse steps.
    pub(super) ended_ns: f64,
    /// Page faults of ended children, which are exact before their time reaches a step.
    pub(super) ended_faults: f64,
}

/// Database servers whose clocks were read, by process. Several subjects take turns beside each.
#[derive(Default)]
pub(in crate::run) struct Servers(HashMap<u32, Followed>);

/// The trees of one turn.
pub(super) struct Trees {
    pub(super) subject: Tree,
    server: Option<u32>,
    compilers: Compilers,
}

impl Servers {
    fn read(&mut self, server: u32) -> Used {
        let followed = self.0.entry(server);
        followed.or_insert_with(|| Followed::of(server)).read()
    }
}

impl Roots {
    pub(super) fn all(self) -> impl Iterator<Item = u32> {
        let server = self.server.map(|(_, root)| root);
        std::iter::once(self.subject).chain(server)
    }

    pub(super) fn trees(self) -> Trees {
        Trees {
            subject: Tree::of(self.subject),
            server: self.server.map(|(_, root)| root),
            compilers: Compilers::default(),
        }
    }
}

impl Trees {
    /// Reads the clocks while the subject's compilers are idle. The server's tree is searched each
    /// time, because it may start a process for each connection.
    pub(super) fn read(&mut self, servers: &mut Servers) -> Reading {
        Compilers::wait(&self.subject);
        let mut subject = Clock::of(self.subject.used());
        subject.all_ns -= self.compilers.used_ns(&self.subject) as f64;
        let server = self.server.map(|server| Clock::of(servers.read(server)));
        Reading {
            subject,
            server: server.unwrap_or_default(),
        }
    }
}

impl Reading {
    pub(super) fn and(self, other: Reading) -> Reading {
        Reading {
            subject: self.subject.and(other.subject),
            server: self.server.and(other.server),
        }
    }

    pub(super) fn less(self, other: Reading) -> Reading {
        Reading {
            subject: self.subject.less(other.subject),
            server: self.server.less(other.server),
        }
    }
}

impl Clock {
    fn of(used: Used) -> Clock {
        Clock {
            all_ns: used.cpu_ns() as f64,
            ended_ns: used.ended_ns as f64,
            ended_faults: used.ended_faults as f64,
        }
    }

    fn and(self, other: Clock) -> Clock {
        Clock {
            all_ns: self.all_ns + other.all_ns,
            ended_ns: self.ended_ns + other.ended_ns,
            ended_faults: self.ended_faults + other.ended_faults,
        }
    }

    fn less(self, other: Clock) -> Clock {
        Clock {
            all_ns: self.all_ns - other.all_ns,
            ended_ns: self.ended_ns - other.ended_ns,
            ended_faults: self.ended_faults - other.ended_faults,
        }
    }
}
