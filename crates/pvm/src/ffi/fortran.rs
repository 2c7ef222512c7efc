//! The interface for Fortran: arguments are pointers, and the lengths of texts follow all others.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use parking_lot::Mutex;

use super::buffers::*;
use super::groups::*;
use super::mailbox::*;
use super::messages::*;
use super::packing::*;
use super::processes::*;
use super::put;
use crate::code::Code;
use crate::group::Combine;
use crate::state::{Handler, with};

/// Returns a Fortran text as a C string, without the blanks at its end.
///
/// # Safety
/// The text has `length` bytes.
unsafe fn c(text: *const c_char, length: usize) -> CString {
    // SAFETY: as the caller says.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(length);
    let end = bytes[..end].iter().rposition(|byte| *byte != b' ');
    let text = &bytes[..end.map_or(0, |end| end + 1)];
    CString::new(text).unwrap_or_default()
}

/// Writes a text to a Fortran variable, padded with blanks.
///
/// # Safety
/// There is room for `length` bytes.
unsafe fn fill(at: *mut c_char, length: usize, text: &[u8]) {
    // SAFETY: as the caller says.
    let room = unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), length) };
    let end = text.len().min(length);
    room[..end].copy_from_slice(&text[..end]);
    room[end..].fill(b' ');
}

/// Returns the C string at a pointer; empty if it is NULL.
///
/// # Safety
/// It ends with a zero.
unsafe fn of_c<'a>(text: *const c_char) -> &'a [u8] {
    match text.is_null() {
        true => b"",
        // SAFETY: as the caller says.
        false => unsafe { CStr::from_ptr(text) }.to_bytes(),
    }
}

/// Defines functions that take numbers by reference, and return one.
macro_rules! numbers {
    ($($fortran:ident $c:ident ($($argument:ident),*);)*) => {$(
        /// # Safety
        /// All pointers are valid, and the result has room.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fortran($($argument: *const c_int,)* result: *mut c_int) {
            // SAFETY: as the caller says.
            unsafe { put(result, $c($(*$argument),*)) };
        }
    )*};
}

numbers! {
    pvmfmytid_ pvm_mytid();
    pvmfparent_ pvm_parent();
    pvmfexit_ pvm_exit();
    pvmfhalt_ pvm_halt();
    pvmfkill_ pvm_kill(tid);
    pvmfsendsig_ pvm_sendsig(tid, signal);
    pvmfpstat_ pvm_pstat(tid);
    pvmftidtohost_ pvm_tidtohost(tid);
    pvmfgetopt_ pvm_getopt(option);
    pvmfsetopt_ pvm_setopt(option, value);
    pvmfinitsend_ pvm_initsend(encoding);
    pvmfmkbuf_ pvm_mkbuf(encoding);
    pvmffreebuf_ pvm_freebuf(buffer);
    pvmfgetsbuf_ pvm_getsbuf();
    pvmfgetrbuf_ pvm_getrbuf();
    pvmfsetsbuf_ pvm_setsbuf(buffer);
    pvmfsetrbuf_ pvm_setrbuf(buffer);
    pvmfsend_ pvm_send(tid, tag);
    pvmfrecv_ pvm_recv(tid, tag);
    pvmfnrecv_ pvm_nrecv(tid, tag);
    pvmfprobe_ pvm_probe(tid, tag);
    pvmfnewcontext_ pvm_newcontext();
    pvmffreecontext_ pvm_freecontext(context);
    pvmfsetcontext_ pvm_setcontext(context);
    pvmfgetcontext_ pvm_getcontext();
    pvmfdelmhf_ pvm_delmhf(handler);
}

/// Defines functions that take a name and numbers, and return a number.
macro_rules! named {
    ($($fortran:ident $c:ident ($($argument:ident),*);)*) => {$(
        /// # Safety
        /// All pointers are valid, the name has the given length, and the result has room.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fortran(
            name: *const c_char,
            $($argument: *const c_int,)*
            result: *mut c_int,
            length: usize,
        ) {
            // SAFETY: as the caller says.
            unsafe { put(result, $c(c(name, length).as_ptr(), $(*$argument),*)) };
        }
    )*};
}

named! {
    pvmfjoingroup_ pvm_joingroup();
    pvmflvgroup_ pvm_lvgroup();
    pvmfgsize_ pvm_gsize();
    pvmfgettid_ pvm_gettid(instance);
    pvmfgetinst_ pvm_getinst(tid);
    pvmfbarrier_ pvm_barrier(count);
    pvmfbcast_ pvm_bcast(tag);
    pvmffreezegroup_ pvm_freezegroup(size);
    pvmfmstat_ pvm_mstat();
    pvmfarchcode_ pvm_archcode();
    pvmfputinfo_ pvm_putinfo(buffer, flags);
    pvmfrecvinfo_ pvm_recvinfo(index, flags);
    pvmfdelinfo_ pvm_delinfo(index, flags);
    pvmfperror_ pvm_perror();
}

