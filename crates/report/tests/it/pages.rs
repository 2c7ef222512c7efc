//! Writes the sample run in every format, for inspection: `cargo test -p antiphon-report --test it
//! pages -- --ignored --nocapture`.

use crate::sample;
use antiphon_report::export::{csv, html, json, markdown, text, xlsx};
use antiphon_report::{compose, compose_comparison};
use std::path::Path;

#[test]
#[ignore = "writes files for looking at"]
fn write_the_sample_in_every_format() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let options = text::TextOptions {
        width: 100,
        colour: false,
    };
    for (name, quick) in [("quick", true), ("full", false)] {
        let run = sample::run(quick);
        let document = compose(&run);
        let write = |extension: &str, bytes: &[u8]| {
            let path = directory.join(format!("{name}.{extension}"));
            std::fs::write(&path, bytes).expect("the file is written");
            println!("{}", path.display());
        };
        write("html", html::render(&document).as_bytes());
        write("xlsx", &xlsx::render(&document).expect("a workbook"));
        write("md", markdown::render(&document).as_bytes());
        write("txt", text::render(&document, options).as_bytes());
        write("csv", csv::run(&run).expect("CSV").as_bytes());
        write("json", json::run(&run).expect("JSON").as_bytes());
    }
    let page = html::render(&compose_comparison(&sample::compared::comparison()));
    std::fs::write(directory.join("comparison.html"), page).expect("the file is written");
}
