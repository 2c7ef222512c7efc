//! Matrices of placeholder values, and templates such as `call.{form}.none` that they fill.

/// Placeholders with their values, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix(pub Vec<(String, Vec<String>)>);

/// One test of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The test's name.
    pub test: String,
    /// Its label.
    pub label: String,
    /// The values that the placeholders took.
    pub values: Vec<(String, String)>,
}

impl Instance {
    /// Returns the value of a placeholder.
    pub fn value(&self, placeholder: &str) -> Option<&str> {
        let found = self.values.iter().find(|(name, _)| name == placeholder);
        found.map(|(_, value)| value.as_str())
    }
}

impl Matrix {
    /// Returns the values of a placeholder.
    pub fn values(&self, placeholder: &str) -> Option<&[String]> {
        let found = self.0.iter().find(|(name, _)| name == placeholder);
        found.map(|(_, values)| values.as_slice())
    }

    /// Restricts the placeholders of `other` to its values.
    pub fn restricted(&self, other: &Matrix) -> Matrix {
        let restrict = |(name, values): &(String, Vec<String>)| {
            let kept = other.values(name).unwrap_or(values).to_vec();
            (name.clone(), kept)
        };
        Matrix(self.0.iter().map(restrict).collect())
    }

    /// Counts the combinations of values; a placeholder without values counts as one. `None` if the
    /// number is too large.
    pub(super) fn count(&self) -> Option<usize> {
        let mut lengths = self.0.iter().map(|(_, values)| values.len().max(1));
        lengths.try_fold(1usize, usize::checked_mul)
    }

    /// Returns every combination of values, the last placeholder changing fastest. Without
    /// placeholders there is one empty combination.
    pub fn combinations(&self) -> Vec<Vec<(String, String)>> {
        let mut combinations = vec![Vec::new()];
        for (name, values) in &self.0 {
            combinations = combinations
                .into_iter()
                .flat_map(|before| {
                    values.iter().map(move |value| {
                        let mut longer = before.clone();
                        longer.push((name.clone(), value.clone()));
                        longer
                    })
                })
                .collect();
        }
        combinations
    }

    pub(super) fn instances(&self, test: &str, label: &str) -> Vec<Instance> {
        let instance = |values: Vec<(String, String)>| Instance {
            test: fill(test, &values),
            label: fill(label, &values),
            values,
        };
        self.combinations().into_iter().map(instance).collect()
    }
}

/// Replaces each `{name}` of the template by its value; unknown placeholders stay.
pub fn fill(template: &str, values: &[(String, String)]) -> String {
    let mut filled = template.to_owned();
    for (name, value) in values {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    filled
}

/// Returns the placeholders of a template, in order; an error is a fault of its braces.
pub(super) fn placeholders(template: &str) -> Result<Vec<&str>, &'static str> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find(['{', '}']) {
        if rest[open..].starts_with('}') {
            return Err("a `}` without its `{`");
        }
        let Some(close) = rest[open..].find('}') else {
            return Err("a `{` without its `}`");
        };
        names.push(&rest[open + 1..open + close]);
        rest = &rest[open + close + 1..];
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[(&str, &[&str])]) -> Matrix {
        let own = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        Matrix(
            rows.iter()
                .map(|(name, values)| ((*name).to_owned(), own(values)))
                .collect(),
        )
    }

    #[test]
    fn the_last_placeholder_changes_fastest() {
        let each = matrix(&[("form", &["inter", "intra"]), ("count", &["1", "10"])]);
        let tests: Vec<_> = each
            .instances("call.{form}.{count}", "{count} in {form}")
            .into_iter()
            .map(|instance| (instance.test, instance.label))
            .collect();
        let expected = [
            ("call.inter.1", "1 in inter"),
            ("call.inter.10", "10 in inter"),
            ("call.intra.1", "1 in intra"),
            ("call.intra.10", "10 in intra"),
        ];
        assert_eq!(
            tests,
            expected.map(|(test, label)| (test.to_owned(), label.to_owned()))
        );
    }

    #[test]
    fn a_template_without_placeholders_is_one_test() {
        assert_eq!(
            Matrix::default().instances("delay.zero", "delay 0.0").len(),
            1
        );
    }

    #[test]
    fn more_combinations_than_can_be_counted_are_no_number() {
        let each = matrix(&[("form", &["inter", "intra"]), ("count", &[])]);
        assert_eq!(each.count(), Some(2));
        assert_eq!(Matrix::default().count(), Some(1));
        let many = vec![each.0[0].clone(); usize::BITS as usize];
        assert_eq!(Matrix(many).count(), None);
    }

    #[test]
    fn quick_restricts_only_what_it_names() {
        let each = matrix(&[("form", &["inter", "intra"]), ("count", &["1", "10"])]);
        let restricted = each.restricted(&matrix(&[("form", &["intra"])]));
        assert_eq!(
            restricted,
            matrix(&[("form", &["intra"]), ("count", &["1", "10"])])
        );
    }

    #[test]
    fn braces_must_pair() {
        assert_eq!(placeholders("a.{b}.{c}"), Ok(vec!["b", "c"]));
        assert!(placeholders("a.{b").is_err());
        assert!(placeholders("a.b}").is_err());
    }
}
