//! Reading: `read`, `get`, `getarg`, and the parts that they share with the formats of `scanf`.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::layout::{At, Target};
use crate::numbers::{parse_bool, parse_int, parse_pointer, parse_real};
use crate::{files, flavour};

/// The result of reading at the end of the input.
pub const EOF: i32 = -1;

/// Characters to read from: a file, or a text.
pub trait Input {
    /// Returns the next character without taking it; none at the end.
    fn peek(&mut self) -> Option<u8>;
    /// Takes the next character.
    fn advance(&mut self);

    /// Takes blanks. Returns whether something follows them.
    fn skip_blanks(&mut self) -> bool {
        while let Some(c) = self.peek() {
            if !is_blank(c) {
                return true;
            }
            self.advance();
        }
        false
    }
}

/// A file of the program.
pub struct FileInput {
    pub at: At,
    pub file: usize,
}

impl Input for FileInput {
    fn peek(&mut self) -> Option<u8> {
        files::peek(self.at, self.file)
    }

    fn advance(&mut self) {
        files::advance(self.at, self.file);
    }
}

/// A text in memory.
pub struct TextInput<'a>(pub &'a [u8]);

impl Input for TextInput<'_> {
    fn peek(&mut self) -> Option<u8> {
        self.0.first().copied()
    }

    fn advance(&mut self) {
        self.0 = &self.0[1..];
    }
}

/// As `isspace` of C.
pub fn is_blank(c: u8) -> bool {
    c.is_ascii_whitespace() || c == 0x0b
}

/// Characters of a word that count; further ones are taken and dropped.
const WORD_MOST: usize = 99;

/// Takes a word, with the blanks before it and those behind it up to the end of the line; none at
/// the end of the input.
fn word(input: &mut impl Input) -> Option<Vec<u8>> {
    if !input.skip_blanks() {
        return None;
    }
    let mut word = Vec::new();
    while let Some(c) = input.peek().filter(|&c| !is_blank(c)) {
        if word.len() < WORD_MOST {
            word.push(c);
        }
        input.advance();
    }
    while let Some(c) = input.peek().filter(|&c| is_blank(c)) {
        input.advance();
        if c == b'\n' {
            break;
        }
    }
    Some(word)
}

/// Takes a line without its end, or as much of it as there is room for; none at the end of the
/// input.
fn line(input: &mut impl Input, most: usize) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        match input.peek() {
            None if line.is_empty() => return None,
            None => return Some(line),
            Some(b'\n') => {
                input.advance();
                return Some(line);
            }
            Some(_) if line.len() >= most => return Some(line),
            Some(c) => {
                line.push(c);
                input.advance();
            }
        }
    }
}

/// Stores characters in a string, or in an array, whose rest becomes blank.
///
/// # Safety
/// The target is a string or an array of characters.
pub unsafe fn store_text(target: &Target, text: &[u8]) {
    let most = target.maximum.max(0) as usize;
    let length = text.len().min(most);
    // SAFETY: by the contract there is room for `maximum` characters, and a string has a length.
    unsafe {
        let place: *mut u8 = target.place.cast();
        std::ptr::copy_nonoverlapping(text.as_ptr(), place, length);
        if target.kind == b's' {
            *target.length = length as i32;
        } else {
            std::ptr::write_bytes(place.add(length), b' ', most - length);
        }
    }
}

/// Stores the value of a word. Returns whether the word is such a value.
unsafe fn store_word(target: &Target, word: &[u8]) -> bool {
    let place = target.place;
    // SAFETY: the kind says what type of value is at the place.
    unsafe {
        match target.kind {
            b'b' => parse_bool(word).map(|v| *place.cast::<u8>() = u8::from(v)),
            b'c' => word.first().map(|v| *place.cast::<u8>() = *v),
            b'i' | b'e' => parse_int(word).map(|v| *place.cast::<i32>() = v),
            b'r' => parse_real(word).map(|v| *place.cast::<f64>() = v),
            b'p' => parse_pointer(word).map(|v| *place.cast::<usize>() = v),
            _ => None,
        }
        .is_some()
    }
}

/// Reads values one after the other.
unsafe fn read(input: &mut impl Input, targets: &[Target]) -> i32 {
    for (done, target) in targets.iter().enumerate() {
        let is_text = matches!(target.kind, b's' | b'a');
        let found = if is_text {
            line(input, target.maximum.max(0) as usize)
        } else {
            word(input)
        };
        let is_stored = match &found {
            None => false,
            Some(text) if is_text => {
                // SAFETY: a string or an array of characters.
                unsafe { store_text(target, text) };
                true
            }
            // SAFETY: the kind says what type of value is at the place.
            Some(word) => unsafe { store_word(target, word) },
        };
        if !is_stored {
            return match found {
                None if done == 0 => EOF,
                _ => done as i32,
            };
        }
    }
    targets.len() as i32
}

