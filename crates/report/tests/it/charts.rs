//! Charts of workbooks: each plot as a native chart over the cells of its points.

use crate::sample::plots::{between, charts, one, plotted, series, sheet};
use crate::sample::{parts, run};
use antiphon_report::compose;
use antiphon_report::document::{AxisUnit, Block, Document, Drawn, Point, Series};
use antiphon_report::export::xlsx;

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
    let reported = |x, y| Point {
        interval: Some((y - 1.0, y + 2.0)),
        ..Point::at(x, y)
    };
    let lines = vec![
        series(
            "ada",
            Drawn::Line,
            vec![reported(1.0, 10.0), reported(10.0, 100.0)],
        ),
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
        // From 9 to 102 powers of ten would be one tick.
        "<c:logBase val=\"2\"/>",
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
        series("largest", Drawn::Points, vec![Point::at(500.0, 1.0)]),
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
    // The rows go down. The values have a name and, like the plot's, a logarithmic axis, from whose
    // least value the bars begin.
    let chart = charts(&plotted(&["one", "two"], bars, true)).remove(0);
    let (_, axes) = chart.split_once("<c:catAx>").expect("an axis of rows");
    let (rows, values) = axes.split_once("<c:valAx>").expect("an axis of values");
    assert!(
        rows.contains("maxMin") && rows.contains("<c:crosses val=\"min\"/>"),
        "{rows}"
    );
    assert!(
        values.contains("<c:logBase val=\"10\"/>") && values.contains("<a:t>Time</a:t>"),
        "{values}"
    );
    // The ticks have their unit; the axis is at the end of the rows, with its name.
    assert!(values.contains("&quot; ns&quot;"), "{values}");
    assert!(values.contains("<c:crosses val=\"max\"/>"), "{values}");
    // Small names, as larger ones are left out where there is little room.
    assert!(rows.contains("<a:defRPr sz=\"800\"/>"), "{rows}");
}

#[test]
fn what_cannot_stand_on_a_logarithmic_axis_is_in_the_table_alone() {
    let points = vec![Point::at(-1.0, 0.0), Point::at(4.0, 1.0)];
    let below = one(&["one", "two"], Drawn::Points, points, true);
    let chart = charts(&below).remove(0);
    assert!(
        chart.contains("logBase") && chart.contains("$B$8:$B$9"),
        "{chart}"
    );
    let cells = sheet(&below);
    for cell in [
        "<c r=\"B5\"><v>-1</v>",
        "<c r=\"B6\"><v>4</v>",
        "<c r=\"B9\"><v>4</v>",
    ] {
        assert!(cells.contains(cell), "no {cell} in {cells}");
    }
    assert!(!cells.contains("r=\"B8\""), "{cells}");
    // An axis without a place for any value becomes linear.
    let none = one(&["one"], Drawn::Points, vec![Point::at(-1.0, 0.0)], true);
    assert!(!charts(&none).remove(0).contains("logBase"));
    let points = vec![
        Point::at(1.0, -5.0),
        Point::at(10.0, 40.0),
        Point::at(100.0, 4e4),
    ];
    let over_number = one(&[], Drawn::Line, points, true);
    let chart = charts(&over_number).remove(0);
    assert_eq!(chart.matches("logBase").count(), 2, "{chart}");
    assert!(
        chart.contains("$I$5:$I$6") && !chart.contains("<c:v>-5</c:v>"),
        "{chart}"
    );
    assert!(sheet(&over_number).contains("<c r=\"C5\"><v>-5</v>"));
}

#[test]
fn axes_hold_their_points_with_their_limits() {
    let reported = |x: f64, y: f64, low: f64, high: f64| Point {
        interval: Some((low, high)),
        ..Point::at(x, y)
    };
    let ends = |chart: &str| -> Vec<(f64, f64)> {
        let value = |text: &str, name: &str| -> f64 {
            let (_, rest) = text.split_once(&format!("<c:{name} val=\"")).expect(name);
            rest.split('"')
                .next()
                .and_then(|v| v.parse().ok())
                .expect("a number")
        };
        let axes = chart.split("<c:valAx>").skip(1);
        axes.map(|axis| (value(axis, "min"), value(axis, "max")))
            .collect()
    };
    let points = vec![
        reported(1.0, 50.0, -10.0, 3000.0),
        reported(900.0, 70.0, 69.0, 71.0),
    ];
    let log = charts(&one(&[], Drawn::Line, points.clone(), true)).remove(0);
    // A limit far below its value does not stretch the axis, and its whisker ends there.
    assert_eq!(ends(&log), [(0.1, 2000.0), (1.0, 5000.0)], "{log}");
    assert!(log.contains("<c:v>49</c:v>"), "{log}");
    let linear = charts(&one(&[], Drawn::Line, points, false)).remove(0);
    let ends = ends(&linear);
    assert!(ends[1].0 <= -10.0 && ends[1].1 >= 3000.0, "{ends:?}");
    assert_eq!(
        linear.matches("<c:tickLblPos val=\"low\"/>").count(),
        2,
        "{linear}"
    );
}

