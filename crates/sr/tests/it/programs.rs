//! Programs print what they should, under every model and on two processors.

use crate::support::{Expected, MODELS, Model, built, programs, run};

fn print_what_they_should(model: Model) {
    let mut failures = String::new();
    let files = [programs("programs"), programs("notations")].concat();
    for file in files {
        let expected = Expected::of(&std::fs::read_to_string(&file).unwrap());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let has_too_many = expected
            .most_servers
            .is_some_and(|most| model.servers > most);
        if has_too_many || (expected.waits_busily && !model.preempts()) {
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
    assert!(failures.is_empty(), "{failures}");
}

/// Makes a test for each of the models.
macro_rules! models {
    ($($name:ident: $settings:literal,)*) => {
        $(#[test]
        fn $name() {
            let model = MODELS.into_iter().find(|model| model.settings == $settings);
            print_what_they_should(model.expect("a model with these settings"));
        })*

        #[test]
        fn programs_run_under_every_model() {
            assert_eq!(MODELS.map(|model| model.settings), [$($settings),*]);
        }
    };
}

models! {
    programs_print_what_they_should_with_iteration_counting: "model=counted:100",
    programs_print_what_they_should_with_time_slices: "model=sliced:1",
    programs_print_what_they_should_cooperatively: "model=cooperative",
    programs_print_what_they_should_on_two_processors: "model=sliced:1,servers=2",
}