/// Defines functions of other kinds.
macro_rules! fortran {
    ($($name:ident ($($argument:tt: $type:ty),* $(,)?) $body:block)*) => {$(
        /// # Safety
        /// All pointers are valid, texts have the given lengths, and the results have room.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "PVM's interface has so many")]
        unsafe extern "C" fn $name($($argument: $type),*) {
            // SAFETY: as the caller says.
            unsafe { $body }
        }
    )*};
}

/// A pointer to a number that is read.
type In = *const c_int;
/// A pointer to a number that is written.
type Out = *mut c_int;

fortran! {
    pvmfspawn_(
        program: *const c_char, flags: In, place: *const c_char, count: In, tids: Out, started: Out,
        program_length: usize, place_length: usize,
    ) {
        let (program, place) = (c(program, program_length), c(place, place_length));
        let (program, place) = (program.as_ptr(), place.as_ptr());
        put(started, pvm_spawn(program, ptr::null(), *flags, place, *count, tids));
    }
    pvmfnotify_(what: In, tag: In, count: In, tids: In, status: Out) {
        put(status, pvm_notify(*what, *tag, *count, tids));
    }
    pvmfmcast_(count: In, tids: In, tag: In, status: Out) {
        put(status, pvm_mcast(tids, *count, *tag));
    }
    pvmftrecv_(tid: In, tag: In, seconds: In, micros: In, buffer: Out) {
        let time = libc::timeval {
            tv_sec: (*seconds).into(),
            tv_usec: (*micros).into(),
        };
        put(buffer, pvm_trecv(*tid, *tag, &raw const time));
    }
    pvmfpsend_(tid: In, tag: In, array: *const c_void, count: In, kind: In, status: Out) {
        put(status, pvm_psend(*tid, *tag, array, *count, *kind));
    }
    pvmfprecv_(
        tid: In, tag: In, array: *mut c_void, count: In, kind: In,
        its_tid: Out, its_tag: Out, its_length: Out, status: Out,
    ) {
        let (count, kind) = (*count, *kind);
        put(status, pvm_precv(*tid, *tag, array, count, kind, its_tid, its_tag, its_length));
    }
    pvmfbufinfo_(buffer: In, bytes: Out, tag: Out, tid: Out, status: Out) {
        put(status, pvm_bufinfo(*buffer, bytes, tag, tid));
    }
    pvmfcatchout_(is_on: In, status: Out) {
        let file = if *is_on == 0 { ptr::null_mut() } else { stdout };
        put(status, pvm_catchout(file));
    }
    pvmfaddmhf_(tid: In, tag: In, context: In, handler: Option<Handler>, result: Out) {
        put(result, pvm_addmhf(*tid, *tag, *context, handler));
    }
    pvmfsleep_(seconds: In) {
        pvmsleep(*seconds);
    }
    pvmfaddhost_(host: *const c_char, status: Out, length: usize) {
        each_host(pvm_addhosts, (host, length), status);
    }
    pvmfdelhost_(host: *const c_char, status: Out, length: usize) {
        each_host(pvm_delhosts, (host, length), status);
    }
    pvmfstartpvmd_(_: *const c_char, block: In, status: Out, _: usize) {
        put(status, pvm_start_pvmd(0, ptr::null(), *block));
    }
    pvmfsiblings_(count: Out, index: In, tid: Out) {
        let mut tids = ptr::null_mut();
        let there = pvm_siblings(&raw mut tids);
        put(count, there);
        if (0..there).contains(&*index) {
            put(tid, *tids.offset(*index as isize));
        }
    }
    pvmfhostsync_(
        host: In, seconds: Out, micros: Out, ahead_seconds: Out, ahead_micros: Out, status: Out,
    ) {
        let none = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        let (mut time, mut ahead) = (none, none);
        put(status, pvm_hostsync(*host, &raw mut time, &raw mut ahead));
        put(seconds, time.tv_sec as c_int);
        put(micros, time.tv_usec as c_int);
        put(ahead_seconds, ahead.tv_sec as c_int);
        put(ahead_micros, ahead.tv_usec as c_int);
    }
    pvmfreduce_(
        function: Option<Combine>, array: *mut c_void, count: In, kind: In, tag: In,
        group: *const c_char, root: In, status: Out, length: usize,
    ) {
        let group = c(group, length);
        let group = group.as_ptr();
        put(status, pvm_reduce(function, array, *count, *kind, *tag, group, *root));
    }
    pvmfgather_(
        result: *mut c_void, array: *const c_void, count: In, kind: In, tag: In,
        group: *const c_char, root: In, status: Out, length: usize,
    ) {
        let group = c(group, length);
        let group = group.as_ptr();
        put(status, pvm_gather(result, array, *count, *kind, *tag, group, *root));
    }
    pvmfscatter_(
        result: *mut c_void, array: *const c_void, count: In, kind: In, tag: In,
        group: *const c_char, root: In, status: Out, length: usize,
    ) {
        let group = c(group, length);
        let group = group.as_ptr();
        put(status, pvm_scatter(result, array, *count, *kind, *tag, group, *root));
    }
    pvmmax_(kind: Out, into: *mut c_void, other: *mut c_void, count: Out, status: Out) {
        PvmMax(kind, into, other, count, status);
    }
    pvmmin_(kind: Out, into: *mut c_void, other: *mut c_void, count: Out, status: Out) {
        PvmMin(kind, into, other, count, status);
    }
    pvmsum_(kind: Out, into: *mut c_void, other: *mut c_void, count: Out, status: Out) {
        PvmSum(kind, into, other, count, status);
    }
    pvmproduct_(kind: Out, into: *mut c_void, other: *mut c_void, count: Out, status: Out) {
        PvmProduct(kind, into, other, count, status);
    }
    pvmfpack_(kind: In, array: *const c_void, count: In, stride: In, status: Out) {
        let (count, stride) = (*count, *stride);
        let code = match *kind {
            0 => match usize::try_from(count) {
                Ok(length) => {
                    let bytes = std::slice::from_raw_parts(array.cast::<u8>(), length);
                    let text: Vec<u8> = bytes.iter().copied().take_while(|b| *b != 0).collect();
                    pvm_pkstr(CString::new(text).unwrap_or_default().as_ptr())
                }
                Err(_) => Code::BAD_PARAM.0,
            },
            1 => pvm_pkbyte(array.cast(), count, stride),
            2 => pvm_pkshort(array.cast(), count, stride),
            3 => pvm_pkint(array.cast(), count, stride),
            4 => pvm_pkfloat(array.cast(), count, stride),
            5 => pvm_pkcplx(array.cast(), count, stride),
            6 => pvm_pkdouble(array.cast(), count, stride),
            7 => pvm_pkdcplx(array.cast(), count, stride),
            8 => pvm_pklong(array.cast(), count, stride),
            _ => Code::BAD_PARAM.0,
        };
        put(status, code);
    }
    pvmfunpack_(kind: In, array: *mut c_void, count: In, stride: In, status: Out) {
        let (count, stride) = (*count, *stride);
        let code = match *kind {
            0 => match usize::try_from(count) {
                Ok(length) => unpack_text(array.cast(), length),
                Err(_) => Code::BAD_PARAM.0,
            },
            1 => pvm_upkbyte(array.cast(), count, stride),
            2 => pvm_upkshort(array.cast(), count, stride),
            3 => pvm_upkint(array.cast(), count, stride),
            4 => pvm_upkfloat(array.cast(), count, stride),
            5 => pvm_upkcplx(array.cast(), count, stride),
            6 => pvm_upkdouble(array.cast(), count, stride),
            7 => pvm_upkdcplx(array.cast(), count, stride),
            8 => pvm_upklong(array.cast(), count, stride),
            _ => Code::BAD_PARAM.0,
        };
        put(status, code);
    }
    pvmftasks_(
        place: In, count: Out, tid: Out, parent: Out, host: Out, flag: Out, name: *mut c_char,
        status: Out, length: usize,
    ) {
        if *place == -1 {
            TASKS.lock().next = 0;
            put(status, 0);
            return;
        }
        let (mut there, mut list) = (0, ptr::null_mut());
        let code = pvm_tasks(*place, &raw mut there, &raw mut list);
        put(status, code);
        let next = TASKS.lock().step(usize::try_from(there).unwrap_or(0));
        if let Some(next) = next.filter(|_| code == 0) {
            let task = &*list.add(next);
            put(count, there);
            put(tid, task.tid);
            put(parent, task.parent);
            put(host, task.host);
            put(flag, task.flag);
            fill(name, length, of_c(task.name));
        }
    }
    pvmfconfig_(
        count: Out, kinds: Out, tid: Out, name: *mut c_char, arch: *mut c_char, speed: Out,
        status: Out, name_length: usize, arch_length: usize,
    ) {
        if *count == -1 {
            HOSTS.lock().next = 0;
        }
        let (mut there, mut list) = (0, ptr::null_mut());
        let code = pvm_config(&raw mut there, kinds, &raw mut list);
        put(status, code);
        let next = HOSTS.lock().step(usize::try_from(there).unwrap_or(0));
        if let Some(next) = next.filter(|_| code == 0) {
            let host = &*list.add(next);
            put(count, there);
            put(tid, host.tid);
            put(speed, host.speed);
            fill(name, name_length, of_c(host.name));
            fill(arch, arch_length, of_c(host.arch));
        }
    }
    pvmfgetmboxinfo_(
        pattern: *const c_char, name: *mut c_char, count: Out, entries: Out, index: Out, owner: Out,
        flag: Out, status: Out, pattern_length: usize, name_length: usize,
    ) {
        let (mut there, mut list) = (0, ptr::null_mut());
        let pattern = c(pattern, pattern_length);
        let code = pvm_getmboxinfo(pattern.as_ptr(), &raw mut there, &raw mut list);
        put(status, code);
        if code < 0 || there < 1 {
            return;
        }
        let classes = std::slice::from_raw_parts(list, there as usize);
        let each = |class: &super::lists::Class| 0..class.count as usize;
        let all: Vec<_> = (classes.iter())
            .flat_map(|class| each(class).map(move |at| (class, at)))
            .collect();
        let next = CLASSES.lock().step(all.len());
        if let Some((class, at)) = next.map(|next| all[next]) {
            put(count, there);
            put(entries, class.count);
            put(index, *class.indices.add(at));
            put(owner, *class.owners.add(at));
            put(flag, *class.flags.add(at));
            fill(name, name_length, of_c(class.name));
        }
    }
}

