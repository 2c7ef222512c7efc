//! Source files as people write them, and messages about habits from other languages.

use antiphon_sr::{Input, Severity};

use crate::support::{MODELS, built, ran_again, source};

/// Returns the errors of a text, with their help.
fn errors(name: &str, text: &str) -> String {
    let mut input = Input::default();
    input.add(std::path::Path::new(name), text.as_bytes().to_vec(), None);
    let checked = input.analyse(None);
    let errors = checked.diagnostics.iter();
    let errors = errors.filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| {
            format!(
                "{} = {}\n",
                d.message,
                d.help.as_deref().unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn bytes_of_strings_go_out_as_they_came_in() {
    let mut latin1 = b"resource main()\n  var c: char := '".to_vec();
    latin1.extend(b"\xe9'\n  write(\"caf\xe9 \xc3\xa9 \\xe9\", c, length(\"\xfc\\\n\"))\nend\n");
    let mut marked = b"\xef\xbb\xbf".to_vec();
    marked.extend(
        "resource main()\r\n  write(\"café\", \\\r\n    \"a\\\r\nb\")\r\nend\r\n".as_bytes(),
    );
    for (name, text, printed) in [
        ("latin1.sr", latin1, &b"caf\xe9 \xc3\xa9 \xe9 \xe9 2\n"[..]),
        ("marked.sr", marked, "café a\nb\n".as_bytes()),
    ] {
        let program = built(&[source(name, text)], MODELS[2], &[]);
        let program = program.unwrap_or_else(|message| panic!("{message}"));
        let output = ran_again(&program, "");
        assert_eq!(output.stdout, printed, "{name}: {}", output.stderr);
    }
}

#[test]
fn utf16_is_one_error_that_says_so() {
    let units = "resource main()\nend\n".encode_utf16();
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    let error = Input::read(&[source("utf16.sr", bytes)], None).unwrap_err();
    assert!(error.to_string().contains("is in UTF-16"), "{error}");
}

#[test]
fn habits_of_other_languages_are_told_what_to_write() {
    for (body, help) in [
        (
            "if x = 1 -> write(1) else -> write(2) fi",
            "write [] before else",
        ),
        ("while x < 3 -> x++ od", "do condition -> statements od"),
        ("if x == 1 -> write(1) fi", "= compares, and := assigns"),
        ("x := 1 // one", "a comment begins with #"),
        ("var call: int", "call is a reserved word"),
        ("int y := 1", "var name: type"),
    ] {
        let text = format!("resource main()\n  var x := 0\n  {body}\nend\n");
        let said = errors("t.sr", &text);
        assert!(said.contains(help), "{body}: {said}");
    }
}

#[test]
fn a_body_says_where_its_parameters_belong() {
    let text = "resource cell(n: int)\n  op get() returns v: int\nbody cell(n)\n  proc get() returns v\n    v := n\n  end\nend\n";
    let said = errors("t.sr", text);
    assert!(
        said.contains("a body that stands apart has none: body cell"),
        "{said}"
    );
    let apart =
        "resource cell\nbody cell() separate\nbody cell(n: int)\nend\nresource main()\nend\n";
    let said = errors("t.sr", apart);
    assert!(
        said.contains("a body that stands apart has no parameters = write body cell"),
        "{said}"
    );
}

#[test]
fn a_name_in_other_letters_is_found() {
    let text = "global Consts\n  const N := 2\nend\nresource main()\n  import Consts\n  write(consts.N)\nend\n";
    let said = errors("t.sr", text);
    assert!(said.contains("did you mean \"Consts\"?"), "{said}");
}

#[test]
fn a_part_of_a_program_is_checked_alone() {
    for text in [
        "global util\n  const N := 3\nend\n",
        "resource cell\n  op get() returns v: int\nbody cell(n: int)\n  proc get() returns v\n    v := n\n  end\nend\n",
    ] {
        let mut input = Input::default();
        input.add(std::path::Path::new("t.sr"), text.as_bytes().to_vec(), None);
        assert!(input.analyse(None).program.is_none());
        input.expect_part();
        let checked = input.analyse(None);
        assert!(checked.program.is_some(), "{:?}", checked.diagnostics);
    }
}

#[test]
fn c_functions_take_files_by_value_alone() {
    let text = "resource main()\n  external fputs(s: string[*]; f: file)\n  var f: file\n  write(\"first\")\n  \
                fputs(\"hello\\n\", stdout)\n  f := open(\"/dev/stdout\", WRITE)\n  writes(f, \"x \")\n  \
                fputs(\"y\\n\", f)\n  close(f)\n  write(\"last\")\nend\n";
    let program = built(&[source("c_file.sr", text)], MODELS[2], &[]);
    let output = ran_again(&program.unwrap_or_else(|message| panic!("{message}")), "");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, "first\nhello\nx y\nlast\n", "{}", output.stderr);
    for (declared, message) in [
        ("f(ref g: file)", "pass the file by value"),
        ("f() returns g: file", "cannot give file"),
        ("f(r: rec(g: file))", "cannot take"),
    ] {
        let said = errors(
            "t.sr",
            &format!("resource main()\n  external {declared}\nend\n"),
        );
        assert!(said.contains(message), "{declared}: {said}");
    }
}
