//! Savings of program variants: their time and context switches beside those of the original
//! variant.

/// Programs that a suite measures in several variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Savings {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Summary of the comparison in a sentence or two.
    pub text: String,
    /// Source of the published figures; empty if there are none.
    pub source: String,
    /// The variant that the others are compared with.
    pub base: String,
    /// The other variants, in the order in which they are shown.
    pub variants: Vec<String>,
    /// The subject, as `name/variant`, whose program counts its own switches. Its count stands
    /// beside the kernel's. Its times are not shown, because counting takes time.
    pub counted: Option<String>,
    /// Thing that the programs' sizes count, such as `clients`.
    pub sizes_of: String,
    /// The programs.
    pub programs: Vec<Program>,
    /// Claims about them.
    pub claims: Vec<Claim>,
}

/// A program: its tests are called `<test>.<variant>`, and in other sizes than its own
/// `<test>.<variant>.<size>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The tests' name without the variant.
    pub test: String,
    /// Its label.
    pub label: String,
    /// Whether its control only yields to others: it is then no part of the run's processor time.
    pub idle_control: bool,
    /// The sizes that it is measured in, besides its own.
    pub sizes: Vec<String>,
    /// Published figures of its variants.
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
    /// Quantity in question.
    pub of: Quantity,
    /// Variants of the claim.
    pub variants: Vec<String>,
    /// Compared with which.
    pub against: String,
    /// Programs of the claim, by their tests' names.
    pub programs: Vec<String>,
    /// The smallest share at which it holds; −∞ if there is none.
    pub at_least: f64,
    /// The largest; ∞ if there is none.
    pub at_most: f64,
}

/// Quantity of a claim.
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
    /// Returns the name of its test in a variant.
    pub fn test(&self, variant: &str) -> String {
        format!("{}.{variant}", self.test)
    }

    /// Returns the name of its test in a variant and a size.
    pub fn sized_test(&self, variant: &str, size: &str) -> String {
        format!("{}.{variant}.{size}", self.test)
    }
}
