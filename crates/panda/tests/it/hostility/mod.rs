//! Strangers that connect, members that lie, and damaged frames.

mod caller;
mod handshake;
mod strangers;
