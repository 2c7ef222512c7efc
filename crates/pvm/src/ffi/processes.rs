//! Tasks, hosts and the machine.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::time::{SystemTime, UNIX_EPOCH};

use antiphon_panda::starter::Signal;
use antiphon_panda::{Error, Message};
use parking_lot::Mutex;

use super::lists::{Host, Lent, Task as TaskEntry};
use super::{c_text, call, call_unit, name, put, say, slice, text};
use crate::code::Code;
use crate::notify::Notice;
use crate::options::{OUTPUT_CODE, OUTPUT_TID, SHOW_TIDS};
use crate::output::{CAUGHT, File};
use crate::protocol::{Answer, HostInfo, Request, SIGNAL, TaskInfo};
use crate::spawn::{Order, add_host, delete_host, is_host, spawn};
use crate::state::{self, with};
use crate::task::{Task, rank_of};
use crate::tid::Tid;

/// How long a task may take to signal itself.
const SIGNAL_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// The state of a running task, in PVM's form.
const FLAG: c_int = 4;

static HOSTS: Mutex<Option<Lent<Host>>> = Mutex::new(None);
static TASKS: Mutex<Option<Lent<TaskEntry>>> = Mutex::new(None);
static SIBLINGS: Mutex<Vec<c_int>> = Mutex::new(Vec::new());
static NO_RESETS: Mutex<Vec<c_int>> = Mutex::new(Vec::new());

