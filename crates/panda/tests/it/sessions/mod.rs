//! What a session does for its program, whatever the platform.

mod copies;
mod dropped_upcalls;
mod language;
mod names;
mod panics;
mod session;
mod switches;
mod threads;
mod upcalls;
