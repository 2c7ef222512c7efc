//! Processes and threads that are added while a session runs.

mod local;
mod mpi;
mod processes;
