//! The run-times of languages: static libraries and headers, embedded for [`antiphon_lang`].
//!
//! The build script has the list of them. It builds them all with one cargo in one target folder.
//! A program is linked with one of them, and of that the linker takes what the program uses.

use antiphon_lang::build::Runtime;

include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));
