//! Instructions of one operation, from counts of whole requests: a second measure beside the time.
//!
//! A request for one slice executes more than its iterations: it is read, prepared and answered.
//! Each frame is therefore counted with N iterations and with 2N, and the difference is that of N
//! iterations alone. The control's is subtracted from the test's.

use crate::statistics::median_of;
use serde::{Deserialize, Deserializer, Serialize};

/// Equal requests differ by some hundred instructions: numbers of more digits are read and written.
const SLACK: f64 = 1000.0;
/// Least iterations of cheap frames …
const LEAST_OF_CHEAP: f64 = 4096.0;
/// … and more where they fit into this time, ns.
const SLICE_NS: f64 = 2.5e4;

/// Means of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// Callgrind, in a separate process without timing.
    Callgrind,
    /// The processor's counters, by the kernel, in the timed process; instructions in user mode
    /// only.
    Processor,
}

/// Instructions per iteration of both frames, of all threads of the process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Instructions of the control frame.
    pub control: f64,
    /// Instructions of the test frame.
    pub test: f64,
    /// Possible error of the difference of the two.
    pub within: f64,
    /// Means of the count.
    pub by: CountedBy,
    /// Processor cycles, test less control; `None` where they were not counted.
    pub cycles: Option<f64>,
}

/// Counts of the four requests of one pass: control and test, each with N and with 2N iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountPass {
    /// Control, N iterations and 2N.
    pub control: (u64, u64),
    /// Test, N iterations and 2N.
    pub test: (u64, u64),
}

impl InstructionCount {
    /// Computes the counts from passes over requests of `iterations` and twice as many; `None`
    /// without any.
    pub fn from_passes(iterations: u64, passes: &[CountPass], by: CountedBy) -> Option<Self> {
        let n = iterations.max(1) as f64;
        let slope = |(once, twice): (u64, u64)| (twice as f64 - once as f64) / n;
        let of = |frame: fn(&CountPass) -> (u64, u64)| {
            let slopes: Vec<f64> = passes.iter().map(|pass| slope(frame(pass))).collect();
            (!slopes.is_empty()).then(|| median_of(&slopes))
        };
        let (control, test) = (of(|pass| pass.control)?, of(|pass| pass.test)?);
        let differences = passes
            .iter()
            .map(|pass| slope(pass.test) - slope(pass.control));
        let (low, high) = differences.fold((f64::MAX, f64::MIN), |(low, high), difference| {
            (low.min(difference), high.max(difference))
        });
        Some(InstructionCount {
            control,
            test,
            within: (SLACK / n).max(high - low),
            by,
            cycles: None,
        })
    }

    /// Returns the iterations (N) of the shorter requests, for a frame of this length.
    ///
    /// Cheap iterations are many, so that differences between requests vanish. Otherwise they are
    /// as many as the time for counts permits. `None` if the test permits fewer than two in a
    /// slice.
    pub fn iterations(by: CountedBy, frame_ns: f64, most: Option<u64>) -> Option<u64> {
        let frame_ns = frame_ns.max(0.1);
        let longest_ns = match by {
            CountedBy::Callgrind => 1e6,
            // Counted beside the timing of each row, of which it shall be a small part.
            CountedBy::Processor => 2e5,
        };
        let wanted = (SLICE_NS / frame_ns).max(LEAST_OF_CHEAP.min(longest_ns / frame_ns));
        let most = most.unwrap_or(u64::MAX) / 2;
        (most > 0).then(|| (wanted as u64).clamp(1, most))
    }

    /// Returns the instructions of the operation itself, test less control; 0 if they are
    /// indistinguishable from none.
    pub fn per_operation(&self) -> f64 {
        let difference = self.test - self.control;
        match difference.abs() <= self.within {
            true => 0.0,
            false => difference,
        }
    }

    /// Returns the number of meaningful decimal places of an instruction count.
    pub fn decimals(&self) -> usize {
        usize::from(self.within < 0.05)
    }

    /// Returns the difference in words, such as `2 instructions more than the control`.
    pub fn in_words(&self) -> String {
        let difference = self.per_operation();
        if difference == 0.0 {
            return "no difference in instructions".to_owned();
        }
        let places = self.decimals();
        let number = format!("{:.places$}", difference.abs());
        let noun = match number.as_str() {
            "1" => "instruction",
            _ => "instructions",
        };
        let side = if difference > 0.0 { "more" } else { "fewer" };
        format!("{number} {noun} {side} than the control")
    }
}

