//! Conditions of running processes. A database server moves to the processors of its subjects, and
//! processes that take turns get priority over other programs.

use super::first::{MOST_URGENT, OwnSession, Session};
use super::realtime::{self, OwnThread, Refused};
use super::tree::{Parents, Tree, each_once};
use crate::machine::{allowed_processors, set_of};
use antiphon_measure::Placement;
use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::sched_setaffinity;
use std::time::Duration;

/// Longer than it mostly takes to start a thread or process.
const BEING_STARTED: Duration = Duration::from_millis(2);
/// The ordinary one.
const ORDINARY: i32 = 0;

/// Moves a database server to the processor of a subject's partners.
///
/// That is the subject's own processor under `same`, and the other one under `across`. The system
/// alone would place the server at random, and a statement costs up to four times as much across.
/// Later children of the server inherit the place.
pub(super) fn place(server: u32, placement: Placement) {
    let set = match placement {
        Placement::Same { processor } => set_of([processor as usize]),
        Placement::Across { partner, .. } => set_of([partner as usize]),
        Placement::Free => set_of(allowed_processors()),
    };
    let Some(set) = set else {
        return; // The system has no such processor, and whoever is measured on it says so.
    };
    for thread in threads(server) {
        // A thread that has just ended cannot be moved. A server of another user stays in its
        // place.
        let _ = sched_setaffinity(Some(thread), &set);
    }
}

/// Processes with the highest priority until this is dropped, and our own thread, which sends their
/// next request.
///
/// Their sessions are raised too. With autogroups Linux shares a processor among sessions before it
/// looks at priorities. Processes below them may have their own sessions, such as PostgreSQL's
/// process for each connection.
pub(super) struct Raised {
    roots: Vec<u32>,
    _sessions: Vec<Session>,
    _own: OwnSession,
    /// Our own thread, if they are real-time, too.
    first: Option<OwnThread>,
    /// Reason why they, or some of their threads, are not real-time, though they should be.
    pub(super) refused: Option<Refused>,
    /// Whether a higher priority is permitted.
    pub(super) is_permitted: bool,
}

impl Raised {
    /// Puts these processes, with all below them, before others.
    pub(super) fn of(roots: Vec<u32>) -> Raised {
        // The other processes show whether this is permitted.
        let _ = setpriority_process(None, MOST_URGENT);
        let refused = roots.iter().filter(|root| !put_first(**root));
        Raised {
            is_permitted: refused.count() == 0,
            _sessions: roots.iter().flat_map(|root| sessions(*root)).collect(),
            _own: OwnSession::put_first(),
            first: None,
            refused: None,
            roots,
        }
    }

    /// Makes them real-time, if that is permitted, and their keepers and our own thread before
    /// them. It suits only short slices with pauses, in which others may run.
    pub(super) fn real_time(mut self) -> Raised {
        match OwnThread::put_first() {
            Ok(own) => self.first = own,
            Err(refused) => self.refused = Some(refused),
        }
        if self.first.is_none() {
            return self;
        }
        let refused = &mut self.refused;
        let mut note = |put: Result<(), Refused>| {
            if let Err(why) = put {
                refused.get_or_insert(why);
            }
        };
        keepers(&self.roots).for_each(|keeper| note(realtime::put_keeper_first(keeper)));
        each_thread(&self.roots, |thread| note(realtime::put_first(thread)));
        self
    }

    /// Makes some of them ordinary while the value lives, though still the most urgent of these.
    ///
    /// A real-time thread that wakes another of its priority goes on until it waits; an ordinary
    /// one yields to the woken one. Go's run-time, for example, then finds no answer yet and looks
    /// for other work before it waits. This uses a processor in the subject, and in the server that
    /// waits for it (docs/explanation/processor-time.md).
    pub(super) fn ordinary(&self, roots: impl IntoIterator<Item = u32>) -> Option<Ordinary> {
        self.first.as_ref()?;
        let roots: Vec<u32> = roots.into_iter().collect();
        put_all_back(&roots, realtime::put_back);
        Some(Ordinary(roots))
    }

    /// Checks whether they are real-time.
    pub(super) fn is_real_time(&self) -> bool {
        self.first.is_some()
    }

