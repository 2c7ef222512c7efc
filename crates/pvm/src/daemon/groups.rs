//! Groups of tasks: members, barriers, and groups that are frozen.

use std::collections::BTreeMap;
use std::ffi::c_int;

use antiphon_panda::Rank;

use super::{Daemon, Reply, of};
use crate::code::Code;
use crate::protocol::Answer;

/// Tasks that wait for others of their group.
pub(super) struct Gathering {
    /// The number of tasks to wait for; -1: all members.
    pub wanted: c_int,
    pub waiting: Vec<(Rank, Reply)>,
}

/// A group of tasks.
#[derive(Default)]
pub(super) struct Group {
    pub members: BTreeMap<c_int, Rank>,
    pub is_frozen: bool,
    /// Members that have ended since the wait began.
    pub lost: usize,
    pub barrier: Option<Gathering>,
    pub freezing: Option<Gathering>,
}

impl Daemon {
    pub(super) fn group(&mut self, name: &str) -> Result<&mut Group, Code> {
        if name.is_empty() {
            return Err(Code::NULL_GROUP);
        }
        self.groups.get_mut(name).ok_or(Code::NO_GROUP)
    }

    pub(super) fn join(&mut self, from: Rank, name: String) -> Result<Answer, Code> {
        if name.is_empty() {
            return Err(Code::NULL_GROUP);
        }
        let group = self.groups.entry(name).or_default();
        if group.is_frozen {
            return Err(Code::NOT_IN_GROUP);
        }
        if group.members.values().any(|rank| *rank == from) {
            return Err(Code::DUP_GROUP);
        }
        let instance = (0..).find(|at| !group.members.contains_key(at));
        let instance = instance.ok_or(Code::OUT_OF_RES)?;
        group.members.insert(instance, from);
        Ok(Answer::Number(instance))
    }

    pub(super) fn leave_group(&mut self, from: Rank, name: &str) -> Result<Answer, Code> {
        let group = self.group(name)?;
        let member = group.members.iter().find(|(_, rank)| **rank == from);
        let instance = *member.ok_or(Code::NOT_IN_GROUP)?.0;
        group.members.remove(&instance);
        group.lost += 1;
        let of_this = [&mut group.barrier, &mut group.freezing];
        for gathering in of_this.into_iter().flatten() {
            gathering.waiting.retain(|(rank, _)| *rank != from);
        }
        self.settle(name);
        if self.group(name).is_ok_and(|group| group.members.is_empty()) {
            self.groups.remove(name);
        }
        Ok(Answer::Number(0))
    }

    pub(super) fn barrier(&mut self, from: Rank, name: &str, count: c_int, reply: Reply) {
        match self.group(name) {
            Err(code) => reply(of(Err(code))),
            Ok(group) if !group.members.values().any(|rank| *rank == from) => {
                reply(of(Err(Code::NOT_IN_GROUP)));
            }
            Ok(group) => {
                if gather(&mut group.barrier, (from, count), reply) {
                    group.lost = 0;
                }
                self.settle(name);
            }
        }
    }

    pub(super) fn freeze(&mut self, from: Rank, name: &str, size: c_int, reply: Reply) {
        match self.group(name) {
            Err(code) => reply(of(Err(code))),
            Ok(group) if group.is_frozen => reply(of(Err(Code::DUP_GROUP))),
            Ok(group) if !group.members.values().any(|rank| *rank == from) => {
                reply(of(Err(Code::NOT_IN_GROUP)));
            }
            Ok(group) => {
                if gather(&mut group.freezing, (from, size), reply) {
                    group.lost = 0;
                }
                self.settle(name);
            }
        }
    }

    /// Replies to tasks that wait for members of a group, if all have come or some can no longer
    /// come.
    pub(super) fn settle(&mut self, name: &str) {
        let Some(group) = self.groups.get_mut(name) else {
            return;
        };
        let members = group.members.len();
        let outcome = |gathering: &Gathering, lost: usize| {
            let wanted = usize::try_from(gathering.wanted).unwrap_or(members);
            match gathering.waiting.len() {
                waiting if waiting >= wanted => Some(Ok(wanted)),
                // Too few members are left, because some have ended.
                _ if lost > 0 && wanted > members => Some(Err(Code::NO_GROUP)),
                _ => None,
            }
        };
        if let Some(gathering) = group
            .barrier
            .take_if(|it| outcome(it, group.lost).is_some())
        {
            let answer = match outcome(&gathering, group.lost) {
                Some(Err(code)) => Answer::Refused(code.0),
                _ => Answer::Number(0),
            };
            gathering.release(&answer);
        }
        if let Some(gathering) = group
            .freezing
            .take_if(|it| outcome(it, group.lost).is_some())
        {
            let answer = match outcome(&gathering, group.lost) {
                Some(Err(code)) => Answer::Refused(code.0),
                _ => {
                    group.is_frozen = true;
                    Answer::Number(c_int::try_from(members).unwrap_or(c_int::MAX))
                }
            };
            gathering.release(&answer);
        }
    }
}

impl Gathering {
    fn release(self, answer: &Answer) {
        for (_, reply) in self.waiting {
            reply(answer.clone());
        }
    }
}

/// Adds a task to those that wait for the same number of members. Returns whether it is the first.
fn gather(gathering: &mut Option<Gathering>, (from, wanted): (Rank, c_int), reply: Reply) -> bool {
    match gathering {
        Some(gathering) if gathering.wanted != wanted => {
            reply(of(Err(Code::MISMATCH)));
            false
        }
        Some(gathering) => {
            gathering.waiting.push((from, reply));
            false
        }
        None => {
            *gathering = Some(Gathering {
                wanted,
                waiting: vec![(from, reply)],
            });
            true
        }
    }
}
