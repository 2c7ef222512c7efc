//! The options of `pvm_setopt`.

use std::ffi::c_int;

use crate::code::Code;

/// Numbers of options that the library acts on.
pub const AUTO_ERROR: c_int = 3;
pub const OUTPUT_TID: c_int = 4;
pub const OUTPUT_CODE: c_int = 5;
pub const SHOW_TIDS: c_int = 18;

/// Options by their numbers, from 1.
pub struct Options([c_int; 26]);

impl Default for Options {
    fn default() -> Self {
        let mut values = [0; 26];
        values[1] = 2;
        values[AUTO_ERROR as usize] = 1;
        values[10] = 4080;
        values[SHOW_TIDS as usize] = 1;
        Self(values)
    }
}

impl Options {
    /// Returns the value of an option.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`]: there is no such option on this kind of machine.
    pub fn get(&self, option: c_int) -> Result<c_int, Code> {
        Ok(self.0[place(option)?])
    }

    /// Sets an option, and returns the value before.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`].
    pub fn set(&mut self, option: c_int, value: c_int) -> Result<c_int, Code> {
        let place = place(option)?;
        let is_good = match option {
            1 => (1..=3).contains(&value),
            10 => (64..=1 << 20).contains(&value),
            _ => true,
        };
        match is_good {
            true => Ok(std::mem::replace(&mut self.0[place], value)),
            false => Err(Code::BAD_PARAM),
        }
    }

    /// Sets an option without a check.
    pub fn put(&mut self, option: c_int, value: c_int) {
        if let Ok(place) = place(option) {
            self.0[place] = value;
        }
    }
}

/// The waiting methods 19 and 20 belong to PVM's own shared memory.
fn place(option: c_int) -> Result<usize, Code> {
    match option {
        1..=18 | 21..=25 => Ok(option as usize),
        _ => Err(Code::BAD_PARAM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_gives_the_value_before() {
        let mut options = Options::default();
        assert_eq!(options.set(1, 3), Ok(2));
        assert_eq!(options.get(1), Ok(3));
        assert_eq!(options.set(1, 9), Err(Code::BAD_PARAM));
        assert_eq!(options.get(19), Err(Code::BAD_PARAM));
        assert_eq!(options.get(26), Err(Code::BAD_PARAM));
    }
}
