//! Message buffers.

use std::ffi::c_int;

use super::{call, call_unit, put};
use crate::buffer::{Buffer, Encoding, Info};
use crate::code::Code;
use crate::state::{own_tid, with};
use crate::tid::Tid;

/// The result of `pvm_getminfo`.
#[repr(C)]
pub struct MessageInfo {
    len: c_int,
    ctx: c_int,
    tag: c_int,
    wid: c_int,
    enc: c_int,
    crc: c_int,
    src: c_int,
    dst: c_int,
}

/// Numbers before a message that is packed into another one.
const PACKED_HEADER: usize = 9;

fn length_of(buffer: &Buffer) -> c_int {
    c_int::try_from(buffer.length()).unwrap_or(c_int::MAX)
}

fn own() -> Tid {
    own_tid().unwrap_or(Tid(0))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_mkbuf(encoding: c_int) -> c_int {
    call("pvm_mkbuf", || {
        let (encoding, own) = (Encoding::of(encoding)?, own());
        Ok(with(|state| state.buffers.make(encoding, own)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_initsend(encoding: c_int) -> c_int {
    let made = pvm_mkbuf(encoding);
    call("pvm_initsend", || {
        if made < 0 {
            return Err(Code(made));
        }
        with(|state| {
            let before = state.buffers.choose_to_send(made)?;
            state.buffers.free(before)?;
            Ok(made)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_freebuf(id: c_int) -> c_int {
    call_unit("pvm_freebuf", || {
        with(|state| {
            state.aside.retain(|aside| *aside != id);
            state.buffers.free(id)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_getsbuf() -> c_int {
    with(|state| state.buffers.chosen().0)
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_getrbuf() -> c_int {
    with(|state| state.buffers.chosen().1)
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_setsbuf(id: c_int) -> c_int {
    call("pvm_setsbuf", || {
        with(|state| state.buffers.choose_to_send(id))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_setrbuf(id: c_int) -> c_int {
    call("pvm_setrbuf", || {
        with(|state| state.buffers.choose_to_receive(id))
    })
}

/// # Safety
/// Each pointer is NULL, or has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_bufinfo(
    id: c_int,
    bytes: *mut c_int,
    tag: *mut c_int,
    tid: *mut c_int,
) -> c_int {
    call_unit("pvm_bufinfo", || {
        with(|state| {
            let buffer = state.buffers.get(id)?;
            // SAFETY: by this function's contract.
            unsafe {
                put(bytes, length_of(buffer));
                put(tag, buffer.info.tag);
                put(tid, buffer.info.source.0);
            }
            Ok(())
        })
    })
}

/// # Safety
/// The pointer has room for the information.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_getminfo(id: c_int, info: *mut MessageInfo) -> c_int {
    call_unit("pvm_getminfo", || {
        with(|state| {
            let buffer = state.buffers.get(id)?;
            let Info {
                context,
                tag,
                wait_id,
                source,
                destination,
            } = buffer.info;
            let found = MessageInfo {
                len: length_of(buffer),
                ctx: context,
                tag,
                wid: wait_id,
                enc: buffer.encoding().signature(),
                crc: 0,
                src: source.0,
                dst: destination.0,
            };
            // SAFETY: by this function's contract.
            unsafe { put(info, found) };
            Ok(())
        })
    })
}

/// # Safety
/// The pointer leads to the information.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_setminfo(id: c_int, info: *const MessageInfo) -> c_int {
    call_unit("pvm_setminfo", || {
        if info.is_null() {
            return Err(Code::BAD_PARAM);
        }
        // SAFETY: by this function's contract.
        let info = unsafe { &*info };
        with(|state| {
            state.buffers.get(id)?.info = Info {
                context: info.ctx,
                tag: info.tag,
                wait_id: info.wid,
                source: Tid(info.src),
                destination: Tid(info.dst),
            };
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_getmwid(id: c_int) -> c_int {
    call("pvm_getmwid", || {
        with(|state| Ok(state.buffers.get(id)?.info.wait_id))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_setmwid(id: c_int, wait_id: c_int) -> c_int {
    call_unit("pvm_setmwid", || {
        with(|state| {
            state.buffers.get(id)?.info.wait_id = wait_id;
            Ok(())
        })
    })
}

/// Packs a message into the active send buffer.
fn pack_message(id: c_int, has_header: bool) -> Result<(), Code> {
    with(|state| {
        let into = state.buffers.chosen().0;
        if into == id {
            return Err(Code::BAD_PARAM);
        }
        let packed = state.buffers.get(id)?;
        let (encoding, content) = packed.content();
        let content = content.to_bytes();
        let info = packed.info;
        let packing = state.buffers.packed()?;
        if packing.encoding() == Encoding::InPlace {
            return Err(Code::NOT_IMPL);
        }
        if has_header {
            let length = c_int::try_from(content.len()).map_err(|_| Code::OVERFLOW)?;
            let header: [c_int; PACKED_HEADER] = [
                length,
                info.context,
                info.tag,
                info.wait_id,
                encoding.signature(),
                0,
                info.source.0,
                info.destination.0,
                0,
            ];
            // SAFETY: the array holds as many.
            unsafe { packing.pack(header.as_ptr(), (PACKED_HEADER as c_int, 1), 1)? };
        }
        packing.append(&content);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_pkmesg(id: c_int) -> c_int {
    call_unit("pvm_pkmesg", || pack_message(id, true))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_pkmesgbody(id: c_int) -> c_int {
    call_unit("pvm_pkmesgbody", || pack_message(id, false))
}

#[unsafe(no_mangle)]
pub extern "C" fn pvm_upkmesg() -> c_int {
    call("pvm_upkmesg", || {
        with(|state| {
            let unpacked = state.buffers.unpacked()?;
            let mut header: [c_int; PACKED_HEADER] = [0; PACKED_HEADER];
            // SAFETY: the array has room for as many.
            unsafe { unpacked.unpack(header.as_mut_ptr(), (PACKED_HEADER as c_int, 1), 1)? };
            let [
                length,
                context,
                tag,
                wait_id,
                encoding,
                _,
                source,
                destination,
                _,
            ] = header;
            let length = usize::try_from(length).map_err(|_| Code::BAD_MSG)?;
            let encoding = Encoding::of_signature(encoding)?;
            let content = unpacked.unpack_raw(length)?.to_vec();
            let info = Info {
                context,
                tag,
                wait_id,
                source: Tid(source),
                destination: Tid(destination),
            };
            let buffer = Buffer::received(encoding, info, content.into());
            Ok(state.buffers.add(buffer))
        })
    })
}
