//! Native charts of the workbook, over the cells of a plot's points.
//!
//! Their series have the colours of the page. Other distinctions, the only ones in a grey print,
//! depend on their place in the chart. Guides of a plot are on the page only.

use super::drawn::Drawing;
use super::points::named;
use super::scale::Scale;
use super::split::MOST;
use crate::document::{Axis, AxisUnit, Drawn, Plot, Point};
use crate::export::looks::{COLOURS, looks};
use rust_xlsxwriter::{
    Chart, ChartAxis, ChartAxisCrossing, ChartAxisLabelPosition, ChartErrorBars,
    ChartErrorBarsDirection, ChartErrorBarsType, ChartFont, ChartFormat, ChartLegendPosition,
    ChartLine, ChartLineDashType, ChartMarker, ChartMarkerType, ChartPatternFill,
    ChartPatternFillType, ChartRange, ChartSeries, ChartSolidFill, ChartType, Color,
};

const WIDTH: u32 = 900;
const HEIGHT: u32 = 420;
/// Height of a bar, space between the bars of two rows, and limit of a chart. A chart far higher
/// than a screen is no more readable.
const BAR: u32 = 11;
const GAP: u32 = 14;
const HIGHEST: u32 = 6000;
/// Height of the title, the legend and the axis.
const AROUND: u32 = 150;

/// Longest name in a legend at the side. Longer ones would leave no room for the plot.
const LONGEST_BESIDE: usize = 30;

/// The page's colours on white.
const PALETTE: [u32; COLOURS] = [
    0x0b_6a_a8, 0xb8_50_0a, 0x1a_7a_55, 0x8a_3a_8f, 0x7d_66_08, 0xb0_2a_50, 0x3f_5b_b5, 0x59_64_70,
];
/// Markers, all filled or of strokes: hollow ones would be filled with white, which hides the
/// points below them. They are one fewer than the dashes, so that the same pair recurs late.
const MARKERS: [ChartMarkerType; 7] = [
    ChartMarkerType::Circle,
    ChartMarkerType::Square,
    ChartMarkerType::Triangle,
    ChartMarkerType::X,
    ChartMarkerType::Diamond,
    ChartMarkerType::PlusSign,
    ChartMarkerType::Star,
];
const DASHES: [ChartLineDashType; 8] = [
    ChartLineDashType::Solid,
    ChartLineDashType::Dash,
    ChartLineDashType::RoundDot,
    ChartLineDashType::DashDot,
    ChartLineDashType::LongDash,
    ChartLineDashType::SquareDot,
    ChartLineDashType::LongDashDot,
    ChartLineDashType::LongDashDotDot,
];
/// Patterns of bars after the first, which are filled.
const PATTERNS: [ChartPatternFillType; MOST - 1] = [
    ChartPatternFillType::DiagonalStripesWideUpwards,
    ChartPatternFillType::HorizontalStripesLight,
    ChartPatternFillType::Dotted25Percent,
    ChartPatternFillType::DiagonalStripesWideDownwards,
    ChartPatternFillType::HorizontalBrick,
    ChartPatternFillType::VerticalStripesLight,
    ChartPatternFillType::Dotted60Percent,
];

/// Columns of a point's numbers after its name: both coordinates, and the interval's extent to
/// either side. `WIDE` is their number with the name.
pub(super) const X: u16 = 1;
pub(super) const Y: u16 = 2;
pub(super) const BELOW: u16 = 3;
pub(super) const ABOVE: u16 = 4;
pub(super) const WIDE: u16 = 5;

/// Rows of a series' points, and their first column.
pub(super) struct Rows {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) column: u16,
    pub(super) has_intervals: bool,
}

impl Rows {
    fn range(&self, sheet: &str, offset: u16) -> ChartRange {
        let column = self.column + offset;
        ChartRange::new_from_range(sheet, self.first, column, self.last, column)
    }
}

/// Rows of the bars' numbers: their count from the first on, and the first rows of the intervals'
/// extents below and above.
pub(super) struct BarRows {
    pub(super) first: u32,
    pub(super) intervals: Option<(u32, u32)>,
    pub(super) rows: u32,
}

