//! What the language-defined packages do (RM 9.5.1 (18), annex A).

pub(super) enum External {
    Harmless,
    Io,
    Blocks,
    Identity,
    Unknown,
}

pub(super) const STANDARD: [&str; 12] = [
    "integer",
    "natural",
    "positive",
    "float",
    "long_float",
    "long_integer",
    "short_integer",
    "character",
    "string",
    "duration",
    "boolean",
    "wide_string",
];

pub(super) const IO_PACKAGES: [&str; 12] = [
    "ada.text_io",
    "text_io",
    "ada.integer_text_io",
    "ada.float_text_io",
    "ada.wide_text_io",
    "ada.streams.stream_io",
    "ada.direct_io",
    "ada.sequential_io",
    "gnat.io",
    "ada.directories",
    "ada.long_integer_text_io",
    "ada.long_float_text_io",
];

pub(super) const IO_NAMES: [&str; 28] = [
    "put",
    "put_line",
    "new_line",
    "get",
    "get_line",
    "get_immediate",
    "look_ahead",
    "skip_line",
    "set_col",
    "set_line",
    "new_page",
    "flush",
    "open",
    "close",
    "create",
    "delete",
    "reset",
    "end_of_file",
    "end_of_line",
    "set_output",
    "set_input",
    "set_error",
    "col",
    "line",
    "read",
    "write",
    "current_output",
    "standard_error",
];

/// Language-defined packages whose subprograms neither block nor do input and output (RM 9.5.1 (18), A).
pub(super) const HARMLESS_PACKAGES: [&str; 22] = [
    "ada.strings",
    "ada.numerics",
    "ada.calendar",
    "ada.real_time",
    "ada.characters",
    "ada.containers",
    "ada.command_line",
    "ada.exceptions",
    "ada.tags",
    "ada.unchecked_conversion",
    "ada.unchecked_deallocation",
    "unchecked_deallocation",
    "unchecked_conversion",
    "calendar",
    "ada.execution_time",
    "system",
    "interfaces",
    "ada.environment_variables",
    "ada.finalization",
    "gnat.strings",
    "gnat.os_lib",
    "standard",
];

pub(super) fn is_standard(candidates: &[String]) -> bool {
    candidates
        .last()
        .is_some_and(|n| STANDARD.contains(&n.as_str()))
}

pub(super) fn is_in(name: &str, packages: &[&str]) -> bool {
    packages.iter().any(|p| {
        name == *p
            || name
                .strip_prefix(p)
                .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// What a call of an external name may do, from all the names it may stand for.
pub(super) fn classify(candidates: &[String]) -> External {
    if is_standard(candidates) {
        return External::Harmless;
    }
    let last = candidates
        .first()
        .and_then(|n| n.rsplit('.').next())
        .unwrap_or("");
    if last == "suspend_until_true" || candidates.iter().any(|n| n == "ada.dispatching.yield") {
        return External::Blocks;
    }
    if last == "current_task"
        || candidates
            .iter()
            .any(|n| is_in(n, &["ada.task_identification", "ada.task_attributes"]))
            && candidates.len() == 1
    {
        return External::Identity;
    }
    let is_io = |n: &String| is_in(n, &IO_PACKAGES);
    if IO_NAMES.contains(&last) && candidates.iter().any(is_io) {
        return External::Io;
    }
    if candidates
        .first()
        .is_some_and(|n| is_in(n, &HARMLESS_PACKAGES))
    {
        return External::Harmless;
    }
    let qualified: Vec<&String> = candidates.iter().filter(|n| n.contains('.')).collect();
    if qualified.iter().any(|n| is_in(n, &HARMLESS_PACKAGES))
        && qualified
            .iter()
            .all(|n| is_in(n, &HARMLESS_PACKAGES) || is_io(n))
    {
        return External::Harmless;
    }
    if matches!(last, "set_true" | "set_false" | "current_state") {
        return External::Harmless;
    }
    if qualified.len() == 1 && is_io(qualified[0]) && candidates.len() == 1 {
        return External::Io;
    }
    External::Unknown
}
