//! What the language-defined packages do (RM 9.5.1 (18), annex A).

pub(super) enum External {
    Harmless,
    Io,
    Blocks,
    Identity,
    /// An attribute of a task (RM C.7.2): of the current one unless the call names another.
    Attribute,
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
pub(super) const HARMLESS_PACKAGES: [&str; 24] = [
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

/// Functions of the harmless packages that give the same for the same, whenever they are called.
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

/// Whether an external name that may stand for these is a function of its parameters alone.
pub(super) fn is_pure(candidates: &[String]) -> bool {
    let last = candidates.first().and_then(|n| n.rsplit('.').next());
    last.is_some_and(|n| PURE_FUNCTIONS.contains(&n))
        && matches!(classify(candidates), External::Harmless)
}

/// Operations of library packages that wait for something, in packages that are harmless or unknown otherwise.
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
    if last == "current_task" {
        return External::Identity;
    }
    if candidates.iter().any(|n| may_block(n)) {
        return External::Blocks;
    }
    if candidates.len() == 1 && is_in(&candidates[0], &["ada.task_attributes"]) {
        return External::Attribute;
    }
    let is_io = |n: &String| {
        is_in(n, &IO_PACKAGES)
            || n.rsplit_once('.')
                .is_some_and(|(package, _)| package.ends_with("text_io"))
    };
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
