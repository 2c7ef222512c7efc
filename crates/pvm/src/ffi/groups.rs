//! Groups of tasks.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::{call_quietly, call_unit, name, put, report};
use crate::code::Code;
use crate::group::{By, Combine, Operation, combine, members};
use crate::protocol::Request;
use crate::state::{self, with};
use crate::tid::Tid;

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_joingroup(group: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| state::task()?.ask_number(&Request::Join(group)))
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_lvgroup(group: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| state::task()?.ask_number(&Request::LeaveGroup(group)))
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gsize(group: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| {
        let members = members(&*state::task()?, &group)?;
        c_int::try_from(members.len()).map_err(|_| Code::OVERFLOW)
    })
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_gettid(group: *const c_char, instance: c_int) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| {
        let members = members(&*state::task()?, &group)?;
        let member = members.iter().find(|(of, _)| *of == instance);
        Ok(member.ok_or(Code::NO_INST)?.1.0)
    })
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_getinst(group: *const c_char, tid: c_int) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| {
        let members = members(&*state::task()?, &group)?;
        let member = members.iter().find(|(_, of)| of.0 == tid);
        Ok(member.ok_or(Code::NOT_IN_GROUP)?.0)
    })
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_barrier(group: *const c_char, count: c_int) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| state::task()?.ask_number(&Request::Barrier(group, count)))
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_freezegroup(group: *const c_char, size: c_int) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| state::task()?.ask_number(&Request::Freeze(group, size)))
}

/// # Safety
/// The name ends with a zero, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_bcast(group: *const c_char, tag: c_int) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_quietly(|| {
        let task = state::task()?;
        let members = members(&task, &group)?;
        let others: Vec<Tid> = members
            .into_iter()
            .map(|(_, tid)| tid)
            .filter(|tid| *tid != task.tid)
            .collect();
        // A group without other members is no destination.
        if others.is_empty() {
            return Err(Code::NO_INST);
        }
        let (context, content) = with(|state| {
            let context = state.context;
            Ok::<_, Code>((context, state.buffers.packed()?.content()))
        })?;
        for tid in others {
            task.send(tid, (context, tag), (content.0, content.1.clone()), 0)?;
        }
        Ok(0)
    })
}

/// Returns the bytes of an array.
///
/// # Safety
/// The array is NULL, or has `length` bytes.
unsafe fn bytes<'a>(array: *const c_void, length: usize) -> Result<&'a [u8], Code> {
    match length {
        0 => Ok(&[]),
        _ if array.is_null() => Err(Code::BAD_PARAM),
        // SAFETY: as the caller says.
        _ => Ok(unsafe { std::slice::from_raw_parts(array.cast(), length) }),
    }
}

/// # Safety
/// The array holds the numbers, and the function combines such arrays.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "PVM's interface has so many")]
pub unsafe extern "C" fn pvm_reduce(
    function: Option<Combine>,
    array: *mut c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    group: *const c_char,
    root: c_int,
) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_unit("pvm_reduce", || {
        let function = function.ok_or(Code::BAD_PARAM)?;
        let task = state::task()?;
        let operation = Operation::new(&task, &group, (count, kind), tag, root)?;
        // SAFETY: as the caller says.
        let own = unsafe { bytes(array, operation.length())? };
        if !operation.is_root() {
            return operation.give(operation.root(), own);
        }
        let others: Vec<Tid> = operation.members().map(|(_, tid)| tid).collect();
        for tid in others.into_iter().filter(|tid| *tid != operation.own()) {
            let mut other = operation.get(tid)?;
            let (mut kind, mut count, mut outcome) = (kind, count, 0);
            // SAFETY: both arrays hold the numbers, and the program provides the function for them.
            unsafe {
                function(
                    &raw mut kind,
                    array,
                    other.as_mut_ptr().cast(),
                    &raw mut count,
                    &raw mut outcome,
                );
            }
            if outcome < 0 {
                return Err(Code(outcome));
            }
        }
        Ok(())
    })
}

/// # Safety
/// The array has room for this member's numbers, and the root's holds those of all.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "PVM's interface has so many")]
pub unsafe extern "C" fn pvm_scatter(
    result: *mut c_void,
    array: *const c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    group: *const c_char,
    root: c_int,
) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_unit("pvm_scatter", || {
        let task = state::task()?;
        let operation = Operation::new(&task, &group, (count, kind), tag, root)?;
        let length = operation.length();
        // SAFETY: the caller's arrays hold as many.
        let copy = |from: &[u8]| unsafe {
            if length > 0 && !result.is_null() {
                ptr::copy(from.as_ptr(), result.cast(), length);
            }
        };
        if !operation.is_root() {
            copy(&operation.get(operation.root())?);
            return Ok(());
        }
        for (place, tid) in operation.members() {
            // SAFETY: the root's array holds the numbers of all members.
            let part = unsafe { bytes(array.byte_add(place * length), length)? };
            match tid == operation.own() {
                true => copy(part),
                false => operation.give(tid, part)?,
            }
        }
        Ok(())
    })
}

/// # Safety
/// The array holds this member's numbers, and the root's result has room for those of all.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "PVM's interface has so many")]
pub unsafe extern "C" fn pvm_gather(
    result: *mut c_void,
    array: *const c_void,
    count: c_int,
    kind: c_int,
    tag: c_int,
    group: *const c_char,
    root: c_int,
) -> c_int {
    // SAFETY: as the caller says.
    let group = unsafe { name(group) };
    call_unit("pvm_gather", || {
        let task = state::task()?;
        let operation = Operation::new(&task, &group, (count, kind), tag, root)?;
        let length = operation.length();
        // SAFETY: as the caller says.
        let own = unsafe { bytes(array, length)? };
        if !operation.is_root() {
            return operation.give(operation.root(), own);
        }
        if result.is_null() && length > 0 {
            return Err(Code::BAD_PARAM);
        }
        for (place, tid) in operation.members() {
            let others;
            let part = match tid == operation.own() {
                true => own,
                false => {
                    others = operation.get(tid)?;
                    &others
                }
            };
            // SAFETY: the root's result has room for the numbers of all members.
            unsafe {
                ptr::copy(
                    part.as_ptr(),
                    result.cast::<u8>().add(place * length),
                    length,
                )
            };
        }
        Ok(())
    })
}

/// Defines functions that combine arrays of numbers.
macro_rules! combining {
    ($($function:ident $by:expr;)*) => {$(
        /// # Safety
        /// Both arrays hold `count` numbers of the kind.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "PVM's name")]
        pub unsafe extern "C" fn $function(
            kind: *mut c_int,
            into: *mut c_void,
            other: *mut c_void,
            count: *mut c_int,
            outcome: *mut c_int,
        ) {
            // SAFETY: as the caller says.
            unsafe {
                let combined = combine(*kind, (into, other), *count, $by);
                let code = combined.map_or_else(|code| report(stringify!($function), code), |()| 0);
                put(outcome, code);
            }
        }
    )*};
}

combining! {
    PvmMax By::Max;
    PvmMin By::Min;
    PvmSum By::Sum;
    PvmProduct By::Product;
}
