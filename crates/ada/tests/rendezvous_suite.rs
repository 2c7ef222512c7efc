//! The variant `tool` of the rendezvous suite is exactly what the tool makes of the variant `rendezvous`.
//!
//! Units are renamed from `_Rendezvous` to `_Tool` first, so that one program can hold both.
//! `ANTIPHON_BLESS=1 cargo test -p antiphon-ada --test rendezvous_suite` writes the variant anew; read the diff before you keep it.

use std::path::{Path, PathBuf};

use antiphon_ada::{Analysis, Program, Source, explain, translate};

/// The servers of the suite's programs.
const SERVERS: [&str; 4] = ["barrier", "buffer", "distributor", "table"];

fn subject() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/ada-rendezvous")
}

/// The renamed units of a server, and the units of its program that they name.
fn program(server: &str) -> Program {
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for ending in ["ads", "adb"] {
        let path = subject().join(format!("rendezvous/{server}_rendezvous.{ending}"));
        let text = std::fs::read_to_string(path).unwrap();
        let renamed = text.replace("_Rendezvous", "_Tool");
        files.push((
            format!("{server}_tool.{ending}").into(),
            renamed.into_bytes(),
        ));
    }
    let others = [
        "programs/fields.ads",
        "programs/fields.adb",
        "programs/gates.ads",
        "programs/gates.adb",
        "programs/items.ads",
        "programs/places.ads",
        "switches/plain/switches.ads",
    ];
    for other in others {
        let path = subject().join(other);
        let bytes = std::fs::read(&path).unwrap();
        files.push((path.file_name().unwrap().into(), bytes));
    }
    Program::parse(files).unwrap()
}

/// The server's units after the translation: those that it left alone too.
fn translated(server: &str) -> Vec<(PathBuf, String)> {
    let program = program(server);
    let analysis = Analysis::of(&program, translate::Options::default());
    let translation = translate::translate(&analysis);
    assert!(
        !translation.replaced.is_empty(),
        "{server} was not translated:\n{}",
        explain::text(&analysis)
    );
    let units = program.sources.iter().enumerate().take(2);
    let text_of = |(file, source): (usize, &Source)| {
        let edited = translation.files.iter().find(|edited| edited.file == file);
        let text = edited.map_or(&source.text, |edited| &edited.text);
        (source.path.clone(), text.clone())
    };
    units.map(text_of).collect()
}

#[test]
fn the_variant_is_what_the_tool_emits() {
    for (name, emitted) in SERVERS.into_iter().flat_map(translated) {
        let path = subject().join("tool").join(name);
        if std::env::var_os("ANTIPHON_BLESS").is_some() {
            std::fs::write(&path, &emitted).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == emitted,
            "{} differs from what the tool emits:\n{}",
            path.display(),
            similar::TextDiff::from_lines(&kept, &emitted).unified_diff()
        );
    }
}
