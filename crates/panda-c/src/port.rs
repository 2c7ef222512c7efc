//! Message passing.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use antiphon_panda::{Arrived, Message, Port, Probed};

use crate::given::{Upcall, any, array, called, given, panda_release, text, time};
use crate::handing::{Awaited, lent, taken};
use crate::message::panda_message;
use crate::session::{of, panda_session};
use crate::status::{Failure, PANDA_ANY, entry, freed, panda_rank, panda_status, value};

/// A named endpoint for messages, one at each process. All threads may use its handle at once.
pub struct panda_port {
    port: Port,
}

/// A received message.
#[repr(C)]
pub struct panda_arrived {
    /// Its sender.
    pub from: panda_rank,
    /// Its sender's tag.
    pub tag: u32,
    /// The message. The receiver owns it.
    pub message: *mut panda_message,
}

/// Metadata of an unread message, without taking it.
#[repr(C)]
pub struct panda_probed {
    /// Its sender.
    pub from: panda_rank,
    /// Its sender's tag.
    pub tag: u32,
    /// Its length in bytes.
    pub length: usize,
}

/// Decides whether a message is wanted. The message is lent until this returns. It is a copy that
/// shares its bytes, so popping from it does not change the message at the port. It runs on the
/// receiving thread, under the rules of upcalls: it must not wait, and may send, reply and lock a
/// mutex for a moment.
pub type panda_message_predicate = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        from: panda_rank,
        tag: u32,
        message: *mut panda_message,
    ) -> bool,
>;

/// Takes a message that came to a port. The message is lent until this returns. It runs on the
/// thread that drives the session, one at a time for each port, and must not wait for messages. It
/// may send, reply and lock a mutex for a moment.
pub type panda_message_upcall = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        from: panda_rank,
        tag: u32,
        message: *mut panda_message,
    ),
>;

/// Gets the port of a name. Messages that come before a receive are kept. The caller frees the
/// handle by panda_port_free(). All handles of one name are one port.
///
/// Errors: PANDA_SAME_NUMBER; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_port_open(
    session: Option<&panda_session>,
    name: *const c_char,
    port: Option<&mut MaybeUninit<*mut panda_port>>,
) -> panda_status {
    entry("panda_port_open", || {
        let place = given(port, "port")?;
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, "name") }?;
        let port = of(session)?.port(name);
        port.check()?;
        place.write(Box::into_raw(Box::new(panda_port { port })));
        Ok(())
    })
}

/// Frees a handle. The port remains, with its messages and its upcall. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_free(port: Option<Box<panda_port>>) {
    freed("panda_port_free", port);
}

/// Registers an upcall for the messages of this port, including those already queued. It replaces
/// an earlier one. release(context) is called once, when the upcall is no longer needed: when
/// another replaces it, at the end of the session, or at once if this fails. It may be NULL.
///
/// Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_port_on_message(
    port: Option<&panda_port>,
    upcall: panda_message_upcall,
    context: *mut c_void,
    release: panda_release,
) -> panda_status {
    let upcall = Upcall::new(upcall, context, release);
    entry("panda_port_on_message", || {
        let port = given(port, "port")?;
        let upcall = upcall.given()?;
        port.port.on_message(move |arrived| {
            let (from, tag) = (arrived.from, arrived.tag);
            lent(arrived.payload, |message| {
                upcall.call(|function, context| {
                    // SAFETY: the program gave both for this.
                    unsafe { function(context, from, tag, message) };
                });
            });
        })?;
        Ok(())
    })
}

/// Sends a message, which it takes, without waiting for its delivery. Outside of upcalls it waits
/// for a slow peer, while much is in flight to it or lies unread at its port of this name. A tag is
/// any number but PANDA_ANY.
///
/// Errors: PANDA_NO_SUCH_RANK; PANDA_LOST: the peer was found lost while this waited for it, which
/// otherwise is no error here; PANDA_TOO_LONG; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_send(
    port: Option<&panda_port>,
    to: panda_rank,
    tag: u32,
    message: Option<Box<panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_port_send", || {
        let port = given(port, "port")?;
        let message = given(message, "message")?;
        Ok(port.port.send(to, is_a_tag(tag)?, message.message)?)
    })
}

