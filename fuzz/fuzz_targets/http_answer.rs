//! What a server sends: it is the same answer in whatever pieces it comes.
//!
//! The first byte of an input says whether the connection ends after it, the second and third where
//! its first piece ends.
#![no_main]

use antiphon_load::Answers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [ends, low, high, bytes @ ..] = input else {
        return;
    };
    let ends = ends % 2 == 1;
    let cut = usize::from(u16::from_le_bytes([*low, *high])).min(bytes.len());
    let whole = Answers::default().read(bytes, ends);
    let mut answers = Answers::default();
    // An answer that the first piece completes, or a fault in it, stays what it is.
    if matches!(answers.read(&bytes[..cut], false), Ok(None)) {
        assert_eq!(answers.read(bytes, ends), whole);
        // Its head is known by now.
        assert_eq!(answers.read(bytes, ends), whole);
    }
});
