//! Charts of the workbook's own, over the cells that hold a plot's points. Their series look as those of the page do, but for bars, which have the colour alone; guides of a
//! plot, intervals of its bars and the steps of its lines are on the page only.

use super::points::named;
use crate::document::{Axis, Drawn, Plot, Series};
use crate::export::looks::{COLOURS, SHAPES, looks};
use rust_xlsxwriter::{
    Chart, ChartAxis, ChartAxisCrossing, ChartErrorBars, ChartErrorBarsDirection,
    ChartErrorBarsType, ChartFormat, ChartLegendPosition, ChartLine, ChartLineDashType,
    ChartMarker, ChartMarkerType, ChartRange, ChartSeries, ChartSolidFill, ChartType, Color,
};
use std::ops::Range;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 420;
/// What a bar takes, and what is left between the bars of two rows; a chart that is higher than a screen by far is read no better.
const BAR: u32 = 9;
const GAP: u32 = 14;
const HIGHEST: u32 = 6000;

/// The page's colours on white.
const PALETTE: [u32; COLOURS] = [
    0x0b_6a_a8, 0xb8_50_0a, 0x1a_7a_55, 0x8a_3a_8f, 0x7d_66_08, 0xb0_2a_50, 0x3f_5b_b5, 0x59_64_70,
];
const MARKERS: [ChartMarkerType; SHAPES / 2] = [
    ChartMarkerType::Circle,
    ChartMarkerType::Square,
    ChartMarkerType::Diamond,
    ChartMarkerType::Triangle,
];
const DASHES: [ChartLineDashType; SHAPES] = [
    ChartLineDashType::Solid,
    ChartLineDashType::Dash,
    ChartLineDashType::RoundDot,
    ChartLineDashType::DashDot,
    ChartLineDashType::LongDash,
    ChartLineDashType::SquareDot,
    ChartLineDashType::LongDashDot,
    ChartLineDashType::LongDashDotDot,
];

/// The columns in which the points of a plot over two numbers stand: the numbers, and how far the interval goes to either side.
pub(super) const X: u16 = 1;
pub(super) const Y: u16 = 2;
pub(super) const BELOW: u16 = 3;
pub(super) const ABOVE: u16 = 4;

/// In which rows the points of a series stand.
pub(super) struct Rows {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) has_intervals: bool,
}

impl Rows {
    fn range(&self, sheet: &str, column: u16) -> ChartRange {
        ChartRange::new_from_range(sheet, self.first, column, self.last, column)
    }
}

/// The chart of a plot over two numbers, and its height; `None` where it has no point.
pub(super) fn over_number(plot: &Plot, sheet: &str, rows: &[Rows]) -> Option<(Chart, u32)> {
    let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
    let drawn = plot.series.iter().zip(looks(&plot.series)).zip(rows);
    for ((series, look), rows) in drawn.filter(|((series, _), _)| !series.points.is_empty()) {
        chart.push_series(&scattered(series, look, sheet, rows));
    }
    let values = |of: fn(&crate::document::Point) -> f64| -> Vec<f64> {
        let points = plot.series.iter().flat_map(|series| &series.points);
        points.map(of).collect()
    };
    scale(chart.x_axis(), &plot.x, &values(|point| point.x));
    scale(chart.y_axis(), &plot.y, &values(|point| point.y));
    finished(chart, plot, HEIGHT)
}

/// The chart of a plot whose rows have names: bars, a group a row, from above as they are named.
pub(super) fn over_rows(plot: &Plot, sheet: &str, rows: &Range<u32>) -> Option<(Chart, u32)> {
    let mut chart = Chart::new(ChartType::Bar);
    let last = rows.end.saturating_sub(1);
    let column = |column| ChartRange::new_from_range(sheet, rows.start, column, last, column);
    for ((at, series), look) in (1..).zip(&plot.series).zip(looks(&plot.series)) {
        let mut bars = ChartSeries::new();
        bars.set_name(series.name.as_str())
            .set_categories(&column(0))
            .set_values(&column(at))
            .set_format(ChartFormat::new().set_solid_fill(&fill(look.0)))
            .set_gap(60);
        chart.push_series(&bars);
    }
    let points = plot.series.iter().flat_map(|series| &series.points);
    let values: Vec<f64> = points.map(|point| point.x).collect();
    if values.is_empty() {
        return None;
    }
    // Of bars the vertical axis has the rows.
    chart.y_axis().set_reverse();
    scale(chart.x_axis(), &plot.x, &values);
    let bars = plot.series.len() as u32 * BAR + GAP;
    let height = 120 + plot.categories.len() as u32 * bars;
    finished(chart, plot, height.clamp(HEIGHT / 2, HIGHEST))
}

