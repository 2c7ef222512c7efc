use super::*;
use crate::document::{Document, Section};
use antiphon_lab::profile::{CacheUse, Heap, Site, Snapshot, Work};

const MB: u64 = 1_000_000;
const NO_COUNTS: &str = "Nothing that cachegrind counts changed by half a per cent or more.";

/// Creates a profile with these snapshots, each with its holders and sizes.
fn profile(snapshots: &[&[(&str, u64)]]) -> Profile {
    let site = |(place, bytes): &(&str, u64)| Site {
        bytes: *bytes,
        place: (*place).to_owned(),
        callers: Vec::new(),
    };
    let snapshot = |sites: &&[(&str, u64)]| Snapshot {
        heap_bytes: sites.iter().map(|(_, bytes)| bytes).sum(),
        sites: sites.iter().map(site).collect(),
        ..Snapshot::default()
    };
    Profile {
        subject: "subject/variant".into(),
        work: Work::Program {
            name: "run".into(),
            arguments: Vec::new(),
        },
        heap: Heap {
            snapshots: snapshots.iter().map(snapshot).collect(),
        },
        cache: CacheUse::default(),
        repeats: true,
        warnings: Vec::new(),
    }
}

fn document(before: &Profile, after: Option<&Profile>) -> Document {
    super::super::compose_memory(before, after)
}

fn texts(before: &Profile, after: Option<&Profile>) -> Vec<String> {
    let summary = document(before, after).summary;
    let texts = summary.iter().map(|note| note.text.as_str());
    texts
        .map(|text| text.replace('\u{202f}', " "))
        .filter(|text| text != NO_COUNTS)
        .collect()
}

fn reported(before: &[&[(&str, u64)]], after: &[&[(&str, u64)]]) -> Vec<String> {
    texts(&profile(before), Some(&profile(after)))
}

/// Returns the labels of the table of the heap's holders.
fn labels(sections: &[Section]) -> Vec<String> {
    let blocks = sections.iter().flat_map(|section| &section.blocks);
    let tables = blocks.filter_map(|block| match block {
        crate::document::Block::Table(table) if table.title == "Who holds it" => Some(table),
        _ => None,
    });
    let rows = tables.flat_map(|table| &table.rows);
    rows.map(|row| row.label.clone()).collect()
}

#[test]
fn a_function_that_is_gone_at_the_peak_is_not_what_the_peak_is() {
    let late: &[_] = &[("late (a.c:9)", 1_200_000)];
    let texts = reported(
        &[&[("early (a.c:3)", MB)], late],
        &[&[("early (a.c:3)", 3_000)], late],
    );
    assert_eq!(
        texts,
        [
            "The heap's peak is 1.14 MiB, as before.",
            "`early` held 977 KiB at a time, though not at the peak; now 2.93 KiB."
        ]
    );
}

#[test]
fn a_function_that_changes_against_the_peak_is_not_most_of_that() {
    // The peak falls by `late`, while `early` rises below it by more.
    let texts = reported(
        &[&[("late (a.c:9)", 2 * MB)]],
        &[&[("early (a.c:3)", MB)], &[("late (a.c:9)", 1_200_000)]],
    );
    assert_eq!(
        texts[1],
        "Most of that is what `late` allocates: 1.91 MiB at a time before, 100 % of the peak, 1.14 MiB after."
    );
    // It falls by many a little, of which none has half.
    let many: [&[_]; 2] = [
        &[("a (a.c:1)", MB), ("b (a.c:2)", MB), ("c (a.c:3)", MB)],
        &[
            ("a (a.c:1)", 600_000),
            ("b (a.c:2)", 700_000),
            ("c (a.c:3)", 700_000),
        ],
    ];
    let texts = reported(&[many[0]], &[many[1]]);
    assert_eq!(
        texts[1],
        "`a` held 977 KiB at a time, 33.3 % of the peak; now 586 KiB."
    );
}

#[test]
fn what_is_new_or_held_by_a_part_at_the_peak_is_told_so() {
    let texts = reported(
        &[&[("old (a.c:1)", MB)]],
        &[&[("new (a.c:2)", MB), ("old (a.c:1)", MB)]],
    );
    assert_eq!(
        texts[1],
        "Most of that is what `new` allocates: no more than a thousandth of the heap before, 977 KiB after."
    );
    let late = ("late (a.c:9)", 1_200_000);
    let texts = reported(
        &[&[late]],
        &[&[("early (a.c:3)", MB)], &[late, ("early (a.c:3)", 2_000)]],
    );
    assert_eq!(
        texts[1],
        "`early` held no more than a thousandth of the heap at a time; now 977 KiB, though only 1.95 KiB at the peak."
    );
    // The difference is too small for a remark.
    let texts = reported(&[&[late]], &[&[late], &[("early (a.c:3)", 2_000)]]);
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[test]
fn one_function_at_many_addresses_is_one() {
    let sites: &[_] = &[
        ("big (a.c:9)", 400_000),
        ("many (a.c:3)", 300_000),
        ("many (a.c:4)", 300_000),
    ];
    let one = profile(&[sites]);
    assert_eq!(
        texts(&one, None),
        ["The heap takes 977 KiB at most, of which many holds 586 KiB (60.0 %)."]
    );
    let texts = reported(&[sites], &[&sites[..1]]);
    assert_eq!(
        texts[1],
        "Most of that is what `many` allocates: 586 KiB at a time before, 60.0 % of the peak, no more than a thousandth of the heap after."
    );
    let large: &[_] = &[("big (a.c:9)", 700_000), ("many (a.c:3)", 300_000)];
    let texts = self::texts(&profile(&[large]), None);
    assert!(texts[0].contains("of which big (a.c:9) holds"), "{texts:?}");
}

#[test]
fn functions_without_names_are_told_apart_by_their_objects() {
    let sites: &[_] = &[
        ("big (a.c:9)", 400_000),
        ("??? (in /usr/lib/libone.so)", 300_000),
        ("??? (in /usr/lib/libtwo.so.6)", 300_000),
    ];
    let one = profile(&[sites]);
    let texts = self::texts(&one, None);
    assert!(texts[0].contains("of which big (a.c:9) holds"), "{texts:?}");
    let labels = labels(&document(&one, None).sections);
    assert_eq!(labels, ["big", "??? in libone.so", "??? in libtwo.so.6"]);
    // Of another build the object lies in another folder.
    let moved: &[_] = &[sites[0], ("??? (in /tmp/libone.so)", 300_000), sites[2]];
    assert_eq!(reported(&[sites], &[moved]).len(), 1);
}
