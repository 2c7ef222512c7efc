//! Subjects: the documented file reads, and every fault names its place and remedy.

use antiphon_lab::subject::{Origin, Remedy, Subject, SubjectError, find_command, select};
use std::path::Path;

/// Returns the example of the documentation, as a sound file.
fn sound() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/subjects.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn load(text: &str) -> Result<Subject, SubjectError> {
    let folder = tempfile::tempdir().unwrap();
    for source in ["kit", "features"] {
        std::fs::create_dir(folder.path().join(source)).unwrap();
    }
    for source in ["build.sh", "fifo.adc"] {
        std::fs::write(folder.path().join(source), "").unwrap();
    }
    std::fs::write(folder.path().join("subject.toml"), text).unwrap();
    Subject::load(folder.path())
}

fn package(name: &str) -> Origin {
    Origin::Package(name.to_owned())
}

#[test]
fn the_documented_example_reads() {
    let subject = load(&sound()).unwrap();
    assert_eq!(subject.name, "ada");
    assert_eq!(subject.needs[0].origin, package("gnat"));
    let variant = subject.variant("O2").unwrap();
    assert_eq!(subject.flags(variant, "other"), ["-O2"]);
    assert_eq!(
        subject.flags(variant, "fifo"),
        ["-O2", "-gnatec={source}/fifo.adc"]
    );
}

#[test]
fn flags_become_words_of_their_own_and_paths_are_filled() {
    let subject = load(&sound()).unwrap();
    let flags = subject.flags(&subject.variants[0], "fifo");
    let words = subject.fill(&subject.build[0], Path::new("/b"), &flags);
    let source = subject.folder.display();
    assert_eq!(
        words,
        [
            "sh".to_owned(),
            format!("{source}/build.sh"),
            source.to_string(),
            "/b".to_owned(),
            "-O2".to_owned(),
            format!("-gnatec={source}/fifo.adc")
        ]
    );
}

#[test]
fn a_program_stands_for_the_needed_command_and_for_no_other_word() {
    let toy = "name = 'toy'\nlanguage = 'Toy'\nversion = ['tc', '-v']\nsources = []\nbuild = [['sh', 'build.sh', 'tc', 'tcx']]\n\
               run = ['tc']\nneeds = [{ command = 'tc', package = 'toy' }]\n[[variant]]\nname = 'v'\n";
    let mut subject = load(toy).unwrap();
    let before = subject.clone();
    subject.use_program("sh", "/bin/dash");
    assert_eq!(subject, before);
    subject.use_program("tc", "/opt/tc");
    assert_eq!(subject.needs[0].name(), "/opt/tc");
    assert_eq!(subject.version, ["/opt/tc", "-v"]);
    assert_eq!(subject.build, [["sh", "build.sh", "/opt/tc", "tcx"]]);
    assert_eq!(subject.run, ["tc"]);
}

#[test]
fn each_fault_names_its_place_and_mend() {
    let cases = [
        (
            "language =",
            "langauge =",
            "subject.toml:2:1: `langauge`: unknown key; did you mean `language`?",
        ),
        (
            "name = \"ada\"",
            "name = \"a/da\"",
            ":1:8: `name`: `a/da` is no name",
        ),
        (
            "run = [\"{build}/features\"]",
            "run = []",
            "`run`: a command needs at least a program",
        ),
        (
            "run = [\"{build}/features\"]",
            "run = \"x\"",
            "`run`: a string where a list is wanted",
        ),
        (
            "\"{build}\", ",
            "\"{biuld}\", ",
            "`build[1][4]`: `{biuld}` is no placeholder here; did you mean `build`?",
        ),
        (
            "\"kit\", ",
            "\"kti\", ",
            "`sources[1]`: there is no `kti` in",
        ),
        (
            "name = \"O0\"",
            "name = \"O2\"",
            "another variant has the name `O2`",
        ),
        (
            "run = [",
            "slice_ms = 2000\nrun = [",
            "`slice_ms`: slices of 2000 ms would leave a quick run no time for its rounds; use up to 200",
        ),
        (
            "run = [",
            "slice_ms = 0\nrun = [",
            "`slice_ms`: the number must be 1 or more",
        ),
        (
            "run = [\"{build}/features\"]",
            "slice_ms = 64\nserves = \"http\"\nrun = [\"{build}/features\"]",
            "`slice_ms`: only a subject that speaks the protocol takes turns in slices; remove `slice_ms`",
        ),
        (
            "[policy.fifo]",
            "[policy.fifi]",
            "`policy.fifi`: `fifi` is no policy; did you mean `fifo`?",
        ),
        (
            "package = \"gnat\"",
            "pakage = \"gnat\"",
            "the key `package` is missing",
        ),
        (
            "command = \"gcc\", package = \"gcc\"",
            "project = \"aws.gpr\", get = \"sh {suorce}/get.sh\"",
            "`{suorce}` is no placeholder here; did you mean `source`?",
        ),
    ];
    for (from, to, expected) in cases {
        let text = sound();
        assert!(text.contains(from), "the example lacks {from:?}");
        let found = load(&text.replacen(from, to, 1))
            .expect_err("a fault was expected")
            .to_string();
        assert!(
            found.contains(expected),
            "{from} -> {to} gave\n{found}\nwhich lacks\n{expected}"
        );
    }
}