/// Returns the targets of a call.
///
/// # Safety
/// `targets` points to that many targets.
pub unsafe fn targets<'a>(count: i32, targets: *const Target) -> &'a [Target] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: by the contract there are that many targets.
    unsafe { std::slice::from_raw_parts(targets, count as usize) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_read(at: At, file: usize, count: i32, to: *const Target) -> i32 {
    let _busy = flavour::busy();
    // SAFETY: generated code passes that many targets.
    unsafe { read(&mut FileInput { at, file }, targets(count, to)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_get(at: At, file: usize, to: Target) -> i32 {
    let _busy = flavour::busy();
    let most = to.maximum.max(0) as usize;
    let mut done = 0;
    while done < most && files::peek(at, file).is_some() {
        // SAFETY: the target has room for `most` characters, of which `done` are there.
        done += files::take(at, file, most - done, |bytes| unsafe {
            let place = to.place.cast::<u8>().add(done);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
        });
    }
    if done == 0 && most > 0 {
        return EOF;
    }
    if to.kind == b's' {
        // SAFETY: a string has a length.
        unsafe { *to.length = done as i32 };
    }
    done as i32
}

static COUNT: AtomicUsize = AtomicUsize::new(0);
static ARGUMENTS: AtomicPtr<*mut c_char> = AtomicPtr::new(std::ptr::null_mut());

/// Returns the next line of standard input with its end; empty at the end of the input.
#[cfg(feature = "machines")]
pub fn whole_line(at: At) -> Vec<u8> {
    let mut input = FileInput {
        at,
        file: files::STANDARD_INPUT,
    };
    let mut line = Vec::new();
    while let Some(c) = input.peek() {
        line.push(c);
        input.advance();
        if c == b'\n' {
            break;
        }
    }
    line
}

/// Keeps the command line.
pub fn keep_arguments(count: i32, arguments: *mut *mut c_char) {
    COUNT.store(count.max(0) as usize, Ordering::Relaxed);
    ARGUMENTS.store(arguments, Ordering::Relaxed);
}

#[unsafe(no_mangle)]
extern "C" fn sr_numargs() -> i32 {
    COUNT.load(Ordering::Relaxed) as i32 - 1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_getarg(number: i32, to: Target) -> i32 {
    let _busy = flavour::busy();
    let index = usize::try_from(number).ok();
    let Some(index) = index.filter(|&n| n < COUNT.load(Ordering::Relaxed)) else {
        return EOF;
    };
    // SAFETY: the command line as `main` got it.
    let text = unsafe { CStr::from_ptr(*ARGUMENTS.load(Ordering::Relaxed).add(index)) }.to_bytes();
    // SAFETY: the kind says what type of value is at the place, and that a string has a length.
    unsafe {
        match to.kind {
            b's' | b'a' => {
                let length = text.len().min(to.maximum.max(0) as usize);
                std::ptr::copy_nonoverlapping(text.as_ptr(), to.place.cast(), length);
                if to.kind == b's' {
                    *to.length = length as i32;
                }
                length as i32
            }
            b'c' => {
                let first = text.trim_ascii_start().first().copied().unwrap_or(0);
                *to.place.cast::<u8>() = first;
                1
            }
            _ => i32::from(store_word(&to, text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn into_int(place: &mut i32) -> Target {
        Target {
            kind: b'i',
            maximum: 0,
            place: std::ptr::from_mut(place).cast(),
            length: std::ptr::null_mut(),
        }
    }

    #[test]
    fn words_are_read_and_the_rest_of_their_line_is_left() {
        let mut input = TextInput(b"  12 0ffx  \nabc");
        let (mut a, mut b, mut c) = (0, 0, 7);
        // SAFETY: targets of those kinds.
        unsafe {
            assert_eq!(read(&mut input, &[into_int(&mut a), into_int(&mut b)]), 2);
            assert_eq!((a, b), (12, 255));
            assert_eq!(input.0, b"abc");
            assert_eq!(read(&mut input, &[into_int(&mut c)]), 0);
            assert_eq!(c, 7);
            assert_eq!(read(&mut input, &[into_int(&mut c)]), EOF);
        }
    }

    #[test]
    fn lines_are_cut_where_the_room_ends() {
        let mut input = TextInput(b"abcdef\n\nlast");
        assert_eq!(line(&mut input, 4).unwrap(), b"abcd");
        assert_eq!(line(&mut input, 4).unwrap(), b"ef");
        assert_eq!(line(&mut input, 4).unwrap(), b"");
        assert_eq!(line(&mut input, 9).unwrap(), b"last");
        assert_eq!(line(&mut input, 9), None);
    }
}