/// Sends a copy of bytes, and is otherwise the same. For short messages it is the fastest way.
///
/// Errors: as panda_port_send().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_port_send_bytes(
    port: Option<&panda_port>,
    to: panda_rank,
    tag: u32,
    bytes: *const c_void,
    length: usize,
) -> panda_status {
    entry("panda_port_send_bytes", || {
        let port = given(port, "port")?;
        let tag = is_a_tag(tag)?;
        // SAFETY: the caller's promise.
        let bytes = unsafe { array(bytes.cast::<u8>(), length, "bytes") }?;
        Ok(port.port.send(to, tag, Message::copy_of(bytes))?)
    })
}

/// Sends a message, which it takes, and waits until it has been taken at the peer: its upcall has
/// returned, or it waits there to be received.
///
/// Errors: PANDA_LOST; PANDA_NO_SUCH_RANK; PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_send_synchronously(
    port: Option<&panda_port>,
    to: panda_rank,
    tag: u32,
    message: Option<Box<panda_message>>,
) -> panda_status {
    let message = taken(message);
    entry("panda_port_send_synchronously", || {
        let port = given(port, "port")?;
        let message = given(message, "message")?;
        let sent = message.message;
        Ok(port.port.send_synchronously(to, is_a_tag(tag)?, sent)?)
    })
}

fn is_a_tag(tag: u32) -> Result<u32, Failure> {
    match tag {
        PANDA_ANY => Err(Failure::argument("tag", "is PANDA_ANY, which is no tag")),
        tag => Ok(tag),
    }
}

/// Returns whether a send to a rank would continue at once. An upcall never waits, and may ask this
/// before it sends much.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_takes_more(port: Option<&panda_port>, to: panda_rank) -> bool {
    value("panda_port_takes_more", false, || {
        Ok(given(port, "port")?.port.takes_more(to))
    })
}

/// Takes the first matching message: of a sender or PANDA_ANY, with a tag or PANDA_ANY. It does not
/// wait.
///
/// Errors: PANDA_NOT_NOW: there is none; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_poll(
    port: Option<&panda_port>,
    from: panda_rank,
    tag: u32,
    arrived: Option<&mut MaybeUninit<panda_arrived>>,
) -> panda_status {
    entry("panda_port_poll", || {
        let port = &given(port, "port")?.port;
        let place = given(arrived, "arrived")?;
        match port.poll(any(from), any(tag)) {
            Some(arrived) => hand_over(arrived, Awaited::new(), place),
            None => {
                port.check()?;
                return Err(Failure::NotNow);
            }
        }
        Ok(())
    })
}

/// Waits for the first matching message, of a sender or PANDA_ANY and with a tag or PANDA_ANY, for
/// a time at most, in nanoseconds or PANDA_FOREVER.
///
/// Errors: PANDA_LOST: the given sender is lost; for any sender, the last of the others is lost, or
/// one has left too much unread (panda_session_limit_unread()); PANDA_TIMED_OUT;
/// PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_receive(
    port: Option<&panda_port>,
    from: panda_rank,
    tag: u32,
    timeout_ns: u64,
    arrived: Option<&mut MaybeUninit<panda_arrived>>,
) -> panda_status {
    entry("panda_port_receive", || {
        let port = &given(port, "port")?.port;
        let place = given(arrived, "arrived")?;
        let (from, tag) = (any(from), any(tag));
        let awaited = Awaited::new();
        let arrived = match time(timeout_ns) {
            None => port.receive(from, tag),
            Some(time) => port.receive_within(from, tag, time),
        };
        hand_over(arrived?, awaited, place);
        Ok(())
    })
}

/// Takes the first unread message that a predicate accepts. The predicate gets the messages in the
/// order of their arrival, and those that it refuses stay. It does not wait.
///
/// Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_port_poll_where(
    port: Option<&panda_port>,
    accepts: panda_message_predicate,
    context: *mut c_void,
    arrived: Option<&mut MaybeUninit<panda_arrived>>,
) -> panda_status {
    entry("panda_port_poll_where", || {
        let port = &given(port, "port")?.port;
        let place = given(arrived, "arrived")?;
        // SAFETY: the caller's promise.
        let accepts = unsafe { predicate(accepts, context) }?;
        let arrived = port.poll_where(accepts)?.ok_or(Failure::NotNow)?;
        hand_over(arrived, Awaited::new(), place);
        Ok(())
    })
}

