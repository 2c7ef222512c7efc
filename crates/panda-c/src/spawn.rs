//! More processes, and signals.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr::null;

use antiphon_panda::{Signal, SpawnOptions};

use crate::given::{fill, given, room, text};
use crate::session::{of, panda_session};
use crate::status::{Failure, PANDA_ANY, entry, freed, panda_rank, panda_status};

/// Options of panda_session_spawn_with(). A member that is NULL means: as for this process, and for
/// `arguments` none.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct panda_spawn_options {
    /// The host, by its name in the launcher's file of hosts, or its address.
    pub host: *const c_char,
    /// The directory where the processes start. A relative one is below this process's.
    pub directory: *const c_char,
    /// Variables that differ from this process's environment, with NULL after the last:
    /// "NAME=value" sets one, "NAME" removes one.
    pub environment: *const *const c_char,
    /// The program's arguments without the program itself, with NULL after the last.
    pub arguments: *const *const c_char,
}

/// The outcome of each process of a spawn.
pub struct panda_spawned {
    processes: Vec<(panda_rank, CString)>,
}

/// Returns the texts of a list that ends with NULL; none if it is NULL.
///
/// # Safety
/// It is NULL, or its texts end with zero bytes and do not change during `'a`.
unsafe fn texts<'a>(list: *const *const c_char) -> Vec<&'a [u8]> {
    let mut texts = Vec::new();
    if list.is_null() {
        return texts;
    }
    for at in 0.. {
        // SAFETY: no earlier entry was NULL.
        let text = unsafe { *list.add(at) };
        if text.is_null() {
            break;
        }
        // SAFETY: a text of the list.
        texts.push(unsafe { CStr::from_ptr(text) }.to_bytes());
    }
    texts
}

/// Returns a variable in the form of `environ`, or the name of one to remove.
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

/// Starts a program as `count` more processes, in this process's directory and with its
/// environment. Waits until they have joined and all others know them. `arguments` ends with NULL
/// and does not contain the program itself; NULL means none. Their `count` ranks go to `ranks`,
/// which may be NULL. If one does not join, all that were started are ended. Over `local` the
/// program is one of those that panda_session_local_with() got.
///
/// Errors: PANDA_NOT_SPAWNED; PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL;
/// PANDA_OVER; PANDA_BAD_ARGUMENT.
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
            // SAFETY: it has room for all processes.
            false => unsafe { room(ranks, count as usize, "ranks") }?,
        };
        fill(places, &session.spawn(program, arguments, count)?);
        Ok(())
    })
}

/// Spawns in the same way, with options, of which NULL means none. The outcome of each process goes
/// to `spawned`, which the caller frees by panda_spawned_free(). Processes that have joined stay,
/// even if others fail. Another host must be in the launcher's file of hosts
/// (`antiphon launch --hosts`). Over `mpi`, and without a launcher, processes start on this host.
/// Over `local` only arguments can be given.
///
/// Errors: PANDA_NOT_JOINED: the session takes no more, or its starter does not answer;
/// PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
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

/// Returns how many processes a spawn asked for; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_count(spawned: Option<&panda_spawned>) -> u32 {
    spawned.map_or(0, |spawned| spawned.processes.len() as u32)
}

/// Returns the rank of one of them, counted from 0; PANDA_ANY if it did not join, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_rank(spawned: Option<&panda_spawned>, at: u32) -> panda_rank {
    let process = spawned.and_then(|spawned| spawned.processes.get(at as usize));
    process.map_or(PANDA_ANY, |(rank, _)| *rank)
}

/// Returns why one of them did not join, in words, valid as long as the handle; empty if it joined.
/// NULL if there is no such process, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_error(spawned: Option<&panda_spawned>, at: u32) -> *const c_char {
    let process = spawned.and_then(|spawned| spawned.processes.get(at as usize));
    process.map_or(null(), |(_, why)| why.as_ptr())
}

/// Frees a handle. The processes remain. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_spawned_free(spawned: Option<Box<panda_spawned>>) {
    freed("panda_spawned_free", spawned);
}

/// Sends a signal, by its number in <signal.h>, to a process that the launcher or
/// panda_session_spawn() has started, on any host. The signal goes to its process group, with all
/// that it has started. For this process itself it goes to the process alone. It never reaches
/// another process that has reused the number. Over `mpi` processes of mpirun cannot be signalled,
/// and over `local` none can.
///
/// Errors: PANDA_NOT_SIGNALLED, with the reason; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
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
