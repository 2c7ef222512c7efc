//! The curves of a suite.

use super::models::{known, run, subject};
use super::{Tests, identified};
use crate::document::{Item, Section};
use crate::suite::{Curve, CurveColumn, CurveUnit, Rate};

pub(super) fn curves(top: &Section<'_>, tests: &Tests, subjects: &[String]) -> Vec<Curve> {
    identified(top.get("curve"), "curve", |section, id| {
        read(section, id, tests, subjects)
    })
}

fn read(section: Section<'_>, id: String, tests: &Tests, subjects: &[String]) -> Curve {
    let mut curve = Curve {
        id,
        title: section.required_string("title"),
        text: section.string("text").unwrap_or_default(),
        by: section.required_string("by"),
        unit: unit(&section),
        rows: rows(&section),
        arg: section.string("arg"),
        counted: section.string("counted"),
        rate: rate(&section),
        columns: Vec::new(),
    };
    let test = section.string("test");
    let items = section.require("column");
    let items: Vec<Section<'_>> = items.iter().flat_map(Item::sections).collect();
    for item in items {
        let column = column(item, &curve, test.as_deref(), tests, subjects);
        curve.columns.push(column);
    }
    section.finish();
    curve
}

fn unit(section: &Section<'_>) -> CurveUnit {
    let item = section.get("unit");
    match item.as_ref().and_then(Item::as_string) {
        None | Some("count") => CurveUnit::Count,
        Some("bytes") => CurveUnit::Bytes,
        Some(other) => {
            if let Some(item) = &item {
                item.fault(format!("`{other}` is no unit"), "write `bytes` or `count`");
            }
            CurveUnit::Count
        }
    }
}

fn rate(section: &Section<'_>) -> Option<Rate> {
    let item = section.get("rate")?;
    if section.get("counted").is_some() {
        item.fault(
            "a curve of counts has no rate",
            "take `rate` or `counted` out",
        );
        return None;
    }
    match item.string()?.as_str() {
        "bytes" => Some(Rate::Bytes),
        "operations" => Some(Rate::Operations),
        other => {
            item.fault(
                format!("`{other}` is no rate"),
                "write `bytes` or `operations`",
            );
            None
        }
    }
}

fn rows(section: &Section<'_>) -> Vec<String> {
    let item = section.require("rows");
    let rows = item.as_ref().and_then(Item::strings).unwrap_or_default();
    let numbers = rows.iter().filter(|row| row.parse::<u64>().is_ok()).count();
    if let Some(item) = item.filter(|_| numbers < rows.len() || rows.is_empty()) {
        item.fault(
            "a curve is over whole numbers",
            "write them as strings, such as `[\"0\", \"1024\"]`",
        );
    }
    rows
}

fn column(
    section: Section<'_>,
    curve: &Curve,
    test: Option<&str>,
    tests: &Tests,
    subjects: &[String],
) -> CurveColumn {
    let own = section.string("test");
    let test = own.or_else(|| test.map(str::to_owned));
    if test.is_none() {
        section.fault("no test", "give the curve or the column a `test`");
    }
    let column = CurveColumn {
        title: section.required_string("title"),
        test: test.unwrap_or_default(),
        subject: subject(&section, subjects),
        run: run(&section),
        counter: match curve.counted {
            Some(_) => section.required_string("counter"),
            None => String::new(),
        },
        against: against(&section, curve),
    };
    if curve.column(&column.title).is_some() {
        section.fault(
            format!("another column has the title `{}`", column.title),
            "choose another",
        );
    }
    let kind = match curve.counted {
        Some(_) => "program",
        None => "frame",
    };
    let names = curve.rows.iter().map(|row| column.test_in(row));
    let mut unknown = names.filter(|test| !test.is_empty() && tests.get(test) != Some(&kind));
    if let Some(test) = unknown.next() {
        section.fault(
            format!("no row of this suite has the test `{test}` as a {kind}"),
            "add the row, or take this one out of the curve",
        );
    }
    section.finish();
    column
}

fn against(section: &Section<'_>, curve: &Curve) -> Option<String> {
    let item = section.get("against")?;
    let name = item.string()?;
    let titles = curve.columns.iter().map(|column| &column.title);
    known(&item, &name, "column before this one", titles);
    Some(name)
}
