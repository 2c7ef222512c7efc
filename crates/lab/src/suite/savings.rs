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
    /// Where the published figures are from; empty if there are none.
    pub source: String,
    /// The variant that the others are compared with.
    pub base: String,
    /// The other variants, in the order in which they are shown.
    pub variants: Vec<String>,
    /// The subject, as `name/variant`, whose switches the program counts itself. Its count stands beside the kernel's; its times are not
    /// shown, as counting takes time.
    pub counted: Option<String>,
    /// What the programs' sizes count, such as `clients`.
    pub sizes_of: String,
    /// The programs.
    pub programs: Vec<Program>,
    /// What is claimed of them.
    pub claims: Vec<Claim>,
}

/// A program: its tests are called `<test>.<variant>`, and in other sizes than its own `<test>.<variant>.<size>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The tests' name without the variant.
    pub test: String,
    /// Its label.
    pub label: String,
    /// Whether all that the control does is to give way to others: then it is no part of the run's processor time.
    pub idle_control: bool,
    /// The sizes that it is measured in, besides its own.
    pub sizes: Vec<String>,
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

/// A claim: that a quantity of some variants, as a share of another variant's, lies within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim in words.
    pub text: String,
    /// What it is about.
    pub of: Quantity,
    /// Of which variants.
    pub variants: Vec<String>,
    /// Compared with which.
    pub against: String,
    /// In which programs, by their tests' names.
    pub programs: Vec<String>,
    /// The smallest share at which it holds; −∞ if there is none.
    pub at_least: f64,
    /// The largest; ∞ if there is none.
    pub at_most: f64,
}

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Context switches of synchronization.
    Switches,
    /// Time of synchronization.
    Time,
    /// Processor time of the whole run: synchronization and the work that it serves.
    Run,
}

impl Program {
    /// The name of its test in a variant.
    pub fn test(&self, variant: &str) -> String {
        format!("{}.{variant}", self.test)
    }

    /// The name of its test in a variant and a size.
    pub fn sized_test(&self, variant: &str, size: &str) -> String {
        format!("{}.{variant}.{size}", self.test)
    }
}