#[unsafe(no_mangle)]
pub extern "C" fn pvm_mytid() -> c_int {
    call("pvm_mytid", || Ok(state::task()?.tid.0))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_parent() -> c_int {
    // A task without a parent is no error.
    match super::alone(state::task) {
        Ok(task) => task.parent.map_or_else(|code| code.0, |tid| tid.0),
        Err(code) => super::report("pvm_parent", code),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_exit() -> c_int {
    call_unit("pvm_exit", || {
        let Some(task) = with(|state| state.task.clone()) else {
            return Ok(());
        };
        let catcher = with(|state| state.catcher.clone());
        if catcher.is_on() {
            let waited = task.session.wait_until(|| catcher.has_all(), None);
            waited.map_err(|_| Code::SYS_ERR)?;
        }
        task.leave();
        with(|state| {
            state.change_context(0);
            let options = std::mem::take(&mut state.options);
            *state = state::State {
                options,
                ..state::State::default()
            };
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_halt() -> c_int {
    call("pvm_halt", || state::task()?.ask_number(&Request::Halt))
}

/// # Safety
/// The texts end with zeros, the list of arguments ends with a NULL, and the array has room for the
/// ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_spawn(
    program: *const c_char,
    arguments: *const *const c_char,
    flags: c_int,
    place: *const c_char,
    count: c_int,
    tids: *mut c_int,
) -> c_int {
    call("pvm_spawn", || {
        // SAFETY: as the caller says.
        let program = unsafe { text(program)? };
        let order = Order {
            program: os_text(program),
            // SAFETY: as the caller says.
            arguments: unsafe { list(arguments) }
                .into_iter()
                .map(os_text)
                .collect(),
            flags,
            // SAFETY: as the caller says.
            place: unsafe { name(place) },
            count: u32::try_from(count).map_err(|_| Code::BAD_PARAM)?,
        };
        let outcomes = spawn(&state::task()?, &order)?;
        let started: Vec<c_int> = outcomes.iter().flatten().map(|tid| tid.0).collect();
        let failed = outcomes.iter().filter_map(|outcome| outcome.err());
        let reported = started.iter().copied().chain(failed.map(|code| code.0));
        if !tids.is_null() {
            for (at, tid) in reported.enumerate() {
                // SAFETY: as the caller says.
                unsafe { tids.add(at).write(tid) };
            }
        }
        Ok(c_int::try_from(started.len()).unwrap_or(c_int::MAX))
    })
}

fn os_text(text: &CStr) -> OsString {
    OsStr::from_bytes(text.to_bytes()).to_owned()
}

/// Returns a list of texts that ends with a NULL.
///
/// # Safety
/// The pointer leads to such a list, or is NULL.
unsafe fn list<'a>(mut at: *const *const c_char) -> Vec<&'a CStr> {
    let mut texts = Vec::new();
    if at.is_null() {
        return texts;
    }
    // SAFETY: the list goes on to its NULL, and each text to its zero.
    unsafe {
        while !(*at).is_null() {
            texts.push(CStr::from_ptr(*at));
            at = at.add(1);
        }
    }
    texts
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_kill(tid: c_int) -> c_int {
    call("pvm_kill", || match pvm_sendsig(tid, libc::SIGTERM) {
        code @ ..0 => Err(Code(code)),
        done => Ok(done),
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_sendsig(tid: c_int, number: c_int) -> c_int {
    call_unit("pvm_sendsig", || {
        let rank = rank_of(tid)?;
        let signal = Signal::from_number(number).ok_or(Code::BAD_PARAM)?;
        let task = state::task()?;
        match task.session.signal(rank, signal) {
            Err(Error::NotSignalled { .. }) => {
                // It was started by hand, so no process can signal it. It can signal itself, unless
                // it has ended.
                let number = Message::of(&number).map_err(|_| Code::SYS_ERR)?;
                let _ = task.session.call(rank, SIGNAL, number, Some(SIGNAL_WAIT));
            }
            // A signal to a task that has ended is no error.
            Ok(()) | Err(Error::Lost { .. } | Error::NoSuchRank { .. }) => {}
            Err(_) => return Err(Code::SYS_ERR),
        }
        Ok(())
    })
}

fn tasks(task: &Task) -> Result<Vec<TaskInfo>, Code> {
    match task.ask(&Request::Tasks)? {
        Answer::Tasks(tasks) => Ok(tasks),
        _ => Err(Code::SYS_ERR),
    }
}

fn hosts(task: &Task) -> Result<Vec<HostInfo>, Code> {
    match task.ask(&Request::Hosts)? {
        Answer::Hosts(hosts) => Ok(hosts),
        _ => Err(Code::SYS_ERR),
    }
}

/// # Safety
/// Each pointer is NULL, or has room for its result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_tasks(
    place: c_int,
    count: *mut c_int,
    list: *mut *mut TaskEntry,
) -> c_int {
    call_unit("pvm_tasks", || {
        let task = state::task()?;
        let is_task = Tid(place).rank().is_some();
        if place != 0 {
            let host = Tid(place).host();
            let is_known = hosts(&task)?.iter().any(|known| known.tid == host);
            if place < 0 || !is_known {
                return Err(Code::NO_HOST);
            }
        }
        let is_wanted = |info: &TaskInfo| match place {
            0 => true,
            _ if is_task => info.tid.0 == place,
            _ => info.tid.host().0 == place,
        };
        let mut lent = Lent::default();
        for info in tasks(&task)?.into_iter().filter(is_wanted) {
            let entry = TaskEntry {
                tid: info.tid.0,
                parent: info.parent.0,
                host: info.tid.host().0,
                flag: FLAG,
                name: lent.text(&info.name),
                pid: info.pid as c_int,
            };
            lent.push(entry);
        }
        // SAFETY: as the caller says.
        unsafe {
            put(count, lent.count());
            put(list, lent.lend_in(&TASKS));
        }
        Ok(())
    })
}

/// # Safety
/// Each pointer is NULL, or has room for its result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_config(
    count: *mut c_int,
    kinds: *mut c_int,
    list: *mut *mut Host,
) -> c_int {
    call_unit("pvm_config", || {
        let lent = host_list(&*state::task()?)?;
        // SAFETY: as the caller says.
        unsafe {
            put(count, lent.count());
            put(kinds, 1);
            put(list, lent.lend_in(&HOSTS));
        }
        Ok(())
    })
}

fn host_list(task: &Task) -> Result<Lent<Host>, Code> {
    let mut lent = Lent::default();
    for info in hosts(task)? {
        let entry = Host {
            tid: info.tid.0,
            name: lent.text(&info.name),
            arch: lent.text(crate::ARCH),
            speed: 1000,
            signature: crate::SIGNATURE,
        };
        lent.push(entry);
    }
    Ok(lent)
}

/// # Safety
/// There is room for the list's address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_siblings(list: *mut *mut c_int) -> c_int {
    call("pvm_siblings", || {
        let Answer::Members(members) = state::task()?.ask(&Request::Siblings)? else {
            return Err(Code::SYS_ERR);
        };
        let mut siblings = SIBLINGS.lock();
        *siblings = members.into_iter().map(|(_, tid)| tid.0).collect();
        // SAFETY: as the caller says.
        unsafe { put(list, siblings.as_mut_ptr()) };
        c_int::try_from(siblings.len()).map_err(|_| Code::OVERFLOW)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_tidtohost(tid: c_int) -> c_int {
    Tid(tid).host().0
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_pstat(tid: c_int) -> c_int {
    // A task that has ended is an answer, not an error.
    let mut has_ended = false;
    let outcome = call_unit("pvm_pstat", || {
        rank_of(tid)?;
        let tasks = tasks(&*state::task()?)?;
        has_ended = !tasks.iter().any(|info| info.tid.0 == tid);
        Ok(())
    });
    if has_ended { Code::NO_TASK.0 } else { outcome }
}

/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_mstat(host: *const c_char) -> c_int {
    let mut is_known = true;
    let outcome = call_unit("pvm_mstat", || {
        // SAFETY: as the caller says.
        let host = unsafe { text(host)? }.to_string_lossy();
        let known = hosts(&*state::task()?)?;
        is_known = known.iter().any(|known| is_host(known, &host));
        Ok(())
    });
    if is_known { outcome } else { Code::NO_HOST.0 }
}

/// # Safety
/// The array holds the ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_notify(
    what: c_int,
    tag: c_int,
    count: c_int,
    tids: *const c_int,
) -> c_int {
    call_unit("pvm_notify", || {
        const TASK_EXIT: c_int = 1;
        const HOST_DELETE: c_int = 2;
        const HOST_ADD: c_int = 3;
        const LAST_KIND: c_int = 5;
        const CANCEL: c_int = 256;
        let task = state::task()?;
        let kind = what & !CANCEL;
        if !(TASK_EXIT..=LAST_KIND).contains(&kind) || tag < 0 {
            return Err(Code::BAD_PARAM);
        }
        let is_cancelled = what & CANCEL != 0;
        if kind == HOST_ADD {
            notify_of_added(&task, (tag, count), is_cancelled)?;
        }
        if kind != TASK_EXIT && kind != HOST_DELETE {
            return Ok(());
        }
        // SAFETY: as the caller says.
        let tids = unsafe { slice(tids, count)? };
        if kind == HOST_DELETE {
            return notify_of_deleted(&task, tag, tids, is_cancelled);
        }
        tids.iter().try_for_each(|tid| rank_of(*tid).map(drop))?;
        task.follow().map_err(|_| Code::SYS_ERR)?;
        let (context, weak) = (with(|state| state.context), task.session.downgrade());
        for &tid in tids {
            let notice = Notice {
                tag,
                context,
                about: Tid(tid),
            };
            if is_cancelled {
                task.notices.lock().cancel(notice, &weak);
                continue;
            }
            let rank = rank_of(tid)?;
            let may_be_there = task.expect(rank).unwrap_or(false);
            let is_there = may_be_there && task.session.why_lost(rank).is_none();
            task.notices.lock().want(notice, is_there, &weak);
        }
        Ok(())
    })
}

/// Requests `count` notices of added hosts; a negative number means all.
fn notify_of_added(
    task: &Task,
    (tag, count): (c_int, c_int),
    is_cancelled: bool,
) -> Result<(), Code> {
    let context = with(|state| state.context);
    if is_cancelled {
        task.notices.lock().cancel_hosts((tag, context));
        return Ok(());
    }
    let left = u32::try_from(count).ok();
    if left != Some(0) {
        task.notices.lock().want_hosts((tag, context), left);
    }
    task.ask_number(&Request::WatchHosts).map(drop)
}

/// Requests a notice of each removed host.
fn notify_of_deleted(
    task: &Task,
    tag: c_int,
    tids: &[c_int],
    is_cancelled: bool,
) -> Result<(), Code> {
    let (context, weak) = (with(|state| state.context), task.session.downgrade());
    task.ask_number(&Request::WatchHosts)?;
    let there = hosts(task)?;
    for about in tids.iter().map(|tid| Tid(*tid)) {
        let notice = Notice {
            tag,
            context,
            about,
        };
        let is_there = there.iter().any(|host| host.tid == about);
        match is_cancelled {
            true => task.notices.lock().cancel(notice, &weak),
            false => task.notices.lock().want(notice, is_there, &weak),
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_newcontext() -> c_int {
    call("pvm_newcontext", || {
        state::task()?.ask_number(&Request::NewContext)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_freecontext(context: c_int) -> c_int {
    call("pvm_freecontext", || {
        state::task()?.ask_number(&Request::FreeContext(context))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_getopt(option: c_int) -> c_int {
    call("pvm_getopt", || with(|state| state.options.get(option)))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_setopt(option: c_int, value: c_int) -> c_int {
    call("pvm_setopt", || {
        with(|state| {
            let before = state.options.set(option, value)?;
            if option == SHOW_TIDS {
                state.catcher.show_tids(value != 0);
            }
            Ok(before)
        })
    })
}

/// # Safety
/// The file stays open while output is caught.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_catchout(file: *mut libc::FILE) -> c_int {
    call_unit("pvm_catchout", || {
        let task = state::task()?;
        let file = (!file.is_null()).then_some(File(file));
        with(|state| {
            let shows = state.options.get(SHOW_TIDS)? != 0;
            let set = state.catcher.set(&task.session, file, shows);
            set.map_err(|_| Code::SYS_ERR)?;
            let (tid, code) = match file {
                Some(_) => (task.tid.0, CAUGHT),
                None => (0, 0),
            };
            state.options.put(OUTPUT_TID, tid);
            state.options.put(OUTPUT_CODE, code);
            Ok(())
        })
    })
}

/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_export(variable: *const c_char) -> c_int {
    call_unit("pvm_export", || {
        // Children get this program's whole environment. SAFETY: by this function's contract.
        let variable = unsafe { text(variable)? }.to_string_lossy().into_owned();
        with(|state| state.exported.push(variable));
        Ok(())
    })
}

/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_unexport(variable: *const c_char) -> c_int {
    call_unit("pvm_unexport", || {
        // SAFETY: as the caller says.
        let variable = unsafe { text(variable)? }.to_string_lossy();
        with(|state| state.exported.retain(|exported| *exported != variable));
        Ok(())
    })
}

/// # Safety
/// The text ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_perror(what: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let what = unsafe { name(what) };
    let code = Code(with(|state| state.last_code));
    say(&format!("{what}: {}", code.text().to_string_lossy()));
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_strerror() -> *const c_char {
    Code(with(|state| state.last_code)).text().as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_version() -> *const c_char {
    c"3.4.6".as_ptr()
}

/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_archcode(arch: *const c_char) -> c_int {
    call("pvm_archcode", || {
        // SAFETY: as the caller says.
        let arch = unsafe { text(arch)? }.to_string_lossy();
        match arch == crate::ARCH {
            true => Ok(crate::SIGNATURE),
            false => Err(Code::NOT_FOUND),
        }
    })
}

/// # Safety
/// The names end with zeros, and the array has room for their results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_addhosts(
    names: *const *const c_char,
    count: c_int,
    results: *mut c_int,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        each_host("pvm_addhosts", (names, count), results, |task, host| {
            add_host(task, host).map(|tid| tid.0)
        })
    }
}

/// # Safety
/// As for [`pvm_addhosts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_delhosts(
    names: *const *const c_char,
    count: c_int,
    results: *mut c_int,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        each_host("pvm_delhosts", (names, count), results, |task, host| {
            delete_host(task, host).map(|()| 0)
        })
    }
}

/// Calls a function with each host, and writes its result. Returns how often it succeeded.
///
/// # Safety
/// As for [`pvm_addhosts`].
unsafe fn each_host(
    function: &str,
    (names, count): (*const *const c_char, c_int),
    results: *mut c_int,
    act: impl Fn(&Task, &str) -> Result<c_int, Code>,
) -> c_int {
    call(function, || {
        if count < 1 {
            return Err(Code::BAD_PARAM);
        }
        // SAFETY: as the caller says.
        let names = unsafe { slice(names, count)? };
        let task = state::task()?;
        let mut done = 0;
        for (at, host) in names.iter().enumerate() {
            // SAFETY: as the caller says.
            let host = unsafe { name(*host) };
            let outcome = act(&task, &host);
            done += c_int::from(outcome.is_ok());
            if !results.is_null() {
                let result = outcome.unwrap_or_else(|code| code.0);
                // SAFETY: as the caller says.
                unsafe { results.add(at).write(result) };
            }
        }
        Ok(done)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_start_pvmd(_: c_int, _: *const *const c_char, _: c_int) -> c_int {
    call_unit("pvm_start_pvmd", || {
        let is_new = with(|state| state.task.is_none());
        let task = state::task()?;
        match is_new && task.machine.is_some() {
            true => Ok(()),
            false => Err(Code::DUP_HOST),
        }
    })
}

/// # Safety
/// Each pointer is NULL, or has room for a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_hostsync(
    host: c_int,
    time: *mut libc::timeval,
    ahead: *mut libc::timeval,
) -> c_int {
    call_unit("pvm_hostsync", || {
        let task = state::task()?;
        if !hosts(&task)?
            .iter()
            .any(|known| known.tid == Tid(host).host())
        {
            return Err(Code::NO_HOST);
        }
        let none = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        // SAFETY: as the caller says.
        unsafe {
            put(time, now());
            put(ahead, none);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_hoster() -> c_int {
    call("pvm_reg_hoster", || Err(Code::NOT_IMPL))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_tasker() -> c_int {
    call("pvm_reg_tasker", || Err(Code::NOT_IMPL))
}

/// # Safety
/// Each pointer is NULL, or has room for the list's address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_reg_rm(list: *mut *mut Host) -> c_int {
    call("pvm_reg_rm", || {
        // SAFETY: as the caller says.
        unsafe { put(list, ptr::null_mut()) };
        Err(Code::NOT_IMPL)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_reg_tracer(
    _: c_int,
    _: c_int,
    _: c_int,
    _: c_int,
    _: *const c_char,
    _: c_int,
    _: c_int,
) -> c_int {
    call("pvm_reg_tracer", || Err(Code::NOT_IMPL))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_tickle(_: c_int, _: *const c_int, _: *mut c_int, _: *mut c_int) -> c_int {
    call("pvm_tickle", || Err(Code::BAD_PARAM))
}

/// # Safety
/// There is room for the list's address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_getfds(list: *mut *mut c_int) -> c_int {
    call("pvm_getfds", || {
        // SAFETY: as the caller says.
        unsafe { put(list, ptr::null_mut()) };
        Err(Code::NOT_IMPL)
    })
}

/// # Safety
/// Each pointer is NULL, or has room for its result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_getnoresets(list: *mut *mut c_int, count: *mut c_int) -> c_int {
    call_unit("pvm_getnoresets", || {
        // SAFETY: as the caller says.
        unsafe {
            put(list, NO_RESETS.lock().as_mut_ptr());
            put(count, 0);
        }
        Ok(())
    })
}

/// Returns a text of the environment, lent by the library.
fn setting(variable: &str, otherwise: &str) -> *const c_char {
    let value = std::env::var(variable).unwrap_or_else(|_| otherwise.into());
    // It is leaked, because programs keep it.
    c_text(&value).into_raw()
}

#[unsafe(no_mangle)]
pub extern "C" fn pvmgettmp() -> *const c_char {
    setting("PVM_TMP", "/tmp")
}

#[unsafe(no_mangle)]
pub extern "C" fn pvmgetrsh() -> *const c_char {
    setting("PVM_RSH", "/usr/bin/ssh")
}

/// Returns a text for a message's tag: its number. PVM has names for the tags of its daemons, which
/// are not used here.
///
/// # Safety
/// The pointer is NULL, or has room for its result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvmnametag(tag: c_int, is_known: *mut c_int) -> *const c_char {
    static TEXT: Mutex<Option<std::ffi::CString>> = Mutex::new(None);
    // SAFETY: as the caller says.
    unsafe { put(is_known, 0) };
    // The text is valid until the next call.
    TEXT.lock().insert(c_text(&tag.to_string())).as_ptr()
}

/// Waits for this many seconds, as Fortran programs do.
#[unsafe(no_mangle)]
pub extern "C" fn pvmsleep(seconds: c_int) -> c_int {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    std::thread::sleep(std::time::Duration::from_secs(seconds));
    0
}

/// # Safety
/// There is room for the time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvmgetclock(time: *mut libc::timeval) {
    // SAFETY: as the caller says.
    unsafe { put(time, now()) };
}

/// Returns the time of day.
fn now() -> libc::timeval {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    libc::timeval {
        tv_sec: now.as_secs() as libc::time_t,
        tv_usec: now.subsec_micros().into(),
    }
}

/// Prints the registered handlers, as a debugging aid of PVM.
#[unsafe(no_mangle)]
pub extern "C" fn pvmdisplaymhfinfo() -> c_int {
    let handlers = with(|state| state.handlers.clone());
    for handling in handlers.into_iter().flatten() {
        let (source, tag, context) = (handling.source, handling.tag, handling.context);
        say(&format!(
            "handler of src {source:x} tag {tag} ctx {context}"
        ));
    }
    0
}
