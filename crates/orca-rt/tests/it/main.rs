//! C programs that use the library as generated code does, with the sanitizers where the compiler
//! has them.
//!
//! Lines of a program that begin with `//` and one of these words are for this test: `in:` a line
//! of its input, `out:` a line of its output, `args:` its arguments.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const SANITIZERS: &[&str] = &[
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];

/// The files of the library that work without a run-time.
const VALUES: &[&str] = &[
    "bytes",
    "errors",
    "graphs",
    "sets",
    "text",
    "unit_inout",
    "unit_math",
    "unit_unix",
    "units",
    "values",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs the C compiler.
fn cc(arguments: &[&str], files: &[PathBuf], to: &Path) -> Output {
    Command::new("cc")
        .args([
            "-std=gnu11",
            "-O1",
            "-g",
            "-fwrapv",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .args(["-Wno-clobbered", "-I"])
        .arg(folder("include"))
        .arg("-I")
        .arg(folder("c"))
        .args(arguments)
        .args(files)
        .arg("-o")
        .arg(to)
        .args(["-lm", "-lpthread"])
        .output()
        .expect("there is a C compiler")
}

/// Returns the flags of the sanitizers, if programs with them run here.
fn sanitizers() -> &'static [&'static str] {
    static FOUND: OnceLock<&[&str]> = OnceLock::new();
    FOUND.get_or_init(|| {
        let source = scratch("probe.c");
        fs::write(&source, "int main(void) { return 0; }\n").expect("a file can be written");
        let program = scratch("probe");
        let compiled = cc(SANITIZERS, &[source], &program).status.success();
        let runs = compiled && Command::new(&program).status().is_ok_and(|it| it.success());
        if runs { SANITIZERS } else { &[] }
    })
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("orca-values");
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder.join(name)
}

/// Returns the object files of the library, compiled once.
fn library() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let object = |name: &&str| {
            let source = folder("c").join(format!("{name}.c"));
            let object = scratch(&format!("{name}.o"));
            let flags = [&["-c"], sanitizers()].concat();
            let compiled = cc(&flags, &[source], &object);
            let messages = String::from_utf8_lossy(&compiled.stderr);
            assert!(compiled.status.success(), "{messages}");
            object
        };
        VALUES.iter().map(object).collect()
    })
}

/// Returns the texts after a word in the lines of a program.
fn lines(text: &str, word: &str) -> String {
    let of = |line: &str| {
        let line = line.strip_prefix("// ")?.strip_prefix(word)?;
        Some(line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n")
    };
    text.lines().filter_map(of).collect()
}

/// Compiles and runs a program. Returns its output, and checks that it found no failure.
fn run(name: &str) {
    let source = folder("tests/programs").join(format!("{name}.c"));
    let text = fs::read_to_string(&source).expect("the program");
    let program = scratch(name);
    let files = [std::slice::from_ref(&source), library()].concat();
    let compiled = cc(sanitizers(), &files, &program);
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{messages}");
    let mut child = Command::new(&program)
        .args(lines(&text, "args:").split_whitespace())
        .current_dir(scratch(""))
        .env("ANTIPHON_ORCA_TEST", "a value")
        // The library itself reports an array that is too large.
        .env("ASAN_OPTIONS", "allocator_may_return_null=1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("its input");
    // A program that fails early does not read all of it.
    let _ = input.write_all(lines(&text, "in:").as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        lines(&text, "out:")
    );
}

macro_rules! programs {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[test] fn $name() { run(stringify!($name)); })*
    };
}

programs! { arrays records sets graphs bytes text units }

/// An error outside a run-time: the original's text, the values, the place; output comes first.
#[test]
fn errors_without_a_runtime_abort_with_a_message() {
    let source = scratch("alone.c");
    let text = "#include \"orca_values.h\"\nint main(void) {\n\
        static const struct orca_location place = {\"f.imp\", 3};\n    orca_write_integer(5);\n    \
        return orca_div32(&place, 1, 0);\n}\n";
    fs::write(&source, text).expect("a file can be written");
    let program = scratch("alone");
    let files = [std::slice::from_ref(&source), library()].concat();
    let compiled = cc(sanitizers(), &files, &program);
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{messages}");
    let output = Command::new(&program).output().expect("the program runs");
    assert!(!output.status.success());
    assert_eq!(output.stdout, b"5");
    let errors = String::from_utf8_lossy(&output.stderr);
    let expected = "Run-time error, file \"f.imp\", line 3: divide by 0: an integer is divided";
    assert!(errors.starts_with(expected), "{errors}");
}
