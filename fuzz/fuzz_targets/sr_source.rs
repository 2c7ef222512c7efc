//! SR source: it is lexed, parsed and checked, and each diagnostic can be shown.
#![no_main]

use antiphon_sr::Input;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|source: &[u8]| {
    let mut input = Input::default();
    input.add(Path::new("fuzz.sr"), source.to_vec(), None);
    let checked = input.analyse(None);
    let texts = input.texts(&checked.diagnostics);
    assert!(
        checked.program.is_some() || !texts.is_empty(),
        "a program is refused without a word"
    );
});
