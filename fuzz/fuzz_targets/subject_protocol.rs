//! What a subject writes: each line is its own, an answer, or refused with a reason.
#![no_main]

use antiphon_lab::protocol::{decode, encode, parse_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for line in text.lines() {
        if let Err(error) = parse_line(line) {
            assert!(!error.why.is_empty(), "{line:?} is refused without a word");
        }
        assert_eq!(decode(&encode(line)).as_deref(), Ok(line));
        let _ = decode(line);
    }
});
