//! Published tables: the figures of others, beside which today's are shown.

/// A table published elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Source of the publication.
    pub source: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a value for every column.
    pub rows: Vec<PublishedRow>,
}

/// A column of a published table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// Unit of its numbers (`ns`, `us`, `ms`, `s`), or empty.
    pub unit: String,
    /// Corresponding figures of today.
    pub figures: Figures,
}

/// Today's results that belong into a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figures {
    /// The range of the costs of these tests.
    Tests(Vec<String>),
    /// The cost per unit of the number that the names of these tests differ by.
    Slope(Vec<String>),
    /// The resolution of the first of these clocks that the subject has.
    ClockResolution(Vec<String>),
    /// The scheduling method that these delay curves show.
    DelayMethod(Vec<String>),
    /// The resolution that these delay curves show.
    DelayResolution(Vec<String>),
}

impl Figures {
    /// Returns the names of the tests or clocks.
    pub fn names(&self) -> &[String] {
        match self {
            Figures::Tests(names)
            | Figures::Slope(names)
            | Figures::ClockResolution(names)
            | Figures::DelayMethod(names)
            | Figures::DelayResolution(names) => names,
        }
    }
}

/// A row of a published table: one compiler on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// The compiler and the machine.
    pub label: String,
    /// A value for each column.
    pub values: Vec<PublishedValue>,
}

/// One published figure, in its column's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum PublishedValue {
    /// A number.
    Number(f64),
    /// A range.
    Range(f64, f64),
    /// Words, shown as they stand.
    Words(String),
}
