//! Seats for processes that the program starts itself.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::null;

use antiphon_panda::{Seat, platform};

use crate::given::{given, room};
use crate::session::{self, of, panda_session};
use crate::status::{PANDA_ANY, entry, freed, panda_rank, panda_status};

/// A place in a session for a process that is to come.
pub struct panda_seat {
    seat: Seat,
    /// Where the variables are, with NULL behind the last.
    pointers: Vec<*const c_char>,
    /// What they point to. Texts stay where they are when their list moves.
    _variables: Vec<CString>,
}

fn handle(seat: Seat) -> *mut panda_seat {
    let text = |(name, value): (&str, String)| CString::new(format!("{name}={value}"));
    // A variable with a zero byte can be nobody's.
    let variables: Vec<CString> = (seat.to_environment().into_iter())
        .filter_map(|variable| text(variable).ok())
        .collect();
    let pointers = variables.iter().map(|variable| variable.as_ptr());
    Box::into_raw(Box::new(panda_seat {
        pointers: pointers.chain([null()]).collect(),
        seat,
        _variables: variables,
    }))
}

/// Seats for `count` processes that the program starts itself, as panda_session_spawn() does not: on another host, by another tool, or with an environment of their own. Each joins by panda_session_join()
/// if the variables of its seat are in its environment, whenever that is, or, over `local`, as a thread of this process by panda_seat_join(); the others need not wait for it, and panda_session_parent() of it is this process. seats[0] and so on are the caller's, to be given back
/// by panda_seat_free(). Whoever reads the variables may join: they hold the session's secret.
///
/// Errors: PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_allot(
    session: Option<&panda_session>,
    count: u32,
    seats: *mut *mut panda_seat,
) -> panda_status {
    entry("panda_session_allot", || {
        // SAFETY: the caller's promise.
        let places = unsafe { room(seats, count as usize, "seats") }?;
        let session = of(session)?;
        for (place, seat) in places.iter_mut().zip(session.allot(count)?) {
            place.write(handle(seat));
        }
        Ok(())
    })
}

/// Takes a seat in this process, which over `local` is how a further thread joins. A seat is taken once; its handle remains the caller's. The session's handle is the caller's, to be given back by
/// panda_session_free().
///
/// Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_seat_join(
    seat: Option<&panda_seat>,
    session: Option<&mut MaybeUninit<*mut panda_session>>,
) -> panda_status {
    entry("panda_seat_join", || {
        let seat = &given(seat, "seat")?.seat;
        let joined = given(session, "session")?;
        joined.write(session::handle(platform::join(seat)?));
        Ok(())
    })
}

/// The rank of the process that takes the seat; PANDA_ANY for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_seat_rank(seat: Option<&panda_seat>) -> panda_rank {
    seat.map_or(PANDA_ANY, |seat| seat.seat.rank)
}

/// The variables that tell a process its seat, as `environ` has them: texts "NAME=value", with NULL behind the last; kept as long as the handle. They are to stand before, or instead of, others of the same
/// names, which a process of a session has itself. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_seat_environment(seat: Option<&panda_seat>) -> *const *const c_char {
    seat.map_or(null(), |seat| seat.pointers.as_ptr())
}

/// Gives a handle back; the seat remains. NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn panda_seat_free(seat: Option<Box<panda_seat>>) {
    freed("panda_seat_free", seat);
}
