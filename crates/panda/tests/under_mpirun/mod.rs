//! A test that starts itself under `mpirun` as the processes of a session.

use std::process::Command;

/// Runs an ignored test of this program as so many processes; `check` gets mpirun's exit code and what was written.
pub fn run(member: &str, count: u32, check: impl FnOnce(Option<i32>, &str)) {
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
        .args([
            "--exact",
            member,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
    let output = match mpirun.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
            return;
        }
        Err(error) => panic!("mpirun: {error}"),
    };
    let written = [output.stdout, output.stderr].concat();
    check(output.status.code(), &String::from_utf8_lossy(&written));
}
