//! Data-parallel objects: arrays whose parts are owned by machines.
//!
//! After data-parallel Orca (Ben Hassen and Bal, ICS 1996; Ben Hassen, Bal and Jacobs, TOPLAS 20(6)
//! 1998). Every operation has a place in the one order of all machines. The owners execute an
//! array's operations one after the other, each in a thread of its own, so that the order goes on
//! meanwhile.
//!
//! A parallel operation runs once an element, on the element's machine, and sees the array as it
//! was before. So it is one step, although no machine waits for the others at its end. For that, an
//! owner sends the parts from before an operation, and keeps those that others may still ask for.
//!
//! ```text
//! place   machine 0                 machine 1
//!   7     runs on parts 0, 1        still at place 5
//!   8     waits for part 2 of 8     runs 7, with part 1 as sent at 7 ──▶ sends part 2 of 8
//! ```

mod element;
mod invocation;
mod kind;
mod layout;
mod parcel;
mod site;

pub use element::{Element, Gathered, Partitioned, View, Whole};
pub use invocation::{Array, Returned};
pub use kind::{
    Access, ArrayBody, ArrayOperation, ArrayType, Beginning, Declaring, DeclaringByCall,
    DecodingPart, EncodingPart, Part, PartCodec, Ran, Reads, Regrouping, RunningAtOnce,
    RunningInParallel, register_array,
};
pub use layout::{Along, Block, Distribution, MOST_DIMENSIONS, Plan, Spread, WideIndex};

pub(crate) use invocation::{Arrays, Task, follow};
pub(crate) use kind::array_names;
pub(crate) use layout::Layout;
pub(crate) use site::Site;

/// The items that the attribute's code uses.
pub mod attribute {
    pub use super::element::{
        Collect, array_type, beginning, declared, declared_by_call, gather, nothing,
        parallel_reads, parallel_writes, reduce, sequential, sequential_reads, sequential_writes,
    };
    pub use super::kind::RegisteredArrayType;
}
