//! Remote procedure calls.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use antiphon_panda::Reply;

use crate::given::{Upcall, given, panda_release, text, time};
use crate::handing::{lent, owned, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session};
use crate::status::{Failure, entry, freed, panda_rank, panda_status, value};

/// The means to answer a call, once, from any thread. An upcall gets it lent. If the upcall neither
/// answers nor keeps it (panda_reply_keep()), the caller gets PANDA_NO_REPLY.
pub struct panda_reply {
    reply: Option<Reply>,
    is_lent: bool,
}

/// Takes a call. The arguments and the reply are lent until this returns. It runs on the thread
/// that drives the session, one at a time for each service, and must not wait for messages. It may
/// send, answer and lock a mutex for a moment.
pub type panda_call_upcall = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        from: panda_rank,
        arguments: *mut panda_message,
        reply: *mut panda_reply,
    ),
>;

/// Registers a service, in place of an earlier one of that name. release(context) is called once,
/// when the upcall is no longer needed: when another replaces it, at the end of the session, or at
/// once if this fails. It may be NULL.
///
/// Errors: PANDA_SAME_NUMBER; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_serve(
    session: Option<&panda_session>,
    service: *const c_char,
    upcall: panda_call_upcall,
    context: *mut c_void,
    release: panda_release,
) -> panda_status {
    let upcall = Upcall::new(upcall, context, release);
    entry("panda_session_serve", || {
        let session = of(session)?;
        // SAFETY: the caller's promise.
        let service = unsafe { text(service, "service") }?;
        let upcall = upcall.given()?;
        session.serve(service, move |call| {
            let mut reply = panda_reply {
                reply: Some(call.reply),
                is_lent: true,
            };
            lent(call.payload, |arguments| {
                upcall.call(|function, context| {
                    // SAFETY: the program gave both for this, and the reply lives as long.
                    unsafe { function(context, call.from, arguments, &raw mut reply) };
                });
            });
        })?;
        Ok(())
    })
}

/// Calls a service with arguments, which it takes, and waits for the reply, for a time at most, in
/// nanoseconds or PANDA_FOREVER. The call is executed at most once, and exactly once if a reply
/// comes. The caller owns the reply. If `reply` is NULL it is freed.
///
/// Errors: PANDA_LOST; PANDA_NO_SERVICE; PANDA_NO_REPLY; PANDA_TIMED_OUT; PANDA_NO_SUCH_RANK;
/// PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_session_call(
    session: Option<&panda_session>,
    to: panda_rank,
    service: *const c_char,
    arguments: Option<Box<panda_message>>,
    timeout_ns: u64,
    reply: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    let arguments = taken(arguments);
    entry("panda_session_call", || {
        let session = of(session)?;
        // SAFETY: the caller's promise.
        let service = unsafe { text(service, "service") }?;
        let arguments = given(arguments, "arguments")?.message;
        let answer = session.call(to, service, arguments, time(timeout_ns))?;
        reply.map(|reply| reply.write(owned(answer)));
        Ok(())
    })
}

/// Keeps a lent reply, to answer later. The caller owns the new handle, which panda_reply_send() or
/// panda_reply_drop() frees. NULL if the reply is NULL, or was kept or used before.
#[unsafe(no_mangle)]
pub extern "C" fn panda_reply_keep(reply: Option<&mut panda_reply>) -> *mut panda_reply {
    value("panda_reply_keep", std::ptr::null_mut(), || {
        let reply = Some(given(given(reply, "reply")?.reply.take(), "reply").map_err(|_| used())?);
        let is_lent = false;
        Ok(Box::into_raw(Box::new(panda_reply { reply, is_lent })))
    })
}

/// Answers with a message, which it takes together with the reply. It returns PANDA_OK even if the
/// reply cannot be sent. The caller of the call then gets an error: PANDA_LOST if this process's
/// session is over, PANDA_NO_REPLY if the message is too long for the platform.
///
/// Errors: PANDA_BAD_ARGUMENT, also if a lent reply was kept or used before.
#[unsafe(no_mangle)]
pub extern "C" fn panda_reply_send(
    reply: Option<Box<panda_reply>>,
    message: Option<Box<panda_message>>,
) -> panda_status {
    let (reply, message) = (reply.map(out_of), taken(message));
    entry("panda_reply_send", || {
        let reply = given(reply, "reply")?.ok_or_else(used)?;
        reply.send(given(message, "message")?.message);
        Ok(())
    })
}

/// Ends a call without a reply: its caller gets PANDA_NO_REPLY. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_reply_drop(reply: Option<Box<panda_reply>>) {
    let reply = reply.map(out_of);
    freed("panda_reply_drop", reply);
}

/// Returns the content of a reply from C, if it was not used before. A lent reply stays in place.
fn out_of(mut given: Box<panda_reply>) -> Option<Reply> {
    let reply = given.reply.take();
    if given.is_lent {
        // It is on the stack of the code that called the upcall.
        let _ = Box::into_raw(given);
    }
    reply
}

fn used() -> Failure {
    Failure::argument("reply", "was kept or given before")
}