#[test]
fn bars_have_their_intervals() {
    let bar = |low, high| Point {
        interval: Some((low, high)),
        ..Point::at(40.0, 0.0)
    };
    let bars = vec![
        series("ada", Drawn::Points, vec![bar(30.0, 60.0)]),
        series("c", Drawn::Points, vec![Point::at(20.0, 0.0)]),
    ];
    let document = plotted(&["one"], bars, false);
    let chart = charts(&document).remove(0);
    assert_eq!(chart.matches("<c:errBars>").count(), 1);
    for range in ["'!$B$8</c:f>", "'!$B$11</c:f>"] {
        assert!(chart.contains(range), "no {range} in {chart}");
    }
    let cells = sheet(&document);
    for cell in ["<c r=\"B8\"><v>10</v>", "<c r=\"B11\"><v>20</v>"] {
        assert!(cells.contains(cell), "no {cell} in {cells}");
    }
}

#[test]
fn no_two_series_of_a_chart_look_alike_in_grey() {
    let points = || vec![Point::at(1.0, 0.0), Point::at(2.0, 1.0)];
    let named = |drawn| -> Vec<Series> {
        let names = (0..8).map(|n| series(&format!("s{n}"), drawn, points()));
        names.collect()
    };
    let lines = charts(&plotted(&[], named(Drawn::Line), false)).remove(0);
    let mut looks: Vec<_> = between(&lines, "<c:ser>", "</c:ser>")
        .into_iter()
        .map(|one| {
            let dash = between(one, "<a:prstDash val=\"", "\"").first().copied();
            (dash, between(one, "<c:symbol val=\"", "\""))
        })
        .collect();
    looks.sort();
    looks.dedup();
    assert_eq!(looks.len(), 8, "{looks:?}");
    // Markers filled with white would hide the points below them.
    assert!(!lines.contains("FFFFFF"), "{lines}");
    let bars = charts(&plotted(&["one", "two"], named(Drawn::Points), false)).remove(0);
    let mut patterns = between(&bars, "<a:pattFill prst=\"", "\"");
    patterns.sort_unstable();
    patterns.dedup();
    assert_eq!(patterns.len(), 7, "the first is filled: {patterns:?}");
}

#[test]
fn bars_of_more_series_than_can_be_told_apart_are_charts_of_their_own() {
    let of = |names: Vec<String>| {
        let bars = names
            .iter()
            .map(|name| series(name, Drawn::Points, vec![Point::at(1.0, 0.0)]));
        plotted(&["one", "without a bar"], bars.collect(), false)
    };
    let titles = |document: &Document| -> Vec<String> {
        let mut titles: Vec<String> = charts(document)
            .iter()
            .map(|chart| between(chart, "<a:t>", "</a:t>")[0].to_owned())
            .collect();
        titles.sort();
        titles
    };
    let databases = ["sqlite", "mariadb (again)", "mariadb"]
        .into_iter()
        .flat_map(|database| (0..4).map(move |n| format!("sql-{n}/{database} · other, same")));
    let by_database = of(databases.collect());
    assert_eq!(
        titles(&by_database),
        ["Costs &amp; more: mariadb", "Costs &amp; more: sqlite"]
    );
    assert!(!charts(&by_database)[0].contains("without a bar"));
    let placements =
        (0..6).flat_map(|n| ["same", "free"].map(|place| format!("s{n}/x · other, {place}")));
    assert_eq!(
        titles(&of(placements.collect())),
        [
            "Costs &amp; more: other, free",
            "Costs &amp; more: other, same"
        ]
    );
    let small = of((0..10).map(|n| format!("s/{} · x", n % 5)).collect());
    assert_eq!(
        titles(&small),
        ["Costs &amp; more: 0, 1, 2, 3", "Costs &amp; more: 4"]
    );
    let plain = of((0..12).map(|n| format!("s{n}")).collect());
    assert_eq!(
        titles(&plain),
        ["Costs &amp; more: 1 of 2", "Costs &amp; more: 2 of 2"]
    );
}

