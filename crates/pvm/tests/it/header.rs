//! The headers define what PVM's own define.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{root, run};

/// Returns the names that a header defines, without macros that take arguments.
fn defined(header: &str) -> BTreeSet<String> {
    let lines = header.lines().filter_map(|line| {
        let rest = line
            .strip_prefix('#')?
            .trim_start()
            .strip_prefix("define")?;
        let mut words = rest.split_whitespace();
        let (name, value) = (words.next()?, words.next()?);
        let is_constant =
            (name.starts_with("Pvm") || name.starts_with("PVM")) && !name.contains('(');
        (is_constant && value != "\\" && !name.starts_with("PVMTMPNAM")).then(|| name.to_owned())
    });
    lines.collect()
}

/// Returns a program that prints the values of names, and the layouts of structures.
fn program(names: &BTreeSet<String>) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include \"pvm3.h\"\n\
         #define SHOW(x) _Generic((x), char *: text, default: number)(#x, (long)(size_t)(x))\n\
         static void text(const char *n, long x) { printf(\"%s %s\\n\", n, (const char *)x); }\n\
         static void number(const char *n, long x) { printf(\"%s %ld\\n\", n, x); }\n\
         int main(void) {\n",
    );
    for name in names {
        writeln!(text, "    SHOW({name});").unwrap();
    }
    let structures = [
        ("pvmhostinfo", "hi_tid hi_name hi_arch hi_speed hi_dsig"),
        (
            "pvmtaskinfo",
            "ti_tid ti_ptid ti_host ti_flag ti_a_out ti_pid",
        ),
        ("pvmminfo", "len ctx tag wid enc crc src dst"),
        (
            "pvmmboxinfo",
            "mi_name mi_nentries mi_indices mi_owners mi_flags",
        ),
    ];
    for (structure, fields) in structures {
        writeln!(text, "    SHOW(sizeof(struct {structure}));").unwrap();
        for field in fields.split(' ') {
            writeln!(text, "    SHOW(offsetof(struct {structure}, {field}));").unwrap();
        }
    }
    text + "    return 0;\n}\n"
}

#[test]
fn names_and_layouts_are_pvms() {
    let own = root().join("include");
    let debians = Path::new("/usr/include");
    let Ok(header) = fs::read_to_string(debians.join("pvm3.h")) else {
        return;
    };
    let names = defined(&header);
    assert!(names.len() > 100, "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("shown.c");
    let shown = |include: &Path| {
        fs::write(&source, program(&names)).unwrap();
        let program = folder.path().join("shown");
        let mut compiler = Command::new("cc");
        run(compiler
            .arg("-w")
            .arg("-I")
            .arg(include)
            .arg(&source)
            .arg("-o")
            .arg(&program));
        run(&mut Command::new(program))
    };
    // Debian's folder is one of the compiler's default folders, so a copy is used.
    let copy = folder.path().join("debian");
    fs::create_dir(&copy).unwrap();
    fs::copy(debians.join("pvm3.h"), copy.join("pvm3.h")).unwrap();
    assert_eq!(shown(&own), shown(&copy));
}

#[test]
fn the_functions_of_pvms_header_are_all_there() {
    let Ok(header) = fs::read_to_string("/usr/include/pvm3.h") else {
        return;
    };
    let ours = fs::read_to_string(root().join("include/pvm3.h")).unwrap();
    let names = |text: &str| -> BTreeSet<String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text
            .split(|c| !is_word(c))
            .filter(|word| word.starts_with("pvm_"));
        words
            .filter(|word| *word != "pvm_")
            .map(str::to_owned)
            .collect()
    };
    let comments = |text: &str| {
        text.split("*/")
            .map(|part| part.split("/*").next().unwrap_or(""))
            .collect::<String>()
    };
    let lacking: Vec<_> = names(&comments(&header))
        .difference(&names(&ours))
        .cloned()
        .collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn fortrans_numbers_are_cs() {
    let own = fs::read_to_string(root().join("include/fpvm3.h")).unwrap();
    let Ok(debians) = fs::read_to_string("/usr/include/fpvm3.h") else {
        return;
    };
    let numbers = |text: &str| -> BTreeSet<(String, i64)> {
        let lines = text.lines().filter(|line| line.contains("parameter"));
        let pairs = lines.flat_map(|line| line.split(['(', ',', ')']));
        pairs
            .filter_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                Some((name.trim().to_uppercase(), value.trim().parse().ok()?))
            })
            .collect()
    };
    let lacking: Vec<_> = numbers(&debians)
        .difference(&numbers(&own))
        .cloned()
        .collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}
