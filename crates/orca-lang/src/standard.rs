//! The standard units, which every program can import.

macro_rules! units {
    ($($file:literal)*) => {
        const FILES: &[(&str, &str)] = &[
            $(($file, include_str!(concat!("../standard/", $file))),)*
        ];
    };
}

units! {
    "GenericBin.spf" "GenericBin.imp" "GenericJobQueue.spf" "GenericJobQueue.imp"
    "IntObject.spf" "IntObject.imp" "PollSequence.spf" "PollSequence.imp"
    "Random.spf" "Random.imp" "RowCollection.spf" "RowCollection.imp"
    "barrier.spf" "barrier.imp" "distributions.spf" "distributions.imp"
    "InOut.spf" "conversions.spf" "args.spf" "Time.spf" "Finish.spf" "Math.spf" "unix.spf"
    "RtsStats.spf" "trace.spf" "trace_gen.spf"
    "trace_gen.imp"
}

/// Returns the files of a standard unit, with their texts.
pub(crate) fn files_of(unit: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    FILES.iter().filter(move |(file, _)| stem(file) == unit)
}

/// Returns the names of the standard units.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES
        .iter()
        .map(|(file, _)| stem(file))
        .filter(|name| !name.is_empty())
}

fn stem(file: &str) -> &str {
    file.split('.').next().unwrap_or_default()
}
