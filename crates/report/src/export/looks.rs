//! Distinction of a plot's series: a colour and a shape each.

use crate::document::Series;

/// Colours that there are.
pub const COLOURS: usize = 8;

/// Markers and dashes that the page and workbooks have: of one more, they begin again.
pub const SHAPES: usize = 8;

/// Returns colour and shape of each series. No two are alike while others are free, because
/// subjects often outnumber colours.
pub fn looks(series: &[Series]) -> Vec<(usize, usize)> {
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

/// Returns the wanted look, or another shape of its colour, or at last another colour. It is the
/// wanted one if none is free.
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
