//! The state of a virtual machine: tasks, groups, contexts and mailbox entries. A state machine
//! without I/O.
//!
//! The session's process of rank 0 holds it and answers requests. A request that must wait (a
//! barrier, a group to freeze) is answered once its condition holds.

mod groups;
pub mod mailbox;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;

use antiphon_panda::Rank;

use crate::code::Code;
use crate::protocol::{Answer, HostInfo, News, Request, TaskInfo};
use crate::tid::{HOSTS_MAX, Tid};

use groups::Group;
use mailbox::{Entry, PERSISTENT, Reader, WAIT_FOR_INFO};

/// The reply to a request.
pub type Reply = Box<dyn FnOnce(Answer) + Send>;

/// The answer for a task that has yet to begin.
pub const TO_COME: c_int = 2;

/// A process of the machine.
#[derive(Debug, Clone, Default)]
struct Task {
    parent: Tid,
    name: String,
    pid: u32,
    host: u32,
    /// The processes that were started together with it, once that is known.
    siblings: Option<Vec<Rank>>,
    /// Whether it is enrolled now.
    is_enrolled: bool,
    has_ended: bool,
}

/// A host of the machine.
struct Host {
    name: String,
    is_there: bool,
}

/// A task that waits for another to enrol.
struct Expecting {
    from: Rank,
    of: Rank,
    reply: Reply,
}

/// A virtual machine.
#[derive(Default)]
pub struct Daemon {
    tasks: BTreeMap<Rank, Task>,
    /// All hosts so far. A host keeps its number.
    hosts: Vec<Host>,
    groups: BTreeMap<String, Group>,
    contexts: BTreeSet<c_int>,
    letters: BTreeMap<String, BTreeMap<c_int, Entry>>,
    readers: Vec<Reader>,
    /// Tasks that wait for the list of their siblings.
    asking: Vec<(Rank, Reply)>,
    /// Tasks that wait for others to enrol.
    expecting: Vec<Expecting>,
    /// Pairs of tasks: the first gets a message if the second ends without having enrolled.
    watching: BTreeSet<(Rank, Rank)>,
    /// Tasks that get messages about hosts.
    host_watchers: BTreeSet<Rank>,
    /// Messages for tasks that are not sent yet.
    news: Vec<(Rank, News)>,
    /// Processes that could not be started, or that ended before anything else was known of them.
    gone: BTreeSet<Rank>,
    is_halting: bool,
    /// Whether the session was started by another program.
    is_guest: bool,
}

impl Daemon {
    /// Records a process that was started, and those started together with it. It may never enrol.
    pub fn started(&mut self, rank: Rank, parent: Tid, name: &str, siblings: &[Rank]) {
        let task = self.tasks.entry(rank).or_default();
        (task.parent, task.name) = (parent, name.into());
        task.siblings = Some(siblings.to_vec());
        task.host = task.host.max(1);
        task.has_ended |= self.gone.contains(&rank);
        let (reported, asking) = std::mem::take(&mut self.asking)
            .into_iter()
            .partition(|(of, _)| *of == rank);
        self.asking = asking;
        let reported: Vec<(Rank, Reply)> = reported;
        for (_, reply) in reported {
            reply(self.members(siblings));
        }
    }

    /// Makes the first processes of a foreign session siblings.
    pub fn founded(&mut self, size: u32) {
        self.is_guest = true;
        let all: Vec<Rank> = (0..size).collect();
        for &rank in &all {
            self.started(rank, Tid(0), "", &all);
        }
    }

    fn members(&self, ranks: &[Rank]) -> Answer {
        let member = |(at, rank): (usize, &Rank)| (at as c_int, self.tid(*rank));
        Answer::Members(ranks.iter().enumerate().map(member).collect())
    }

    /// Records that a process has ended, or could not be started.
    pub fn ended(&mut self, rank: Rank) {
        self.leave(rank);
        match self.tasks.get_mut(&rank) {
            Some(task) => task.has_ended = true,
            None => drop(self.gone.insert(rank)),
        }
        self.tell_those_expecting(rank);
    }

    /// Returns whether a task has enrolled, or why it never will. Returns `None` if it may still
    /// enrol.
    fn has_begun(&self, rank: Rank) -> Option<Result<Answer, Code>> {
        let is_named = || {
            let lists = self.tasks.values().flat_map(|task| &task.siblings);
            lists.flatten().any(|sibling| *sibling == rank)
        };
        match self.tasks.get(&rank) {
            // It has a process number once it has enrolled.
            Some(task) if task.pid != 0 => Some(Ok(Answer::Number(task.is_enrolled.into()))),
            Some(task) if !task.has_ended => None,
            // It was started after its siblings.
            None if is_named() && !self.gone.contains(&rank) => None,
            Some(_) | None => Some(Err(Code::NO_TASK)),
        }
    }

    /// Returns the messages for tasks since the last call.
    pub fn take_news(&mut self) -> Vec<(Rank, News)> {
        std::mem::take(&mut self.news)
    }

