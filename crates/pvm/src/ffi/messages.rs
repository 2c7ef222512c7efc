//! Sending and receiving.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::{Duration, Instant};

use antiphon_panda::Message;

use super::{call, call_unit, put, slice};
use crate::buffer::Encoding;
use crate::code::Code;
use crate::group::size_of_kind;
use crate::receive::{Wait, Want, receive};
use crate::state::{self, Handler, Handling, Matcher, with};
use crate::task::rank_of;
use crate::tid::Tid;

/// Sends the active send buffer to tasks.
fn send(tids: &[c_int], tag: c_int) -> Result<(), Code> {
    let task = state::task()?;
    if tag < 0 {
        return Err(Code::BAD_PARAM);
    }
    let may_lend = tids.iter().all(|tid| task.sends_at_once(Tid(*tid)));
    let (context, (encoding, content), wait_id, lease) = with(|state| {
        let context = state.context;
        let packed = state.buffers.packed()?;
        tids.iter().try_for_each(|tid| rank_of(*tid).map(drop))?;
        packed.info.tag = tag;
        // SAFETY: the program has called this function, which waits for the end of the lease below.
        let lent = may_lend.then(|| unsafe { packed.lend() }).flatten();
        let (content, lease) = match lent {
            Some((message, lease)) => ((Encoding::Raw, message), Some(lease)),
            None => (packed.content(), None),
        };
        Ok::<_, Code>((context, content, packed.info.wait_id, lease))
    })?;
    let (last, others) = match tids.split_last() {
        Some((last, others)) => (*last, others),
        None => return Ok(()),
    };
    let send_to = |tid, content| task.send(Tid(tid), (context, tag), (encoding, content), wait_id);
    let sent = others
        .iter()
        .try_for_each(|tid| send_to(*tid, content.clone()));
    // Nothing of the message stays here, sent or not.
    let sent = sent.and_then(|()| send_to(last, content));
    lease.inspect(|lease| task.await_end(lease));
    sent
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_send(tid: c_int, tag: c_int) -> c_int {
    call_unit("pvm_send", || send(&[tid], tag))
}

/// # Safety
/// The array holds the ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_mcast(tids: *const c_int, count: c_int, tag: c_int) -> c_int {
    call_unit("pvm_mcast", || {
        // SAFETY: as the caller says.
        let tids = unsafe { slice(tids, count)? };
        let own = state::task()?.tid;
        // Each task gets it once, but not the sender.
        let mut others: Vec<c_int> = tids.iter().copied().filter(|tid| *tid != own.0).collect();
        others.sort_unstable();
        others.dedup();
        send(&others, tag)
    })
}

