//! Plots: a place in the page for each, and its data for the script.

use crate::document::{Axis, Drawn, Guide, Plot, Series};
use maud::{Markup, html};
use serde::Serialize;

/// What the script draws of a plot; see `assets/script/plots.js`.
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
    Told(f64, f64, Option<(f64, f64)>, &'a str),
}

/// The plots of a page.
#[derive(Default)]
pub struct Plots<'a>(Vec<PlotData<'a>>);

impl<'a> Plots<'a> {
    /// The data of all plots so far, in order.
    pub fn data(&self) -> &[PlotData<'a>] {
        &self.0
    }

    /// The place of a plot; the script fills it.
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

/// Colours that there are.
const COLOURS: usize = 8;

/// Markers and dashes that the script has: of one more, they begin again.
const SHAPES: usize = 8;

/// Colour and shape of each series, no two alike as long as there are others: subjects are often more than colours.
fn looks(series: &[Series]) -> Vec<(usize, usize)> {
    let mut looks = Vec::with_capacity(series.len());
    for one in series {
        let wanted = match one.subject {
            Some(subject) => (subject % COLOURS, one.shape % SHAPES),
            None => (one.shape % COLOURS, one.shape / COLOURS % SHAPES),
        };
        looks.push(free(wanted, &looks));
    }
    looks
}

/// The look that is wanted, or another shape of its colour, or at last another colour; the one that is wanted if there is no other.
fn free(wanted: (usize, usize), taken: &[(usize, usize)]) -> (usize, usize) {
    let other = |more: usize| {
        (
            (wanted.0 + more / SHAPES) % COLOURS,
            (wanted.1 + more % SHAPES) % SHAPES,
        )
    };
    let mut all = (0..COLOURS * SHAPES).map(other);
    all.find(|look| !taken.contains(look)).unwrap_or(wanted)
}

fn data(plot: &Plot) -> PlotData<'_> {
    let series = plot.series.iter().zip(looks(&plot.series));
    let series = series.map(|(series, (colour, shape))| SeriesData {
        name: &series.name,
        colour,
        shape,
        drawn: series.drawn,
        points: series.points.iter().map(point).collect(),
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

fn point(point: &crate::document::Point) -> PointData<'_> {
    let (x, y) = (brief(point.x), brief(point.y));
    match (point.interval, point.text.as_str()) {
        (None, "") => PointData::Bare(x, y),
        (interval, text) => PointData::Told(
            x,
            y,
            interval.map(|(low, high)| (brief(low), brief(high))),
            text,
        ),
    }
}

/// Seven significant digits: more than a screen shows, less than half the bytes.
fn brief(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Drawn;

    #[test]
    fn no_two_series_look_alike_though_subjects_are_more_than_colours() {
        let looks = looks(&[
            series(Some(0), 0),
            series(Some(8), 0),
            series(Some(0), 1),
            series(Some(1), 0),
            series(None, 0),
        ]);
        assert_eq!(looks, [(0, 0), (0, 1), (0, 2), (1, 0), (0, 3)]);
    }

    #[test]
    fn sixty_four_series_all_look_different_whatever_shape_they_ask_for() {
        let asked: [fn(usize) -> Series; 3] = [
            |index| series(Some(index), index),
            |index| series(Some(3), index),
            |index| series(None, index),
        ];
        for of in asked {
            let series: Vec<Series> = (0..COLOURS * SHAPES).map(of).collect();
            let mut looks = looks(&series);
            looks.sort_unstable();
            looks.dedup();
            assert_eq!(looks.len(), series.len());
            let is_drawn = |look: &(usize, usize)| look.0 < COLOURS && look.1 < SHAPES;
            assert!(looks.iter().all(is_drawn), "{looks:?}");
        }
    }

    fn series(subject: Option<usize>, shape: usize) -> Series {
        Series {
            name: String::new(),
            subject,
            shape,
            drawn: Drawn::Line,
            points: Vec::new(),
        }
    }
}
