//! A histogram as text, in the form that libraries of other languages read.

use crate::Latency;
use base64::prelude::{BASE64_STANDARD, Engine};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// A histogram of times, ns, in HdrHistogram's compressed interchange format (V2) as base64.
///
/// The HdrHistogram libraries of C, Go, Java, JavaScript, Python and Rust decode it. It is a tenth
/// as long as its pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Packed(String);

impl Packed {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns each time that occurred, ns, with its count; `None` if the text is no such
    /// histogram.
    pub fn pairs(&self) -> Option<Vec<(u64, u64)>> {
        let bytes = BASE64_STANDARD.decode(&self.0).ok()?;
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).ok()?;
        Some(Latency::of(histogram).pairs())
    }
}

impl Latency {
    /// Returns the raw histogram as text; `None` if it is empty.
    pub fn packed(&self) -> Option<Packed> {
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(self.histogram(), &mut bytes);
        let is_any = self.count() > 0 && written.is_ok();
        is_any.then(|| Packed(BASE64_STANDARD.encode(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_survives_being_packed() {
        let mut latency = Latency::default();
        for ns in (0..10_000).map(|at: u64| 50_000 + at * at) {
            latency.record(ns);
        }
        latency.record(3_000_000_000);
        let packed = latency.packed().unwrap();
        assert_eq!(packed.pairs(), Some(latency.pairs()));
        // The cookie of the compressed format, by which others know it.
        assert!(packed.as_str().starts_with("HISTF"), "{packed:?}");
        let pairs = serde_json::to_string(&latency).unwrap();
        assert!(6 * packed.as_str().len() < pairs.len());
    }

    #[test]
    fn what_is_no_histogram_is_none() {
        assert_eq!(Latency::default().packed(), None);
        for text in ["", "HISTF", "HISTFAAAAAx42u3", "?"] {
            assert_eq!(Packed(text.into()).pairs(), None, "{text}");
        }
    }
}
