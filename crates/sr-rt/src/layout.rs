//! The structs that generated C and the run-time share: `include/sr.h` in Rust. What they mean is said there.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A place in the source.
#[repr(C)]
pub struct Location {
    pub file: *const c_char,
    pub line: i32,
}

/// Null where none is known.
pub type At = *const Location;

/// A static text of the generated program.
pub type Name = *const c_char;

/// The text behind a name; empty if there is none.
///
/// # Safety
/// Null, or a static text that ends with a zero, as all names in the contract are.
pub unsafe fn name_of(name: Name) -> &'static str {
    if name.is_null() {
        return "";
    }
    // SAFETY: by the contract above.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?")
}

#[repr(C)]
pub struct Component {
    pub name: Name,
    pub instance_bytes: usize,
    pub body: unsafe extern "C" fn(*mut Instance, *mut c_void),
    pub last: Option<unsafe extern "C" fn(*mut Instance)>,
    pub global: *mut *mut Instance,
}

#[repr(C)]
pub struct Function {
    pub code: *const c_void,
    pub name: Name,
    pub at: At,
}

#[repr(C)]
pub struct Program {
    pub version: u32,
    pub is_many: bool,
    pub has_loops: bool,
    pub main: *const Component,
    pub options: Name,
    pub functions: *const Function,
    pub functions_count: i32,
}

/// The version of the contract.
pub const VERSION: u32 = 1;

#[repr(C)]
pub struct Arena {
    pub next: *mut u8,
    pub limit: *mut u8,
    pub chunk: *mut c_void,
}

impl Arena {
    pub const EMPTY: Arena = Arena {
        next: ptr::null_mut(),
        limit: ptr::null_mut(),
        chunk: ptr::null_mut(),
    };
}

/// What generated code may see of a process.
#[repr(C)]
pub struct ProcessHead {
    pub at: At,
    pub arena: Arena,
}

pub type Code = unsafe extern "C" fn(*mut Instance, *mut Invocation) -> *mut Invocation;

/// `enum sr_op_kind`.
pub mod kind {
    pub const NONE: i32 = 0;
    pub const PROC: i32 = 1;
    pub const SEPARATE: i32 = 2;
    pub const INPUT: i32 = 3;
    pub const SEMAPHORE: i32 = 4;
}

#[repr(C)]
pub union OpTarget {
    pub code: Option<Code>,
    pub class: *mut c_void,
    pub semaphore: *mut c_void,
}

#[repr(C)]
pub struct Op {
    pub serial: u32,
    pub kind: i32,
    pub pending: i32,
    pub reserved: i32,
    pub name: Name,
    pub instance: *mut Instance,
    pub target: OpTarget,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cap {
    pub op: *mut Op,
    pub serial: u32,
}

/// The serial of a noop capability; that of null is 0.
pub const NOOP_SERIAL: u32 = 1;
/// The first serial that is given to something.
pub const FIRST_SERIAL: u32 = 2;

#[repr(C)]
pub struct Instance {
    pub serial: u32,
    pub region: i32,
    pub component: *const Component,
    pub parameters: *mut c_void,
    /// The run-time's own: a `Box<instance::State<S>>` that stays with the memory for ever.
    pub state: *mut c_void,
    pub rest: [u64; 11],
}

/// Kinds of invocations.
pub mod invoked {
    pub const CALL: u8 = 0;
    pub const SEND: u8 = 1;
    pub const CO: u8 = 2;
}

#[repr(C)]
pub struct Invocation {
    pub next: *mut Invocation,
    pub previous: *mut Invocation,
    pub op: Cap,
    pub caller: *mut ProcessHead,
    pub relocate: Option<unsafe extern "C" fn(*mut Invocation, isize)>,
    pub co: *mut c_void,
    pub answer: *mut *mut Invocation,
    pub size: u32,
    pub co_serial: u32,
    pub arm: i32,
    pub kind: u8,
    pub is_replied: bool,
    pub is_owned: bool,
    pub is_refused: bool,
    /// Of the process that a send creates, and 1; 0 if it is in its instance's.
    pub region: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    pub data: *const u8,
    pub length: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct StringPlace {
    pub length: *mut i32,
    pub data: *mut u8,
    pub maximum: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dimension {
    pub low: i32,
    pub high: i32,
    pub stride: i64,
}

impl Dimension {
    /// Elements in it.
    pub fn length(&self) -> i64 {
        i64::from(self.high) - i64::from(self.low) + 1
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union ValueBits {
    pub i: i32,
    pub r: f64,
    pub p: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Value {
    pub kind: u8,
    pub length: i32,
    pub bits: ValueBits,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Target {
    pub kind: u8,
    pub maximum: i32,
    pub place: *mut c_void,
    pub length: *mut i32,
}

impl Text {
    /// The characters.
    ///
    /// # Safety
    /// They stay as they are while the slice is used.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.length <= 0 {
            return &[];
        }
        // SAFETY: a text of the contract has so many characters there.
        unsafe { std::slice::from_raw_parts(self.data, self.length as usize) }
    }
}

const _: () = {
    use std::mem::size_of;
    assert!(size_of::<Op>() == 40);
    assert!(size_of::<Cap>() == 16);
    assert!(size_of::<Instance>() == 120);
    assert!(size_of::<Invocation>() == 88);
    assert!(size_of::<ProcessHead>() == 32);
    assert!(size_of::<Value>() == 16);
    assert!(size_of::<Target>() == 24);
    assert!(size_of::<Dimension>() == 16);
};
