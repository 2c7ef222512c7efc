//! A message that is composed without an allocation: for signal handlers, and for when there is no
//! memory.

use crate::layout::{At, name_of};

/// The message; a longer one is cut off.
pub struct Line {
    text: [u8; 1024],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            text: [0; 1024],
            length: 0,
        }
    }
}

impl Line {
    /// Appends a text.
    pub fn add(&mut self, part: &str) -> &mut Line {
        let room = &mut self.text[self.length..];
        let length = part.len().min(room.len());
        room[..length].copy_from_slice(&part.as_bytes()[..length]);
        self.length += length;
        self
    }

    /// Appends a number.
    pub fn add_number(&mut self, number: u64) -> &mut Line {
        let mut digits = [0_u8; 20];
        let mut first = digits.len();
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.add(std::str::from_utf8(&digits[first..]).unwrap_or("?"))
    }

    /// Appends the beginning of an error's message: "RTS abort: file f, line n:" and three blanks
    /// on the next line.
    ///
    /// # Safety
    /// The place is null or a static location of the generated program.
    pub unsafe fn add_abort(&mut self, at: At) -> &mut Line {
        self.add("RTS abort: ");
        // SAFETY: by the contract.
        if let Some(at) = unsafe { at.as_ref() } {
            // SAFETY: file names are static.
            self.add("file ").add(unsafe { name_of(at.file) });
            self.add(", line ").add_number(at.line as u64).add(":\n   ");
        }
        self
    }

    /// Writes the message to standard error.
    pub fn write(&self) {
        // SAFETY: writes the composed text. Nothing can be done if that fails.
        unsafe { libc::write(2, self.text.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_decimal_and_long_messages_are_cut_off() {
        let mut line = Line::default();
        line.add_number(0).add(" ").add_number(u64::MAX);
        assert_eq!(&line.text[..line.length], b"0 18446744073709551615");
        line.add(&"x".repeat(2000));
        assert_eq!(line.length, line.text.len());
    }
}
