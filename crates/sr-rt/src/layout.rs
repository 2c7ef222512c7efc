//! The structs that generated C and the run-time share: `include/sr.h` in Rust. The header says
//! what they mean.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A place in the source.
#[repr(C)]
pub struct Location {
    pub file: *const c_char,
    pub line: i32,
    pub what: Name,
}

/// Null where none is known.
pub type At = *const Location;

/// A static text of the generated program.
pub type Name = *const c_char;

/// Returns the text of a name; empty if there is none.
///
/// # Safety
/// The name is null, or a static text that ends with a zero, as all names in the contract are.
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
    pub has_points: bool,
    /// Whether the program was compiled with SR_MACHINES.
    pub has_machines: bool,
    pub main: *const Component,
    pub options: Name,
    pub functions: *const Function,
    pub functions_count: i32,
    /// The section of generated functions; null if there is none.
    pub code: *const u8,
    pub code_end: *const u8,
}

/// The version of the contract.
pub const VERSION: u32 = 3;

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

/// The part of a process that generated code may read.
#[repr(C)]
pub struct ProcessHead {
    pub at: At,
    pub arena: Arena,
}

pub type Code = unsafe extern "C" fn(*mut Instance, *mut Invocation) -> *mut Invocation;

/// `enum sr_op_kind`.
pub mod kind {
    pub const NONE: i16 = 0;
    pub const PROC: i16 = 1;
    pub const SEPARATE: i16 = 2;
    pub const INPUT: i16 = 3;
    pub const SEMAPHORE: i16 = 4;
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
    pub kind: i16,
    pub is_dynamic: i16,
    pub pending: i32,
    pub index: i32,
    pub name: Name,
    pub instance: *mut Instance,
    pub target: OpTarget,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cap {
    pub op: *mut Op,
    pub serial: u32,
    /// The virtual machine that the operation is on.
    #[cfg(feature = "machines")]
    pub machine: u32,
}

impl Cap {
    /// Returns the capability of an operation of this address space.
    pub fn here(op: *mut Op, serial: u32) -> Self {
        Cap {
            op,
            serial,
            #[cfg(feature = "machines")]
            machine: crate::machines::own(),
        }
    }
}

/// The serial of a noop capability; a null capability has 0.
pub const NOOP_SERIAL: u32 = 1;
/// The first serial that is given out.
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
    /// Its caller is on another virtual machine.
    #[cfg(feature = "machines")]
    pub const REMOTE: u8 = 3;
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
    /// The region of the process that a send creates, plus 1; 0 for the region of its instance.
    pub region: i32,
    /// For a caller on another virtual machine: the machine, and the number by which it waits.
    #[cfg(feature = "machines")]
    pub home: u32,
    /// The priority of a caller on another virtual machine.
    #[cfg(feature = "machines")]
    pub priority: i32,
    /// How often the invocation was passed on to another virtual machine.
    #[cfg(feature = "machines")]
    pub hops: u32,
    #[cfg(feature = "machines")]
    pub token: u64,
    #[cfg(feature = "machines")]
    pub signature: *const Signature,
}

/// What a message needs to know of an invocation's block.
#[cfg(feature = "machines")]
#[repr(C)]
pub struct Signature {
    /// Why the operation cannot be invoked on another virtual machine; null if it can.
    pub refused: Name,
    /// Where the result is, if it lies outside of the block; null otherwise.
    pub result: *const Field,
}

/// A text or a view in a block whose characters or elements lie elsewhere.
#[cfg(feature = "machines")]
#[repr(C)]
pub struct Field {
    pub offset: u32,
    /// 0 for a text, otherwise the number of the array's dimensions.
    pub dimensions: i32,
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
    /// Returns the number of elements.
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
    /// Returns the characters.
    ///
    /// # Safety
    /// The characters do not change while the slice is used.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.length <= 0 {
            return &[];
        }
        // SAFETY: a text of the contract has that many characters there.
        unsafe { std::slice::from_raw_parts(self.data, self.length as usize) }
    }
}

const _: () = {
    use std::mem::size_of;
    assert!(size_of::<Op>() == 40);
    assert!(size_of::<Cap>() == 16);
    assert!(size_of::<Instance>() == 120);
    assert!(size_of::<Invocation>() == if cfg!(feature = "machines") { 112 } else { 88 });
    assert!(size_of::<ProcessHead>() == 32);
    assert!(size_of::<Value>() == 16);
    assert!(size_of::<Target>() == 24);
    assert!(size_of::<Dimension>() == 16);
};
