//! The state of a virtual machine: tasks, groups, contexts and mailbox entries. A state machine
//! without I/O.
//!
//! The session's process of rank 0 holds it and answers requests. A request that must wait (a
//! barrier, a group to freeze) is answered once its condition holds.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;

use antiphon_panda::Rank;

use crate::code::Code;
use crate::protocol::{Answer, Class, HostInfo, Letter, News, Request, TaskInfo};
use crate::tid::{HOSTS_MAX, Tid};

/// Flags of mailbox entries.
pub const PERSISTENT: c_int = 1;
pub const MULTI_INSTANCE: c_int = 2;
pub const OVERWRITABLE: c_int = 4;
pub const FIRST_AVAILABLE: c_int = 8;
pub const READ_AND_DELETE: c_int = 16;
pub const WAIT_FOR_INFO: c_int = 32;

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

/// Tasks that wait for others of their group.
struct Gathering {
    /// The number of tasks to wait for; -1: all members.
    wanted: c_int,
    waiting: Vec<(Rank, Reply)>,
}

/// A group of tasks.
#[derive(Default)]
struct Group {
    members: BTreeMap<c_int, Rank>,
    is_frozen: bool,
    /// Members that have ended since the wait began.
    lost: usize,
    barrier: Option<Gathering>,
    freezing: Option<Gathering>,
}

/// A mailbox entry, by its index.
struct Entry {
    owner: Option<Rank>,
    flags: c_int,
    letter: Letter,
}

/// A task that waits for a mailbox entry.
struct Reader {
    rank: Rank,
    name: String,
    index: c_int,
    flags: c_int,
    reply: Reply,
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

    fn group(&mut self, name: &str) -> Result<&mut Group, Code> {
        if name.is_empty() {
            return Err(Code::NULL_GROUP);
        }
        self.groups.get_mut(name).ok_or(Code::NO_GROUP)
    }

