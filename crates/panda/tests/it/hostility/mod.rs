//! Strangers that call, members that lie, and frames that are damaged.

mod caller;
mod garbage;
mod handshake;
mod lies;
mod strangers;