    fn tell_those_expecting(&mut self, rank: Rank) {
        let Some(answer) = self.has_begun(rank) else {
            return;
        };
        let watchers = self.watching.extract_if(.., |(_, of)| *of == rank);
        let watchers: Vec<_> = watchers.collect();
        if answer.is_err() {
            let news = watchers.into_iter();
            let news = news.map(|(to, of)| (to, News::NeverBegan(of)));
            self.news.extend(news);
        }
        let (reported, expecting) = std::mem::take(&mut self.expecting)
            .into_iter()
            .partition(|waits| waits.of == rank);
        self.expecting = expecting;
        let reported: Vec<Expecting> = reported;
        for waits in reported {
            (waits.reply)(of(answer.clone()));
        }
    }

    /// Returns whether the machine is to end with all of its tasks.
    #[must_use]
    pub fn is_halting(&self) -> bool {
        self.is_halting
    }

    /// Returns the processes that have not ended.
    pub fn running(&self) -> impl Iterator<Item = Rank> + '_ {
        let running = self.tasks.iter().filter(|(_, task)| !task.has_ended);
        running.map(|(rank, _)| *rank)
    }

    /// Returns the id of a process.
    #[must_use]
    pub fn tid(&self, rank: Rank) -> Tid {
        Tid::of(self.tasks.get(&rank).map_or(1, |task| task.host), rank)
    }

    /// Handles a request. The reply may come later.
    pub fn handle(&mut self, from: Rank, request: Request, reply: Reply) {
        let answer = match request {
            Request::Enrol { pid, host, parent } => self.enrol(from, pid, host, parent),
            Request::Leave => {
                self.leave(from);
                Ok(Answer::Number(0))
            }
            Request::Spawned {
                name,
                ranks,
                parent,
                host,
            } => {
                for &rank in &ranks {
                    self.started(rank, parent, &name, &ranks);
                    // The task may have reported its number itself.
                    if let Some(task) = self.tasks.get_mut(&rank).filter(|task| task.pid == 0) {
                        task.host = host.host_number();
                    }
                }
                Ok(Answer::Number(0))
            }
            Request::Siblings => match self.tasks.get(&from) {
                Some(Task {
                    siblings: Some(siblings),
                    ..
                }) => Ok(self.members(siblings)),
                Some(Task { parent: Tid(0), .. }) | None => Ok(self.members(&[from])),
                // Its spawner is about to report them.
                Some(_) => return self.asking.push((from, reply)),
            },
            Request::NeverBegan(rank) => {
                self.ended(rank);
                Ok(Answer::Number(0))
            }
            Request::Expect(rank) => self.has_begun(rank).unwrap_or_else(|| {
                self.watching.insert((from, rank));
                Ok(Answer::Number(TO_COME))
            }),
            Request::Begun(rank) => match self.has_begun(rank) {
                Some(answer) => answer,
                None => {
                    // A task that asks again no longer waits for the first answer.
                    let is_same = |waits: &Expecting| (waits.from, waits.of) == (from, rank);
                    self.expecting.retain(|waits| !is_same(waits));
                    let of = rank;
                    return self.expecting.push(Expecting { from, of, reply });
                }
            },
            Request::Tasks => Ok(Answer::Tasks(self.task_infos())),
            Request::Hosts => {
                let there = self
                    .hosts
                    .iter()
                    .enumerate()
                    .filter(|(_, host)| host.is_there);
                let hosts = there.map(|(at, host)| HostInfo {
                    tid: Tid::of_host(at as u32 + 1),
                    name: host.name.clone(),
                });
                Ok(Answer::Hosts(hosts.collect()))
            }
            Request::AddHost(name) => self.add_host(name).map(Answer::Number),
            Request::DeleteHost(name) => self.delete_host(from, &name),
            Request::WatchHosts => {
                self.host_watchers.insert(from);
                Ok(Answer::Number(0))
            }
            Request::NewContext => self.new_context(),
            Request::FreeContext(context) => match self.contexts.remove(&context) {
                true => Ok(Answer::Number(0)),
                false => Err(Code::NOT_FOUND),
            },
            Request::Join(name) => self.join(from, name),
            Request::LeaveGroup(name) => self.leave_group(from, &name),
            Request::Members(name) => {
                let members = self.group(&name).map(|group| group.members.clone());
                members.map(|members| {
                    let members = members.iter().map(|(at, rank)| (*at, self.tid(*rank)));
                    Answer::Members(members.collect())
                })
            }
            Request::Barrier(name, count) => return self.barrier(from, &name, count, reply),
            Request::Freeze(name, size) => return self.freeze(from, &name, size, reply),
            Request::Put {
                name,
                flags,
                index,
                replaces,
                letter,
            } => {
                let put = self.put(from, name, (flags, index, replaces), letter);
                reply(of(put));
                return self.serve_readers();
            }
            Request::Get { name, index, flags } => {
                match self.get_letter(from, &name, index, flags) {
                    Err(Code::NOT_FOUND) if flags & WAIT_FOR_INFO != 0 => {
                        return self.readers.push(Reader {
                            rank: from,
                            name,
                            index,
                            flags,
                            reply,
                        });
                    }
                    answer => answer,
                }
            }
            Request::Remove { name, index } => self.remove(from, &name, index),
            Request::Classes => Ok(Answer::Classes(self.classes())),
            Request::Halt => {
                self.is_halting = true;
                Ok(Answer::Number(0))
            }
        };
        reply(of(answer));
    }

    fn enrol(&mut self, from: Rank, pid: u32, host: String, parent: Tid) -> Result<Answer, Code> {
        let known = self.hosts.iter().position(|known| known.name == host);
        let number = match known {
            Some(at) => at as u32 + 1,
            None => Tid(self.add_host(host)?).host_number(),
        };
        let task = self.tasks.entry(from).or_default();
        task.host = number;
        task.pid = pid;
        task.parent = parent;
        task.is_enrolled = true;
        task.has_ended = false;
        let host = task.host;
        self.gone.remove(&from);
        self.tell_those_expecting(from);
        Ok(Answer::Enrolled {
            host,
            is_guest: self.is_guest,
        })
    }

    /// Adds a host, tells the watching tasks, and returns its id.
    fn add_host(&mut self, name: String) -> Result<c_int, Code> {
        let known = self.hosts.iter().position(|host| host.name == name);
        let at = match known {
            Some(at) if self.hosts[at].is_there => return Err(Code::DUP_HOST),
            Some(at) => at,
            None if self.hosts.len() < HOSTS_MAX as usize => self.hosts.len(),
            None => return Err(Code::OUT_OF_RES),
        };
        match self.hosts.get_mut(at) {
            Some(host) => host.is_there = true,
            None => self.hosts.push(Host {
                name,
                is_there: true,
            }),
        }
        let tid = Tid::of_host(at as u32 + 1);
        self.announce(News::HostAdded(tid));
        Ok(tid.0)
    }

    /// Sends a message to the tasks that watch hosts.
    fn announce(&mut self, news: News) {
        let watchers = self.host_watchers.iter();
        self.news.extend(watchers.map(|to| (*to, news)));
    }

    /// Removes a host, and tells the watching tasks. The host of rank 0 and the caller's host stay.
    fn delete_host(&mut self, from: Rank, name: &str) -> Result<Answer, Code> {
        let there = |host: &Host| host.is_there && host.name == name;
        let at = self.hosts.iter().position(there).ok_or(Code::NO_HOST)?;
        let tid = Tid::of_host(at as u32 + 1);
        if [0, from].iter().any(|rank| self.tid(*rank).host() == tid) {
            return Err(Code::NOT_IMPL);
        }
        self.hosts[at].is_there = false;
        self.announce(News::HostDeleted(tid));
        Ok(Answer::Number(tid.0))
    }

    /// Removes a task from its groups, waits and mailbox entries.
    fn leave(&mut self, rank: Rank) {
        if let Some(task) = self.tasks.get_mut(&rank) {
            task.is_enrolled = false;
        }
        self.readers.retain(|reader| reader.rank != rank);
        self.asking.retain(|(of, _)| *of != rank);
        self.expecting.retain(|waits| waits.from != rank);
        self.watching.retain(|(from, _)| *from != rank);
        self.host_watchers.remove(&rank);
        let names: Vec<String> = self.groups.keys().cloned().collect();
        for name in names {
            let _ = self.leave_group(rank, &name);
        }
        for entries in self.letters.values_mut() {
            entries.retain(|_, entry| entry.owner != Some(rank) || entry.flags & PERSISTENT != 0);
            for entry in entries.values_mut() {
                entry.owner = entry.owner.filter(|owner| *owner != rank);
            }
        }
        self.letters.retain(|_, entries| !entries.is_empty());
    }

    /// Returns the tasks that are enrolled, or may still enrol.
    #[must_use]
    pub fn task_infos(&self) -> Vec<TaskInfo> {
        let enrolled = self.tasks.iter().filter(|(_, task)| {
            // A started process counts before it enrols, but not after it has left.
            !task.has_ended && (task.is_enrolled || task.pid == 0)
        });
        let info = |(rank, task): (&Rank, &Task)| TaskInfo {
            tid: self.tid(*rank),
            parent: task.parent,
            name: task.name.clone(),
            pid: task.pid,
        };
        enrolled.map(info).collect()
    }

    fn new_context(&mut self) -> Result<Answer, Code> {
        // As in PVM, they begin above the host part of an id.
        let first = Tid::of(1, 0).0;
        let context = (first..c_int::MAX)
            .find(|context| !self.contexts.contains(context))
            .ok_or(Code::OUT_OF_RES)?;
        self.contexts.insert(context);
        Ok(Answer::Number(context))
    }
}

fn of(outcome: Result<Answer, Code>) -> Answer {
    outcome.unwrap_or_else(|code| Answer::Refused(code.0))
}
