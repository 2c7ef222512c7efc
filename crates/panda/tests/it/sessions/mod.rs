//! Services of a session to its program that do not depend on the platform.

mod copies;
mod dropped_upcalls;
mod language;
mod names;
mod panics;
mod session;
mod switches;
mod threads;
mod upcalls;
