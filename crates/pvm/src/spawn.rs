//! Starting programs as more tasks.

use std::env;
use std::ffi::{OsStr, OsString, c_int};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_panda::starter::Signal;
use antiphon_panda::{Error, Message, Rank, SpawnOptions};

use crate::code::Code;
use crate::ffi::say;
use crate::protocol::{
    Answer, HOST as HOST_NAME, HostInfo, LEGACY, Legacy, MACHINE, Request, Sink,
};
use crate::state::with;
use crate::task::Task;
use crate::tid::Tid;

/// Flags of `pvm_spawn`.
pub const HOST: c_int = 1;
pub const ARCH: c_int = 2;
pub const HOST_COMPLEMENT: c_int = 32;
pub const NO_PARENT: c_int = 64;

/// A request to start tasks.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub flags: c_int,
    /// A host or a kind of machine, and a directory after a colon.
    pub place: String,
    pub count: u32,
}

/// Starts a program as more tasks. Returns for each its id, or why it did not start.
///
/// # Errors
/// [`Code::BAD_PARAM`], [`Code::SYS_ERR`].
pub fn spawn(task: &Arc<Task>, order: &Order) -> Result<Vec<Result<Tid, Code>>, Code> {
    let count = order.count as usize;
    if count == 0 {
        return Err(Code::BAD_PARAM);
    }
    let (place, directory) = match order.place.split_once(':') {
        Some((place, directory)) => (place, Some(PathBuf::from(directory))),
        None => (order.place.as_str(), None),
    };
    let (host, at) = match host_of(task, order.flags, place) {
        Ok(Some(host)) => (Some(host.name), host.tid),
        Ok(None) => (None, task.tid.host()),
        Err(code) => return Ok(vec![Err(code); count]),
    };
    let Some(program) = find_with_hint(&order.program) else {
        return Ok(vec![Err(Code::NO_FILE); count]);
    };
    let (sink, context) = with(|state| {
        let sink = match state.catcher.is_on() {
            true => Sink::Task(task.session.rank()),
            false => task.sink,
        };
        (sink, state.context)
    });
    let parent = match order.flags & NO_PARENT {
        0 => task.tid,
        _ => Tid(0),
    };
    let legacy = Legacy {
        parent,
        context,
        sink,
    };
    let mut environment = vec![(LEGACY.into(), Some(legacy.to_text().into()))];
    if let Some(host) = &host {
        environment.push((HOST_NAME.into(), Some(host.into())));
    }
    let options = SpawnOptions {
        host,
        directory,
        environment,
        arguments: order.arguments.clone(),
    };
    let (weak, is_guest) = (task.session.downgrade(), task.is_guest);
    let on_failure = move |rank, _: &str| {
        // Otherwise the machine has started it, and knows of it.
        if is_guest && let Ok(session) = weak.upgrade() {
            let request = Message::of(&Request::NeverBegan(rank));
            let _ = request.map(|request| session.call(0, MACHINE, request, None));
        }
    };
    let started = (task.session).start_with(&program, order.count, &options, on_failure);
    let outcomes = match started {
        Ok(outcomes) => outcomes,
        Err(Error::Join(_)) => return Ok(vec![Err(Code::OUT_OF_RES); count]),
        Err(_) => return Err(Code::SYS_ERR),
    };
    if task.is_guest {
        tell(task, order, (parent, at), &outcomes)?;
    }
    let tid_of = |outcome: Result<Rank, Error>| match outcome {
        Ok(rank) => Ok(Tid::of(at.host_number(), rank)),
        Err(Error::NotSpawned { .. }) => Err(Code::NO_FILE),
        Err(_) => Err(Code::OUT_OF_RES),
    };
    let tids: Vec<_> = outcomes.into_iter().map(tid_of).collect();
    // Otherwise the output of children goes to the program that started the session.
    if sink == Sink::Task(task.session.rank()) && !task.is_guest {
        with(|state| {
            for tid in tids.iter().flatten() {
                state.catcher.expect(*tid);
            }
        });
    }
    Ok(tids)
}

/// Reports to the machine processes that it has not started itself.
fn tell(
    task: &Task,
    order: &Order,
    (parent, host): (Tid, Tid),
    outcomes: &[Result<Rank, Error>],
) -> Result<(), Code> {
    let name = Path::new(&order.program).file_name().unwrap_or_default();
    let request = Request::Spawned {
        name: name.to_string_lossy().into_owned(),
        ranks: outcomes.iter().flatten().copied().collect(),
        parent,
        host,
    };
    task.ask_number(&request).map(drop)
}

/// Returns the host where tasks start; `None` means the spawner's.
fn host_of(task: &Task, flags: c_int, place: &str) -> Result<Option<HostInfo>, Code> {
    if flags & ARCH != 0 && (place == crate::ARCH) == (flags & HOST_COMPLEMENT != 0) {
        return Err(Code::NO_HOST);
    }
    if flags & HOST == 0 {
        return Ok(None);
    }
    let Answer::Hosts(hosts) = task.ask(&Request::Hosts)? else {
        return Err(Code::SYS_ERR);
    };
    let own = task.tid.host();
    let is_own = |host: &HostInfo| host.tid == own;
    let is_named = |host: &HostInfo| match place {
        "." | "localhost" => is_own(host),
        name => host.name == name,
    };
    let is_wanted = |host: &HostInfo| is_named(host) == (flags & HOST_COMPLEMENT == 0);
    let mut hosts = hosts.into_iter();
    let host = hosts.find(is_wanted).ok_or(Code::NO_HOST)?;
    // On the spawner's own host no other process is asked.
    Ok((!is_own(&host)).then_some(host))
}

