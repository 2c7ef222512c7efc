//! Gives the shared library the name by which programs that are linked with it find it, so that an incompatible one may lie beside it.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo says the version");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpanda.so.{major}");
    println!("cargo::rerun-if-changed=build.rs");
}
