//! More processes, how they are started, and signals.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr::null;

use antiphon_panda::{Signal, SpawnOptions};

use crate::given::{fill, given, room, text};
use crate::session::{of, panda_session};
use crate::status::{Failure, PANDA_ANY, entry, freed, panda_rank, panda_status};

/// How panda_session_spawn_with() starts processes. A member that is NULL says nothing: then it is as for this process, and the program has no arguments.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct panda_spawn_options {
    /// The host, by its name in the launcher's file of hosts, or its address.
    pub host: *const c_char,
    /// The directory where the processes start. A relative one is below this process's.
    pub directory: *const c_char,
    /// Variables that differ from this process's environment, with NULL behind the last: "NAME=value" sets one, "NAME" takes one out.
    pub environment: *const *const c_char,
    /// The program's arguments without the program itself, with NULL behind the last.
    pub arguments: *const *const c_char,
}

/// What became of each process of a spawn.
pub struct panda_spawned {
    processes: Vec<(panda_rank, CString)>,
}

/// The texts of a list that ends with NULL; none if it is absent.
///
/// # Safety
/// It is absent, or its texts end with zero bytes and stay as they are for `'a`.
unsafe fn texts<'a>(list: *const *const c_char) -> Vec<&'a [u8]> {
    let mut texts = Vec::new();
    if list.is_null() {
        return texts;
    }
    for at in 0.. {
        // SAFETY: none before it was NULL.
        let text = unsafe { *list.add(at) };
        if text.is_null() {
            break;
        }
        // SAFETY: a text of the list.
        texts.push(unsafe { CStr::from_ptr(text) }.to_bytes());
    }
    texts
}

/// A variable as `environ` has it, or the name of one that is taken out.
fn variable(text: &[u8]) -> (OsString, Option<OsString>) {
    let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (owned(&text[..at]), Some(owned(&text[at + 1..]))),
        None => (owned(text), None),
    }
}

impl panda_spawn_options {
    /// # Safety
    /// Members are as their comments say.
    unsafe fn to_options(self) -> Result<SpawnOptions, Failure> {
        let is_said = |text: *const c_char| (!text.is_null()).then_some(text);
        // SAFETY: the caller's promise, as for the directory and both lists.
        let host = is_said(self.host).map(|host| unsafe { text(host, "host") });
        let directory = is_said(self.directory).map(|directory| {
            // SAFETY: see above.
            let directory = unsafe { CStr::from_ptr(directory) };
            PathBuf::from(OsStr::from_bytes(directory.to_bytes()))
        });
        // SAFETY: see above.
        let (environment, arguments) = unsafe { (texts(self.environment), texts(self.arguments)) };
        let argument = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Ok(SpawnOptions {
            host: host.transpose()?.map(str::to_owned),
            directory,
            environment: environment.into_iter().map(variable).collect(),
            arguments: arguments.into_iter().map(argument).collect(),
        })
    }
}

/// Starts a program as `count` more processes, in this process's directory and with its environment, and waits until they have joined and all others know them. `arguments` ends with
/// NULL and does not have the program itself; NULL is none. Their ranks, `count` of them, go to `ranks`, which may be NULL. If one does not join, those that were
/// started are ended. Over `local` it is one of the programs that panda_session_local_with() was given.
///
/// Errors: PANDA_NOT_SPAWNED; PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_spawn(
    session: Option<&panda_session>,
    program: *const c_char,
    arguments: *const *const c_char,
    count: u32,
    ranks: *mut panda_rank,
) -> panda_status {
    entry("panda_session_spawn", || {
        let session = of(session)?;
        // SAFETY: the caller's promise, as for all below.
        let program = unsafe { text(program, "program") }?;
        // SAFETY: see above.
        let arguments = unsafe { texts(arguments) };
        let arguments = arguments.into_iter().map(OsStr::from_bytes);
        let places = match ranks.is_null() {
            true => &mut [],
            // SAFETY: it is as long as there are processes.
            false => unsafe { room(ranks, count as usize, "ranks") }?,
        };
        fill(places, &session.spawn(program, arguments, count)?);
        Ok(())
    })
}

/// The same with options, of which NULL is none, and with what became of each process, which is the caller's, to be given back by panda_spawned_free(). Processes that have joined stay, whatever becomes
/// of the others. Another host must be one of the launcher's file of hosts (`antiphon launch --hosts`). Over `mpi`, and without a launcher, processes start on this host. Over `local` only
/// arguments can be given.
///
/// Errors: PANDA_NOT_JOINED: the session takes no more, or its starter does not answer; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_spawn_with(
    session: Option<&panda_session>,
    program: *const c_char,
    options: Option<&panda_spawn_options>,
    count: u32,
    spawned: Option<&mut MaybeUninit<*mut panda_spawned>>,
) -> panda_status {
    entry("panda_session_spawn_with", || {
        let spawned = given(spawned, "spawned")?;
        let session = of(session)?;
        // SAFETY: the caller's promise.
        let program = unsafe { text(program, "program") }?;
        let options = match options {
            // SAFETY: the caller's promise.
            Some(options) => unsafe { options.to_options() }?,
            None => SpawnOptions::default(),
        };
        let outcomes = session.spawn_with(program, count, &options)?;
        let processes = outcomes.into_iter().map(|outcome| match outcome {
            Ok(rank) => (rank, CString::default()),
            Err(error) => {
                let why = error.to_string().replace('\0', "\\0");
                (PANDA_ANY, CString::new(why).unwrap_or_default())
            }
        });
        let processes = processes.collect();
        spawned.write(Box::into_raw(Box::new(panda_spawned { processes })));
        Ok(())
    })
}

/// How many processes a spawn was asked for; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_count(spawned: Option<&panda_spawned>) -> u32 {
    spawned.map_or(0, |spawned| spawned.processes.len() as u32)
}

/// The rank of one of them, counted from 0; PANDA_ANY if it is not there, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_rank(spawned: Option<&panda_spawned>, at: u32) -> panda_rank {
    let process = spawned.and_then(|spawned| spawned.processes.get(at as usize));
    process.map_or(PANDA_ANY, |(rank, _)| *rank)
}

/// Why one of them is not there, in words, kept as long as the handle; empty if it is. NULL if there is no such process, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_error(spawned: Option<&panda_spawned>, at: u32) -> *const c_char {
    let process = spawned.and_then(|spawned| spawned.processes.get(at as usize));
    process.map_or(null(), |(_, why)| why.as_ptr())
}

/// Gives a handle back; the processes remain. NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_free(spawned: Option<Box<panda_spawned>>) {
    freed("panda_spawned_free", spawned);
}

/// Sends a signal, by its number in <signal.h>, to a process that the launcher or panda_session_spawn() has started, on whichever host: to its process group, with all that it has started, or, if it is this
/// process, to it alone. It never reaches another process that has the number of one that has ended. Over `mpi` those that mpirun has started cannot be signalled, and over `local` none can.
///
/// Errors: PANDA_NOT_SIGNALLED, with the reason; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_session_signal(
    session: Option<&panda_session>,
    rank: panda_rank,
    signal: c_int,
) -> panda_status {
    entry("panda_session_signal", || {
        let session = of(session)?;
        let signal = Signal::from_number(signal);
        let signal = signal.ok_or_else(|| Failure::argument("signal", "is no signal's number"))?;
        Ok(session.signal(rank, signal)?)
    })
}
