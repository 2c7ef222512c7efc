//! Looking for processes.

use std::path::Path;

/// The processes that were started with this variable, as `NAME=VALUE`.
pub fn processes_with(variable: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let with = all.filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|known| known == variable.as_bytes())
    });
    with.map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Whether a process works below a folder.
pub fn one_works_in(folder: &Path) -> bool {
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    all.any(|entry| {
        let works_in = std::fs::read_link(entry.path().join("cwd"));
        works_in.is_ok_and(|works_in| works_in.starts_with(folder))
    })
}
