//! Workbooks: a sheet a section, numbers as numbers, and room for every text.

use crate::sample::plots::{between, sheet};
use crate::sample::{empty_run, estimate, identity, parts, result, run};
use antiphon_lab::Outcome;
use antiphon_measure::Interval;
use antiphon_report::compose;
use antiphon_report::document::{
    Block, Cell, Column, Document, Fact, Figure, Row, RowKind, Section, Table, Unit,
};
use antiphon_report::export::xlsx;

#[test]
fn the_workbook_has_a_sheet_a_section_and_numbers_as_numbers() {
    let mut run = empty_run();
    let identity = identity("call.inter.none", "ada/O2", "other", "same");
    let outcome = Outcome::Frame(Box::new(estimate(1.75, 0.05)));
    run.results = vec![result(identity, outcome)];
    let document = compose(&run);
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    let sheets = parts
        .keys()
        .filter(|name| name.starts_with("xl/worksheets/sheet"))
        .count();
    assert_eq!(sheets, document.sections.len() + 1);
    assert!(parts["xl/workbook.xml"].contains("Subprogram calls"));
    let calls = &parts["xl/worksheets/sheet2.xml"];
    for number in ["<v>1.75</v>", "<v>1.7</v>", "<v>1.8</v>"] {
        assert!(calls.contains(number), "no {number} in {calls}");
    }
}

#[test]
fn sheets_with_unusual_titles_can_be_named() {
    let mut document = compose(&run(true));
    for section in &mut document.sections {
        section.title =
            "History: [a/b] 'with * everything ? that a sheet's name may not have".into();
    }
    document.sections[0].title.clear();
    document.sections[1].title = "run".into();
    assert!(!xlsx::render(&document).expect("a workbook").is_empty());
}

/// Returns a document of one table, after a paragraph longer than a line.
fn tabled(cells: Vec<Vec<Cell>>) -> Document {
    let titles = ["A title of a column of several words", "Other"];
    let rows = cells.into_iter().map(|cells| Row {
        label: "64".into(),
        place: String::new(),
        kind: RowKind::Measured,
        subject: None,
        cells,
    });
    let table = Table {
        title: "Costs".into(),
        corner: "members".into(),
        columns: titles.map(Column::titled).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    };
    let text = "A paragraph that is longer than a line. ".repeat(8);
    Document {
        sections: vec![Section {
            id: "one".into(),
            title: "One".into(),
            blocks: vec![Block::Prose { text }, Block::Table(table)],
        }],
        ..Document::default()
    }
}

/// Returns the height of a row that is higher than others.
fn height(sheet: &str, row: u32) -> Option<f64> {
    let row = between(sheet, &format!("<row r=\"{row}\""), ">")
        .first()
        .copied()?;
    between(row, " ht=\"", "\"").first()?.parse().ok()
}

#[test]
fn rows_are_as_high_as_their_texts_and_columns_as_wide() {
    let reason = "it failed for a reason that takes more than one line of a cell to tell, and more";
    let figure = Interval {
        value: 5.0,
        low: 4.0,
        high: 6.0,
    };
    let mut figure = Figure::resolved(figure, Unit::Nanoseconds);
    figure.switches = Some(2.0);
    let document = tabled(vec![
        vec![Cell::Figure(Box::new(figure)), Cell::text(reason)],
        vec![Cell::Empty, Cell::text("short")],
    ]);
    let cells = sheet(&document);
    assert!(cells.contains("<mergeCell ref=\"A3:"), "{cells}");
    assert!(height(&cells, 3) >= Some(45.0), "{cells}");
    assert!(height(&cells, 6) >= Some(60.0), "headings: {cells}");
    assert!(height(&cells, 7) >= Some(45.0), "a reason: {cells}");
    assert_eq!(height(&cells, 8), None, "{cells}");
    let widths: Vec<f64> = between(&cells, " width=\"", "\"")
        .iter()
        .map(|width| width.parse().expect("a width"))
        .collect();
    assert!(
        widths.iter().any(|width| (30.0..40.0).contains(width)),
        "{widths:?}"
    );
    // The only table's headings stay in sight, and so do the names of rows.
    let pane = between(&cells, "<pane ", "/>")[0];
    assert!(
        pane.contains("xSplit=\"1\"") && pane.contains("ySplit=\"6\""),
        "{pane}"
    );
    // A label that is a number is one.
    assert!(
        cells.contains("r=\"A7\" s=") && cells.contains("<v>64</v>"),
        "{cells}"
    );
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    let texts = &parts["xl/sharedStrings.xml"];
    assert!(
        texts.contains("low\nns") && !texts.contains("switches\nns"),
        "{texts}"
    );
}

#[test]
fn notes_and_facts_have_room() {
    let long = "What a figure is and how it was come by, in many words. ".repeat(12);
    let document = Document {
        facts: vec![Fact::new("ada/O2", long.clone())],
        sections: vec![Section {
            id: "notes".into(),
            title: "How to read the figures".into(),
            blocks: vec![Block::Facts {
                facts: vec![Fact::new("interval", long)],
            }],
        }],
        ..Document::default()
    };
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    let (cover, notes) = (
        &parts["xl/worksheets/sheet1.xml"],
        &parts["xl/worksheets/sheet2.xml"],
    );
    assert!(height(cover, 5) >= Some(90.0), "{cover}");
    assert!(height(notes, 3) >= Some(90.0), "{notes}");
    assert!(notes.contains("<mergeCell ref=\"B3:"), "{notes}");
}
