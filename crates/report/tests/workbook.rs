//! Workbooks: a sheet a section, numbers as numbers, and each plot as a chart of the workbook's own.

mod sample;

use antiphon_lab::Outcome;
use antiphon_report::compose;
use antiphon_report::document::{
    Axis, AxisUnit, Block, Document, Drawn, Plot, Point, Section, Series,
};
use antiphon_report::export::xlsx;
use sample::{empty_run, estimate, identity, parts, result, run};

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

/// The charts of a workbook, by their parts.
fn charts(document: &Document) -> Vec<String> {
    let parts = parts(&xlsx::render(document).expect("a workbook"));
    let charts = parts
        .iter()
        .filter(|(name, _)| name.starts_with("xl/charts/chart"));
    charts.map(|(_, text)| text.clone()).collect()
}

fn axis(title: &str, log: bool) -> Axis {
    Axis {
        title: title.into(),
        unit: AxisUnit::Nanoseconds,
        log,
    }
}

fn series(name: &str, drawn: Drawn, points: Vec<Point>) -> Series {
    Series {
        name: name.into(),
        subject: Some(0),
        shape: 0,
        drawn,
        points,
    }
}

/// A document of one plot in a section with a long title.
fn plotted(categories: &[&str], series: Vec<Series>, log: bool) -> Document {
    let plot = Plot {
        title: "Costs & more".into(),
        description: "Some costs.".into(),
        caption: String::new(),
        categories: categories.iter().map(|name| (*name).to_owned()).collect(),
        x: axis("Time", log),
        y: axis("Cost", log),
        series,
        guides: Vec::new(),
    };
    Document {
        sections: vec![Section {
            id: "one".into(),
            title: "What was found elsewhere, and whether it holds here".into(),
            blocks: vec![Block::Plot(plot)],
        }],
        ..Document::default()
    }
}

#[test]
fn every_plot_is_a_chart_also_where_tables_hold_its_figures() {
    let document = compose(&run(true));
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let plots = blocks
        .filter(|block| matches!(block, Block::Plot(_)))
        .count();
    let charts = charts(&document);
    assert!(plots > 3);
    assert_eq!(charts.len(), plots);
    let of = |kind: &str| charts.iter().filter(|chart| chart.contains(kind)).count();
    assert_eq!(of("<c:barChart>") + of("<c:scatterChart>"), plots);
    assert!(of("<c:barChart>") > 0 && of("<c:scatterChart>") > 0);
}

#[test]
fn a_chart_over_a_number_shows_the_points_beside_it() {
    let told = |x, y| Point {
        interval: Some((y - 1.0, y + 2.0)),
        ..Point::at(x, y)
    };
    let lines = vec![
        series("ada", Drawn::Line, vec![told(1.0, 10.0), told(10.0, 100.0)]),
        series("java", Drawn::Line, vec![Point::at(1.0, 20.0)]),
        series("none", Drawn::Line, Vec::new()),
    ];
    let document = plotted(&[], lines, true);
    let chart = charts(&document).remove(0);
    for part in [
        "<c:scatterChart>",
        "'What was found elsewhere'!$B$5:$B$6",
        "'What was found elsewhere'!$C$5:$C$6",
        "'What was found elsewhere'!$C$7",
        "'What was found elsewhere'!$E$5:$E$6",
        "<c:errBars>",
        "<c:logBase val=\"10\"/>",
        "Costs &amp; more",
    ] {
        assert!(chart.contains(part), "no {part} in {chart}");
    }
    assert_eq!(chart.matches("<c:ser>").count(), 2);
    let workbook = parts(&xlsx::render(&document).expect("a workbook"));
    let sheet = &workbook["xl/worksheets/sheet2.xml"];
    for cell in [
        "<c r=\"B6\"><v>10</v>",
        "<c r=\"C6\"><v>100</v>",
        "<c r=\"E6\"><v>2</v>",
    ] {
        assert!(sheet.contains(cell), "no {cell} in {sheet}");
    }
}

