//! Subjects with one variant, `v`, that a test writes for itself, and runs that measure them.

use antiphon_lab::build::Cache;
use antiphon_lab::run::{Laboratory, Options};
use antiphon_lab::store::Store;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Puts a subject into the folder that is measured in.
pub fn put(folder: &Path, name: &str, text: &str) {
    let own = folder.join("subjects").join(name);
    std::fs::create_dir_all(&own).unwrap();
    let head = format!("name = {name:?}\nlanguage = 'Test'\nversion = ['echo', '1']\n");
    let variant = "[[variant]]\nname = 'v'\n";
    std::fs::write(own.join("subject.toml"), format!("{head}{text}{variant}")).unwrap();
}

/// Returns the file of a server that answers well and needs no build.
pub fn served() -> String {
    let program = env!("CARGO_BIN_EXE_antiphon-test-server");
    format!(
        "sources = []\nbuild = []\nrun = [{program:?}, '{{port}}', 'well', '/tmp']\nserves = 'http'\n"
    )
}

/// Measures a suite with the subjects of a folder, which also holds cache and store. Returns the
/// store and the run's number.
pub fn measure_in(folder: &Path, suite: &str, quick: bool) -> (Store, i64) {
    let cache = Cache::at(folder.join("cache"));
    let options = Options {
        quick,
        ..Options::default()
    };
    measure_of(&folder.join("subjects"), &cache, folder, suite, &options)
}

/// Measures a suite with subjects of which builds are kept elsewhere.
pub fn measure_of(
    subjects: &Path,
    cache: &Cache,
    folder: &Path,
    suite: &str,
    options: &Options,
) -> (Store, i64) {
    let (subjects, errors) = Subject::discover(subjects);
    assert!(errors.is_empty(), "{errors:?}");
    let parsed = Suite::parse("suite.toml", suite).unwrap();
    let mut store = Store::open(&folder.join("runs.db")).unwrap();
    let mut laboratory = Laboratory {
        subjects: &subjects,
        cache,
        store: &mut store,
        observer: &mut (),
        stop: &AtomicBool::new(false),
    };
    let run = laboratory.measure(&parsed, suite, options).unwrap();
    (store, run)
}
