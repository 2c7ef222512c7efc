//! Orca source: it is lexed, parsed and checked, and each diagnostic can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orca_lang::{Search, check, load};
use std::path::PathBuf;
use std::sync::LazyLock;

/// The file of the unit, which is in a folder of this process, in memory where there is such one.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let above = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = above.join(format!("antiphon-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join("main.imp")
});

fuzz_target!(|source: &[u8]| {
    std::fs::write(&*FILE, source).expect("a file");
    let Ok(loaded) = load(&[FILE.clone()], &Search::default()) else {
        return;
    };
    let checked = check(&loaded, false);
    for diagnostic in &checked.diagnostics {
        assert!(!diagnostic.text(&loaded.sources).is_empty());
    }
    assert!(
        checked.program.is_some() || !checked.diagnostics.is_empty(),
        "a program is refused without a word"
    );
});