#[test]
fn an_unknown_subject_or_variant_names_the_nearest() {
    let subjects = [load(&sound()).unwrap()];
    assert_eq!(select(&subjects, "ada").unwrap().1.name, "O2");
    assert_eq!(select(&subjects, "ada/O0").unwrap().1.name, "O0");
    let error = select(&subjects, "adda/O2").unwrap_err().to_string();
    assert!(
        error.contains("no subject `adda`; did you mean `ada`?"),
        "{error}"
    );
    let error = select(&subjects, "ada/O3").unwrap_err().to_string();
    assert!(
        error.contains("no variant of `ada` called `O3`; did you mean"),
        "{error}"
    );
}

#[test]
fn a_missing_need_is_told_by_its_package() {
    let text = sound().replace("\"gnatmake\", package", "\"no-such-compiler\", package");
    let subject = load(&text).unwrap();
    let missing = subject.missing();
    assert!(missing.iter().any(|need| need.origin == package("gnat")));
}

#[test]
fn a_missing_library_is_told_by_the_line_that_gets_it() {
    let library = "project = \"no-such-library.gpr\", get = \"sh {source}/get.sh\"";
    let text = sound().replace("command = \"gcc\", package = \"gcc\"", library);
    let subject = load(&text).unwrap();
    let line = format!("sh {}/get.sh", subject.folder.display());
    let missing = subject.missing();
    let found = missing
        .iter()
        .find(|need| need.name() == "no-such-library.gpr");
    assert_eq!(found.unwrap().origin, Origin::Line(line));
}

#[test]
fn a_missing_module_of_python_is_told_by_the_line_that_gets_it() {
    let missing_with = |module: &str| {
        let need = format!("module = \"{module}\", get = \"pip install {module}\"");
        let text = sound().replace("command = \"gcc\", package = \"gcc\"", &need);
        let subject = load(&text).unwrap();
        let missing = subject.missing().into_iter();
        let lines = missing.map(|need| need.origin.clone());
        let lines = lines.filter(|origin| matches!(origin, Origin::Line(_)));
        lines.collect::<Vec<_>>()
    };
    let line = Origin::Line("pip install no_such_module".into());
    assert_eq!(missing_with("no_such_module"), [line]);
    if find_command("python3").is_some() {
        assert_eq!(missing_with("json"), []);
    }
}

/// Creates a subject whose compiler reports Toy 1.9, and that needs Toy, or the shell, as `needs`
/// say.
fn toy(folder: &Path, needs: &str) -> Result<Subject, SubjectError> {
    let text = format!(
        "name = 'toy'\nlanguage = 'Toy'\nversion = ['sh', '-c', 'echo toy version toy1.9.2']\nsources = []\nbuild = []\nrun = ['true']\n\
         needs = [{needs}]\n[[variant]]\nname = 'v'\n"
    );
    std::fs::write(folder.join("subject.toml"), text).unwrap();
    Subject::load(folder)
}

#[test]
fn a_compiler_that_is_too_old_is_told_with_its_version_and_no_package() {
    let folder = tempfile::tempdir().unwrap();
    let need = |least: &str| {
        format!(
            "{{ command = 'sh', package = 'dash', least = '{least}', newer = 'see toy.example' }}"
        )
    };
    for enough in ["1.9", "1.9.2", "1.8.7"] {
        let subject = toy(folder.path(), &need(enough)).unwrap();
        assert!(subject.missing().is_empty(), "{enough}");
    }
    let subject = toy(folder.path(), &need("1.10")).unwrap();
    let missing: Vec<_> = subject.missing().into_iter().cloned().collect();
    assert_eq!(missing[0].wanted(), "`sh` 1.10 or newer (1.9.2 is here)");
    let remedy = Remedy::of(&missing);
    assert!(remedy.packages.is_empty());
    assert_eq!(remedy.newer, ["for `sh` 1.10 or newer: see toy.example"]);
}

