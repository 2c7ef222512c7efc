//! Subjects with one variant, `v`, that a test writes for itself.

use std::path::Path;

/// Puts a subject into the folder that is measured in.
pub fn put(folder: &Path, name: &str, text: &str) {
    let own = folder.join("subjects").join(name);
    std::fs::create_dir_all(&own).unwrap();
    let head = format!("name = {name:?}\nlanguage = 'Test'\nversion = ['echo', '1']\n");
    let variant = "[[variant]]\nname = 'v'\n";
    std::fs::write(own.join("subject.toml"), format!("{head}{text}{variant}")).unwrap();
}

/// A server that answers well, of which nothing is built.
pub fn served() -> String {
    let program = env!("CARGO_BIN_EXE_antiphon-test-server");
    format!(
        "sources = []\nbuild = []\nrun = [{program:?}, '{{port}}', 'well', '/tmp']\nserves = 'http'\n"
    )
}