    /// Checks whether turns depend on a priority that was refused.
    pub(super) fn is_refused(&self) -> bool {
        !self.is_permitted && (self.first.is_none() || self.refused.is_some())
    }

    /// Makes them ordinary again, with all threads started meanwhile.
    fn end_real_time(&mut self) {
        if self.first.is_none() {
            return;
        }
        put_all_back(&self.roots, realtime::put_back);
        keepers(&self.roots).for_each(|keeper| {
            realtime::put_back(keeper);
        });
        self.first = None;
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.end_real_time();
        put_all_back(&self.roots, put_back);
        let _ = setpriority_process(None, ORDINARY);
    }
}

/// Processes whose threads are ordinary until this is dropped, and real-time then.
pub(super) struct Ordinary(Vec<u32>);

impl Drop for Ordinary {
    fn drop(&mut self) {
        // Real time was already refused and reported if it is refused here.
        each_thread(&self.0, |thread| {
            let _ = realtime::put_first(thread);
        });
    }
}

/// Makes a process that is about to end ordinary, with all its children and its keeper.
///
/// A process that ends in real time may hold its waiter in the kernel for ever. The waiter then has
/// its priority or a higher one. The reason stands with the runner's keeper, which does the same
/// for itself alone.
pub(super) fn make_ordinary(root: u32) {
    keepers(&[root]).for_each(realtime::make_ordinary);
    each_thread(&[root], realtime::make_ordinary);
}

/// Acts on all threads of processes and of their children, once each.
fn each_thread(roots: &[u32], act: impl FnMut(Pid)) {
    let threads = || roots.iter().flat_map(|root| kept_threads(*root)).collect();
    each_once(threads, act);
}

/// Raises the sessions of a process and of those below it. A session that two processes share is
/// raised and restored once.
fn sessions(root: u32) -> Vec<Session> {
    let processes = Tree::of(root).processes();
    processes.into_iter().map(Session::put_first).collect()
}

/// Makes all threads urgent, which their children inherit; returns whether that is permitted.
fn put_first(root: u32) -> bool {
    let all = threads(root).into_iter();
    let refused = all.filter(|thread| {
        setpriority_process(Some(*thread), MOST_URGENT).is_err_and(|error| {
            error == rustix::io::Errno::ACCESS || error == rustix::io::Errno::PERM
        })
    });
    refused.count() == 0
}

/// Makes an urgent thread ordinary; whether it was urgent, and is not any more.
fn put_back(thread: Pid) -> bool {
    let is_urgent = getpriority_process(Some(thread)).is_ok_and(|priority| priority < ORDINARY);
    is_urgent && setpriority_process(Some(thread), ORDINARY).is_ok()
}

/// Restores all threads of processes and their children, until a pass finds no raised one.
///
/// A raised thread may have started others before its turn. A process that keeps starting threads
/// does not prolong the loop, because new ones are ordinary by then. A thread being started
/// inherits the raised priority, but is visible only later; therefore passes are apart in time.
fn put_all_back(roots: &[u32], put_back: impl Fn(Pid) -> bool) {
    let all = || roots.iter().flat_map(|root| kept_threads(*root));
    let look = || all().filter(|thread| put_back(*thread)).count();
    look();
    while look() > 0 {
        std::thread::sleep(BEING_STARTED);
    }
}

/// Returns all threads of a process, of those below it, and of its children that its keeper has
/// inherited.
fn kept_threads(root: u32) -> Vec<Pid> {
    let kept = Tree::kept(root);
    let all = if kept.is_empty() {
        Tree::of(root)
    } else {
        kept
    };
    all.threads()
        .into_iter()
        .filter_map(Pid::from_raw)
        .collect()
}

fn keepers(roots: &[u32]) -> impl Iterator<Item = Pid> {
    let parents = Parents::now();
    let keepers = roots.iter().filter_map(move |root| parents.keeper(*root));
    keepers.filter_map(|keeper| Pid::from_raw(i32::try_from(keeper).ok()?))
}