#[test]
fn steps_have_corners_and_sticks_have_a_key() {
    let points = || vec![Point::at(1.0, 10.0), Point::at(2.0, 30.0)];
    let steps = one(&[], Drawn::Steps, points(), false);
    let chart = charts(&steps).remove(0);
    assert!(chart.contains("$H$5:$H$7"), "{chart}");
    let cells = sheet(&steps);
    for cell in [
        "<c r=\"H6\"><v>2</v>",
        "<c r=\"I6\"><v>10</v>",
        "<c r=\"I7\"><v>30</v>",
    ] {
        assert!(cells.contains(cell), "no {cell} in {cells}");
    }
    // The table has the points alone.
    assert!(cells.contains("<c r=\"C6\"><v>30</v>") && !cells.contains("r=\"C7\""));
    let sticks = charts(&one(&[], Drawn::Sticks, points(), true)).remove(0);
    assert!(sticks.contains("<c:size val=\"3\"/>") && !sticks.contains("val=\"none\""));
    assert!(sticks.contains("<c:errBarType val=\"both\"/>"), "{sticks}");
}

#[test]
fn nothing_of_a_size_stands_in_its_cell_as_nothing() {
    let mut document = one(
        &[],
        Drawn::Line,
        vec![Point::at(0.0, 5.0), Point::at(4096.0, 6.0)],
        true,
    );
    let Block::Plot(plot) = &mut document.sections[0].blocks[0] else {
        panic!("a plot");
    };
    plot.x.unit = AxisUnit::Bytes;
    plot.x.title = "bytes".into();
    plot.caption = "0 bytes are drawn as 1.".into();
    let cells = sheet(&document);
    for cell in ["<c r=\"B6\"><v>0</v>", "<c r=\"H6\"><v>1</v>"] {
        assert!(cells.contains(cell), "no {cell} in {cells}");
    }
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    let texts = &parts["xl/sharedStrings.xml"];
    assert!(texts.contains("0 bytes are drawn as 1."), "{texts}");
    assert!(!texts.contains("bytes (bytes)"), "{texts}");
}

#[test]
fn shares_and_sizes_have_ticks_that_are_round_in_the_unit_they_are_written_in() {
    const MIB: f64 = 1_048_576.0;
    let points = vec![Point::at(0.02, 20.0 * MIB), Point::at(0.9, 150.0 * MIB)];
    let mut document = one(&[], Drawn::Line, points, false);
    let Block::Plot(plot) = &mut document.sections[0].blocks[0] else {
        panic!("a plot");
    };
    (plot.x.unit, plot.y.unit) = (AxisUnit::Share, AxisUnit::Bytes);
    plot.x.title = "Kept".into();
    let chart = charts(&document).remove(0);
    for part in [
        "formatCode=\"#,##0&quot; &quot;%\"",
        "<c:majorUnit val=\"0.2\"/>",
        "formatCode=\"#,##0,,&quot; MB&quot;\"",
        "<c:majorUnit val=\"50000000\"/>",
    ] {
        assert!(chart.contains(part), "no {part} in {chart}");
    }
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    let texts = &parts["xl/sharedStrings.xml"];
    assert!(texts.contains("Kept (fraction)"), "{texts}");
    // Powers of two would be written 4, 8, 16, 33 and 66 kB.
    let Block::Plot(plot) = &mut document.sections[0].blocks[0] else {
        panic!("a plot");
    };
    plot.series[0].points = vec![Point::at(0.5, 4096.0), Point::at(0.5, 65_536.0)];
    plot.y.log = true;
    let chart = charts(&document).remove(0);
    assert!(
        chart.contains("<c:min val=\"2000\"/>") && chart.contains("<c:logBase val=\"2\"/>"),
        "{chart}"
    );
}

#[test]
fn what_is_not_drawn_is_no_chart_and_what_is_no_number_no_harm() {
    // Nothing to draw is no chart, and several points in a row are a list.
    assert!(charts(&plotted(&["one"], Vec::new(), true)).is_empty());
    let twice = vec![Point::at(1.0, 0.0), Point::at(2.0, 0.0)];
    let list = plotted(&["one"], vec![series("ada", Drawn::Points, twice)], true);
    assert!(charts(&list).is_empty());
    let infinite = vec![Point::at(f64::INFINITY, 1.0), Point::at(f64::NAN, 2.0)];
    let odd = plotted(&[], vec![series("ada", Drawn::Line, infinite)], true);
    assert!(xlsx::render(&odd).is_ok());
}

/// Elements of a series, in the order of ECMA-376, part 1: 21.2.2.168 (`CT_ScatterSer`) and
/// 21.2.2.16 (`CT_BarSer`).
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

/// Returns the names of an element's children, in XML without comments.
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
