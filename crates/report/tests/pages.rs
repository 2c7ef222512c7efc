//! Writes pages for looking at; see `tests/browser.rs` for what is checked of them.
mod sample;
#[test]
#[ignore]
fn write() {
    let dir = std::path::Path::new("/tmp/report-pages");
    std::fs::create_dir_all(dir).unwrap();
    for (name, quick) in [("full", false), ("quick", true)] {
        let d = antiphon_report::compose(&sample::run(quick));
        std::fs::write(
            dir.join(format!("{name}.html")),
            antiphon_report::export::html::render(&d),
        )
        .unwrap();
        std::fs::write(
            dir.join(format!("{name}.md")),
            antiphon_report::export::markdown::render(&d),
        )
        .unwrap();
        std::fs::write(
            dir.join(format!("{name}.txt")),
            antiphon_report::export::text::render(
                &d,
                antiphon_report::export::text::TextOptions {
                    width: 140,
                    colour: false,
                },
            ),
        )
        .unwrap();
        std::fs::write(
            dir.join(format!("{name}.xlsx")),
            antiphon_report::export::xlsx::render(&d).unwrap(),
        )
        .unwrap();
        std::fs::write(
            dir.join(format!("{name}.csv")),
            antiphon_report::export::csv::run(&sample::run(quick)).unwrap(),
        )
        .unwrap();
    }
}
