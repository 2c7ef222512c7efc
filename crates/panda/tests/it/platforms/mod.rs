//! The conformance suite over each platform, and what a platform has of its own.

mod local;
mod mpi;
mod network;
mod shm;
mod slow_links;
mod tcp;
mod udp;
