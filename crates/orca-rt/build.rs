//! Compiles the part of the run-time for values, which is C.

use std::path::Path;

fn main() {
    let folder = Path::new("c");
    let entries = std::fs::read_dir(folder).expect("the folder of C sources");
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_some_and(|end| end == "c"));
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed=include");
    cc::Build::new()
        .files(files)
        .include("include")
        .std("gnu11")
        .opt_level(2)
        .flag("-fwrapv")
        // An operation that blocks unwinds the C code in between.
        .flag("-fexceptions")
        .warnings(true)
        .compile("orcavalues");
}
