//! Operations in C as operations of the crate `orca`, and those that every type has.

use std::ffi::c_void;
use std::sync::Arc;

use antiphon_panda::DecodeError;
use orca::partitioned::{Access, ArrayBody, ArrayOperation, Part, Ran, Reads};

use super::elements::elements_of;
use super::view::{Changed, Seen, orca_array_part};
use crate::layout::text;
use crate::layout::{self, ArrayType, Reader, View, Writer};
use crate::objects::malformed;

pub(super) fn operation(
    of: &'static ArrayType,
    operation: &'static layout::ArrayOperation,
) -> ArrayOperation {
    let reads = match operation.reads {
        0 => Reads::Own,
        2 => Reads::Declared(Box::new(move |plan, part| {
            Seen::shape(of, plan).declared(operation, part, std::ptr::null_mut())
        })),
        3 => Reads::DeclaredByCall(Box::new(move |plan, part, bytes| {
            let arguments = Arguments::decode(operation, bytes)?;
            Ok(Seen::shape(of, plan).declared(operation, part, arguments.memory))
        })),
        4 => Reads::Recorded,
        5 => Reads::OnDemand,
        _ => Reads::Whole,
    };
    let body = match operation.is_parallel {
        true => ArrayBody::Parallel {
            reads,
            run: Box::new(move |access, parts, bytes| {
                run_parallel(of, operation, access, parts, bytes)
            }),
        },
        false => ArrayBody::Sequential {
            reads,
            writes: operation.writes,
            run: Box::new(move |access, bytes| {
                run_once(of, access, |view, writer| {
                    let arguments = Arguments::decode(operation, bytes)?;
                    run(operation, view, &arguments, writer)
                })
            }),
        },
    };
    ArrayOperation {
        // SAFETY: names are constants.
        name: unsafe { text(operation.name) }.to_owned(),
        body,
    }
}

/// Returns the operations on all elements that every type has.
pub(super) fn hidden(of: &'static ArrayType) -> [ArrayOperation; 3] {
    type Body = Box<dyn Fn(&mut View, &[u8], &mut Writer) -> Result<(), DecodeError> + Send + Sync>;
    let of_body = |name: &str, writes: bool, body: Body| ArrayOperation {
        name: name.into(),
        body: ArrayBody::Sequential {
            reads: Reads::Whole,
            writes,
            run: Box::new(move |access, bytes| {
                run_once(of, access, |view, writer| body(view, bytes, writer))
            }),
        },
    };
    let copy: Body = Box::new(|view, _, writer| {
        // SAFETY: the view is of an array of this type.
        ended(unsafe { layout::orca_view_put(view, writer) })
    });
    let assign: Body = Box::new(|view, bytes, _| {
        let mut reader = Reader::of(bytes);
        // SAFETY: as above.
        match unsafe { layout::orca_view_get(view, &mut reader) } {
            true => Ok(()),
            false => Err(malformed("state of a partitioned object", &reader)),
        }
    });
    let init: Body = Box::new(|view, _, _| {
        // SAFETY: as above.
        ended(unsafe { layout::orca_view_init(view) })
    });
    [
        of_body("the copy of its elements", false, copy),
        of_body("the assignment of its elements", true, assign),
        of_body("the initial code", true, init),
    ]
}

/// Runs an operation in C: on a part if it is parallel.
fn run(
    operation: &'static layout::ArrayOperation,
    view: &mut View,
    arguments: &Arguments,
    writer: &mut Writer,
) -> Result<(), DecodeError> {
    // SAFETY: the view is of an array of this type, and the arguments are those of the operation.
    ended(unsafe { layout::orca_view_execute(view, operation, arguments.memory, writer) })
}

/// Returns an error if a part could not be fetched. The cause replaces it.
fn ended(has_ended: bool) -> Result<(), DecodeError> {
    match has_ended {
        true => Ok(()),
        false => Err(DecodeError::Value {
            wanted: "part of a partitioned object",
            reason: "it cannot be fetched".into(),
        }),
    }
}

fn run_parallel(
    of: &'static ArrayType,
    operation: &'static layout::ArrayOperation,
    access: &Access<'_>,
    parts: &[usize],
    bytes: &[u8],
) -> Result<Vec<Ran>, DecodeError> {
    let arguments = Arguments::decode(operation, bytes)?;
    let mut seen = Seen::of(of, access);
    let mut ran = Vec::new();
    for part in parts {
        // SAFETY: the view is that of this operation. Its machine has the part.
        unsafe { orca_array_part(&mut seen.view, *part as u64) };
        let before = elements_of(access.part(*part));
        let written = operation.writes.then(|| before.copy());
        seen.view.part = *part as u64;
        seen.view.own = written.as_ref().unwrap_or(before).memory;
        let mut writer = Writer::new();
        // An operation that does not write leaves `own` as it is.
        let outcome = run(operation, &mut seen.view, &arguments, &mut writer);
        let result = writer.take();
        outcome?;
        ran.push(Ran {
            written: written.map(|it| Arc::new(it) as Arc<Part>),
            result,
        });
    }
    Ok(ran)
}

/// Runs an operation on the whole array. Returns the parts that it has changed, and its result.
fn run_once(
    of: &'static ArrayType,
    access: &Access<'_>,
    body: impl FnOnce(&mut View, &mut Writer) -> Result<(), DecodeError>,
) -> Result<(Changed, Vec<u8>), DecodeError> {
    let mut seen = Seen::of(of, access);
    let mut writer = Writer::new();
    let outcome = body(&mut seen.view, &mut writer);
    let result = writer.take();
    outcome.map(|()| (seen.changed(), result))
}

/// The arguments of an operation in C.
struct Arguments {
    of: &'static layout::ArrayOperation,
    memory: *mut c_void,
}

impl Arguments {
    fn decode(of: &'static layout::ArrayOperation, bytes: &[u8]) -> Result<Self, DecodeError> {
        // SAFETY: this is plain memory of zeros.
        let memory = unsafe { layout::orca_allocate(std::ptr::null(), 1, of.size) };
        let arguments = Self { of, memory };
        let mut reader = Reader::of(bytes);
        // SAFETY: the memory has the size that the operation wants.
        match unsafe { (of.get)(memory, &mut reader) } {
            true => Ok(arguments),
            false => Err(malformed("arguments of an operation", &reader)),
        }
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        // SAFETY: the memory holds arguments, as far as they were read, and zeros.
        unsafe {
            (self.of.drop)(self.memory);
            layout::orca_free(self.memory);
        }
    }
}
