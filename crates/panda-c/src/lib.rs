//! The portability layer for C: `include/panda.h`, a static and a shared library over `antiphon-panda`.
//!
//! Each file has the functions of one topic, which delegate to the Rust interface; the header is made from their comments (`tests/it/header.rs`). What C hands over is
//! converted in two files, `given` and `handing`; elsewhere pointers that are nothing but handles are references or boxes that may be absent, as the language has them
//! for this, so that NULL is an error and no further care is needed.
//!
//! # What callers promise
//!
//! The functions are called from C by the rules of the header: a pointer is NULL or points to what its type says, handles are those that the library gave and are given
//! back once, arrays are as long as is said, strings end with a zero byte, and what is given to one thread at a time is used so.

#![expect(
    non_camel_case_types,
    reason = "types have the names by which C knows them, so that both sides are found by one word"
)]
#![expect(
    clippy::missing_safety_doc,
    reason = "what callers of all functions promise is said once, above and at the beginning of the header"
)]

mod combine;
pub mod communicator;
mod given;
pub mod group;
mod handing;
pub mod launch_info;
pub mod message;
pub mod numbers;
pub mod port;
pub mod program;
pub mod quiescence;
pub mod rpc;
pub mod session;
pub mod spawn;
pub mod status;
pub mod sync;
pub mod thread;