/// Reads a count, or the bare difference that earlier versions stored.
pub(crate) fn stored<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<InstructionCount>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Count(InstructionCount),
        Difference(f64),
    }
    Ok(
        Option::<Stored>::deserialize(from)?.map(|stored| match stored {
            Stored::Count(count) => count,
            Stored::Difference(difference) => InstructionCount {
                control: 0.0,
                test: difference,
                within: 0.5,
                by: CountedBy::Callgrind,
                cycles: None,
            },
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resources;

    /// Requests that execute `fixed` instructions and some more beside their iterations.
    fn pass(n: u64, control: u64, test: u64, more: [u64; 4]) -> CountPass {
        let fixed = 80_000;
        CountPass {
            control: (
                fixed + n * control + more[0],
                fixed + 2 * n * control + more[1],
            ),
            test: (fixed + n * test + more[2], fixed + 2 * n * test + more[3]),
        }
    }

    fn count(n: u64, passes: &[CountPass]) -> InstructionCount {
        InstructionCount::from_passes(n, passes, CountedBy::Callgrind).unwrap()
    }

    #[test]
    fn what_a_request_takes_beside_its_iterations_cancels() {
        let found = count(4096, &[pass(4096, 3, 5, [0; 4]), pass(4096, 3, 5, [0; 4])]);
        assert_eq!(
            (found.control, found.test, found.per_operation()),
            (3.0, 5.0, 2.0)
        );
        assert_eq!(found.in_words(), "2 instructions more than the control");
    }

    #[test]
    fn a_count_below_its_own_noise_is_no_difference() {
        for more in [[300, 0, 0, 250], [0, 300, 250, 0], [0; 4]] {
            let found = count(4096, &[pass(4096, 3, 3, more), pass(4096, 3, 3, [0; 4])]);
            assert_eq!(found.per_operation(), 0.0, "{more:?}");
            assert_eq!(found.in_words(), "no difference in instructions");
        }
        // Passes that differ by more widen the range of no difference.
        let wild = count(4096, &[pass(4096, 3, 3, [0; 4]), pass(4096, 3, 6, [0; 4])]);
        assert_eq!(wild.per_operation(), 0.0, "{wild:?}");
    }

    #[test]
    fn a_control_with_more_instructions_is_said_to_have_them() {
        let one = count(4096, &[pass(4096, 3, 4, [0; 4])]);
        assert_eq!(one.in_words(), "1 instruction more than the control");
        let found = count(65_536, &[pass(65_536, 7, 5, [0, 90, 0, 0])]);
        assert_eq!(found.in_words(), "2.0 instructions fewer than the control");
        assert_eq!(
            InstructionCount::from_passes(8, &[], CountedBy::Processor),
            None
        );
    }

    #[test]
    fn cheap_frames_have_thousands_of_iterations_and_dear_ones_few() {
        let of =
            |frame_ns, most| InstructionCount::iterations(CountedBy::Callgrind, frame_ns, most);
        assert!(of(1.0, None) >= Some(25_000));
        assert_eq!(of(200.0, None), Some(4096));
        assert_eq!(of(1e6, None), Some(1));
        assert_eq!(of(1e9, None), Some(1));
        assert_eq!(of(1.0, Some(1000)), Some(500));
        assert_eq!(of(1.0, Some(1)), None);
        assert!(of(0.0, None) < Some(u64::MAX / 2) && of(f64::NAN, None) > Some(0));
    }

    #[test]
    fn the_bare_difference_of_an_earlier_version_is_read() {
        let text = r#"{"voluntary":0.0,"involuntary":0.0,"minor_faults":0.0,"major_faults":0.0,"wait_ns":null,"instructions":2.0}"#;
        let read: Resources = serde_json::from_str(text).unwrap();
        assert_eq!(read.instructions.unwrap().per_operation(), 2.0);
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Resources>(&again).unwrap(), read);
        let none = text.replace(",\"instructions\":2.0", "");
        let read: Resources = serde_json::from_str(&none).unwrap();
        assert_eq!(read.instructions, None);
    }
}
