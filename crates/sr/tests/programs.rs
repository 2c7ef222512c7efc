//! Programs that print what they should, under every model and on two processors.

mod common;

use common::{Expected, MODELS, built, programs, run};

#[test]
fn programs_print_what_they_should_under_every_model() {
    let mut failures = String::new();
    let files = [programs("programs"), programs("notations")].concat();
    for file in files {
        let expected = Expected::of(&std::fs::read_to_string(&file).unwrap());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for model in MODELS {
            if expected
                .most_servers
                .is_some_and(|most| model.servers > most)
            {
                continue;
            }
            let differences = match built(std::slice::from_ref(&file), model, &[]) {
                Ok(executable) => expected.differences(&run(&executable.path, model, &expected)),
                Err(message) => message,
            };
            if !differences.is_empty() {
                failures += &format!("{name}, {}:\n{differences}\n", model.settings);
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
