//! The variants `tool`, `tool_general` and `tool_optimised` of the rendezvous suite are exactly the
//! tool's translations of the variant `rendezvous`.
//!
//! Units are first renamed from `_Rendezvous` to `_Tool` and so on, so that one program can contain
//! all.

use std::path::{Path, PathBuf};

use antiphon_ada::translate::{Options, Scheme};
use antiphon_ada::{Analysis, Program, Source, explain, translate};

use crate::common::check_golden;

/// A variant that the tool makes.
struct Variant {
    /// Its name, and that of its folder.
    name: &'static str,
    /// How its units' names end.
    ending: &'static str,
    scheme: Scheme,
    /// The servers that the scheme translates. The suite states why the others are absent.
    servers: &'static [&'static str],
    /// The servers that it keeps.
    kept: &'static [&'static str],
}

const VARIANTS: [Variant; 3] = [
    Variant {
        name: "tool",
        ending: "_Tool",
        scheme: Scheme::Servers,
        servers: &["barrier", "buffer", "distributor", "table"],
        kept: &[],
    },
    Variant {
        name: "tool_general",
        ending: "_Tool_General",
        scheme: Scheme::General,
        servers: &["barrier", "buffer", "table"],
        kept: &["distributor"],
    },
    Variant {
        name: "tool_optimised",
        ending: "_Tool_Optimised",
        scheme: Scheme::Optimised,
        servers: &["barrier", "buffer", "distributor", "table"],
        kept: &[],
    },
];

fn subject() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/ada-rendezvous")
}

/// Returns the renamed units of a server, and the units of its program that they name.
fn program(server: &str, variant: &Variant) -> Program {
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for ending in ["ads", "adb"] {
        let path = subject().join(format!("rendezvous/{server}_rendezvous.{ending}"));
        let text = std::fs::read_to_string(path).unwrap();
        let renamed = text.replace("_Rendezvous", variant.ending);
        let name = format!("{server}_{}.{ending}", variant.name);
        files.push((name.into(), renamed.into_bytes()));
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

/// Returns the server's units after the translation, including unchanged ones; nothing if the tool
/// kept the server.
fn translated(server: &str, variant: &Variant) -> Result<Vec<(PathBuf, String)>, String> {
    let program = program(server, variant);
    let options = Options {
        scheme: variant.scheme,
        ..Options::default()
    };
    let analysis = Analysis::of(&program, options);
    let translation = translate::translate(&analysis);
    if translation.replaced.is_empty() {
        return Err(explain::text(&analysis));
    }
    let units = program.sources.iter().enumerate().take(2);
    let text_of = |(file, source): (usize, &Source)| {
        let edited = translation.files.iter().find(|edited| edited.file == file);
        let text = edited.map_or(&source.text, |edited| &edited.text);
        (source.path.clone(), text.clone())
    };
    Ok(units.map(text_of).collect())
}

#[test]
fn the_variants_are_what_the_tool_emits() {
    for variant in &VARIANTS {
        for server in variant.servers {
            let units = translated(server, variant)
                .unwrap_or_else(|why| panic!("{server} was not translated:\n{why}"));
            for (name, emitted) in units {
                let path = subject().join(variant.name).join(name);
                check_golden(&path, &emitted);
            }
        }
    }
}

/// If this fails, the tool can translate more: add the server to the variant and to the suite's
/// program.
#[test]
fn what_is_absent_is_what_the_tool_keeps() {
    for variant in &VARIANTS {
        for server in variant.kept {
            let units = translated(server, variant);
            assert!(
                units.is_err(),
                "{}: {server} is translated now",
                variant.name
            );
        }
    }
}
