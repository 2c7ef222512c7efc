//! What tests over `mpi` need.

use std::process::Command;

/// Whether Open MPI is installed; else says that a test is skipped.
pub fn has_mpi() -> bool {
    let is_there = Command::new("mpirun").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
    }
    is_there
}
