//! Constructs in reports of a running program: they have the words and places of the original text,
//! not those of the SR.

use super::scan;

/// Helper constructs, which others call: their SR has no place of its own.
const HELPERS: [&str; 5] = [
    "_body",
    "_resource_end",
    "_resource_end1",
    "_resource_end2",
    "_specs_end",
];

/// Whether a construct is a helper for others.
pub(crate) fn is_helper(construct: &str) -> bool {
    HELPERS.contains(&name(construct))
}

/// Returns what a process waits for at a construct that calls a helper; `component` is the monitor.
pub(crate) fn waits_for(construct: &str, component: &str) -> String {
    let Some(found) = scan::next(construct, 0..construct.len()) else {
        return String::new();
    };
    let argument = |n: usize| {
        let range = found.arguments.get(n).cloned().unwrap_or_default();
        &construct[range]
    };
    match name(construct) {
        "_wait" | "_pri_wait" => format!("condition {}", argument(0)),
        "_region" | "_region_end" => format!("region {}", argument(0)),
        "_region1" | "_region_end1" => format!("region {}[{}]", argument(0), argument(1)),
        "_region2" | "_region_end2" => {
            format!("region {}[{},{}]", argument(0), argument(1), argument(2))
        }
        "_proc" | "_proc_end" | "_signal" | "_signal_all" => format!("monitor {component}"),
        _ => format!("a partner for {}", shortened(construct)),
    }
}

/// Returns the meaning of a helper's semaphore in reports; empty if the place says it.
pub(crate) fn semaphore(name: &str, component: &str) -> Option<String> {
    Some(match name {
        "m_mutex" | "m_urgent" => format!("monitor {component}"),
        "r_mutex" => format!("region {component}"),
        "csp_mutex" | "csp_wake" => String::new(),
        _ => return None,
    })
}

/// Whether reports name the process that has passed a semaphore. Where a signal hands a monitor
/// over, the holder changes without a P.
pub(crate) fn has_holder(name: &str, has_signal_all: bool) -> bool {
    name == "r_mutex" || name == "m_mutex" && has_signal_all
}

fn name(construct: &str) -> &str {
    let end = construct.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &construct[..end.unwrap_or(construct.len())]
}

/// Returns a construct on one line, shortened if it is long.
fn shortened(construct: &str) -> String {
    const MOST: usize = 60;
    let line = construct.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_have_the_words_of_their_notation() {
        for (construct, words) in [
            ("_wait(full)", "condition full"),
            ("_pri_wait(turn[i], 3)", "condition turn[i]"),
            ("_region(buf, n > 0)", "region buf"),
            ("_region2(cell, i, j, true)", "region cell[i,j]"),
            ("_proc(take(x))", "monitor m"),
            (
                "_stmt_i(producer,\n  put, (x))",
                "a partner for _stmt_i(producer, put, (x))",
            ),
            ("_do", "a partner for _do"),
        ] {
            assert_eq!(waits_for(construct, "m"), words);
        }
    }

    #[test]
    fn helpers_are_known_by_the_construct_that_holds_them() {
        assert!(is_helper("_body(buf)") && is_helper("_specs_end"));
        assert!(!is_helper("_wait(full)") && !is_helper("_resource(buf)"));
    }
}