unsafe extern "C" {
    /// The C library's standard output.
    static stdout: *mut libc::FILE;
}

/// Calls a function with one host.
///
/// # Safety
/// The name has the given length, and the result has room.
unsafe fn each_host(
    function: unsafe extern "C" fn(*const *const c_char, c_int, *mut c_int) -> c_int,
    (host, length): (*const c_char, usize),
    status: *mut c_int,
) {
    // SAFETY: as the caller says.
    unsafe {
        let host = c(host, length);
        let names = [host.as_ptr()];
        let mut result = 0;
        let code = function(names.as_ptr(), 1, &raw mut result);
        put(status, if code < 0 { code } else { result });
    }
}

/// Unpacks a text of at most `length` bytes, padded with blanks.
///
/// # Safety
/// There is room for `length` bytes.
unsafe fn unpack_text(at: *mut c_char, length: usize) -> c_int {
    super::call_unit("pvmfunpack", || {
        with(|state| {
            let text = state.buffers.unpacked()?.unpack_text()?;
            let text = text.strip_suffix(b"\0").unwrap_or(text);
            // SAFETY: as the caller says.
            unsafe { fill(at, length, text) };
            Ok(())
        })
    })
}

/// Iterates over a list that C programs get as a whole: one entry a call, and from the start again
/// after the last.
struct Cycle {
    next: usize,
}

