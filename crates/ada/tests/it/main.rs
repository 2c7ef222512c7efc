//! The front end, its translations, and their check: on our own programs, on random ones, and on
//! damaged ones.
//!
//! `ANTIPHON_BLESS=1 cargo test -p antiphon-ada --test it` writes the golden files and the
//! rendezvous suite's variants anew. Read the diff before you keep it.

mod common;
mod general;
mod generated;
mod generator;
mod hostile;
mod names;
mod rendezvous_suite;
mod translations;
mod workers;
