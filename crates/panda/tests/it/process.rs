//! This executable started again, as a process that runs one of its ignored tests.

use std::process::Command;

/// Where [`in_own_process`] puts its tests.
const IN_OWN_PROCESS: &str = "::in_own_process";

/// Returns the arguments with which this executable runs one ignored test.
///
/// `module` is the `module_path!()` of the test's module.
pub fn arguments(module: &str, test: &str) -> [String; 5] {
    let (_executable, module) = module.split_once("::").expect("a module of this crate");
    let name = format!("{module}::{test}");
    [
        "--exact",
        &name,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]
    .map(String::from)
}

/// Returns the command that runs one ignored test in a process of its own.
pub fn command(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args(arguments(module, test));
    command
}

/// Runs an ignored test in a process of its own. `module` is that of [`in_own_process`].
///
/// # Panics
/// The test fails, or there is none of this name.
pub fn run(module: &str, test: &str) {
    let module = module.strip_suffix(IN_OWN_PROCESS).expect("the macro's");
    let output = command(module, test).output().expect("it starts again");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let has_passed = output.status.success() && said.contains("1 passed");
    assert!(has_passed, "{}: {said}", output.status);
}

/// Runs ignored tests of the calling module, each in a process of its own. They change or measure
/// state that all tests of a process share.
macro_rules! in_own_process {
    ($($test:ident)*) => {
        mod in_own_process {
            $(#[test]
            fn $test() {
                $crate::process::run(module_path!(), stringify!($test));
            })*
        }
    };
}

pub(crate) use in_own_process;
