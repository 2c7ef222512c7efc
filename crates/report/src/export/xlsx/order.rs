//! Reordering of a chart's series elements by the schema.
//!
//! `rust_xlsxwriter` 0.102 writes the marker of a scattered series before its line's properties.
//! ECMA-376, part 1, 21.2.2.168 (`CT_ScatterSer`), has the reverse order, and Excel may refuse to
//! open the file. The library has no option for it, so the charts are rewritten in the finished
//! file.

use rust_xlsxwriter::XlsxError;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const CHARTS: &str = "xl/charts/chart";
const SERIES_END: &str = "</c:ser>";
const MARKER: &str = "<c:marker>";
const MARKER_END: &str = "</c:marker>";
const PROPERTIES: &str = "<c:spPr>";
const PROPERTIES_END: &str = "</c:spPr>";

/// Returns the same workbook with its charts in order.
pub(super) fn mended(workbook: Vec<u8>) -> Result<Vec<u8>, XlsxError> {
    let mut from = ZipArchive::new(Cursor::new(workbook))?;
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut part = from.by_index(index)?;
        let name = part.name()?.to_string();
        if !name.starts_with(CHARTS) {
            drop(part);
            to.raw_copy_file(from.by_index_raw(index)?)?;
            continue;
        }
        let mut chart = String::new();
        part.read_to_string(&mut chart)?;
        // The time of the part, as of the others: the same document is the same file.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(part.last_modified().unwrap_or_default());
        to.start_file(name, options)?;
        to.write_all(in_order(&chart).as_bytes())?;
    }
    Ok(to.finish()?.into_inner())
}

/// Puts the properties of each series before its marker.
fn in_order(chart: &str) -> String {
    chart.split_inclusive(SERIES_END).map(series).collect()
}

/// Reorders the text up to the end of a series.
fn series(text: &str) -> String {
    let swapped = || {
        let (before, from_marker) = text.split_at(text.find(MARKER)?);
        let (marker, rest) = from_marker.split_at(from_marker.find(MARKER_END)? + MARKER_END.len());
        if !rest.starts_with(PROPERTIES) {
            return None;
        }
        let (properties, after) = rest.split_at(rest.find(PROPERTIES_END)? + PROPERTIES_END.len());
        Some([before, properties, marker, after].concat())
    };
    swapped().unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_marker_before_properties_moves() {
        let marker = "<c:marker><c:size val=\"7\"/><c:spPr>m</c:spPr></c:marker>";
        let line = "<c:spPr>l</c:spPr>";
        let chart = |first: &str, then: &str| {
            format!(
                "<c:ser>{first}{then}<c:xVal/></c:ser><c:ser>{line}</c:ser><c:marker val=\"1\"/>"
            )
        };
        let sound = chart(line, marker);
        assert_eq!(in_order(&chart(marker, line)), sound);
        assert_eq!(in_order(&sound), sound);
        assert_eq!(in_order(&chart(marker, "")), chart(marker, ""));
    }
}
