//! Partitioned objects: the program's types as types of arrays of the crate `orca`, and handles for
//! C.
//!
//! The elements of a part are memory that C has allocated, in the layout of their descriptor. An
//! operation gets a view with pointers to the elements that it has read so far. They stay valid
//! until the operation ends, because the run-time's `Access` holds them.

mod calls;
mod elements;
mod operations;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use orca::partitioned::{Part, PartCodec, Plan};

use crate::errors::fail_with;
use crate::layout::{self, ArrayType, slice, text};
use elements::{Elements, regroup};
use operations::{hidden, operation};
use view::about_of;

/// The operations behind a type's own: a copy of all elements, their assignment, the initial code.
const COPY: usize = 0;
const ASSIGN: usize = 1;
const INIT: usize = 2;

/// All types of the program by the addresses of their descriptions.
static TYPES: OnceLock<BTreeMap<usize, &'static orca::partitioned::ArrayType>> = OnceLock::new();

/// Registers the program's types of partitioned objects.
pub fn register() {
    // SAFETY: generated code defines the program, and its tables are constants.
    let types = unsafe {
        let program = &layout::orca_program;
        slice(program.array_types, program.array_type_count)
    };
    let known = types.iter().map(|of| {
        // SAFETY: as above.
        let of = unsafe { &**of };
        let registered = orca::partitioned::register_array(described(of));
        let registered = registered
            .unwrap_or_else(|of| fail_with(&format!("two types of objects are named {}", of.name)));
        (std::ptr::from_ref(of) as usize, registered)
    });
    let known = known.collect();
    TYPES.get_or_init(|| known);
}

fn type_of(of: &ArrayType) -> &'static orca::partitioned::ArrayType {
    let address = std::ptr::from_ref(of) as usize;
    let found = TYPES.get().and_then(|types| types.get(&address));
    found.unwrap_or_else(|| fail_with("a partitioned object has no type"))
}

fn described(of: &'static ArrayType) -> orca::partitioned::ArrayType {
    let begin = move |plan: &Plan, part: usize| -> Arc<Part> {
        let count = match about_of(plan).0 {
            true => plan.blocks()[part].size(),
            false => 0,
        };
        Arc::new(Elements::new(of, count))
    };
    let encode = |part: &Part| {
        let elements = part.downcast_ref::<Elements>();
        Ok(elements.expect("a part of this type").encode())
    };
    // SAFETY: the table is a constant of the program.
    let table = unsafe { slice(of.operations, of.count) };
    let mut operations: Vec<_> = table.iter().map(|it| operation(of, it)).collect();
    operations.extend(hidden(of));
    orca::partitioned::ArrayType {
        // SAFETY: names are constants.
        name: unsafe { text(of.name) }.to_owned(),
        dimensions: of.dimensions as usize,
        codec: PartCodec {
            begin: Box::new(begin),
            encode: Box::new(encode),
            decode: Box::new(move |bytes| Ok(Arc::new(Elements::decode(of, bytes)?))),
            regroup: Box::new(move |access, plan, part| regroup(of, access, plan, part)),
        },
        operations,
    }
}