#[test]
fn a_chart_over_rows_has_bars_from_above() {
    let bars = vec![
        series(
            "held",
            Drawn::Sticks,
            vec![Point::at(3.0, 0.0), Point::at(4.0, 1.0)],
        ),
        series("largest", Drawn::Points, vec![Point::at(5.0, 1.0)]),
    ];
    let chart = charts(&plotted(&["one", "two"], bars.clone(), false)).remove(0);
    for part in [
        "<c:barChart>",
        "<c:barDir val=\"bar\"/>",
        "'What was found elsewhere'!$A$5:$A$6",
        "'What was found elsewhere'!$B$5:$B$6",
        "'What was found elsewhere'!$C$5:$C$6",
    ] {
        assert!(chart.contains(part), "no {part} in {chart}");
    }
    assert!(!chart.contains("logBase"));
    // The rows go down, and the values have a name and, where the plot's have, a logarithmic axis, from whose least value the bars begin.
    let chart = charts(&plotted(&["one", "two"], bars, true)).remove(0);
    let (_, axes) = chart.split_once("<c:catAx>").expect("an axis of rows");
    let (rows, values) = axes.split_once("<c:valAx>").expect("an axis of values");
    assert!(
        rows.contains("maxMin") && rows.contains("<c:crosses val=\"min\"/>"),
        "{rows}"
    );
    assert!(
        values.contains("<c:logBase val=\"10\"/>") && values.contains("Time (ns)"),
        "{values}"
    );
}

#[test]
fn what_cannot_stand_on_a_logarithmic_axis_stands_on_another() {
    let points = vec![Point::at(-1.0, 0.0), Point::at(4.0, 1.0)];
    let below = plotted(
        &["one", "two"],
        vec![series("ada", Drawn::Points, points)],
        true,
    );
    assert!(!charts(&below).remove(0).contains("logBase"));
    // Nothing to draw is no chart, and several points in a row are a list.
    assert!(charts(&plotted(&["one"], Vec::new(), true)).is_empty());
    let twice = vec![Point::at(1.0, 0.0), Point::at(2.0, 0.0)];
    let list = plotted(&["one"], vec![series("ada", Drawn::Points, twice)], true);
    assert!(charts(&list).is_empty());
    let infinite = vec![Point::at(f64::INFINITY, 1.0), Point::at(f64::NAN, 2.0)];
    let odd = plotted(&[], vec![series("ada", Drawn::Line, infinite)], true);
    assert!(xlsx::render(&odd).is_ok());
}

/// What a series may have, in the order of ECMA-376, part 1: 21.2.2.168 (`CT_ScatterSer`) and 21.2.2.16 (`CT_BarSer`).
const SCATTERED: [&str; 12] = [
    "idx",
    "order",
    "tx",
    "spPr",
    "marker",
    "dPt",
    "dLbls",
    "trendline",
    "errBars",
    "xVal",
    "yVal",
    "smooth",
];
const BARS: [&str; 13] = [
    "idx",
    "order",
    "tx",
    "spPr",
    "invertIfNegative",
    "pictureOptions",
    "dPt",
    "dLbls",
    "trendline",
    "errBars",
    "cat",
    "val",
    "shape",
];

/// The names of an element's children, of XML without comments.
fn children(element: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    for tag in element.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("the end of a tag");
        match tag.strip_prefix('/') {
            Some(_) => depth -= 1,
            None => {
                let name = tag.split([' ', '/']).next().unwrap_or_default();
                if depth == 1 {
                    names.push(name.trim_start_matches("c:").to_owned());
                }
                depth += usize::from(!tag.ends_with('/'));
            }
        }
    }
    names
}

#[test]
fn the_children_of_every_series_are_in_the_order_of_the_schema() {
    let mut seen = 0;
    for chart in charts(&compose(&run(true))) {
        let schema = match chart.contains("<c:scatterChart>") {
            true => SCATTERED.as_slice(),
            false => BARS.as_slice(),
        };
        for series in chart.split("<c:ser>").skip(1) {
            let (series, _) = series.split_once("</c:ser>").expect("its end");
            let names = children(&format!("<c:ser>{series}</c:ser>"));
            let places: Vec<_> = names
                .iter()
                .map(|name| schema.iter().position(|n| n == name))
                .collect();
            assert!(places.iter().all(Option::is_some), "{names:?}");
            assert!(places.is_sorted(), "{names:?}");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}
