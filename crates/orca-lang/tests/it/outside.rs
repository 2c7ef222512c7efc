//! Programs that are not part of the repository: `ORCA_PROGRAMS` names a folder with them.

use std::path::{Path, PathBuf};

use orca_lang::{Search, Severity, check, load, main_of};

fn folders(of: &Path, found: &mut Vec<PathBuf>) {
    found.push(of.to_owned());
    for entry in std::fs::read_dir(of).expect("a folder").flatten() {
        if entry.path().is_dir() {
            folders(&entry.path(), found);
        }
    }
}

#[test]
#[ignore = "needs a folder of programs in ORCA_PROGRAMS"]
fn programs_of_others_are_accepted() {
    let root = std::env::var_os("ORCA_PROGRAMS").expect("ORCA_PROGRAMS is set");
    let mut all = Vec::new();
    folders(Path::new(&root), &mut all);
    all.sort();
    let (mut count, mut wrong) = (0, Vec::new());
    for folder in all {
        for main in main_of(&folder).expect("a folder") {
            let search = Search::default();
            let loaded = load(std::slice::from_ref(&main), &search).expect("files");
            let checked = check(&loaded, true);
            count += 1;
            let errors = checked
                .diagnostics
                .iter()
                .filter(|it| it.severity == Severity::Error);
            let errors: Vec<String> = errors.map(|it| it.text(&loaded.sources)).collect();
            if !errors.is_empty() {
                wrong.push(format!(
                    "## {}: {}\n{}",
                    main.display(),
                    errors.len(),
                    errors.concat()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} of {count} are refused",
        wrong.concat(),
        wrong.len()
    );
}
