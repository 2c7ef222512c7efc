//! Profiles that the user stops, where valgrind is installed.

use antiphon_lab::build::{Built, Cache};
use antiphon_lab::profile::{Profile, ProfileError, Work, profile};
use antiphon_lab::subject::Subject;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Never answers `slice`, which it notes beside itself.
const SUBJECT: &str = r#"
while read -r request rest; do
    case $request in
    hello) echo '@@ hello protocol=1 language=sh kit=test clock=steady' ;;
    slice) : >"$0.asked"; while :; do :; done ;;
    esac
    echo '@@ ok'
done
"#;

fn built(folder: &Path) -> Built {
    let toml = "name = 'stays'\nlanguage = 'sh'\nversion = ['echo', '1']\nsources = ['subject.sh']\nbuild = []\n\
         run = ['sh', '{source}/subject.sh']\n[[variant]]\nname = 'v'\n";
    std::fs::write(folder.join("subject.toml"), toml).unwrap();
    std::fs::write(folder.join("subject.sh"), SUBJECT).unwrap();
    let subject = Subject::load(folder).unwrap();
    let cache = Cache::at(folder.join("cache"));
    let never = AtomicBool::new(false);
    let built = cache.build(&subject, &subject.variants[0], "other", &never);
    built.unwrap_or_else(|error| panic!("{error}"))
}

/// Profiles a frame for as long as it takes.
fn profiled(built: &Built, stop: &AtomicBool) -> Result<Profile, ProfileError> {
    let work = Work::Frame {
        test: "any".into(),
        arg: None,
        iterations: 1,
    };
    profile(built, &work, Duration::MAX, stop)
}

#[test]
fn a_frame_that_is_stopped_while_it_is_profiled_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let built = built(folder.path());
    let asked = folder.path().join("subject.sh.asked");
    let stop = AtomicBool::new(false);
    let profiled = std::thread::scope(|scope| {
        let profiled = scope.spawn(|| profiled(&built, &stop));
        while !asked.exists() && !profiled.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        stop.store(true, Ordering::Relaxed);
        profiled.join().unwrap()
    });
    match profiled {
        Err(ProfileError::Missing) => eprintln!("skipped: {}", ProfileError::Missing),
        Err(ProfileError::Interrupted) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_started_once_the_user_has_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let built = built(folder.path());
    let profiled = profiled(&built, &AtomicBool::new(true));
    assert!(
        matches!(profiled, Err(ProfileError::Interrupted)),
        "{profiled:?}"
    );
    assert!(!folder.path().join("subject.sh.asked").exists());
}
