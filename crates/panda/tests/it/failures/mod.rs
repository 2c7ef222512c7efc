//! Processes that are killed, stopped or suspended.

mod followers;
mod groups;
mod resumed;
mod single_copy;
mod waits;
