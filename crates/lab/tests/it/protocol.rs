//! The protocol's text: no input panics, and all output can be read.

use antiphon_lab::protocol::{Data, Line, Request, decode, encode, parse_line};
use antiphon_measure::{ClockGap, GapLoop, Role, Slice};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = parse_line(&text);
    }

    #[test]
    fn any_bytes_after_a_word_are_read_without_panic(
        word in prop::sample::select(vec![
            "hello", "clock", "test", "readings", "slice", "thread", "sample", "gap", "loop", "outcome", "usage", "ok",
            "error",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = parse_line(&format!("@@ {word} {}", String::from_utf8_lossy(&bytes)));
    }

    /// Tests lines nearer to right answers than random bytes: right words, one of them changed.
    #[test]
    fn damaged_lines_are_read_without_panic(
        line in prop::sample::select(vec![
            "@@ hello protocol=1 language=Ada kit=1.0 clock=CLOCK_MONOTONIC",
            "@@ test name=a.b kind=frame switches=2 threads=2",
            "@@ readings 81263541 24 -5 9223372036854775807",
            "@@ slice 0 control 1000 5821734001 20412 0 0 0 0 - - 1099511627775",
            "@@ thread role=main policy=fifo priority=50 processor=0 allowed=0 count=1",
            "@@ sample 1 2 3",
            "@@ gap 1250377 41210",
            "@@ loop readings=80123456 elapsed=2000000107 wait=41003 gaps=1 lost=41210",
            "@@ outcome completed=2 end=exhausted text=STORAGE_ERROR",
        ]),
        index in 0_usize..14,
        word in "[-+0-9a-z=%.]{0,24}",
    ) {
        let mut words: Vec<&str> = line.split(' ').collect();
        if let Some(place) = words.get_mut(index) {
            *place = &word;
        }
        let _ = parse_line(&words.join(" "));
    }

    #[test]
    fn encoding_comes_back(text in any::<String>()) {
        let encoded = encode(&text);
        prop_assert!(!encoded.contains([' ', '=', '\n']));
        prop_assert_eq!(decode(&encoded), Ok(text));
    }

    #[test]
    fn decoding_any_text_does_not_panic(text in "[%0-9a-fA-F\u{80}-\u{fff}]{0,40}") {
        let _ = decode(&text);
    }

    #[test]
    fn readings_are_summed_up(
        first in -1_000_000_i64..1_000_000,
        steps in prop::collection::vec(-1000_i64..1000, 0..50),
    ) {
        let words: String = steps.iter().map(|step| format!(" {step}")).collect();
        let mut last = first;
        let absolute: Vec<i64> = std::iter::once(first)
            .chain(steps.iter().map(|step| {
                last += step;
                last
            }))
            .collect();
        prop_assert_eq!(
            parse_line(&format!("@@ readings {first}{words}")),
            Ok(Line::Data(Data::Readings(absolute)))
        );
    }

    #[test]
    fn a_test_name_in_a_request_stays_one_word(name in any::<String>()) {
        let request = Request::Series { test: &name, count: 1, arg: None }.to_string();
        prop_assert_eq!(request.split(' ').count(), 3);
        prop_assert!(!request.contains('\n'));
    }
}

fn error(line: &str) -> String {
    parse_line(line).expect_err(line).why
}

#[test]
fn a_slice_is_read_whole() {
    let line = "@@ slice 2 test 1000 5821734001 20412 3 1 5 7 11 1 18446744073709551615";
    let slice = Slice {
        block: 2,
        role: Role::Test,
        iterations: 1000,
        start_ns: 5_821_734_001,
        elapsed_ns: 20_412,
        voluntary: 3,
        involuntary: 1,
        minor_faults: 5,
        major_faults: 7,
        wait_ns: Some(11),
        processor: Some(1),
        checksum: u64::MAX,
    };
    assert_eq!(parse_line(line), Ok(Line::Data(Data::Slice(slice))));
}

#[test]
fn gaps_are_asked_for_and_read() {
    let request = Request::Gaps {
        name: "a clock",
        time_ns: 2_000_000_000,
        over: 250,
    };
    assert_eq!(
        request.to_string(),
        "gaps a%20clock time=2000000000 over=250"
    );
    let gap = ClockGap {
        start_ns: 1_250_377,
        duration_ns: 41_210,
    };
    assert_eq!(
        parse_line("@@ gap 1250377 41210"),
        Ok(Line::Data(Data::Gap(gap)))
    );
    let mut seen = GapLoop {
        readings: 80_123_456,
        elapsed_ns: 2_000_000_107,
        wait_ns: Some(41_003),
        gaps: 1,
        lost_ns: 41_210,
        kept: Vec::new(),
    };
    let line = "@@ loop readings=80123456 elapsed=2000000107 wait=41003 gaps=1 lost=41210";
    assert_eq!(parse_line(line), Ok(Line::Data(Data::Loop(seen.clone()))));
    seen.wait_ns = None;
    let line = "@@ loop elapsed=2000000107 colour=green wait=- gaps=1 readings=80123456 lost=41210";
    assert_eq!(parse_line(line), Ok(Line::Data(Data::Loop(seen))));
    assert!(error("@@ gap 5 -1").contains("the duration is `-1`"));
    assert!(error("@@ loop readings=1 elapsed=1 gaps=0 lost=0").contains("`wait`"));
}

#[test]
fn the_mark_alone_makes_a_protocol_line() {
    for own in ["", "ok", "@@", "@@ok", " @@ ok", "slice 0"] {
        assert_eq!(parse_line(own), Ok(Line::Own), "{own}");
    }
    assert!(error("@@ ").contains("no word"));
    assert!(error("@@ ok then").contains("`ok`"));
}

#[test]
fn unknown_fields_are_ignored_and_unknown_words_are_not() {
    let line = "@@ hello protocol=1 language=Ada clock=C colour=green";
    assert!(matches!(parse_line(line), Ok(Line::Data(Data::Hello(_)))));
    assert!(error("@@ colour green").contains("`colour`"));
}

#[test]
fn errors_say_what_is_wrong() {
    for (line, said) in [
        ("@@ slice 0 control 1", "3 words after the first, where 12"),
        ("@@ slice 0 contrl 1 1 1 0 0 0 0 0 0 0", "`contrl`"),
        (
            "@@ slice 0 control -1 1 1 0 0 0 0 0 0 0",
            "iterations is `-1`",
        ),
        ("@@ sample 1 +2 3", "the actual start is `+2`"),
        ("@@ test name=A kind=frame", "`A`"),
        ("@@ test name=a kind=fram", "`fram`"),
        ("@@ test kind=frame", "`name` is missing"),
        ("@@ test name=a kind=frame name=b", "`name` comes twice"),
        (
            "@@ test name=a kind=frame absent=no luck",
            "`luck` is not `key=value`",
        ),
        (
            "@@ test name=a kind=frame absent=100%",
            "two hexadecimal digits",
        ),
        (
            "@@ test name=a kind=frame switches=inf",
            "switches is `inf`",
        ),
        ("@@ test name=a kind=frame most=0", "most is `0`"),
        ("@@ clock name=c unit=us", "`us`"),
        ("@@ outcome completed=1 end=full", "`full`"),
        ("@@ readings 9223372036854775807 1", "64 bits"),
        ("@@ error", "without a code"),
    ] {
        assert!(error(line).contains(said), "{line}: {}", error(line));
    }
}
