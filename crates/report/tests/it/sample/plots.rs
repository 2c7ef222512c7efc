//! Plots in documents of one section, and their form in workbooks.

use super::parts;
use antiphon_report::document::{
    Axis, AxisUnit, Block, Document, Drawn, Plot, Point, Section, Series,
};
use antiphon_report::export::xlsx;

/// Returns the charts of a workbook, by their parts.
pub fn charts(document: &Document) -> Vec<String> {
    let parts = parts(&xlsx::render(document).expect("a workbook"));
    let charts = parts
        .iter()
        .filter(|(name, _)| name.starts_with("xl/charts/chart"));
    charts.map(|(_, text)| text.clone()).collect()
}

/// Returns an axis of times.
pub fn axis(title: &str, log: bool) -> Axis {
    Axis {
        title: title.into(),
        unit: AxisUnit::Nanoseconds,
        log,
    }
}

/// Returns a series of the first subject.
pub fn series(name: &str, drawn: Drawn, points: Vec<Point>) -> Series {
    Series {
        name: name.into(),
        subject: Some(0),
        shape: 0,
        drawn,
        points,
    }
}

/// Returns a document of one plot in a section with a long title.
pub fn plotted(categories: &[&str], series: Vec<Series>, log: bool) -> Document {
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

/// Returns the first sheet of a section.
pub fn sheet(document: &Document) -> String {
    let mut parts = parts(&xlsx::render(document).expect("a workbook"));
    parts.remove("xl/worksheets/sheet2.xml").expect("a sheet")
}

/// Returns a plot of one series.
pub fn one(categories: &[&str], drawn: Drawn, points: Vec<Point>, log: bool) -> Document {
    plotted(categories, vec![series("ada", drawn, points)], log)
}

/// Returns the parts between two texts, at all places.
pub fn between<'t>(text: &'t str, from: &str, to: &str) -> Vec<&'t str> {
    let parts = text.split(from).skip(1);
    parts
        .map(|part| part.split(to).next().unwrap_or_default())
        .collect()
}
