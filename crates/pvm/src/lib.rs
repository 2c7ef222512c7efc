//! PVM 3.4's library over Panda. Programs written for `pvm3.h` run unchanged, without a daemon.
//!
//! A program that is started by hand joins the virtual machine that runs for its user, or founds
//! one. PVM's daemons hold tasks, groups, contexts and mailbox entries. Here one process of the
//! session holds them and answers requests. Messages go directly between the tasks.
//!
//! C programs link with `libpvm3.a`, or with the `libpvm3.so.3` that the C compiler makes of it.
//! The public items here serve the command's console.

mod buffer;
mod buffers;
mod code;
mod console;
mod daemon;
mod element;
mod ffi;
mod group;
mod machine;
mod notify;
mod options;
mod output;
mod protocol;
mod receive;
mod spawn;
mod state;
mod task;
mod tid;

pub use console::{Console, ConsoleError, ShownTask};
pub use machine::FoundError;

/// The kind of this machine, in PVM's names.
pub(crate) const ARCH: &str = "LINUX64";
/// The number representation of this kind of machine, as PVM's code.
pub(crate) const SIGNATURE: std::ffi::c_int = 0x0040_8c41;
