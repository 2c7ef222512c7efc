//! Part of a suite for a first look at a machine.

/// What a first look measures of a suite, in the quick sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstLook {
    /// Some of the suite's subjects.
    pub subjects: Vec<String>,
    /// Time budget of the run after building, s.
    pub seconds: f64,
}
