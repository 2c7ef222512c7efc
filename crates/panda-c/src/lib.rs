//! The portability layer for C: `include/panda.h`, a static and a shared library over
//! `antiphon-panda`.
//!
//! Each file has the functions of one topic, which call the Rust interface. The header is made from
//! their comments (`tests/it/header.rs`). Two files, `given` and `handing`, convert C arguments.
//! Elsewhere a pointer that is only a handle is an `Option` of a reference or box. The language
//! defines this layout, so NULL becomes `None`, which is an error.
//!
//! # What callers promise
//!
//! C calls the functions by the rules of the header. A pointer is NULL or points to a value of its
//! type. Handles come from the library and are freed once. Arrays have the given length, and
//! strings end with a zero byte. An object for one thread at a time is used so.

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
