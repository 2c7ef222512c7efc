//! Shared objects: the program's types as types of the crate `orca`, and handles for C.
//!
//! A state is memory that C has allocated, in the layout of its descriptor. It belongs to one
//! `State` at a time, whose users hold the run-time's lock of the object.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use antiphon_panda::DecodeError;
use bytes::Bytes;
use orca::{Alternative, Body, Codec, Handle, Here, Operation, Placement, Step};

use crate::errors::{self, fail_with};
use crate::layout::{self, At, ObjectType, Reader, Writer, slice, text};
use crate::processes;

/// The result of an alternative.
const CLOSED: i32 = 0;
const DONE: i32 = 1;
const BLOCKED: i32 = 2;

/// The state of an object, in C.
struct State {
    of: &'static ObjectType,
    memory: *mut c_void,
}

// SAFETY: the state owns the memory, and reading C code does not change it.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the memory holds a state that is no longer used.
        unsafe {
            layout::orca_destroy(self.of.state, self.memory);
            layout::orca_free(self.memory);
        }
    }
}

impl State {
    /// Returns a state of zeros.
    fn zeros(of: &'static ObjectType) -> Self {
        // SAFETY: the descriptor is a constant of the program.
        let memory = unsafe { layout::orca_allocate(std::ptr::null(), 1, (*of.state).size) };
        Self { of, memory }
    }

    fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        // SAFETY: the memory holds a state.
        unsafe { layout::orca_put(self.of.state, self.memory, &mut writer) };
        writer.take()
    }

    fn decode(of: &'static ObjectType, bytes: &[u8]) -> Result<Self, DecodeError> {
        let state = Self::zeros(of);
        let mut reader = Reader::of(bytes);
        // SAFETY: the memory of zeros holds no value.
        match unsafe { layout::orca_get(of.state, state.memory, &mut reader) } {
            true => Ok(state),
            false => Err(malformed("state of an object", &reader)),
        }
    }

    fn copy(&self) -> Self {
        let copy = Self::zeros(self.of);
        // SAFETY: the new memory holds no value, and this memory holds a state.
        unsafe { layout::orca_copy(self.of.state, copy.memory, self.memory) };
        copy
    }
}

pub fn malformed(wanted: &'static str, reader: &Reader) -> DecodeError {
    let reason = match reader.wrong.is_null() {
        true => "its bytes are wrong",
        // SAFETY: the library's reasons are constants.
        false => unsafe { text(reader.wrong) },
    };
    DecodeError::Value {
        wanted,
        reason: reason.into(),
    }
}

fn state_of(state: &orca::State) -> &State {
    state.downcast_ref().expect("the states of this type")
}

/// All types of the program by the addresses of their descriptions.
static TYPES: OnceLock<BTreeMap<usize, &'static orca::ObjectType>> = OnceLock::new();

/// Registers the program's types of objects.
pub fn register() {
    // SAFETY: generated code defines the program.
    let program = unsafe { &layout::orca_program };
    // SAFETY: its tables are constants.
    let types = unsafe { slice(program.object_types, program.object_type_count) };
    let known = types.iter().map(|of| {
        // SAFETY: as above.
        let of = unsafe { &**of };
        let registered = orca::register(described(of));
        let registered = registered.unwrap_or_else(|of| {
            fail_with(&format!("two types of objects are named {}", of.name()))
        });
        (std::ptr::from_ref(of) as usize, registered)
    });
    let known = known.collect();
    TYPES.get_or_init(|| known);
}

fn type_of(of: *const ObjectType) -> &'static orca::ObjectType {
    let found = TYPES.get().and_then(|types| types.get(&(of as usize)));
    found.unwrap_or_else(|| fail_with("an object has no type"))
}

/// Describes a type: its operations, then the copy of the state, then its assignment.
fn described(of: &'static ObjectType) -> orca::ObjectType {
    let codec = Codec {
        encode: Box::new(|state| Ok(state_of(state).encode())),
        decode: Box::new(move |bytes| Ok(Box::new(State::decode(of, bytes)?))),
        copy: Box::new(|state| Box::new(state_of(state).copy())),
    };
    // SAFETY: the table is a constant of the program.
    let table = unsafe { slice(of.operations, of.count) };
    let mut operations: Vec<Operation> = table.iter().map(operation).collect();
    operations.push(Operation {
        name: "the copy of its state".into(),
        alternatives: vec![alternative(
            None,
            false,
            Body::Reads(Box::new(|state, _| {
                Ok(Step::Done(state_of(state).encode()))
            })),
        )],
        has_result: true,
        does_io: false,
    });
    operations.push(Operation {
        name: "the assignment of its state".into(),
        alternatives: vec![alternative(
            None,
            false,
            Body::Writes(Box::new(move |state, bytes| {
                let assigned = State::decode(of, bytes)?;
                if let Some(state) = state.downcast_mut::<State>() {
                    *state = assigned;
                }
                Ok(Step::Done(Vec::new()))
            })),
        )],
        has_result: true,
        does_io: false,
    });
    // SAFETY: names are constants.
    orca::ObjectType::new(unsafe { text(of.name) }, codec, operations)
}

