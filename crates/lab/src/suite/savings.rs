//! What variants of a program save: their time and context switches beside those of the variant they come from.

/// Programs that a suite measures in several variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Savings {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What is compared, in a sentence or two.
    pub text: String,
    /// Where the published figures are from.
    pub source: String,
    /// The variant that the others are compared with.
    pub base: String,
    /// The other variants, in the order in which they are shown.
    pub variants: Vec<String>,
    /// The variants that are claimed to save switches.
    pub claimed: Vec<String>,
    /// The programs.
    pub programs: Vec<Program>,
}

/// A program: its tests are called `<test>.<variant>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The tests' name without the variant.
    pub test: String,
    /// Its label.
    pub label: String,
    /// The share of the base's switches that a claimed variant may still have.
    pub switches_at_most: f64,
    /// What was published of its variants.
    pub published: Vec<PublishedVariant>,
}

/// The published figures of one variant of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedVariant {
    /// The variant.
    pub variant: String,
    /// Its time, s.
    pub seconds: f64,
    /// Its context switches.
    pub switches: f64,
}

impl Program {
    /// The name of its test in a variant.
    pub fn test(&self, variant: &str) -> String {
        format!("{}.{variant}", self.test)
    }
}