#[test]
fn a_compiler_that_is_not_there_is_told_by_its_package_and_the_version_that_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let need =
        "{ command = 'no-such-compiler', package = 'toy', least = '2', newer = 'see toy.example' }";
    let subject = toy(folder.path(), need).unwrap();
    let missing: Vec<_> = subject.missing().into_iter().cloned().collect();
    assert_eq!(missing[0].wanted(), "`no-such-compiler` 2 or newer");
    let remedy = Remedy::of(&missing);
    assert_eq!(remedy.packages, ["toy"]);
    assert_eq!(remedy.newer.len(), 1);
}

#[test]
fn a_least_version_is_one_and_says_how_it_is_got() {
    let folder = tempfile::tempdir().unwrap();
    for (need, fault) in [
        (
            "command = 'sh', package = 'dash', least = 'new', newer = 'x'",
            "`new` is no version",
        ),
        (
            "command = 'sh', package = 'dash', least = '1.2'",
            "the key `newer` is missing",
        ),
        (
            "header = 'a.h', package = 'a-dev', least = '1.2'",
            ".least`: unknown key",
        ),
        (
            "command = 'sh', package = 'dash', newer = 'x'",
            ".newer`: unknown key",
        ),
    ] {
        let found = toy(folder.path(), &format!("{{ {need} }}")).unwrap_err();
        assert!(found.to_string().contains(fault), "{need}: {found}");
    }
}

#[test]
fn subjects_in_go_need_the_version_of_their_modules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let (subjects, _) = Subject::discover(&folder);
    let go = |subject: &&Subject| subject.needs.iter().any(|need| need.name() == "go");
    let mut seen = 0;
    for subject in subjects.iter().filter(go) {
        let module = std::fs::read_to_string(subject.folder.join("go.mod")).unwrap();
        let said = module.lines().find_map(|line| line.strip_prefix("go "));
        let least = subject.needs.iter().find_map(|need| need.least.as_ref());
        let least = &least
            .unwrap_or_else(|| panic!("{} says none", subject.name))
            .version;
        assert_eq!(
            said.unwrap().trim_end_matches(".0"),
            least,
            "{}",
            subject.name
        );
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn of_those_that_use_databases_go_alone_looks_for_work() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let looks = |language: &str| {
        let subject = Subject::load(&folder.join(format!("sql-{language}")));
        subject
            .unwrap_or_else(|error| panic!("{error}"))
            .looks_for_work
    };
    assert!(looks("go"));
    for language in ["ada", "c", "java", "javascript", "python", "rust"] {
        assert!(!looks(language), "{language}");
    }
}

#[test]
fn a_folder_with_a_broken_subject_still_gives_the_others() {
    let parent = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "good",
            "name = 'good'\nlanguage = 'L'\nversion = ['true']\nsources = []\nbuild = []\nrun = ['true']\n[[variant]]\nname = 'v'\n",
        ),
        ("bad", "name = "),
    ] {
        std::fs::create_dir(parent.path().join(name)).unwrap();
        std::fs::write(parent.path().join(name).join("subject.toml"), text).unwrap();
    }
    let (found, errors) = Subject::discover(parent.path());
    assert_eq!(found.len(), 1);
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].to_string().contains("bad/subject.toml:1:"),
        "{}",
        errors[0]
    );
}

#[test]
fn a_variant_has_needs_and_a_database_of_its_own() {
    let variant = "name = \"O0\"\n";
    let text = sound().replace(
        variant,
        &format!("{variant}service = \"sqlite\"\nneeds = [{{ header = \"no/such.h\", package = \"none-dev\" }}]\n"),
    );
    let subject = load(&text).unwrap();
    let variant = subject.variant("O0").unwrap();
    assert_eq!(variant.service.map(|kind| kind.name()), Some("sqlite"));
    let missing = variant.missing();
    assert_eq!(missing.len(), 1); // SQLite has no server that could be missing
    assert_eq!(missing[0].origin, package("none-dev"));
    assert_eq!(subject.variant("O2").unwrap().missing(), []);
}

#[test]
fn an_unknown_database_is_told_with_the_nearest_known_one() {
    let variant = "name = \"O0\"\n";
    let text = sound().replace(variant, &format!("{variant}service = \"postgres\"\n"));
    let error = load(&text).unwrap_err().to_string();
    assert!(error.contains("`postgres` is no service"), "{error}");
    assert!(error.contains("postgresql"), "{error}");
}
