//! Effects of the language-defined packages (RM 9.5.1 (18), annex A).

pub(super) enum External {
    Harmless,
    Io,
    Blocks,
    Identity,
    /// An attribute of a task (RM C.7.2): of the current task unless the call names another.
    Attribute,
    /// A subprogram of an unknown unit, with the unit's full lower-case name if it can be
    /// determined.
    Unknown(Option<String>),
}

pub(super) const STANDARD: [&str; 22] = [
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
    "true",
    "false",
    "ascii",
    "long_long_integer",
    "long_long_float",
    "short_float",
    "short_short_integer",
    "wide_character",
    "wide_wide_character",
    "wide_wide_string",
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

/// Language-defined packages whose subprograms neither block nor do input and output (RM 9.5.1
/// (18), A).
pub(super) const HARMLESS_PACKAGES: [&str; 40] = [
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
    "ada.dispatching",
    "ada.task_identification",
    "system",
    "interfaces",
    "ada.environment_variables",
    "ada.finalization",
    "ada.assertions",
    "ada.decimal",
    "ada.interrupts",
    "ada.io_exceptions",
    "ada.iterator_interfaces",
    "ada.locales",
    "ada.streams",
    "ada.synchronous_task_control",
    "ada.task_attributes",
    "ada.task_termination",
    "ada.unchecked_deallocate_subpool",
    "gnat.case_util",
    "gnat.source_info",
    "gnat.strings",
    "gnat.os_lib",
    "gnat.regpat",
    "gnat.string_split",
    "gnat.traceback",
    "standard",
];

pub(crate) fn is_standard(candidates: &[String]) -> bool {
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

/// Functions of the harmless packages whose results depend only on their parameters.
const PURE_FUNCTIONS: [&str; 17] = [
    "to_unbounded_string",
    "to_unbounded_wide_string",
    "to_bounded_string",
    "to_string",
    "to_lower",
    "to_upper",
    "trim",
    "time_of",
    "to_duration",
    "to_time_span",
    "minutes",
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "to_c",
    "to_ada",
];

/// Whether an external name with these candidates is a function of its parameters alone.
pub(super) fn is_pure(candidates: &[String]) -> bool {
    let last = candidates.first().and_then(|n| n.rsplit('.').next());
    last.is_some_and(|n| PURE_FUNCTIONS.contains(&n))
        && matches!(classify(candidates, &[]), External::Harmless)
}

/// Whether an operation of a library package waits; its package is otherwise harmless or unknown.
fn may_block(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "ada.dispatching.edf.delay_until_and_set_deadline",
        "ada.synchronous_barriers.wait_for_release",
        "ada.task_identification.abort_task",
        "gnat.os_lib.spawn",
        "gnat.os_lib.wait_process",
        "gnat.semaphores.seize",
        "gnat.task_lock.lock",
    ];
    // The operations of queues (RM A.18.27) are entries.
    const OF_QUEUES: [&str; 3] = ["enqueue", "dequeue", "dequeue_only_high_priority"];
    NAMES.contains(&name)
        || name.rsplit_once('.').is_some_and(|(package, last)| {
            let is_queue = package.starts_with("ada.containers.")
                && (package.ends_with("_queues") || package.ends_with("_queue_interfaces"));
            is_queue && OF_QUEUES.contains(&last)
        })
}

/// Returns the possible effects of a call of an external name, from all names that it may stand
/// for. Units and subprograms in `assumed` do not block. A package that is not known here may
/// declare any name.
pub(super) fn classify(candidates: &[String], assumed: &[String]) -> External {
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
    if last == "current_task" {
        return External::Identity;
    }
    if candidates.iter().any(|n| may_block(n)) {
        return External::Blocks;
    }
    if let [only] = candidates
        && is_in(only, &["ada.task_attributes"])
    {
        return External::Attribute;
    }
    let is_assumed = |name: &String| is_assumed(name, assumed);
    let qualified: Vec<&String> = candidates.iter().filter(|n| n.contains('.')).collect();
    let stranger = qualified
        .iter()
        .copied()
        .find(|n| !is_in(n, &HARMLESS_PACKAGES) && !is_io(n) && !is_assumed(n));
    if let Some((unit, _)) = stranger.and_then(|n| n.rsplit_once('.')) {
        return External::Unknown(Some(unit.to_string()));
    }
    if qualified.is_empty() {
        return if candidates.iter().any(is_assumed) {
            External::Harmless
        } else {
            External::Unknown(None)
        };
    }
    let is_operation = IO_NAMES.contains(&last) || candidates.len() == 1;
    if is_operation && qualified.iter().any(|n| is_io(n) && !is_assumed(n)) {
        return External::Io;
    }
    // Packages for input and output have few other operations.
    if qualified.iter().all(|n| is_io(n)) {
        return External::Unknown(None);
    }
    External::Harmless
}

fn is_io(name: &str) -> bool {
    is_in(name, &IO_PACKAGES)
        || name.rsplit_once('.').is_some_and(|(package, last)| {
            (package.starts_with("ada.") && package.ends_with("text_io"))
                || (package == "ada.streams" && ["read", "write"].contains(&last))
        })
}

/// Whether the user has declared that a unit or subprogram, or one around it, does not block.
pub(super) fn is_assumed(name: &str, assumed: &[String]) -> bool {
    assumed
        .iter()
        .any(|a| is_in(name, &[a.to_lowercase().as_str()]))
}
