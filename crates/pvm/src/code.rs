//! The codes that functions return, and their messages.

use std::ffi::{CStr, c_char, c_int};

/// A negative result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub c_int);

impl Code {
    /// An invalid argument.
    pub const BAD_PARAM: Self = Self(-2);
    /// Tasks of a group called different operations.
    pub const MISMATCH: Self = Self(-3);
    /// A number that does not fit into its form in messages.
    pub const OVERFLOW: Self = Self(-4);
    /// A message that is too short for the unpacking.
    pub const NO_DATA: Self = Self(-5);
    /// No such host.
    pub const NO_HOST: Self = Self(-6);
    /// No such program.
    pub const NO_FILE: Self = Self(-7);
    /// An entry of another task.
    pub const DENIED: Self = Self(-8);
    /// A malformed message.
    pub const BAD_MSG: Self = Self(-12);
    /// The virtual machine cannot be reached.
    pub const SYS_ERR: Self = Self(-14);
    /// No buffer is active.
    pub const NO_BUF: Self = Self(-15);
    /// No such buffer.
    pub const NO_SUCH_BUF: Self = Self(-16);
    /// A group without a name.
    pub const NULL_GROUP: Self = Self(-17);
    /// The task is already a member.
    pub const DUP_GROUP: Self = Self(-18);
    /// No such group.
    pub const NO_GROUP: Self = Self(-19);
    /// The task is no member.
    pub const NOT_IN_GROUP: Self = Self(-20);
    /// No such member.
    pub const NO_INST: Self = Self(-21);
    /// The task has no parent: it was started by hand.
    pub const NO_PARENT: Self = Self(-23);
    /// Not implemented.
    pub const NOT_IMPL: Self = Self(-24);
    /// The machine has no room for another task.
    pub const OUT_OF_RES: Self = Self(-27);
    /// The host is already in the machine.
    pub const DUP_HOST: Self = Self(-28);
    /// A host cannot be added.
    pub const CANT_START: Self = Self(-29);
    /// No such task.
    pub const NO_TASK: Self = Self(-31);
    /// No such entry.
    pub const NOT_FOUND: Self = Self(-32);
    /// The entry exists already.
    pub const EXISTS: Self = Self(-33);
    /// The task's parent is hidden.
    pub const PARENT_NOT_SET: Self = Self(-35);

    /// Returns its message.
    #[must_use]
    pub fn text(self) -> &'static CStr {
        let at = usize::try_from(self.0.checked_neg().unwrap_or(0)).unwrap_or(0);
        let text = TEXTS.get(at).unwrap_or(&TEXTS[0]);
        // SAFETY: each points to a literal that ends with a zero.
        unsafe { CStr::from_ptr(text.0) }
    }
}

/// A text that lives as long as the program.
#[repr(transparent)]
pub struct Text(*const c_char);

// SAFETY: it points to a literal, which never changes.
unsafe impl Sync for Text {}

macro_rules! texts {
    ($($text:literal)*) => { [$(Text($text.as_ptr())),*] };
}

/// The messages of the codes, by the negated number.
const TEXTS: [Text; 37] = texts![
    c"Error 0" c"Error 1" c"Bad parameter" c"Parameter mismatch" c"Value too large"
    c"End of buffer" c"No such host" c"No such file" c"Permission denied" c"Error 9"
    c"Malloc failed" c"Error 11" c"Can't decode message" c"Error 13"
    c"Can't contact local daemon" c"No current buffer" c"No such buffer" c"Null group name"
    c"Already in group" c"No such group" c"Not in group" c"No such instance" c"Host failed"
    c"No parent task" c"Not implemented" c"Pvmd system error" c"Version mismatch"
    c"Out of resources" c"Duplicate host" c"Can't start pvmd" c"Already in progress"
    c"No such task" c"Not Found" c"Already Exists" c"Hoster must run on master host"
    c"Spawning parent set PvmNoParent"
    c"Master Host IP Address is Loopback! (See pvm3/Readme)"
];

/// The messages, for programs that read them.
#[unsafe(no_mangle)]
pub static pvm_errlist: [Text; TEXTS.len()] = TEXTS;

/// The number of messages.
#[unsafe(no_mangle)]
pub static pvm_nerr: c_int = TEXTS.len() as c_int;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_text() {
        assert_eq!(Code::BAD_PARAM.text(), c"Bad parameter");
        assert_eq!(Code::EXISTS.text(), c"Already Exists");
        for number in [c_int::MIN, -1000, -37, 1, c_int::MAX] {
            assert_eq!(Code(number).text(), c"Error 0", "{number}");
        }
    }
}
