//! Plots: a place in the page for each, and its data for the script.

use crate::document::{Axis, Drawn, Guide, Plot, Point};
use crate::export::looks::looks;
use maud::{Markup, html};
use serde::Serialize;

/// Data of a plot for the script; see `assets/script/plots.js`.
#[derive(Serialize)]
pub struct PlotData<'a> {
    title: &'a str,
    categories: &'a [String],
    x: &'a Axis,
    y: &'a Axis,
    series: Vec<SeriesData<'a>>,
    guides: &'a [Guide],
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    colour: usize,
    shape: usize,
    drawn: Drawn,
    /// x, y, and where there is one the interval, and where there is one the text.
    points: Vec<PointData<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PointData<'a> {
    Bare(f64, f64),
    Reported(f64, f64, Option<(f64, f64)>, &'a str),
}

/// The plots of a page.
#[derive(Default)]
pub struct Plots<'a>(Vec<PlotData<'a>>);

impl<'a> Plots<'a> {
    /// Returns the data of all plots so far, in order.
    pub fn data(&self) -> &[PlotData<'a>] {
        &self.0
    }

    /// Returns the place of a plot; the script fills it.
    pub fn figure(&mut self, plot: &'a Plot) -> Markup {
        let index = self.0.len();
        self.0.push(data(plot));
        html! {
            figure.plot data-plot=(index) {
                figcaption {
                    h3 { (plot.title) }
                    p.alternative id={ "plot-" (index) "-description" } { (plot.description) }
                }
                div.drawing {}
                noscript { p { "The plot needs scripts; the tables hold its figures." } }
                @if !plot.caption.is_empty() { p.caption { (plot.caption) } }
            }
        }
    }
}

fn data(plot: &Plot) -> PlotData<'_> {
    let series = plot.series.iter().zip(looks(&plot.series));
    let series = series.map(|(series, (colour, shape))| SeriesData {
        name: &series.name,
        colour,
        shape,
        drawn: series.drawn,
        points: series.points.iter().map(|of| point(plot, of)).collect(),
    });
    PlotData {
        title: &plot.title,
        categories: &plot.categories,
        x: &plot.x,
        y: &plot.y,
        series: series.collect(),
        guides: &plot.guides,
    }
}

fn point<'p>(plot: &Plot, point: &'p Point) -> PointData<'p> {
    let (x, y) = (brief(plot.x.place(point.x)), brief(point.y));
    match (point.interval, point.text.as_str()) {
        (None, "") => PointData::Bare(x, y),
        (interval, text) => PointData::Reported(
            x,
            y,
            interval.map(|(low, high)| (brief(low), brief(high))),
            text,
        ),
    }
}

/// Rounds to seven significant digits: more than a screen shows, less than half the bytes.
fn brief(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}
