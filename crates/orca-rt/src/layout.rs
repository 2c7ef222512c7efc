//! The structs of `include/orca.h`, field by field.

use std::ffi::{CStr, c_char, c_int, c_void};

use orca::partitioned::Along;

/// A place in the source.
#[repr(C)]
pub struct Location {
    pub file: *const c_char,
    pub line: i32,
}

/// A location, or null.
pub type At = *const Location;

/// Bytes that C writes.
#[repr(C)]
pub struct Writer {
    pub bytes: *mut u8,
    pub length: usize,
    pub capacity: usize,
}

/// Bytes that C reads.
#[repr(C)]
pub struct Reader {
    pub next: *const u8,
    pub end: *const u8,
    pub wrong: *const c_char,
}

/// A descriptor of a type of values. Only C reads it, except for its size and number of fields.
#[repr(C)]
pub struct Type {
    name: *const c_char,
    kind: c_int,
    is_plain: bool,
    has_init: bool,
    dimensions: i32,
    pub size: usize,
    pub count: u32,
}

/// An alternative of an operation.
#[repr(C)]
pub struct Alternative {
    pub guard: *const c_char,
    run: *const c_void,
    pub writes: bool,
    pub may_block: bool,
    pub may_undo: bool,
}

/// An operation of a type of objects.
#[repr(C)]
pub struct Operation {
    pub name: *const c_char,
    pub alternatives: *const Alternative,
    pub count: u32,
    size: usize,
    pub has_result: bool,
    pub does_io: bool,
    functions: [*const c_void; 5],
}

/// A type of objects.
#[repr(C)]
pub struct ObjectType {
    pub name: *const c_char,
    pub state: *const Type,
    init: *const c_void,
    pub operations: *const Operation,
    pub count: u32,
    pub does_io: bool,
}

/// A process.
#[repr(C)]
pub struct Process {
    pub name: *const c_char,
    pub run: unsafe extern "C" fn(*mut Reader),
}

/// The description of the program in generated code.
#[repr(C)]
pub struct Program {
    pub begin: unsafe extern "C" fn(),
    pub main: unsafe extern "C" fn(*mut Reader),
    pub object_types: *const *const ObjectType,
    pub object_type_count: u32,
    pub processes: *const Process,
    pub process_count: u32,
    pub array_types: *const *const ArrayType,
    pub array_type_count: u32,
}

/// A dimension of an array: its first index, and its length.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Dimension {
    pub low: i64,
    pub count: u64,
}

/// The most dimensions of a partitioned object.
pub const MOST_SHAPE: usize = orca::partitioned::MOST_DIMENSIONS;

/// A part of a partitioned object.
#[repr(C)]
pub struct Part {
    pub elements: *mut c_char,
    pub from: [u64; MOST_SHAPE],
    pub length: [u64; MOST_SHAPE],
    pub is_changed: bool,
}

/// A partitioned object as an operation sees it.
#[repr(C)]
pub struct View {
    pub dimension: [Dimension; MOST_SHAPE],
    pub along: [*const Along; MOST_SHAPE],
    pub counts: [u64; 2],
    pub parts: *mut Part,
    pub part_count: u64,
    pub of: *const ArrayType,
    pub part: u64,
    pub own: *mut c_char,
    pub needed: *mut u8,
    pub access: *const c_void,
}

/// An operation of a type of partitioned objects.
#[repr(C)]
pub struct ArrayOperation {
    pub name: *const c_char,
    pub is_parallel: bool,
    pub writes: bool,
    pub has_result: bool,
    pub reads: i32,
    pub size: usize,
    put: *const c_void,
    pub get: unsafe extern "C" fn(*mut c_void, *mut Reader) -> bool,
    pub drop: unsafe extern "C" fn(*mut c_void),
    pub get_result: unsafe extern "C" fn(*mut c_void, *mut Reader) -> bool,
    run: *const c_void,
    pub declare: Option<unsafe extern "C" fn(*mut View, *mut c_void)>,
    pub collect: Option<unsafe extern "C" fn(*mut View, *mut c_void, bool, *mut Reader) -> bool>,
}

/// A type of partitioned objects.
#[repr(C)]
pub struct ArrayType {
    pub name: *const c_char,
    pub element: *const Type,
    pub dimensions: i32,
    pub init: Option<unsafe extern "C" fn(*mut View)>,
    pub operations: *const ArrayOperation,
    pub count: u32,
}

