//! Ada source: it is read, analysed and translated by every scheme.
#![no_main]

use antiphon_ada::translate::{self, Scheme};
use antiphon_ada::{Analysis, Error, Program, explain, sarif};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;

fuzz_target!(|source: &[u8]| {
    match Program::parse([(PathBuf::from("fuzz.adb"), source.to_vec())]) {
        Ok(program) => {
            for scheme in [Scheme::Servers, Scheme::General, Scheme::Optimised] {
                let options = translate::Options {
                    scheme,
                    force: true,
                    ..translate::Options::default()
                };
                let analysis = Analysis::of(&program, options);
                explain::text(&analysis);
                sarif::log(&analysis);
                translate::translate(&analysis).diff(&program);
            }
        }
        Err(Error::Syntax(errors)) => assert!(errors.iter().all(|error| error.place.line > 0)),
        Err(error) => panic!("{error}"),
    }
});
