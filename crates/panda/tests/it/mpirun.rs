//! Tests that start this executable under `mpirun` as the processes of a session.

use std::process::Command;

use crate::process;

/// Runs an ignored test of a module as `count` processes. `check` gets the exit code of `mpirun`
/// and the output.
pub fn run(module: &str, member: &str, count: u32, check: impl FnOnce(Option<i32>, &str)) {
    if std::env::var_os("OMPI_COMM_WORLD_RANK").is_some() {
        return;
    }
    let program = std::env::current_exe().expect("this test has a path");
    let mut mpirun = Command::new("mpirun");
    mpirun
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--timeout",
            "120",
            "-n",
            &count.to_string(),
        ])
        .arg(program)
        .args(process::arguments(module, member));
    let output = match mpirun.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
            return;
        }
        Err(error) => panic!("mpirun: {error}"),
    };
    let written = [output.stdout, output.stderr].concat();
    let written = String::from_utf8_lossy(&written);
    assert!(
        written.contains("running 1 test"),
        "there is no test {member}: {written}"
    );
    check(output.status.code(), &written);
}
