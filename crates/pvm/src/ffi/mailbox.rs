//! The mailbox: messages that tasks leave for others.

use std::ffi::{CString, c_char, c_int};

use antiphon_panda::Message;
use parking_lot::Mutex;

use super::lists::{Class, Lent};
use super::{call, call_quietly, call_unit, name, put};
use crate::buffer::{Buffer, Info};
use crate::code::Code;
use crate::daemon::mailbox::{FIRST_AVAILABLE, MULTI_INSTANCE, PERSISTENT};
use crate::protocol::{Answer, Letter, Request};
use crate::state::{self, with};
use crate::tid::Tid;

/// Bits of flags below the index that is passed with them.
const INDEX_SHIFT: u32 = 10;
/// The flags without such an index.
const FLAGS: c_int = (1 << INDEX_SHIFT) - 1;

static CLASSES: Mutex<Option<Lent<Class>>> = Mutex::new(None);

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_putinfo(of: *const c_char, id: c_int, flags: c_int) -> c_int {
    // SAFETY: as the caller says.
    let name = unsafe { name(of) };
    call("pvm_putinfo", || {
        let task = state::task()?;
        let letter = with(|state| {
            let buffer = state.buffers.get(id)?;
            let (encoding, content) = buffer.content();
            Ok::<_, Code>(Letter {
                encoding: encoding.signature(),
                tag: buffer.info.tag,
                content: content.to_bytes().to_vec(),
            })
        })?;
        let index = flags >> INDEX_SHIFT;
        task.ask_number(&Request::Put {
            name,
            flags: flags & FLAGS,
            index: (index > 0).then_some(index),
            replaces: true,
            letter,
        })
    })
}

/// Gets an entry as a buffer.
fn get(name: String, index: c_int, flags: c_int) -> Result<Buffer, Code> {
    let task = state::task()?;
    let Answer::Letter(letter) = task.ask(&Request::Get { name, index, flags })? else {
        return Err(Code::SYS_ERR);
    };
    let info = Info {
        context: 0,
        tag: letter.tag,
        wait_id: 0,
        source: Tid::MACHINE,
        destination: task.tid,
    };
    let content = Message::from(letter.content.clone());
    Ok(Buffer::received(letter.encoding(), info, content))
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_recvinfo(of: *const c_char, index: c_int, flags: c_int) -> c_int {
    // SAFETY: as the caller says.
    let name = unsafe { name(of) };
    // A missing entry is an answer, not an error.
    let mut missing = None;
    let got = call("pvm_recvinfo", || {
        let buffer = match get(name, index, flags) {
            Err(code @ (Code::NOT_FOUND | Code::DENIED)) => {
                missing = Some(code.0);
                return Ok(0);
            }
            got => got?,
        };
        Ok(with(|state| {
            let id = state.buffers.add(buffer);
            state.buffers.replace_received(id);
            id
        }))
    });
    missing.unwrap_or(got)
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_delinfo(of: *const c_char, index: c_int, _: c_int) -> c_int {
    // SAFETY: as the caller says.
    let name = unsafe { name(of) };
    call_quietly(|| state::task()?.ask_number(&Request::Remove { name, index }))
}

/// # Safety
/// The pattern ends with a zero, or is NULL. Each other pointer is NULL, or has room for its
/// result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_getmboxinfo(
    pattern: *const c_char,
    count: *mut c_int,
    list: *mut *mut Class,
) -> c_int {
    // SAFETY: as the caller says.
    let pattern = unsafe { name(pattern) };
    call_unit("pvm_getmboxinfo", || {
        let Answer::Classes(classes) = state::task()?.ask(&Request::Classes)? else {
            return Err(Code::SYS_ERR);
        };
        let pattern = Pattern::new(&pattern)?;
        let mut lent = Lent::default();
        for class in classes
            .into_iter()
            .filter(|class| pattern.fits(&class.name))
        {
            let (mut indices, mut owners, mut flags) = (Vec::new(), Vec::new(), Vec::new());
            for (index, owner, set) in class.entries {
                indices.push(index);
                owners.push(owner.0);
                flags.push(set);
            }
            let entry = Class {
                name: lent.text(&class.name),
                count: c_int::try_from(indices.len()).unwrap_or(c_int::MAX),
                indices: lent.numbers(indices),
                owners: lent.numbers(owners),
                flags: lent.numbers(flags),
            };
            lent.push(entry);
        }
        // SAFETY: as the caller says.
        unsafe {
            put(count, lent.count());
            put(list, lent.lend_in(&CLASSES));
        }
        Ok(())
    })
}

/// A pattern of names: `*` for all, else a regular expression of the C library for the whole name.
enum Pattern {
    All,
    Expression(Box<libc::regex_t>),
}

impl Pattern {
    fn new(text: &str) -> Result<Self, Code> {
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let whole = CString::new(format!("^({text})$")).map_err(|_| Code::BAD_PARAM)?;
        // SAFETY: the structure holds numbers and pointers, for which zeros are values.
        let mut expression: Box<libc::regex_t> = Box::new(unsafe { std::mem::zeroed() });
        let flags = libc::REG_EXTENDED | libc::REG_NOSUB;
        // SAFETY: the structure is there, and the text ends with a zero.
        match unsafe { libc::regcomp(&raw mut *expression, whole.as_ptr(), flags) } {
            0 => Ok(Self::Expression(expression)),
            _ => Err(Code::BAD_PARAM),
        }
    }

    fn fits(&self, name: &str) -> bool {
        let Self::Expression(expression) = self else {
            return true;
        };
        let name = super::c_text(name);
        // SAFETY: the expression was compiled, the text ends with a zero, and no places are asked
        // for.
        unsafe {
            libc::regexec(
                &raw const **expression,
                name.as_ptr(),
                0,
                std::ptr::null_mut(),
                0,
            ) == 0
        }
    }
}

impl Drop for Pattern {
    fn drop(&mut self) {
        if let Self::Expression(expression) = self {
            // SAFETY: it was compiled, and is not used again.
            unsafe { libc::regfree(&raw mut **expression) };
        }
    }
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_insert(of: *const c_char, index: c_int, number: c_int) -> c_int {
    // SAFETY: as the caller says.
    let name = unsafe { name(of) };
    call_quietly(|| {
        let letter = Letter {
            encoding: crate::buffer::Encoding::Xdr.signature(),
            tag: 0,
            content: number.to_be_bytes().to_vec(),
        };
        state::task()?.ask_number(&Request::Put {
            name,
            flags: MULTI_INSTANCE | PERSISTENT,
            index: (index >= 0).then_some(index),
            replaces: false,
            letter,
        })
    })
}

/// # Safety
/// The name ends with a zero, or is NULL. There is room for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_lookup(of: *const c_char, index: c_int, number: *mut c_int) -> c_int {
    // SAFETY: as the caller says.
    let name = unsafe { name(of) };
    call_quietly(|| {
        let mut buffer = match index {
            0.. => get(name, index, 0)?,
            _ => get(name, 0, FIRST_AVAILABLE)?,
        };
        let mut found: c_int = 0;
        // SAFETY: there is room for one number.
        unsafe {
            buffer.unpack(&raw mut found, (1, 1), 1)?;
            put(number, found);
        }
        Ok(index.max(0))
    })
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_delete(of: *const c_char, index: c_int) -> c_int {
    // SAFETY: as the caller says.
    unsafe { pvm_delinfo(of, index, 0) }
}
