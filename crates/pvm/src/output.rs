//! The output of children, for `pvm_catchout`.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::Arc;

use antiphon_panda::{Error, Session};
use parking_lot::Mutex;

use crate::protocol::{OUTPUT, Output};
use crate::tid::Tid;

/// A file of the C library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct File(pub *mut libc::FILE);

// SAFETY: the C library locks a file while it writes.
unsafe impl Send for File {}

/// The children whose output is caught, and the file for it.
#[derive(Default)]
struct Caught {
    file: Option<File>,
    shows_tids: bool,
    /// Children whose output is not complete.
    open: BTreeSet<Tid>,
    /// Children whose end was known before their start.
    ended: BTreeSet<Tid>,
}

/// Catches the output of children.
#[derive(Default, Clone)]
pub struct Catcher {
    caught: Arc<Mutex<Caught>>,
    is_on: bool,
    is_registered: bool,
}

impl Catcher {
    /// From now on writes the output of children to a file, or catches no output of later children.
    ///
    /// # Errors
    /// The session is over.
    pub fn set(
        &mut self,
        session: &Session,
        file: Option<File>,
        shows_tids: bool,
    ) -> Result<(), Error> {
        self.is_on = file.is_some();
        if let Some(file) = file {
            let mut caught = self.caught.lock();
            (caught.file, caught.shows_tids) = (Some(file), shows_tids);
        }
        if self.is_on && !self.is_registered {
            let caught = self.caught.clone();
            session.port(OUTPUT).on_message(move |arrived| {
                if let Ok((tid, output)) = arrived.payload.value::<(Tid, Output)>() {
                    caught.lock().take(tid, &output);
                }
            })?;
            self.is_registered = true;
        }
        Ok(())
    }

    /// Chooses whether lines are marked with their task's id.
    pub fn show_tids(&self, shows_tids: bool) {
        self.caught.lock().shows_tids = shows_tids;
    }

    /// Returns whether the output of new children is caught.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Expects the output of a child.
    pub fn expect(&self, tid: Tid) {
        let mut caught = self.caught.lock();
        if !caught.ended.remove(&tid) {
            caught.open.insert(tid);
        }
    }

    /// Returns whether the output of all caught children is complete.
    #[must_use]
    pub fn has_all(&self) -> bool {
        self.caught.lock().open.is_empty()
    }
}

impl Caught {
    fn take(&mut self, tid: Tid, output: &Output) {
        match output {
            Output::Begin => self.show(tid, "BEGIN"),
            Output::Line(line) => self.write(tid, line),
            Output::End => {
                self.show(tid, "EOF");
                if !self.open.remove(&tid) {
                    self.ended.insert(tid);
                }
            }
        }
    }

    /// Writes a line that marks a task's output.
    fn show(&self, tid: Tid, text: &str) {
        if self.shows_tids {
            self.write(tid, text.as_bytes());
        }
    }

    fn write(&self, tid: Tid, line: &[u8]) {
        let Some(File(file)) = self.file else {
            return;
        };
        let mut text = match self.shows_tids {
            true => format!("[{tid}] ").into_bytes(),
            false => Vec::new(),
        };
        text.extend_from_slice(line);
        text.push(b'\n');
        // SAFETY: the program keeps the file open while output is caught, and the bytes are valid.
        unsafe {
            libc::fwrite(text.as_ptr().cast(), 1, text.len(), file);
            libc::fflush(file);
        }
    }
}

/// Values of an option for output, as the library's own codes.
pub const CAUGHT: c_int = c_int::MIN + 0x3_0005;
