//! Programs that a session over `local` starts on threads by their names.

use std::ffi::{CString, OsString, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use antiphon_panda::Session;
use antiphon_panda::platform::local::Programs;

use crate::given::{Context, array, called, given, panda_release, room, text};
use crate::session::{handle, panda_session};
use crate::status::{Failure, entry, panda_status};

/// The main function of a program. It owns `session`, and frees it by panda_session_free().
/// `arguments` ends with NULL, does not contain the program itself, and is lent.
pub type panda_main = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        session: *mut panda_session,
        arguments: *const *const c_char,
    ),
>;

/// A program that panda_session_spawn() starts on a thread of its own, as often as it is asked for.
#[repr(C)]
pub struct panda_program {
    /// The name by which it is started. It is lent.
    pub name: *const c_char,
    /// Its main function. It may run on several threads at once.
    pub main: panda_main,
    /// The context of the main function.
    pub context: *mut c_void,
    /// Releases the context when the session is over for all and no thread runs the program; NULL
    /// if there is nothing to release. If panda_session_local_with() fails it has been called.
    pub release: panda_release,
}

/// As panda_session_local(), for sessions that can start these programs by panda_session_spawn().
/// Of two programs of one name the later one counts, and the other's context is released at once.
///
/// Errors: as there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_local_with(
    size: u32,
    programs: *const panda_program,
    count: usize,
    sessions: *mut *mut panda_session,
) -> panda_status {
    entry("panda_session_local_with", || {
        // SAFETY: the caller's promise, as for all below.
        let given_programs = unsafe { array(programs, count, "programs") }?;
        let mut programs = Ok(Programs::default());
        for given in given_programs {
            // All contexts are released, whatever fails.
            let context = Context::new(given.context, given.release);
            programs = programs.and_then(|programs| unsafe { with(programs, given, context) });
        }
        let programs = programs?;
        // SAFETY: as above.
        let places = unsafe { room(sessions, size as usize, "sessions") }?;
        fill_with(places, programs.sessions(size)?);
        Ok(())
    })
}

/// Writes sessions to the caller's array.
pub(crate) fn fill_with(places: &mut [MaybeUninit<*mut panda_session>], sessions: Vec<Session>) {
    for (place, session) in places.iter_mut().zip(sessions) {
        place.write(handle(session));
    }
}

/// Adds a program.
///
/// # Safety
/// Its name is a string, and its function fits its context.
unsafe fn with(
    programs: Programs,
    program: &panda_program,
    context: Context,
) -> Result<Programs, Failure> {
    // SAFETY: the caller's promise.
    let name = unsafe { text(program.name, "name") }?.to_owned();
    let (main, context) = (given(program.main, "main")?, Arc::new(context));
    Ok(programs.program(name, move |session, arguments| {
        let own = context.clone();
        run(main, &own, session, arguments);
    }))
}

type Main = unsafe extern "C-unwind" fn(*mut c_void, *mut panda_session, *const *const c_char);

fn run(main: Main, context: &Context, session: Session, arguments: Vec<OsString>) {
    let arguments = arguments.into_iter().map(OsString::into_vec);
    // They are valid C strings, or come from Rust without a zero byte.
    let arguments: Vec<CString> = arguments.filter_map(|it| CString::new(it).ok()).collect();
    let pointers = arguments.iter().map(|it| it.as_ptr());
    let pointers: Vec<_> = pointers.chain([std::ptr::null()]).collect();
    let session = handle(session);
    // SAFETY: the program gave both together.
    called(|| unsafe { main(context.pointer(), session, pointers.as_ptr()) });
}
