//! Units in a folder of their own, and their diagnostics.

use std::path::PathBuf;

use orca_lang::program::Program;
use orca_lang::{Checked, Diagnostic, Loaded, Search, Severity, check, load};
use tempfile::TempDir;

/// Files in a temporary folder.
pub struct Units {
    pub folder: TempDir,
}

impl Units {
    pub fn new(files: &[(&str, &str)]) -> Units {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Units { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn check_with(&self, main: &str, search: &Search) -> (Loaded, Checked) {
        let loaded = load(&[self.path(main)], search).expect("files that can be read");
        let checked = check(&loaded, false);
        (loaded, checked)
    }

    /// Returns line, severity, message and help of each diagnostic.
    pub fn said(&self, main: &str) -> Vec<String> {
        let (loaded, checked) = self.check_with(main, &Search::default());
        lines(&loaded, &checked.diagnostics)
    }
}

pub fn lines(loaded: &Loaded, diagnostics: &[Diagnostic]) -> Vec<String> {
    let line = |one: &Diagnostic| {
        let source = loaded.sources.file(one.span.file);
        let (line, _) = source.position(one.span.start);
        let help = one
            .help
            .as_ref()
            .map(|help| format!(" = {help}"))
            .unwrap_or_default();
        let severity = match one.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        format!("{line}: {severity}{}{help}", one.message)
    };
    diagnostics.iter().map(line).collect()
}

/// Returns the diagnostics of a main module with these declarations (line 2 on) and statements
/// (line 5 on) among variables of many types.
pub fn said_of(declarations: &str, statements: &str) -> Vec<String> {
    main_unit(declarations, statements).said("main.imp")
}

pub fn main_unit(declarations: &str, statements: &str) -> Units {
    // One line each, so that the lines of the tested text are known.
    let text = format!(
        "MODULE IMPLEMENTATION main; {TYPES}\n{declarations}\nPROCESS OrcaMain(); {VARIABLES}\nBEGIN {USES}\n{statements}\nEND;\nEND;\n"
    );
    Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main;\nEND;\n"),
        ("main.imp", &text),
    ])
}

const TYPES: &str = "IMPORT IntObject; \
    TYPE Vector = ARRAY[integer] OF integer; TYPE Matrix = ARRAY[integer, integer] OF real; \
    TYPE Point = RECORD x, y: integer; END; TYPE Color = (red, green, blue); \
    CONST TEN = 10; TYPE Fruit = (apple, pear); TYPE Numbers = SET OF integer; TYPE Words = BAG OF string; \
    TYPE Either = UNION(which: Color) red => n: integer; green => s: string; END; \
    TYPE Link = NODENAME OF Net; TYPE Net = GRAPH first: Link; NODES value: integer; next: Link; END; \
    TYPE Counters = ARRAY[integer] OF IntObject; \
    FUNCTION swap(a, b: SHARED integer); c: integer; BEGIN c := a; a := b; b := c; END; \
    FUNCTION half(n: integer; rest: OUT integer): integer; BEGIN rest := n % 2; RETURN n / 2; END; \
    PROCESS worker(o: SHARED IntObject; n: integer); BEGIN o$add(n); END;";

const VARIABLES: &str = "i, j: integer; l: longint; x: real; ok: boolean; c: char; s: string; \
    v, w: Vector[1..9]; m: Matrix[1..3, 0..2]; p: Point; k: Color; f: Fruit; n: Numbers; b: Words; \
    e: Either; g: Net; q: Link; o, o2: IntObject; os: Counters[0..3];";

/// All variables are used, so that no test gets warnings of unused ones.
const USES: &str = "i := 1; j := 1; l := 1; x := 1.0; ok := true; c := 'c'; s := \"s\"; v[1] := 1; \
    w[1] := 1; m[1,0] := 1.0; p.x := 1; k := red; f := pear; n := Numbers:{1}; INSERT(\"w\", b); \
    e := Either:{red, 1}; q := ADDNODE(g); o$inc(); o2$inc(); os[0]$inc();";

/// Returns the program of units without errors.
pub fn program(units: &Units, main: &str) -> Program {
    let (loaded, checked) = units.check_with(main, &Search::default());
    let said = lines(&loaded, &checked.diagnostics);
    checked.program.unwrap_or_else(|| panic!("{said:?}"))
}