/// SAFETY: all pointers lead to constants or code.
unsafe impl Sync for Program {}
/// SAFETY: as above.
unsafe impl Sync for Process {}
/// SAFETY: as above.
unsafe impl Sync for ObjectType {}
/// SAFETY: as above.
unsafe impl Sync for Operation {}
/// SAFETY: as above.
unsafe impl Sync for ArrayType {}
/// SAFETY: as above.
unsafe impl Sync for ArrayOperation {}

unsafe extern "C" {
    pub static orca_program: Program;
    pub fn orca_put(of: *const Type, value: *const c_void, writer: *mut Writer);
    pub fn orca_get(of: *const Type, value: *mut c_void, reader: *mut Reader) -> bool;
    pub fn orca_copy(of: *const Type, to: *mut c_void, from: *const c_void);
    pub fn orca_destroy(of: *const Type, value: *mut c_void);
    pub fn orca_allocate(at: At, count: usize, size: usize) -> *mut c_void;
    pub fn orca_free(memory: *mut c_void);
    /// Flushes output. Returns why output is lost, or null.
    pub fn orca_flush() -> *const c_char;
    pub fn orca_elements_new(of: *const Type, count: usize) -> *mut c_char;
    pub fn orca_elements_copy(of: *const Type, from: *const c_char, count: usize) -> *mut c_char;
    pub fn orca_elements_free(of: *const Type, elements: *mut c_char, count: usize);
    pub fn orca_elements_put(
        of: *const Type,
        elements: *const c_char,
        count: usize,
        writer: *mut Writer,
    );
    pub fn orca_elements_get(
        of: *const Type,
        elements: *mut c_char,
        count: usize,
        reader: *mut Reader,
    ) -> bool;
    pub fn orca_writer_grow(writer: *mut Writer, more: usize);
    /// Tries the alternatives that only read. Returns whether one was open.
    pub fn orca_read(
        operation: *const Operation,
        state: *mut c_void,
        arguments: *mut c_void,
    ) -> bool;
    pub fn orca_step(
        operation: *const Operation,
        alternative: u32,
        state: *mut c_void,
        arguments: *mut Reader,
        result: *mut Writer,
    ) -> c_int;
    /// Returns false if a part could not be fetched, as do the next ones.
    pub fn orca_view_execute(
        view: *mut View,
        operation: *const ArrayOperation,
        arguments: *mut c_void,
        result: *mut Writer,
    ) -> bool;
    pub fn orca_view_init(view: *mut View) -> bool;
    pub fn orca_view_put(view: *mut View, writer: *mut Writer) -> bool;
    pub fn orca_view_get(view: *mut View, reader: *mut Reader) -> bool;
}

impl Writer {
    /// Returns a writer without bytes.
    pub fn new() -> Self {
        Self {
            bytes: std::ptr::null_mut(),
            length: 0,
            capacity: 0,
        }
    }

    /// Returns the bytes, and frees the writer.
    pub fn take(self) -> Vec<u8> {
        if self.length == 0 {
            // SAFETY: the pointer is null, or memory of the writer.
            unsafe { orca_free(self.bytes.cast()) };
            return Vec::new();
        }
        // SAFETY: the writer owns this many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.bytes, self.length) }.to_vec();
        // SAFETY: the library has allocated them.
        unsafe { orca_free(self.bytes.cast()) };
        bytes
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        // SAFETY: the writer is valid, and after growing there is room behind its length.
        unsafe {
            if bytes.len() > self.capacity - self.length {
                orca_writer_grow(self, bytes.len());
            }
            let end = self.bytes.add(self.length);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len());
        }
        self.length += bytes.len();
    }
}

impl Reader {
    /// Returns a reader of these bytes, which must outlive it.
    pub fn of(bytes: &[u8]) -> Self {
        let range = bytes.as_ptr_range();
        Self {
            next: range.start,
            end: range.end,
            wrong: std::ptr::null(),
        }
    }
}

/// Returns a text of the program.
///
/// # Safety
/// The text is a constant that ends in a zero.
pub unsafe fn text(of: *const c_char) -> &'static str {
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(of) }.to_str().unwrap_or("?")
}

/// Returns constants as a slice.
///
/// # Safety
/// There are `count` constants.
pub unsafe fn slice<T>(first: *const T, count: u32) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: by contract.
        _ => unsafe { std::slice::from_raw_parts(first, count as usize) },
    }
}
