//! Launch infos for processes that the program starts itself.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::null;

use antiphon_panda::{LaunchInfo, platform};

use crate::given::{given, room};
use crate::session::{self, of, panda_session};
use crate::status::{PANDA_ANY, entry, freed, panda_rank, panda_status};

/// The data with which a new process joins a session.
pub struct panda_launch_info {
    info: LaunchInfo,
    /// The addresses of the variables, with NULL after the last.
    pointers: Vec<*const c_char>,
    /// The variables. Their texts do not move when the list does.
    _variables: Vec<CString>,
}

fn handle(info: LaunchInfo) -> *mut panda_launch_info {
    let text = |(name, value): (&str, String)| CString::new(format!("{name}={value}"));
    // No process can have a variable with a zero byte.
    let variables: Vec<CString> = (info.to_environment().into_iter())
        .filter_map(|variable| text(variable).ok())
        .collect();
    let pointers = variables.iter().map(|variable| variable.as_ptr());
    Box::into_raw(Box::new(panda_launch_info {
        pointers: pointers.chain([null()]).collect(),
        info,
        _variables: variables,
    }))
}

/// Makes launch infos for `count` processes that the program starts itself, unlike
/// panda_session_spawn(): on another host, by another tool, or with an environment of their own.
/// Each joins by panda_session_join() at any time, with the variables of its launch info in its
/// environment. Over `local` a thread of this process joins by panda_launch_info_join(). The others
/// need not wait for it, and its panda_session_parent() is this process.
///
/// The caller frees infos[0] and so on by panda_launch_info_free(). Anyone who can read the
/// variables may join, because they hold the session's secret.
///
/// Errors: PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_allot(
    session: Option<&panda_session>,
    count: u32,
    infos: *mut *mut panda_launch_info,
) -> panda_status {
    entry("panda_session_allot", || {
        // SAFETY: the caller's promise.
        let places = unsafe { room(infos, count as usize, "infos") }?;
        let session = of(session)?;
        for (place, info) in places.iter_mut().zip(session.allot(count)?) {
            place.write(handle(info));
        }
        Ok(())
    })
}

/// Joins in this process. Over `local` this is how a further thread joins. A launch info is used
/// once, and the caller still frees its handle. The caller frees the session by
/// panda_session_free().
///
/// Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_launch_info_join(
    info: Option<&panda_launch_info>,
    session: Option<&mut MaybeUninit<*mut panda_session>>,
) -> panda_status {
    entry("panda_launch_info_join", || {
        let info = &given(info, "info")?.info;
        let joined = given(session, "session")?;
        joined.write(session::handle(platform::join(info)?));
        Ok(())
    })
}

/// Returns the rank of the process that joins with it; PANDA_ANY for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_launch_info_rank(info: Option<&panda_launch_info>) -> panda_rank {
    info.map_or(PANDA_ANY, |info| info.info.rank)
}

/// Returns the variables that hold the launch info, in the form of `environ`: texts "NAME=value",
/// with NULL after the last. They are valid as long as the handle. They must come before, or
/// replace, variables of the same names, which a process of a session has itself. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_launch_info_environment(
    info: Option<&panda_launch_info>,
) -> *const *const c_char {
    info.map_or(null(), |info| info.pointers.as_ptr())
}

/// Frees a handle. The rank remains allotted. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_launch_info_free(info: Option<Box<panda_launch_info>>) {
    freed("panda_launch_info_free", info);
}