impl Cycle {
    /// Returns the index of the next of `count` entries.
    fn step(&mut self, count: usize) -> Option<usize> {
        if count == 0 {
            return None;
        }
        let place = self.next % count;
        self.next = place + 1;
        Some(place)
    }
}

static TASKS: Mutex<Cycle> = Mutex::new(Cycle { next: 0 });
static HOSTS: Mutex<Cycle> = Mutex::new(Cycle { next: 0 });
static CLASSES: Mutex<Cycle> = Mutex::new(Cycle { next: 0 });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_end_of_a_text_are_none_of_c() {
        let text = b"slave1   ";
        // SAFETY: the text is as long.
        let text = unsafe { c(text.as_ptr().cast(), text.len()) };
        assert_eq!(text.as_c_str(), c"slave1");
        let mut room = [0_u8; 6];
        // SAFETY: there is room for as many.
        unsafe { fill(room.as_mut_ptr().cast(), room.len(), b"abc") };
        assert_eq!(&room, b"abc   ");
    }

    #[test]
    fn a_list_is_gone_through_again_and_again() {
        let mut cycle = Cycle { next: 0 };
        let places: Vec<_> = (0..5).map(|_| cycle.step(2)).collect();
        assert_eq!(places, [0, 1, 0, 1, 0].map(Some));
        assert_eq!(cycle.step(0), None);
    }
}
