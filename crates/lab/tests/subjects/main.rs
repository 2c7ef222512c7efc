//! The project's own subjects, as they are compiled on this machine. Compilers take every processor
//! for minutes, so these tests run apart from those that measure.

mod databases;
mod drivers;
mod kits;
mod processes;
mod rest;
mod rivals;
mod server_costs;
mod shared_data;
mod statements;
#[path = "../common/waiting.rs"]
mod waiting;