impl BarRows {
    fn range(&self, sheet: &str, first: u32, column: u16) -> ChartRange {
        let last = (first + self.rows).saturating_sub(1);
        ChartRange::new_from_range(sheet, first, column, last, column)
    }
}

/// Look of a series: its colour on the page, and its place in the chart.
type Look = (usize, usize);

fn looks_of(plot: &Plot) -> impl Iterator<Item = Look> {
    let colours = looks(&plot.series).into_iter().map(|(colour, _)| colour);
    colours.zip(0..)
}

/// Returns the chart of a plot over two numbers, and its height; `None` without points.
pub(super) fn over_number(
    plot: &Plot,
    sheet: &str,
    rows: &[Rows],
    drawing: &Drawing,
) -> Option<(Chart, u32)> {
    let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
    let drawn = plot.series.iter().zip(looks_of(plot)).zip(rows);
    for ((series, look), rows) in drawn.filter(|(_, rows)| rows.first <= rows.last) {
        let mut points = scattered(series.drawn, look, sheet, rows);
        if series.drawn == Drawn::Sticks && !rows.has_intervals {
            let mut sticks = bars_of(ChartErrorBarsType::Percentage(100.0), look);
            sticks.set_direction(ChartErrorBarsDirection::Minus);
            points.set_y_error_bars(&sticks);
        }
        chart.push_series(points.set_name(series.name.as_str()));
    }
    set_axis(chart.x_axis(), &plot.x, drawing.x.as_ref()?);
    set_axis(chart.y_axis(), &plot.y, drawing.y.as_ref()?);
    chart
        .x_axis()
        .set_label_position(ChartAxisLabelPosition::Low);
    chart
        .y_axis()
        .set_label_position(ChartAxisLabelPosition::Low);
    let is_long = |name: &str| name.chars().count() > LONGEST_BESIDE;
    let legend = match plot.series.iter().any(|series| is_long(&series.name)) {
        true => ChartLegendPosition::Bottom,
        false => ChartLegendPosition::Right,
    };
    chart.legend().set_position(legend);
    let below = match legend {
        ChartLegendPosition::Bottom => plot.series.len() as u32 * 14,
        _ => 0,
    };
    Some(finished(chart, plot, HEIGHT + below))
}

/// Returns the chart of a plot whose rows have names: bars, a group a row, in the order of the
/// names from above.
pub(super) fn over_rows(
    plot: &Plot,
    sheet: &str,
    rows: &BarRows,
    drawing: &Drawing,
) -> Option<(Chart, u32)> {
    let mut chart = Chart::new(ChartType::Bar);
    let drawn = plot.series.iter().zip(&drawing.series).zip(looks_of(plot));
    for (column, ((series, points), look)) in (1..).zip(drawn) {
        let mut bars = bars(look);
        bars.set_name(series.name.as_str())
            .set_categories(&rows.range(sheet, rows.first, 0))
            .set_values(&rows.range(sheet, rows.first, column));
        let has_intervals = points.iter().any(|point: &Point| point.interval.is_some());
        if let Some((below, above)) = rows.intervals.filter(|_| has_intervals) {
            let side = |first| rows.range(sheet, first, column);
            let sides = ChartErrorBarsType::Custom(side(above), side(below));
            // Whiskers of the bar's own colour would be invisible on it.
            bars.set_x_error_bars(&error_bars(sides, Color::Black));
        }
        chart.push_series(&bars);
    }
    set_axis(chart.x_axis(), &plot.x, drawing.x.as_ref()?);
    // Names are small, because some would otherwise be omitted. The vertical axis of bars has the
    // rows, from above. The axis of values is at their end, where its name is.
    chart
        .y_axis()
        .set_reverse()
        .set_crossing(ChartAxisCrossing::Max)
        .set_label_position(ChartAxisLabelPosition::Low)
        .set_font(ChartFont::new().set_size(8));
    chart.legend().set_position(ChartLegendPosition::Top);
    let bars = plot.series.len() as u32 * BAR + GAP;
    let height = AROUND + plot.categories.len() as u32 * bars;
    Some(finished(chart, plot, height.clamp(HEIGHT / 2, HIGHEST)))
}

