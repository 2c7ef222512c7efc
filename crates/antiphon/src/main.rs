//! The command `antiphon`: parse, call one crate, print.

fn main() {}
