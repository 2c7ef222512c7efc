//! The front end, its translations, and their check: on our own, random, and damaged programs.
//!
//! `ANTIPHON_BLESS=1 cargo test -p antiphon-ada --test it` rewrites the golden files and the
//! rendezvous suite's variants. Read the diff before you keep it.

mod common;
mod faults;
mod general;
mod generated;
mod generator;
mod hostile;
mod names;
mod profiles;
mod projects;
mod rendezvous_suite;
mod translations;
mod unknown;
mod workers;
