//! Processes that a test recognises by their environment.

/// Returns the processes that were started with this variable, as `NAME=VALUE`.
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
