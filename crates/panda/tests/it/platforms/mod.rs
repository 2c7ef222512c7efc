//! The conformance suite over each platform, and tests of single platforms.

mod local;
mod mpi;
mod network;
mod shm;
mod slow_links;
mod tcp;
mod udp;