/// Waits for the first message that a predicate accepts, and takes it; for a time at most, in
/// nanoseconds or PANDA_FOREVER. The predicate gets the unread messages in the order of their
/// arrival, then each new one, every message once. Those that it refuses stay.
///
/// Errors: PANDA_LOST: the last of the other processes is lost, or one has left too much unread
/// (panda_session_limit_unread()); PANDA_TIMED_OUT; PANDA_HAS_UPCALL; PANDA_IN_UPCALL; PANDA_OVER;
/// PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_port_receive_where(
    port: Option<&panda_port>,
    accepts: panda_message_predicate,
    context: *mut c_void,
    timeout_ns: u64,
    arrived: Option<&mut MaybeUninit<panda_arrived>>,
) -> panda_status {
    entry("panda_port_receive_where", || {
        let port = &given(port, "port")?.port;
        let place = given(arrived, "arrived")?;
        // SAFETY: the caller's promise.
        let accepts = unsafe { predicate(accepts, context) }?;
        let arrived = match time(timeout_ns) {
            None => port.receive_where(accepts),
            Some(time) => port.receive_where_within(accepts, time),
        };
        hand_over(arrived?, Awaited::new(), place);
        Ok(())
    })
}

/// Describes the first matching unread message, of a sender or PANDA_ANY and with a tag or
/// PANDA_ANY, and leaves it there. Another thread may take it meanwhile. It does not wait.
///
/// Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_peek(
    port: Option<&panda_port>,
    from: panda_rank,
    tag: u32,
    probed: Option<&mut MaybeUninit<panda_probed>>,
) -> panda_status {
    entry("panda_port_peek", || {
        let port = &given(port, "port")?.port;
        let place = given(probed, "probed")?;
        let probed = port.peek(any(from), any(tag))?;
        place.write(probed.ok_or(Failure::NotNow)?.into());
        Ok(())
    })
}

/// Describes the first unread message that a predicate accepts, and leaves it there. Another thread
/// may take it meanwhile. It does not wait.
///
/// Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_port_peek_where(
    port: Option<&panda_port>,
    accepts: panda_message_predicate,
    context: *mut c_void,
    probed: Option<&mut MaybeUninit<panda_probed>>,
) -> panda_status {
    entry("panda_port_peek_where", || {
        let port = &given(port, "port")?.port;
        let place = given(probed, "probed")?;
        // SAFETY: the caller's promise.
        let accepts = unsafe { predicate(accepts, context) }?;
        let probed = port.peek_where(accepts)?;
        place.write(probed.ok_or(Failure::NotNow)?.into());
        Ok(())
    })
}

/// Waits for a matching message, of a sender or PANDA_ANY and with a tag or PANDA_ANY, for a time
/// at most, in nanoseconds or PANDA_FOREVER. Describes the first one, and leaves it there.
/// panda_port_receive() of this sender and tag takes it, unless another thread has.
///
/// Errors: as panda_port_receive(), and PANDA_HAS_UPCALL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_port_probe(
    port: Option<&panda_port>,
    from: panda_rank,
    tag: u32,
    timeout_ns: u64,
    probed: Option<&mut MaybeUninit<panda_probed>>,
) -> panda_status {
    entry("panda_port_probe", || {
        let port = &given(port, "port")?.port;
        let place = given(probed, "probed")?;
        let (from, tag) = (any(from), any(tag));
        let probed = match time(timeout_ns) {
            None => port.probe(from, tag),
            Some(time) => port.probe_within(from, tag, time),
        };
        place.write(probed?.into());
        Ok(())
    })
}

/// Returns a predicate of the program as a Rust closure.
///
/// # Safety
/// The function may be called with this context as long as the result lives.
unsafe fn predicate(
    accepts: panda_message_predicate,
    context: *mut c_void,
) -> Result<impl FnMut(&Arrived) -> bool, Failure> {
    let accepts = given(accepts, "accepts")?;
    Ok(move |arrived: &Arrived| {
        lent(arrived.payload.clone(), |message| {
            // SAFETY: the caller's promise.
            called(|| unsafe { accepts(context, arrived.from, arrived.tag, message) })
        })
    })
}

impl From<Probed> for panda_probed {
    fn from(probed: Probed) -> Self {
        Self {
            from: probed.from,
            tag: probed.tag,
            length: probed.length,
        }
    }
}

#[inline]
fn hand_over(arrived: Arrived, awaited: Awaited, place: &mut MaybeUninit<panda_arrived>) {
    place.write(panda_arrived {
        from: arrived.from,
        tag: arrived.tag,
        message: awaited.owned(arrived.payload),
    });
}
