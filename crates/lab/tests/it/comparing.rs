//! Comparisons: two subjects slice by slice, and two stored runs.

use crate::common::{Place, Seen, quick};
use antiphon_lab::{Live, LiveOptions, compare_runs};
use antiphon_measure::{ComparisonSettings, PairSettings, Verdict};

#[test]
fn a_subject_against_itself_is_a_pair_without_a_difference_in_kind() {
    let place = Place::with(&["plain", "crashes"]);
    let options = LiveOptions {
        only: vec!["self.*".into()],
        settings: PairSettings {
            frame: antiphon_measure::FrameSettings {
                budget_ns: 20_000_000,
                reference: false,
                ..Default::default()
            },
            controls: false,
        },
        ..LiveOptions::default()
    };
    let plain = &place
        .subjects
        .iter()
        .find(|subject| subject.name == "plain")
        .unwrap();
    let rows = place
        .laboratory(&mut Seen::default(), |lab| {
            let side = (*plain, &plain.variants[0]);
            let mut live = Live {
                cache: lab.cache,
                observer: &mut *lab.observer,
                stop: lab.stop,
            };
            live.compare(side, side, &options)
        })
        .unwrap();
    assert_eq!(rows.len(), 3);
    let estimate = rows[0].outcome.as_ref().unwrap();
    assert!(estimate.blocks > 0 && estimate.ratio.value > 0.0);
}

#[test]
fn a_run_compared_with_itself_shows_no_change() {
    let place = Place::with(&["plain"]);
    let record = place.measure(&mut Seen::default(), &quick(&[]));
    let rows = compare_runs(&record, &record, &[], &ComparisonSettings::default());
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in &rows {
        let comparison = row.comparison.as_ref().unwrap();
        assert_eq!(comparison.log_ratio.value, 0.0);
        assert_eq!(comparison.verdict, Verdict::Indistinguishable);
    }
    let mut other = record.clone();
    other
        .results
        .retain(|result| result.identity.test != "self.same");
    let rows = compare_runs(&record, &other, &[], &ComparisonSettings::default());
    let missing = rows.iter().find(|row| row.b.is_none()).unwrap();
    assert_eq!(missing.why_not, "the second run has no figure");
}
