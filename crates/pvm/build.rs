//! Compiles the functions that only C can define: those with any number of arguments.

fn main() {
    println!("cargo::rerun-if-changed=src/variadic.c");
    cc::Build::new()
        .file("src/variadic.c")
        .include("include")
        .flag_if_supported("-std=c11")
        .warnings(true)
        .compile("pvm3variadic");
}
