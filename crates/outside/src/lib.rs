//! Input from outside: text that is safe to show, files read within bounds, folders that no other
//! user may write. Also files that are written as a whole.
//!
//! - [`text()`] and [`line()`] remove from a text what controls a terminal or reverses the reading
//!   direction.
//! - [`read()`] reads a regular file up to a length, and never waits for a writer.
//! - [`folder`] checks whether a folder and the files in it belong to this user.
//! - [`write()`] replaces a file as a whole, or leaves it unchanged.

pub mod folder;
mod read;
mod shown;
mod write;

pub use read::{read, read_text};
pub use shown::{json, line, shown, text};
pub use write::write;