/// Returns all threads of a process and of those below it. The kernel's scheduler names a thread
/// like a process.
fn threads(root: u32) -> Vec<Pid> {
    let threads = Tree::of(root).threads();
    threads.into_iter().filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    #[test]
    fn who_is_about_to_end_is_ordinary_with_his_child_and_his_keeper() {
        let policy = antiphon_runner::Policy::Fifo { priority: 3 };
        if let Err(why) = policy.permitted() {
            println!("skipped: {why}");
            return;
        }
        let program = antiphon_runner::Program::new("sh").args(["-c", "sleep 600 & echo $!; wait"]);
        let mut subject = program.policy(policy).spawn().unwrap();
        let child: u32 = subject.read_line().unwrap().trim().parse().unwrap();
        let keeper = Parents::now().keeper(subject.id()).unwrap();
        let all = [keeper, subject.id(), child];
        assert!(all.iter().all(|process| realtime::is_so(*process)));
        make_ordinary(subject.id());
        assert!(!all.iter().any(|process| realtime::is_so(*process)));
    }

    #[test]
    fn who_is_made_ordinary_for_his_turn_is_in_real_time_again_after_it_with_what_he_started() {
        let program = antiphon_runner::Program::new("sh");
        let script = "read line; sleep 600 & echo $!; wait";
        let mut subject = program.args(["-c", script]).spawn().unwrap();
        let raised = Raised::of(vec![subject.id()]).real_time();
        if raised.refused.is_some() || raised.first.is_none() {
            println!("skipped: real time is not permitted");
            return;
        }
        assert!(realtime::is_so(subject.id()));
        let ordinary = raised.ordinary([subject.id()]);
        subject.write_line("start").unwrap();
        let child: u32 = subject.read_line().unwrap().trim().parse().unwrap();
        assert!(!realtime::is_so(subject.id()) && !realtime::is_so(child));
        let priority = getpriority_process(Pid::from_raw(child as i32));
        assert_eq!(priority, Ok(MOST_URGENT), "of ordinary ones it comes first");
        drop(ordinary);
        assert!(realtime::is_so(subject.id()) && realtime::is_so(child));
        drop(raised);
        assert!(!realtime::is_so(subject.id()) && !realtime::is_so(child));
    }

    #[test]
    fn who_is_started_while_priorities_are_put_back_is_put_back_too() {
        // It starts many that stay, one after the other, and does not wait for us.
        let script = "i=0; while [ $i -lt 150 ]; do sleep 600 & i=$((i+1)); [ $i = 20 ] && echo many; done; echo all; wait";
        let program = antiphon_runner::Program::new("sh").args(["-c", script]);
        let mut subject = program.spawn().unwrap();
        let raised = Raised::of(vec![subject.id()]);
        let is_permitted = raised.is_permitted;
        assert_eq!(subject.read_line().unwrap().trim(), "many");
        drop(raised);
        assert_eq!(subject.read_line().unwrap().trim(), "all");
        if !is_permitted {
            println!("skipped: a higher priority is not permitted");
            return;
        }
        let all = kept_threads(subject.id());
        assert!(all.len() > 150, "{}", all.len());
        let priority = |thread: &Pid| getpriority_process(Some(*thread)).unwrap_or(ORDINARY);
        let urgent = all.iter().filter(|thread| priority(thread) < ORDINARY);
        // On a busy machine the start of one may last longer than two passes. The next turn
        // restores it.
        let urgent = urgent.count();
        assert!(urgent <= 4, "{urgent} of {}", all.len());
    }

    #[test]
    fn sessions_of_children_come_first_too() {
        // PostgreSQL does the same for each connection: a child begins a session and works until it
        // is told to end.
        let mut root = Command::new("setsid")
            .args(["sh", "-c", "setsid sh -c 'echo $$; read line'; true"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(root.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let child: u32 = line.trim().parse().unwrap();
        let session = |process: u32| {
            let text = std::fs::read_to_string(format!("/proc/{process}/autogroup")).ok()?;
            Some(text.trim().to_owned())
        };
        let before = session(child);
        let raised = Raised::of(vec![root.id()]);
        if raised.is_permitted && before.is_some() && session(root.id()) != session(child) {
            assert!(
                session(child).unwrap().ends_with(" nice -20"),
                "{before:?}: {:?}",
                session(child)
            );
            drop(raised);
            assert_eq!(session(child), before);
        } else {
            println!("skipped: sessions have no `nice` here, or it may not be set");
        }
        writeln!(root.stdin.take().unwrap(), "end").unwrap();
        root.wait().unwrap();
    }
}