fn finished(mut chart: Chart, plot: &Plot, height: u32) -> (Chart, u32) {
    chart
        .title()
        .set_name(plot.title.as_str())
        .set_font(ChartFont::new().set_size(12).set_bold());
    chart
        .set_width(WIDTH)
        .set_height(height)
        .set_alt_text(alternative(&plot.description));
    (chart, height)
}

/// Returns the part of a description that a workbook keeps: 255 units of UTF-16, to the end of a
/// word.
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

/// Returns one series over two numbers: points, a line, or sticks from the axis.
fn scattered(kind: Drawn, look: Look, sheet: &str, rows: &Rows) -> ChartSeries {
    let mut drawn = ChartSeries::new();
    drawn
        .set_categories(&rows.range(sheet, X))
        .set_values(&rows.range(sheet, Y))
        .set_smooth(false)
        .set_format(ChartFormat::new().set_line(&line(kind, look)))
        .set_marker(&marker(kind, look));
    if rows.has_intervals {
        let (above, below) = (rows.range(sheet, ABOVE), rows.range(sheet, BELOW));
        let sides = ChartErrorBarsType::Custom(above, below);
        drawn.set_y_error_bars(&bars_of(sides, look));
    }
    drawn
}

/// Returns a series of bars, which also differ by a pattern.
fn bars((colour, place): Look) -> ChartSeries {
    let mut border = ChartLine::new();
    border.set_color(rgb(colour)).set_width(0.75);
    let mut format = ChartFormat::new();
    format.set_border(&border);
    match place % MOST {
        0 => format.set_solid_fill(&fill(colour)),
        nth => format.set_pattern_fill(
            ChartPatternFill::new()
                .set_pattern(PATTERNS[nth - 1])
                .set_foreground_color(rgb(colour))
                .set_background_color(Color::White),
        ),
    };
    let mut bars = ChartSeries::new();
    bars.set_format(&mut format).set_gap(60);
    bars
}

fn bars_of(kind: ChartErrorBarsType, (colour, _): Look) -> ChartErrorBars {
    error_bars(kind, rgb(colour))
}

fn error_bars(kind: ChartErrorBarsType, colour: Color) -> ChartErrorBars {
    let mut bars = ChartErrorBars::new();
    let mut line = ChartLine::new();
    line.set_color(colour).set_width(0.75);
    bars.set_type(kind)
        .set_format(ChartFormat::new().set_line(&line));
    bars
}

fn line(drawn: Drawn, (colour, place): Look) -> ChartLine {
    let mut line = ChartLine::new();
    match drawn {
        Drawn::Line | Drawn::Steps => line
            .set_color(rgb(colour))
            .set_width(1.5)
            .set_dash_type(DASHES[place % DASHES.len()]),
        Drawn::Points | Drawn::Sticks => line.set_hidden(true),
    };
    line
}

fn marker(drawn: Drawn, (colour, place): Look) -> ChartMarker {
    let mut marker = ChartMarker::new();
    if drawn == Drawn::Steps {
        marker.set_none();
        return marker;
    }
    let mut format = ChartFormat::new();
    let mut border = ChartLine::new();
    format
        .set_border(border.set_color(rgb(colour)))
        .set_solid_fill(&fill(colour));
    // Sticks have one for the legend, which knows no other key of them.
    let size = if drawn == Drawn::Sticks { 3 } else { 7 };
    marker
        .set_type(MARKERS[place % MARKERS.len()])
        .set_size(size)
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

/// Names an axis, whose ticks have units, and sets its ends. The other axis begins at the start of
/// a logarithmic one.
fn set_axis(axis: &mut ChartAxis, of: &Axis, scale: &Scale) {
    let name = match of.unit {
        AxisUnit::Nines => named(&of.title, of.unit),
        _ => of.title.clone(),
    };
    if !name.is_empty() {
        axis.set_name(name.as_str());
    }
    scale.set(axis);
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
