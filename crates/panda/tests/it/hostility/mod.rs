//! Strangers that call, members that lie, and frames that are damaged.

mod caller;
mod handshake;
mod strangers;