/// Adds a host to the machine, if processes can be started there.
///
/// # Errors
/// [`Code::DUP_HOST`]; [`Code::CANT_START`]: no process can be started there for this machine.
pub fn add_host(task: &Task, name: &str) -> Result<Tid, Code> {
    let Answer::Hosts(hosts) = task.ask(&Request::Hosts)? else {
        return Err(Code::SYS_ERR);
    };
    if hosts.iter().any(|host| is_host(host, name)) {
        return Err(Code::DUP_HOST);
    }
    if !task.is_guest {
        return Err(Code::CANT_START);
    }
    // The program that started the session knows its hosts.
    let options = SpawnOptions {
        host: Some(name.into()),
        directory: Some("/".into()),
        ..SpawnOptions::default()
    };
    let tried = task.session.start_with("true", 1, &options, |_, _| {});
    match tried.ok().and_then(|mut outcomes| outcomes.pop()) {
        Some(Ok(_)) => task.ask_number(&Request::AddHost(name.into())).map(Tid),
        _ => Err(Code::CANT_START),
    }
}

/// Removes a host from the machine, and ends its tasks.
///
/// # Errors
/// [`Code::NO_HOST`]; [`Code::NOT_IMPL`]: it is this task's host, or that of the serving process.
pub fn delete_host(task: &Task, name: &str) -> Result<(), Code> {
    let host = Tid(task.ask_number(&Request::DeleteHost(name.into()))?);
    let Answer::Tasks(tasks) = task.ask(&Request::Tasks)? else {
        return Err(Code::SYS_ERR);
    };
    for info in tasks.iter().filter(|info| info.tid.host() == host) {
        if let Some(rank) = info.tid.rank() {
            // The task may have ended.
            let _ = task.session.signal(rank, Signal::KILL);
        }
    }
    Ok(())
}

/// Returns whether a host has a name. The first host also has this host's name.
#[must_use]
pub fn is_host(host: &HostInfo, name: &str) -> bool {
    host.name == name || name == "localhost" && host.tid == Tid::of_host(1)
}

/// Finds a program as [`find`]. The first time that it finds one only in `PATH`, it says so:
/// another package may have a program of that name.
fn find_with_hint(program: &OsStr) -> Option<PathBuf> {
    find_in(program, usual_folders()).or_else(|| {
        let found = find_in(program, listed("PATH"))?;
        if with(|state| state.from_path.insert(found.clone())) {
            say(&format!(
                "{} is not beside this program, so {} of PATH is started",
                program.display(),
                found.display()
            ));
        }
        Some(found)
    })
}

/// Finds a program by its path, or in one of the folders of programs: the usual ones, and `PATH`.
#[must_use]
pub fn find(program: &OsStr) -> Option<PathBuf> {
    let folders = usual_folders().into_iter().chain(listed("PATH"));
    find_in(program, folders.collect())
}

fn find_in(program: &OsStr, folders: Vec<PathBuf>) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.as_os_str().is_empty() {
        return None;
    }
    if named.is_absolute() {
        return is_program(named).then(|| named.to_owned());
    }
    let mut found = folders.into_iter().map(|folder| folder.join(named));
    let found = found.find(|path| is_program(path));
    found.and_then(|path| std::path::absolute(path).ok())
}

fn is_program(path: &Path) -> bool {
    let found = path.metadata();
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the folders in an environment variable.
fn listed(name: &str) -> Vec<PathBuf> {
    let value = env::var_os(name).unwrap_or_default();
    env::split_paths(&value)
        .filter(|path| !path.as_os_str().is_empty())
        .collect()
}

/// Returns the usual folders of programs: `PVM_PATH`, PVM's own folders, this program's, and the
/// working directory.
fn usual_folders() -> Vec<PathBuf> {
    let arch = env::var_os("PVM_ARCH").unwrap_or_else(|| crate::ARCH.into());
    let below = |name: &str, inside: &str| {
        let base = env::var_os(name).filter(|base| !base.is_empty());
        base.map(|base| Path::new(&base).join(inside).join(&arch))
    };
    let own = env::current_exe().ok();
    let own = own.and_then(|own| own.parent().map(Path::to_owned));
    let mut folders = listed("PVM_PATH");
    folders.extend(below("HOME", "pvm3/bin"));
    folders.extend(below("PVM_ROOT", "bin"));
    folders.extend(own);
    folders.push(PathBuf::from("."));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_folders_of_programs() {
        assert_eq!(find("/bin/sh".as_ref()), Some("/bin/sh".into()));
        assert!(find("sh".as_ref()).is_some_and(|path| path.ends_with("sh")));
        for absent in ["", "/bin", "/nowhere/sh", "no such program"] {
            assert_eq!(find(absent.as_ref()), None, "{absent}");
        }
    }
}
