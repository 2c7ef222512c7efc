//! The compiler's errors for incorrect programs, beyond those of the attributes.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Returns the libraries of a name beside this executable, the newest first.
fn libraries(deps: &Path, name: &str) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(deps).expect("where this executable is");
    let all = listed.filter_map(Result::ok).map(|it| it.path());
    let mut found: Vec<_> = all
        .filter(|path| {
            let file = path.file_name().and_then(|it| it.to_str());
            let file = file.unwrap_or_default();
            file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
        })
        .collect();
    found.sort_by_key(|path| {
        let changed = path.metadata().and_then(|it| it.modified());
        Reverse(changed.unwrap_or(SystemTime::UNIX_EPOCH))
    });
    found
}

/// Compiles programs against the library. Of several builds it uses those that fit each other.
struct Compiler {
    deps: PathBuf,
    orca: PathBuf,
    serde: PathBuf,
}

impl Compiler {
    fn find() -> Self {
        let own = std::env::current_exe().expect("a running program has a path");
        let deps = own.parent().expect("target/PROFILE/deps").to_owned();
        let mut said = String::new();
        for orca in libraries(&deps, "orca") {
            for serde in libraries(&deps, "serde") {
                let (deps, orca) = (deps.clone(), orca.clone());
                let compiler = Self { deps, orca, serde };
                match compiler.compile(COUNTER) {
                    Ok(()) => return compiler,
                    Err(why) => said = why,
                }
            }
        }
        panic!("a program as it should be is refused: {said}");
    }

    /// Compiles a program. Returns the compiler's errors if it refuses.
    fn compile(&self, source: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program.rs");
        let prelude = "#![allow(dead_code, unused)]\nuse orca::{Error, On, Orca, Shared};\nuse serde::{Deserialize, Serialize};\n";
        std::fs::write(&file, format!("{prelude}{source}\nfn main() {{}}\n")).expect("written");
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let mut command = Command::new(rustc);
        command.args(["--edition", "2024", "--emit", "metadata", "--out-dir"]);
        command.arg(folder.path());
        command
            .arg("-L")
            .arg(format!("dependency={}", self.deps.display()));
        for (name, library) in [("orca", &self.orca), ("serde", &self.serde)] {
            command
                .arg("--extern")
                .arg(format!("{name}={}", library.display()));
        }
        let output = command.arg(&file).output().expect("rustc runs");
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

const COUNTER: &str = "
#[orca::object]
#[derive(Clone, Serialize, Deserialize)]
struct Counter { value: i64 }
#[orca::object]
impl Counter {
    fn add(&mut self, amount: i64) { self.value += amount; }
    #[guard(self.value > 0)]
    fn value(&self) -> i64 { self.value }
}
";

#[test]
fn the_compiler_explains() {
    let compiler = Compiler::find();
    let cases = [
        (
            "#[orca::object] struct Bare { value: i64 } #[orca::object] impl Bare { fn get(&self) -> i64 { self.value } }",
            "the trait bound `Bare: serde::Serialize` is not satisfied",
        ),
        (
            "#[derive(Clone, Serialize, Deserialize)] struct Half(i64); #[orca::object] impl Half { fn get(&self) -> i64 { self.0 } }",
            "`Half` cannot be the state of a shared object",
        ),
        (
            "fn share(orca: &Orca) { let _ = orca.create(5); }",
            "is no type of shared objects",
        ),
        (
            "fn read(counter: &Shared<Counter>) -> i64 { counter.value }",
            "attempted to take value of method `value`",
        ),
        (
            "#[orca::process] fn worker(counter: Shared<Counter>) -> i64 { 0 }",
            "a process returns nothing, or a Result",
        ),
        (
            "fn fork(orca: &Orca) { let _ = worker::fork(orca, On::Any, 5); } #[orca::process] fn worker(counter: Shared<Counter>) {}",
            "mismatched types",
        ),
        (
            "#[orca::object] #[derive(Clone, Serialize, Deserialize)] struct Sly { value: Vec<u8> } #[orca::object] impl Sly { #[guard(self.value.pop().is_some())] fn take(&mut self) -> u8 { 0 } }",
            "`self` is a `&` reference, so it cannot be borrowed as mutable",
        ),
    ];
    for (case, wanted) in cases {
        let refused = compiler.compile(&format!("{COUNTER}{case}"));
        let said = refused.expect_err(case);
        assert!(
            said.contains(wanted),
            "{case}\nshould say: {wanted}\nsays: {said}"
        );
    }
}