fn finished(mut chart: Chart, plot: &Plot, height: u32) -> Option<(Chart, u32)> {
    if plot.series.iter().all(|series| series.points.is_empty()) {
        return None;
    }
    chart.title().set_name(plot.title.as_str());
    chart.legend().set_position(ChartLegendPosition::Right);
    chart
        .set_width(WIDTH)
        .set_height(height)
        .set_alt_text(alternative(&plot.description));
    Some((chart, height))
}

/// What a workbook keeps of a description: in 255 units of UTF-16, to the end of a word.
fn alternative(description: &str) -> &str {
    const UNITS: usize = 255;
    let mut units = 0;
    let is_beyond = |letter: char| {
        units += letter.len_utf16();
        units > UNITS
    };
    let Some(end) = description.find(is_beyond) else {
        return description;
    };
    let kept = &description[..end];
    kept.rfind(' ').map_or(kept, |space| &kept[..space])
}

/// One series over two numbers: points, a line, or sticks from the axis.
fn scattered(series: &Series, look: (usize, usize), sheet: &str, rows: &Rows) -> ChartSeries {
    let mut drawn = ChartSeries::new();
    drawn
        .set_name(series.name.as_str())
        .set_categories(&rows.range(sheet, X))
        .set_values(&rows.range(sheet, Y))
        .set_smooth(false)
        .set_format(ChartFormat::new().set_line(&line(series.drawn, look)))
        .set_marker(&marker(series.drawn, look));
    if series.drawn == Drawn::Sticks {
        let mut sticks = bars_of(ChartErrorBarsType::Percentage(100.0), look.0);
        sticks.set_direction(ChartErrorBarsDirection::Minus);
        drawn.set_y_error_bars(&sticks);
    } else if rows.has_intervals {
        let (above, below) = (rows.range(sheet, ABOVE), rows.range(sheet, BELOW));
        let sides = ChartErrorBarsType::Custom(above, below);
        drawn.set_y_error_bars(&bars_of(sides, look.0));
    }
    drawn
}

fn bars_of(kind: ChartErrorBarsType, colour: usize) -> ChartErrorBars {
    let mut bars = ChartErrorBars::new();
    let mut line = ChartLine::new();
    line.set_color(rgb(colour)).set_width(0.75);
    bars.set_type(kind)
        .set_format(ChartFormat::new().set_line(&line));
    bars
}

fn line(drawn: Drawn, (colour, shape): (usize, usize)) -> ChartLine {
    let mut line = ChartLine::new();
    match drawn {
        Drawn::Line | Drawn::Steps => line
            .set_color(rgb(colour))
            .set_width(1.5)
            .set_dash_type(DASHES[shape % SHAPES]),
        Drawn::Points | Drawn::Sticks => line.set_hidden(true),
    };
    line
}

/// Filled first, then hollow, as on the page.
fn marker(drawn: Drawn, (colour, shape): (usize, usize)) -> ChartMarker {
    let mut marker = ChartMarker::new();
    if matches!(drawn, Drawn::Steps | Drawn::Sticks) {
        marker.set_none();
        return marker;
    }
    let nth = shape % SHAPES;
    let mut format = ChartFormat::new();
    let mut border = ChartLine::new();
    format.set_border(border.set_color(rgb(colour)));
    match nth % 2 {
        0 => format.set_solid_fill(&fill(colour)),
        _ => format.set_solid_fill(ChartSolidFill::new().set_color(Color::White)),
    };
    marker
        .set_type(MARKERS[nth / 2])
        .set_size(7)
        .set_format(&mut format);
    marker
}

fn fill(colour: usize) -> ChartSolidFill {
    let mut fill = ChartSolidFill::new();
    fill.set_color(rgb(colour));
    fill
}

fn rgb(colour: usize) -> Color {
    Color::RGB(PALETTE[colour % COLOURS])
}

/// Names an axis and makes it logarithmic if the plot's is and all values can stand on it; the other axis then begins where this one does.
fn scale(axis: &mut ChartAxis, of: &Axis, values: &[f64]) {
    let name = named(&of.title, of.unit);
    if !name.is_empty() {
        axis.set_name(name.as_str());
    }
    if of.log && values.iter().all(|value| *value > 0.0) {
        axis.set_log_base(10).set_crossing(ChartAxisCrossing::Min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_cut_where_a_workbook_would_drop_it() {
        assert_eq!(alternative("short"), "short");
        let long = "word ".repeat(100);
        assert_eq!(alternative(&long), "word ".repeat(51).trim_end());
        // Two units each, and no word ends.
        assert_eq!(alternative(&"𝄞".repeat(200)).chars().count(), 127);
    }
}
