//! Headlines: each sentence with its number, a small picture and a link to its table.
//!
//! Pictures are part of the page: they need no script, and print as they are.

use super::{colour, prose};
use crate::document::{Bar, Headline, Headlines, Mark, Measured, Picture, Place, Told};
use crate::export::headlines::{between, value};
use crate::number;
use maud::{Markup, html};

/// Finds the address of the table that a headline stands on.
pub type Address<'a> = dyn Fn(&Place) -> Option<String> + 'a;

/// Returns the part of the page that opens it; nothing without headlines.
pub fn opening(all: &[Headlines], address: &Address) -> Markup {
    let of_one = all.len() == 1;
    html! {
        @if !all.is_empty() {
            div.found role="region" aria-label="What was found" {
                @for suite in all {
                    @if !of_one { h2 { (suite_title(suite)) } }
                    ol { @for one in &suite.sentences { (sentence(one, address)) } }
                }
            }
        }
    }
}

fn suite_title(suite: &Headlines) -> Markup {
    html! {
        @if suite.section.is_empty() { (suite.title) }
        @else { a href={ "#" (suite.section) } { (suite.title) } }
    }
}

fn sentence(one: &Headline, address: &Address) -> Markup {
    let link = one.stands_on.as_ref().and_then(address);
    html! {
        li class=(told(one.told)) {
            p.sentence { (prose(&one.text)) }
            @if let Some(picture) = &one.picture { (drawn(picture, &one.about)) }
            p.basis {
                @if let Some(between) = between(one) { (between) }
                @for mark in &one.marks { " " (mark_of(mark)) }
                @if let Some(link) = link {
                    " " a href={ "#" (link) } aria-label={ "The table behind " (one.about) } { "table" }
                }
            }
        }
    }
}

fn told(told: Told) -> &'static str {
    match told {
        Told::Found => "told",
        Told::Claims => "claims",
        Told::Nothing => "untold",
    }
}

fn mark_of(mark: &Mark) -> Markup {
    html! { span class={ "mark " (super::weight(mark.weight)) } { (mark.word) } }
}

// --- Pictures ------------------------------------------------------------------------------------

/// Width of a picture in its own units.
const WIDTH: f64 = 240.0;
/// Least factor between the numbers of a logarithmic axis.
const LOGARITHMIC: f64 = 10.0;

fn drawn(picture: &Picture, about: &str) -> Markup {
    match picture {
        Picture::Bars { bars } => of_bars(bars, about),
        Picture::Curve { points } => of_curve(points, about),
        Picture::Parts { parts } => of_parts(parts, about),
    }
}

/// An axis from 0, or logarithmic from a power of ten.
struct Axis {
    from: f64,
    to: f64,
    log: bool,
    length: f64,
}

impl Axis {
    /// Returns the axis of these numbers; logarithmic if they differ by a factor of ten.
    fn of(numbers: impl Iterator<Item = f64> + Clone, length: f64) -> Axis {
        let positive = numbers.clone().filter(|number| *number > 0.0);
        let (least, most) = positive.fold((f64::INFINITY, 0.0_f64), |(least, most), number| {
            (least.min(number), most.max(number))
        });
        let log = most >= LOGARITHMIC * least;
        let power = |of: f64| 10f64.powf(of);
        let (from, to) = match log {
            true => {
                let floor = (least * 0.8).log10().floor();
                (power(floor), most)
            }
            false => (0.0, most),
        };
        Axis {
            from,
            to,
            log,
            length,
        }
    }

    fn place(&self, number: f64) -> f64 {
        let share = match self.log {
            true if number <= self.from => 0.0,
            true => (number / self.from).log10() / (self.to / self.from).log10(),
            false => number / self.to,
        };
        match share.is_finite() {
            true => (share.clamp(0.0, 1.0) * self.length * 10.0).round() / 10.0,
            false => 0.0,
        }
    }

    /// Returns the places of powers of ten between its ends; none of an even axis.
    fn decades(&self) -> Vec<f64> {
        if !self.log {
            return Vec::new();
        }
        let first = self.from.log10().round() as i32 + 1;
        let powers = (first..first + 20).map(|power| 10f64.powi(power));
        let within = powers.take_while(|power| *power < self.to);
        within.map(|power| self.place(power)).collect()
    }
}

/// Returns every number that a figure needs on an axis.
fn extent(figure: &Measured) -> impl Iterator<Item = f64> + Clone + use<> {
    let limits = figure
        .limits()
        .map_or([figure.value; 2], |(low, high)| [low, high]);
    std::iter::once(figure.value).chain(limits)
}

