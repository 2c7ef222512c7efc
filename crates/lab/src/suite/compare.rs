//! Bases of comparison for the costs of a suite's subjects.

/// Base of a subject's costs. If operations use a database, the base always uses the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compare {
    /// The first one of all, as languages are compared.
    #[default]
    Subjects,
    /// The first variant of the same subject, as ways of one language are.
    Variants,
}

impl Compare {
    /// All bases.
    pub(super) const ALL: [Compare; 2] = [Compare::Subjects, Compare::Variants];

    /// Its word in suite files.
    pub(super) fn word(self) -> &'static str {
        match self {
            Compare::Subjects => "subjects",
            Compare::Variants => "variants",
        }
    }

    /// Checks that a subject may be compared with another; both as `name/variant`.
    pub fn allows(self, of: &str, with: &str) -> bool {
        self.common(of) == self.common(with)
    }

    /// Returns the key that a subject, as `name/variant`, shares with its possible bases: its name,
    /// or nothing.
    pub fn common(self, subject: &str) -> &str {
        match self {
            Compare::Subjects => "",
            Compare::Variants => subject.split_once('/').map_or(subject, |(name, _)| name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_compared_within_their_subject() {
        assert!(Compare::Subjects.allows("sql-ada/sqlite", "sql-c/sqlite"));
        assert!(Compare::Variants.allows("sql-go/postgresql-pq", "sql-go/postgresql"));
        assert!(!Compare::Variants.allows("sql-go/postgresql", "sql-c/postgresql"));
    }
}
