//! Long lines of declarations and calls, broken as in GNAT's own style.

/// Longer lines are broken where the language allows it.
pub(super) const WIDTH: usize = 79;

/// The width of a line inside an object inside a unit.
const ROOM: usize = WIDTH - 6;

/// `HEAD (A : in T; B : out T)END`, broken after each parameter if it is too long.
pub(super) fn profile(head: &str, formals: &[(String, &str, String)], end: &str) -> Vec<String> {
    if formals.is_empty() {
        return vec![format!("{head}{end}")];
    }
    let parts: Vec<String> = formals
        .iter()
        .map(|(name, mode, ty)| format!("{name} : {mode} {ty}"))
        .collect();
    let whole = format!("{head} ({}){end}", parts.join("; "));
    if whole.chars().count() <= ROOM {
        return vec![whole];
    }
    let width = formals
        .iter()
        .map(|f| f.0.chars().count())
        .max()
        .unwrap_or(0);
    let modes = formals.iter().map(|f| f.1.len()).max().unwrap_or(0);
    let mut lines = vec![head.to_string()];
    for (position, (name, mode, ty)) in formals.iter().enumerate() {
        let mode = match (*mode, modes) {
            ("out", 6) => "   out",
            (mode, _) => mode,
        };
        let open = if position == 0 { "  (" } else { "   " };
        let close = if position + 1 == formals.len() {
            format!("){end}")
        } else {
            ";".into()
        };
        lines.push(format!("{open}{name:width$} : {mode:modes$} {ty}{close}"));
    }
    lines
}

/// `HEAD(A, B, C)END`, broken between items if it is too long.
pub(super) fn call_list(head: &str, items: &[&str], end: &str) -> Vec<String> {
    let whole = format!("{head}({}){end}", items.join(", "));
    if whole.chars().count() <= ROOM {
        return vec![whole];
    }
    let mut lines = vec![head.trim_end().to_string()];
    for (position, item) in items.iter().enumerate() {
        let open = if position == 0 { "  (" } else { "   " };
        let close = if position + 1 == items.len() {
            format!("){end}")
        } else {
            ",".into()
        };
        lines.push(format!("{open}{item}{close}"));
    }
    lines
}