fn of_bars(bars: &[Bar], about: &str) -> Markup {
    const ROW: f64 = 30.0;
    let axis = Axis::of(bars.iter().flat_map(|bar| extent(&bar.figure)), WIDTH);
    let height = ROW * bars.len() as f64;
    let words: Vec<String> = bars
        .iter()
        .map(|bar| format!("{}: {}", bar.label, value(&bar.figure)))
        .collect();
    let description = format!("{about}. {}{}", words.join("; "), axis_words(&axis));
    html! {
        svg.small viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(description) {
            @for place in axis.decades() {
                path.grid d=(format!("M{place} 0V{height}")) {}
            }
            @for (index, bar) in bars.iter().enumerate() {
                @let top = ROW * index as f64;
                @let end = axis.place(bar.figure.value);
                g class=(colour(bar.subject)) {
                    text x="0" y=(top + 11.0) { (shortened(&bar.label)) }
                    text.value x=(WIDTH) y=(top + 11.0) { (number::quantity(bar.figure.unit, bar.figure.value)) }
                    rect.bar x="0" y=(top + 15.0) width=(end.max(1.0)) height="9" {}
                    @if let Some((low, high)) = bar.figure.limits() {
                        @let (from, to) = (axis.place(low), axis.place(high));
                        @let middle = top + 19.5;
                        path.whisker d=(format!("M{from} {middle}H{to}M{from} {}v7M{to} {}v7", top + 16.0, top + 16.0)) {}
                    }
                }
            }
        }
    }
}

fn axis_words(axis: &Axis) -> &'static str {
    match axis.log {
        true => ". The axis is logarithmic; a line stands at each power of ten.",
        false => "",
    }
}

/// Returns a label that fits beside its value.
fn shortened(label: &str) -> String {
    const ROOM: usize = 30;
    if label.chars().count() <= ROOM {
        return label.to_owned();
    }
    let cut: String = label.chars().take(ROOM - 1).collect();
    format!("{}…", cut.trim_end())
}

fn of_curve(points: &[(f64, Measured)], about: &str) -> Markup {
    const HEIGHT: f64 = 64.0;
    let x = Axis::of(points.iter().map(|(number, _)| *number), WIDTH - 8.0);
    let y = Axis::of(
        points.iter().flat_map(|(_, figure)| extent(figure)),
        HEIGHT - 8.0,
    );
    let place = |number: f64, figure: f64| (4.0 + x.place(number), HEIGHT - 4.0 - y.place(figure));
    let line: Vec<String> = points
        .iter()
        .map(|(number, figure)| {
            let (x, y) = place(*number, figure.value);
            format!("{x} {y}")
        })
        .collect();
    let words: Vec<String> = points
        .iter()
        .map(|(number, figure)| format!("{}: {}", number::printed(*number), value(figure)))
        .collect();
    let description = format!("{about}. {}{}", words.join("; "), axis_words(&y));
    html! {
        svg.small.s0 viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(description) {
            path.grid d=(format!("M0 {}H{WIDTH}", HEIGHT - 0.5)) {}
            path.line d=(format!("M{}", line.join("L"))) {}
            @for (number, figure) in points {
                @let (x, y) = place(*number, figure.value);
                @if let Some((low, high)) = figure.limits() {
                    @let ((_, from), (_, to)) = (place(*number, low), place(*number, high));
                    path.whisker d=(format!("M{x} {from}V{to}")) {}
                }
                circle.points cx=(x) cy=(y) r="3" {}
            }
        }
    }
}

fn of_parts(parts: &[(String, usize)], about: &str) -> Markup {
    let all: usize = parts.iter().map(|(_, count)| count).sum();
    let width = |count: usize| WIDTH * count as f64 / all.max(1) as f64;
    let words: Vec<String> = parts
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let mut from = 0.0;
    let mut boxes = Vec::new();
    for (index, (name, count)) in parts.iter().enumerate() {
        if *count > 0 {
            boxes.push((index, from, width(*count), name, *count));
        }
        from += width(*count);
    }
    html! {
        svg.small viewBox=(format!("0 0 {WIDTH} 34")) role="img" aria-label=(format!("{about}: {}", words.join(", "))) {
            @for (index, from, width, name, count) in boxes {
                rect class={ "part part" (index) } x=(from) y="16" width=(width) height="14" {}
                @if width > 12.0 {
                    text.count x=(from + width / 2.0) y="27" { (count) }
                }
                @if width > 64.0 || (index == 0 && width > 24.0) { text x=(from) y="11" { (name) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_where_a_factor_of_ten_is_in_it() {
        let even = Axis::of([46.0, 400.0].into_iter(), 100.0);
        assert!(!even.log);
        assert_eq!((even.place(0.0), even.place(400.0)), (0.0, 100.0));
        assert!(even.decades().is_empty());
        let log = Axis::of([46.0, 872.0].into_iter(), 100.0);
        assert!(log.log);
        assert_eq!(log.place(872.0), 100.0);
        assert!(log.place(46.0) > 20.0, "the smallest bar is seen");
        assert_eq!(log.decades().len(), 1, "100 lies between 10 and 872");
    }

    #[test]
    fn an_axis_of_nothing_has_no_place_that_is_no_number() {
        let axis = Axis::of([0.0, 0.0].into_iter(), 100.0);
        assert_eq!(axis.place(0.0), 0.0);
        assert_eq!(axis.place(f64::INFINITY), 0.0);
    }
}
