//! Selection of names, such as those of tests, by patterns such as `call.*`.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// A set of patterns; `*` stands for any text, `?` for one character. The empty set fits every
/// name.
#[derive(Clone, Debug)]
pub struct Patterns {
    written: Vec<String>,
    set: GlobSet,
}

/// A pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern: {why}; write a test's name with `*` and `?`")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// Cause.
    pub why: String,
}

impl Patterns {
    /// Reads the patterns.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn new(written: &[String]) -> Result<Patterns, PatternError> {
        let wrong = |pattern: &str, why: globset::Error| PatternError {
            pattern: pattern.to_owned(),
            why: why.kind().to_string(),
        };
        let mut set = GlobSetBuilder::new();
        for pattern in written {
            set.add(Glob::new(pattern).map_err(|why| wrong(pattern, why))?);
        }
        let set = set.build().map_err(|why| wrong(&written.join(","), why))?;
        Ok(Patterns {
            written: written.to_vec(),
            set,
        })
    }

    /// Checks that a pattern fits this name.
    pub fn fit(&self, test: &str) -> bool {
        self.written.is_empty() || self.set.is_match(test)
    }

    /// Checks for a capital letter in any pattern; names of tests have none.
    pub(crate) fn has_capital(&self) -> bool {
        let capital = |written: &String| written.chars().any(char::is_uppercase);
        self.written.iter().any(capital)
    }

    /// Checks that this very word was given, such as the name of a group.
    pub fn name(&self, word: &str) -> bool {
        self.written.iter().any(|written| written == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(written: &[&str]) -> Patterns {
        let written: Vec<String> = written.iter().map(|word| (*word).to_owned()).collect();
        Patterns::new(&written).expect("sound patterns")
    }

    #[test]
    fn no_pattern_fits_all_and_a_star_spans_dots() {
        assert!(patterns(&[]).fit("call.inter.none"));
        assert!(patterns(&["call.*"]).fit("call.inter.none"));
        assert!(!patterns(&["call.*"]).fit("clock.calendar"));
        assert!(patterns(&["clock.?sc", "delay"]).fit("clock.tsc"));
    }

    #[test]
    fn a_word_may_name_a_group_that_it_does_not_fit() {
        let calls = patterns(&["calls"]);
        assert!(calls.name("calls") && !calls.fit("call.inter.none"));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let error = Patterns::new(&["call.[".to_owned()]).unwrap_err();
        assert!(
            error.to_string().starts_with("`call.[` is no pattern: "),
            "{error}"
        );
    }
}
