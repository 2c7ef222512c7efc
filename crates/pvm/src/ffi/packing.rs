//! Packing and unpacking.

use std::ffi::{
    CStr, c_char, c_double, c_float, c_int, c_long, c_short, c_uint, c_ulong, c_ushort,
};

use super::{call_unit, text};
use crate::code::Code;
use crate::element::Element;
use crate::state::with;

/// Packs elements.
///
/// # Safety
/// As [`Buffer::pack`](crate::buffer::Buffer::pack).
unsafe fn pack<T: Element>(
    name: &str,
    array: *const T,
    (count, stride): (c_int, c_int),
    group: usize,
) -> c_int {
    // SAFETY: as the caller says.
    call_unit(name, || {
        with(|state| unsafe { state.buffers.packed()?.pack(array, (count, stride), group) })
    })
}

/// Unpacks elements.
///
/// # Safety
/// As [`Buffer::unpack`](crate::buffer::Buffer::unpack).
unsafe fn unpack<T: Element>(
    name: &str,
    array: *mut T,
    (count, stride): (c_int, c_int),
    group: usize,
) -> c_int {
    // SAFETY: as the caller says.
    call_unit(name, || {
        with(|state| unsafe { (state.buffers.unpacked()?).unpack(array, (count, stride), group) })
    })
}

/// Defines the functions for one kind of elements.
macro_rules! kinds {
    ($($pack:ident $unpack:ident $element:ty, $group:literal;)*) => {$(
        /// # Safety
        /// The array holds the elements.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $pack(array: *const $element, count: c_int, stride: c_int) -> c_int {
            // SAFETY: as the caller says.
            unsafe { pack(stringify!($pack), array, (count, stride), $group) }
        }

        /// # Safety
        /// The array has room for the elements.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $unpack(array: *mut $element, count: c_int, stride: c_int) -> c_int {
            // SAFETY: as the caller says.
            unsafe { unpack(stringify!($unpack), array, (count, stride), $group) }
        }
    )*};
}

kinds! {
    pvm_pkshort pvm_upkshort c_short, 1;
    pvm_pkushort pvm_upkushort c_ushort, 1;
    pvm_pkint pvm_upkint c_int, 1;
    pvm_pkuint pvm_upkuint c_uint, 1;
    pvm_pklong pvm_upklong c_long, 1;
    pvm_pkulong pvm_upkulong c_ulong, 1;
    pvm_pkfloat pvm_upkfloat c_float, 1;
    pvm_pkdouble pvm_upkdouble c_double, 1;
    pvm_pkcplx pvm_upkcplx c_float, 2;
    pvm_pkdcplx pvm_upkdcplx c_double, 2;
}

/// # Safety
/// The array holds the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_pkbyte(array: *const c_char, count: c_int, stride: c_int) -> c_int {
    // SAFETY: as the caller says.
    call_unit("pvm_pkbyte", || {
        with(|state| unsafe {
            let packed = state.buffers.packed()?;
            packed.pack_bytes(array.cast(), (count, stride))
        })
    })
}

/// # Safety
/// The array has room for the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_upkbyte(array: *mut c_char, count: c_int, stride: c_int) -> c_int {
    // SAFETY: as the caller says.
    call_unit("pvm_upkbyte", || {
        with(|state| unsafe {
            let unpacked = state.buffers.unpacked()?;
            unpacked.unpack_bytes(array.cast(), (count, stride))
        })
    })
}

/// # Safety
/// The text ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_pkstr(string: *const c_char) -> c_int {
    call_unit("pvm_pkstr", || {
        // SAFETY: as the caller says.
        let string: &CStr = unsafe { text(string)? };
        with(|state| {
            state
                .buffers
                .packed()?
                .pack_text(string.to_bytes_with_nul())
        })
    })
}

/// # Safety
/// There is room for the text, whatever its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvm_upkstr(string: *mut c_char) -> c_int {
    call_unit("pvm_upkstr", || {
        if string.is_null() {
            return Err(Code::BAD_PARAM);
        }
        with(|state| {
            let came = state.buffers.unpacked()?.unpack_text()?;
            // SAFETY: as the caller says.
            unsafe { std::ptr::copy_nonoverlapping(came.as_ptr(), string.cast(), came.len()) };
            Ok(())
        })
    })
}