fn alternative(guard: Option<String>, may_undo: bool, body: Body) -> Alternative {
    Alternative {
        guard,
        body,
        may_undo,
    }
}

fn operation(of: &'static layout::Operation) -> Operation {
    // SAFETY: the table is a constant of the program.
    let table = unsafe { slice(of.alternatives, of.count) };
    let alternatives = table.iter().enumerate().map(|(index, it)| {
        let index = index as u32;
        let body = match it.writes {
            false => Body::Reads(Box::new(move |state, bytes| {
                step(of, index, state_of(state), bytes)
            })),
            true => Body::Writes(Box::new(move |state, bytes| {
                step(of, index, state_of(state), bytes)
            })),
        };
        // SAFETY: guards are constants.
        let guard = (!it.guard.is_null()).then(|| unsafe { text(it.guard) }.to_owned());
        alternative(guard, it.may_undo || it.may_block, body)
    });
    Operation {
        // SAFETY: names are constants.
        name: unsafe { text(of.name) }.to_owned(),
        alternatives: alternatives.collect(),
        has_result: of.has_result,
        does_io: of.does_io,
    }
}

/// Tries an alternative. One that only reads does not change the state.
fn step(
    of: &'static layout::Operation,
    index: u32,
    state: &State,
    bytes: &[u8],
) -> Result<Step, DecodeError> {
    let (mut reader, mut writer) = (Reader::of(bytes), Writer::new());
    // SAFETY: the run-time's lock excludes others while the state is written.
    let outcome = unsafe { layout::orca_step(of, index, state.memory, &mut reader, &mut writer) };
    let result = writer.take();
    match outcome {
        DONE => Ok(Step::Done(result)),
        CLOSED => Ok(Step::Closed),
        BLOCKED => Ok(Step::Blocked),
        _ => Err(malformed("arguments of an operation", &reader)),
    }
}

pub fn bytes_of(bytes: *const u8, size: usize) -> Bytes {
    match size {
        0 => Bytes::new(),
        // SAFETY: C passes this many bytes.
        _ => Bytes::copy_from_slice(unsafe { std::slice::from_raw_parts(bytes, size) }),
    }
}

pub fn handle_of(handle: *mut c_void) -> &'static Handle {
    // SAFETY: C holds a handle from `orca_shared_create` or `orca_shared_argument`.
    unsafe { &*handle.cast::<Handle>() }
}

/// Returns a handle for C, which later passes it to `orca_shared_release`.
pub fn for_c(handle: Handle) -> *mut c_void {
    Box::into_raw(Box::new(handle)).cast()
}

#[unsafe(no_mangle)]
extern "C" fn orca_shared_create(
    of: *const ObjectType,
    state: *const u8,
    size: usize,
) -> *mut c_void {
    let state = bytes_of(state, size);
    let created =
        processes::here(|orca| orca.create_raw(type_of(of), Placement::Adaptive, state.clone()));
    for_c(created.unwrap_or_else(|error| errors::give_up(std::ptr::null(), &error)))
}

#[unsafe(no_mangle)]
extern "C" fn orca_shared_release(handle: *mut c_void) {
    // SAFETY: C owns the handle, and gives it up.
    drop(unsafe { Box::from_raw(handle.cast::<Handle>()) });
}

#[unsafe(no_mangle)]
extern "C" fn orca_shared_invoke(
    handle: *mut c_void,
    operation: u32,
    arguments: *const u8,
    size: usize,
    result: *mut Writer,
    at: At,
) {
    let arguments = bytes_of(arguments, size);
    match handle_of(handle).invoke_raw(operation as usize, arguments) {
        // SAFETY: the writer belongs to C.
        Ok(bytes) => unsafe { &mut *result }.append(&bytes),
        Err(error) => errors::give_up(at, &error),
    }
}

/// Tries to read the copy here. The arguments and the result stay in the struct of the caller.
#[unsafe(no_mangle)]
extern "C" fn orca_shared_read(
    handle: *mut c_void,
    number: u32,
    operation: *const layout::Operation,
    arguments: *mut c_void,
) -> bool {
    let read = |state: &orca::State, ()| {
        // SAFETY: reading alternatives do not change the state, and the arguments are the
        // operation's.
        match unsafe { layout::orca_read(operation, state_of(state).memory, arguments) } {
            true => Ok(()),
            false => Err(()),
        }
    };
    let outcome = handle_of(handle).read_state_here(number as usize, (), read);
    matches!(outcome, Here::Done(Ok(())))
}

#[unsafe(no_mangle)]
extern "C" fn orca_shared_strategy(handle: *mut c_void, replicate: i32, cpu: i32, at: At) {
    let placement = match replicate {
        0 => Placement::Owned(cpu as u32),
        _ => Placement::Replicated,
    };
    match handle_of(handle).strategy(placement) {
        // An object whose operations do input or output always has one copy.
        Ok(()) | Err(orca::Error::NotReplicable { .. }) => {}
        Err(error) => errors::give_up(at, &error),
    }
}