    fn join(&mut self, from: Rank, name: String) -> Result<Answer, Code> {
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

    fn leave_group(&mut self, from: Rank, name: &str) -> Result<Answer, Code> {
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

    fn barrier(&mut self, from: Rank, name: &str, count: c_int, reply: Reply) {
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

    fn freeze(&mut self, from: Rank, name: &str, size: c_int, reply: Reply) {
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
    fn settle(&mut self, name: &str) {
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

    fn put(
        &mut self,
        from: Rank,
        name: String,
        (flags, index, replaces): (c_int, Option<c_int>, bool),
        letter: Letter,
    ) -> Result<Answer, Code> {
        if name.is_empty() {
            return Err(Code::BAD_PARAM);
        }
        let entries = self.letters.entry(name.clone()).or_default();
        let free = || (0..).find(|at| !entries.contains_key(at)).unwrap_or(0);
        let index = match index {
            Some(index) => index,
            None if flags & MULTI_INSTANCE != 0 => free(),
            None => 0,
        };
        let refused = match entries.get(&index) {
            Some(entry) if entry.flags & OVERWRITABLE != 0 => None,
            Some(entry) if entry.owner == Some(from) && replaces => None,
            Some(_) => Some(Code::DENIED),
            None => None,
        };
        if let Some(code) = refused {
            return Err(code);
        }
        entries.insert(
            index,
            Entry {
                owner: Some(from),
                flags,
                letter,
            },
        );
        Ok(Answer::Number(index))
    }

    fn get_letter(
        &mut self,
        from: Rank,
        name: &str,
        index: c_int,
        flags: c_int,
    ) -> Result<Answer, Code> {
        if index < 0 || name.is_empty() {
            return Err(Code::BAD_PARAM);
        }
        let entries = self.letters.get_mut(name).ok_or(Code::NOT_FOUND)?;
        let found = match flags & FIRST_AVAILABLE {
            0 => entries.get_key_value(&index),
            _ => entries.range(index..).next(),
        };
        let (&index, entry) = found.ok_or(Code::NOT_FOUND)?;
        let letter = entry.letter.clone();
        if flags & READ_AND_DELETE != 0 {
            self.remove(from, name, index)?;
        }
        Ok(Answer::Letter(letter))
    }

    fn remove(&mut self, from: Rank, name: &str, index: c_int) -> Result<Answer, Code> {
        let entries = self.letters.get_mut(name).ok_or(Code::NOT_FOUND)?;
        let entry = entries.get(&index).ok_or(Code::NOT_FOUND)?;
        if entry.owner != Some(from) && entry.flags & OVERWRITABLE == 0 {
            return Err(Code::DENIED);
        }
        entries.remove(&index);
        if entries.is_empty() {
            self.letters.remove(name);
        }
        Ok(Answer::Number(index))
    }

    fn classes(&self) -> Vec<Class> {
        let entry = |(index, entry): (&c_int, &Entry)| {
            let owner = entry.owner.map_or(Tid(0), |owner| self.tid(owner));
            (*index, owner, entry.flags)
        };
        let class = |(name, entries): (&String, &BTreeMap<c_int, Entry>)| Class {
            name: name.clone(),
            entries: entries.iter().map(entry).collect(),
        };
        self.letters.iter().map(class).collect()
    }

    /// Replies to tasks whose mailbox entry has come.
    fn serve_readers(&mut self) {
        let mut at = 0;
        while at < self.readers.len() {
            let reader = &self.readers[at];
            let (rank, name) = (reader.rank, reader.name.clone());
            match self.get_letter(rank, &name, self.readers[at].index, self.readers[at].flags) {
                Err(Code::NOT_FOUND) => at += 1,
                answer => (self.readers.remove(at).reply)(of(answer)),
            }
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

fn of(outcome: Result<Answer, Code>) -> Answer {
    outcome.unwrap_or_else(|code| Answer::Refused(code.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    /// Sends a request, and returns the receiver of its answer.
    fn ask(daemon: &mut Daemon, from: Rank, request: Request) -> Receiver<Answer> {
        let (tell, answers) = channel();
        let reply = Box::new(move |answer| tell.send(answer).unwrap_or_default());
        daemon.handle(from, request, reply);
        answers
    }

    /// Returns the answer, which must come at once.
    fn reported(daemon: &mut Daemon, from: Rank, request: Request) -> Answer {
        ask(daemon, from, request).try_recv().expect("an answer")
    }

    fn enrol(pid: u32) -> Request {
        Request::Enrol {
            pid,
            host: "here".into(),
            parent: Tid(0),
        }
    }

    fn enrolled(count: Rank) -> Daemon {
        let mut daemon = Daemon::default();
        for rank in 0..count {
            let request = enrol(rank + 1);
            let enrolled = Answer::Enrolled {
                host: 1,
                is_guest: false,
            };
            assert_eq!(reported(&mut daemon, rank, request), enrolled);
        }
        daemon
    }

    fn refused(code: Code) -> Answer {
        Answer::Refused(code.0)
    }

    fn join(daemon: &mut Daemon, ranks: std::ops::Range<Rank>) {
        for rank in ranks {
            reported(daemon, rank, Request::Join("g".into()));
        }
    }

    #[test]
    fn the_lowest_free_instance_is_given() {
        let mut daemon = enrolled(3);
        join(&mut daemon, 0..3);
        let leave = Request::LeaveGroup("g".into());
        assert_eq!(reported(&mut daemon, 1, leave.clone()), Answer::Number(0));
        assert_eq!(reported(&mut daemon, 1, leave), refused(Code::NOT_IN_GROUP));
        let again = reported(&mut daemon, 1, Request::Join("g".into()));
        assert_eq!(again, Answer::Number(1));
        let twice = reported(&mut daemon, 1, Request::Join("g".into()));
        assert_eq!(twice, refused(Code::DUP_GROUP));
        let nameless = reported(&mut daemon, 1, Request::Join(String::new()));
        assert_eq!(nameless, refused(Code::NULL_GROUP));
    }

    #[test]
    fn a_barrier_opens_when_as_many_have_come() {
        let mut daemon = enrolled(3);
        join(&mut daemon, 0..3);
        let barrier = Request::Barrier("g".into(), 2);
        let first = ask(&mut daemon, 0, barrier.clone());
        assert!(first.try_recv().is_err());
        assert_eq!(reported(&mut daemon, 2, barrier), Answer::Number(0));
        assert_eq!(first.try_recv(), Ok(Answer::Number(0)));
    }

    #[test]
    fn a_barrier_for_all_opens_when_the_one_that_lacks_has_ended() {
        let mut daemon = enrolled(3);
        join(&mut daemon, 0..3);
        let all = Request::Barrier("g".into(), -1);
        let first = ask(&mut daemon, 0, all.clone());
        let second = ask(&mut daemon, 1, all);
        daemon.ended(2);
        assert_eq!(first.try_recv(), Ok(Answer::Number(0)));
        assert_eq!(second.try_recv(), Ok(Answer::Number(0)));
    }

    #[test]
    fn a_barrier_that_too_few_are_left_for_is_refused() {
        let mut daemon = enrolled(3);
        join(&mut daemon, 0..3);
        let three = Request::Barrier("g".into(), 3);
        let first = ask(&mut daemon, 0, three.clone());
        let second = ask(&mut daemon, 1, three);
        daemon.ended(2);
        assert_eq!(first.try_recv(), Ok(refused(Code::NO_GROUP)));
        assert_eq!(second.try_recv(), Ok(refused(Code::NO_GROUP)));
    }

    fn put(name: &str, flags: c_int) -> Request {
        Request::Put {
            name: name.into(),
            flags,
            index: None,
            replaces: true,
            letter: Letter {
                encoding: Encoding::Xdr.signature(),
                tag: 0,
                content: vec![1],
            },
        }
    }

    use crate::buffer::Encoding;

    #[test]
    fn a_letter_is_its_owners_until_that_ends() {
        let mut daemon = enrolled(2);
        assert_eq!(reported(&mut daemon, 0, put("a", 0)), Answer::Number(0));
        assert_eq!(reported(&mut daemon, 0, put("a", 0)), Answer::Number(0));
        assert_eq!(reported(&mut daemon, 1, put("a", 0)), refused(Code::DENIED));
        let remove = Request::Remove {
            name: "a".into(),
            index: 0,
        };
        assert_eq!(reported(&mut daemon, 1, remove), refused(Code::DENIED));
        reported(&mut daemon, 0, put("kept", PERSISTENT));
        daemon.ended(0);
        let Answer::Classes(classes) = reported(&mut daemon, 1, Request::Classes) else {
            panic!("no letters");
        };
        let kept = Class {
            name: "kept".into(),
            entries: vec![(0, Tid(0), PERSISTENT)],
        };
        assert_eq!(classes, [kept]);
    }

    #[test]
    fn a_reader_waits_for_its_letter() {
        let mut daemon = enrolled(2);
        let get = Request::Get {
            name: "a".into(),
            index: 0,
            flags: WAIT_FOR_INFO,
        };
        let answer = ask(&mut daemon, 1, get);
        assert!(answer.try_recv().is_err());
        reported(&mut daemon, 0, put("a", 0));
        assert!(matches!(answer.try_recv(), Ok(Answer::Letter(_))));
    }

    #[test]
    fn a_task_that_is_about_to_begin_is_waited_for() {
        let mut daemon = enrolled(1);
        daemon.started(1, Tid(0), "worker", &[1, 2, 3]);
        let begun = |rank| Request::Begun(rank);
        let waits = [1, 2, 3].map(|rank| ask(&mut daemon, 0, begun(rank)));
        assert!(waits.iter().all(|answer| answer.try_recv().is_err()));
        reported(&mut daemon, 1, enrol(9));
        daemon.started(2, Tid(0), "worker", &[1, 2, 3]);
        daemon.ended(2);
        // The third process could not be started.
        daemon.ended(3);
        let never = refused(Code::NO_TASK);
        let answers = [Answer::Number(1), never.clone(), never.clone()];
        for (rank, (waited, answer)) in (1..).zip(waits.iter().zip(answers)) {
            assert_eq!(waited.try_recv(), Ok(answer.clone()));
            assert_eq!(reported(&mut daemon, 0, begun(rank)), answer);
        }
        assert_eq!(reported(&mut daemon, 0, begun(4)), never);
        reported(&mut daemon, 1, Request::Leave);
        assert_eq!(reported(&mut daemon, 0, begun(1)), Answer::Number(0));
    }

    #[test]
    fn hosts_come_and_go_by_their_numbers() {
        let mut daemon = enrolled(2);
        reported(&mut daemon, 1, Request::WatchHosts);
        let add = |name: &str| Request::AddHost(name.into());
        let delete = |name: &str| Request::DeleteHost(name.into());
        let second = Tid::of_host(2);
        assert_eq!(
            reported(&mut daemon, 0, add("there")),
            Answer::Number(second.0)
        );
        assert_eq!(
            reported(&mut daemon, 0, add("there")),
            refused(Code::DUP_HOST)
        );
        assert_eq!(
            reported(&mut daemon, 0, delete("here")),
            refused(Code::NOT_IMPL)
        );
        assert_eq!(
            reported(&mut daemon, 0, delete("there")),
            Answer::Number(second.0)
        );
        assert_eq!(
            reported(&mut daemon, 0, delete("there")),
            refused(Code::NO_HOST)
        );
        let Answer::Hosts(hosts) = reported(&mut daemon, 0, Request::Hosts) else {
            panic!("no hosts");
        };
        assert_eq!(hosts.len(), 1);
        assert_eq!(
            reported(&mut daemon, 0, add("there")),
            Answer::Number(second.0)
        );
        let (added, deleted) = (News::HostAdded(second), News::HostDeleted(second));
        assert_eq!(
            daemon.take_news(),
            [added, deleted, added].map(|news| (1, news))
        );
    }

    #[test]
    fn those_that_expect_a_task_are_told_if_it_never_begins() {
        let mut daemon = enrolled(2);
        daemon.started(2, Tid(0), "worker", &[2, 3]);
        daemon.started(3, Tid(0), "worker", &[2, 3]);
        for (from, rank) in [(0, 2), (0, 3), (1, 3)] {
            let answer = reported(&mut daemon, from, Request::Expect(rank));
            assert_eq!(answer, Answer::Number(TO_COME));
        }
        reported(&mut daemon, 2, enrol(9));
        assert_eq!(
            reported(&mut daemon, 0, Request::Expect(2)),
            Answer::Number(1)
        );
        daemon.ended(2);
        daemon.ended(3);
        let of_third = [0, 1].map(|to| (to, News::NeverBegan(3)));
        assert_eq!(daemon.take_news(), of_third);
        let never = reported(&mut daemon, 0, Request::Expect(3));
        assert_eq!(never, refused(Code::NO_TASK));
    }

    #[test]
    fn a_process_that_was_started_is_a_task_until_it_leaves() {
        let mut daemon = enrolled(1);
        daemon.started(1, Tid::of(1, 0), "worker", &[1]);
        let count = |daemon: &mut Daemon| match reported(daemon, 0, Request::Tasks) {
            Answer::Tasks(tasks) => tasks.len(),
            _ => 0,
        };
        assert_eq!(count(&mut daemon), 2);
        reported(&mut daemon, 1, enrol(9));
        assert_eq!(count(&mut daemon), 2);
        reported(&mut daemon, 1, Request::Leave);
        assert_eq!(count(&mut daemon), 1);
        assert_eq!(daemon.running().count(), 2);
        daemon.ended(1);
        assert_eq!(daemon.running().count(), 1);
    }
}