/// Receives into the active receive buffer.
fn receive_message(source: c_int, tag: c_int, wait: Wait) -> Result<c_int, Code> {
    let want = Want::new(source, tag)?;
    let Some(id) = receive(want, wait, true)? else {
        return Ok(0);
    };
    with(|state| state.buffers.replace_received(id));
    Ok(id)
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_recv(source: c_int, tag: c_int) -> c_int {
    call("pvm_recv", || receive_message(source, tag, Wait::Forever))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_nrecv(source: c_int, tag: c_int) -> c_int {
    call("pvm_nrecv", || receive_message(source, tag, Wait::No))
}

/// # Safety
/// The pointer leads to a time, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_trecv(source: c_int, tag: c_int, time: *const libc::timeval) -> c_int {
    call("pvm_trecv", || {
        let wait = match time.is_null() {
            true => Wait::Forever,
            // SAFETY: as the caller says.
            false => within(unsafe { &*time })?,
        };
        receive_message(source, tag, wait)
    })
}

fn within(time: &libc::timeval) -> Result<Wait, Code> {
    let seconds = u64::try_from(time.tv_sec).map_err(|_| Code::BAD_PARAM)?;
    let micros = u64::try_from(time.tv_usec).map_err(|_| Code::BAD_PARAM)?;
    let time = Duration::from_secs(seconds).checked_add(Duration::from_micros(micros));
    // A time that the clock cannot represent means no limit.
    let until = time.and_then(|time| Instant::now().checked_add(time));
    Ok(until.map_or(Wait::Forever, Wait::Until))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_probe(source: c_int, tag: c_int) -> c_int {
    call("pvm_probe", || {
        let want = Want::new(source, tag)?;
        Ok(receive(want, Wait::No, false)?.unwrap_or(0))
    })
}

/// # Safety
/// The array holds the numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_psend(
    tid: c_int,
    tag: c_int,
    array: *const c_void,
    count: c_int,
    kind: c_int,
) -> c_int {
    call_unit("pvm_psend", || {
        let length = bytes_of(count, kind)?;
        rank_of(tid)?;
        if tag < 0 || array.is_null() && length > 0 {
            return Err(Code::BAD_PARAM);
        }
        let bytes = match length {
            0 => &[],
            // SAFETY: as the caller says.
            _ => unsafe { std::slice::from_raw_parts(array.cast::<u8>(), length) },
        };
        let context = with(|state| state.context);
        let content = (Encoding::Raw, Message::copy_of(bytes));
        state::task()?.send(Tid(tid), (context, tag), content, 0)
    })
}

/// # Safety
/// The array has room for the numbers. Each other pointer is NULL, or has room for a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "PVM's interface has so many")]
pub unsafe extern "C" fn pvm_precv(
    source: c_int,
    tag: c_int,
    array: *mut c_void,
    count: c_int,
    kind: c_int,
    its_source: *mut c_int,
    its_tag: *mut c_int,
    its_length: *mut c_int,
) -> c_int {
    call_unit("pvm_precv", || {
        let room = bytes_of(count, kind)?;
        let want = Want::new(source, tag)?;
        if array.is_null() && room > 0 {
            return Err(Code::BAD_PARAM);
        }
        let id = receive(want, Wait::Forever, true)?.ok_or(Code::SYS_ERR)?;
        let buffer = with(|state| state.buffers.take(id));
        let mut buffer = buffer.ok_or(Code::NO_SUCH_BUF)?;
        let bytes = buffer.bytes();
        let taken = bytes.len().min(room);
        // SAFETY: as the caller says.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), array.cast(), taken);
            put(its_source, buffer.info.source.0);
            put(its_tag, buffer.info.tag);
            put(
                its_length,
                c_int::try_from(bytes.len()).unwrap_or(c_int::MAX),
            );
        }
        Ok(())
    })
}

fn bytes_of(count: c_int, kind: c_int) -> Result<usize, Code> {
    let size = size_of_kind(kind)?;
    let count = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
    Ok(count * size)
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_recvf(matcher: Option<Matcher>) -> Option<Matcher> {
    with(|state| std::mem::replace(&mut state.matcher, matcher))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_addmhf(
    source: c_int,
    tag: c_int,
    context: c_int,
    handler: Option<Handler>,
) -> c_int {
    call("pvm_addmhf", || {
        let handler = handler.ok_or(Code::BAD_PARAM)?;
        let handling = Handling {
            source,
            tag,
            context,
            handler,
        };
        with(|state| {
            let is_same = |other: &Handling| {
                (other.source, other.tag, other.context) == (source, tag, context)
            };
            if state.handlers.iter().flatten().any(is_same) {
                return Err(Code::EXISTS);
            }
            let free = state.handlers.iter().position(Option::is_none);
            let at = free.unwrap_or(state.handlers.len());
            match free {
                Some(at) => state.handlers[at] = Some(handling),
                None => state.handlers.push(Some(handling)),
            }
            c_int::try_from(at).map_err(|_| Code::OUT_OF_RES)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_delmhf(id: c_int) -> c_int {
    call_unit("pvm_delmhf", || {
        let at = usize::try_from(id).map_err(|_| Code::BAD_PARAM)?;
        with(|state| {
            let handling = state.handlers.get_mut(at).ok_or(Code::NOT_FOUND)?;
            handling.take().map(drop).ok_or(Code::NOT_FOUND)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_getcontext() -> c_int {
    with(|state| state.context)
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_setcontext(context: c_int) -> c_int {
    call("pvm_setcontext", || {
        // A child inherits its context, which is known once it has enrolled.
        state::task()?;
        Ok(with(|state| state.change_context(context)))
    })
}
