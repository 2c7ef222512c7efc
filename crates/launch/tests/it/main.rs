//! Sessions of real processes on this host, and the layer's examples as such sessions.

mod examples;
mod limits;
mod local;
mod open_mpi;
mod spawned;
