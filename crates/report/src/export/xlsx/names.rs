//! Short names of sheets.

/// What the format allows.
const LONGEST: usize = 31;

/// Of a clause that is shorter nobody would know what it is about.
const CLAUSE_LEAST: usize = 10;

/// Words that nothing ends with.
const LEADING: [&str; 16] = [
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "with", "and", "or", "among",
    "whether", "that",
];

/// A name for a section's sheet: at most 31 characters, cut between words, none of `[]:*?/\`, unique without regard to case.
pub(super) fn sheet(title: &str, taken: &[String]) -> String {
    let free = |name: &String| {
        let is_same = |other: &String| other.to_lowercase() == name.to_lowercase();
        !taken.iter().any(is_same)
    };
    let numbered = (2..).map(|n| {
        let number = format!(" {n}");
        short(title, LONGEST - number.len()) + &number
    });
    let mut names = std::iter::once(short(title, LONGEST)).chain(numbered);
    names.find(free).unwrap_or_default()
}

/// The title, or its first clause, or as many of its words as there is room for.
fn short(title: &str, room: usize) -> String {
    let fits = |text: &str| text.chars().count() <= room;
    let whole = allowed(title);
    if fits(&whole) {
        return if whole.is_empty() {
            "Sheet".into()
        } else {
            whole
        };
    }
    let clause = title.split([',', ':', ';']).next().map(allowed);
    let is_told = |text: &String| fits(text) && text.chars().count() >= CLAUSE_LEAST;
    clause
        .filter(is_told)
        .unwrap_or_else(|| words(&whole, room))
}

/// The first words of a text, without those at the end that lead to another; of one long word, its beginning.
fn words(text: &str, room: usize) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut length = 0;
    for word in text.split(' ') {
        length += word.chars().count() + usize::from(!kept.is_empty());
        if length > room {
            break;
        }
        kept.push(word);
    }
    while kept
        .last()
        .is_some_and(|last| LEADING.contains(&last.to_lowercase().as_str()))
    {
        kept.pop();
    }
    match kept.is_empty() {
        true => text.chars().take(room).collect::<String>().trim().into(),
        false => kept.join(" ").trim_end_matches([',', ';']).into(),
    }
}

/// A text without what names of sheets may not have.
fn allowed(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '/' | '\\' => '-',
            c if "[]:*?'".contains(c) || c.is_control() => ' ',
            c => c,
        })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_cut_between_words() {
        let of = |title: &str| sheet(title, &[]);
        assert_eq!(of("Queries"), "Queries");
        assert_eq!(
            of("What was found elsewhere, and whether it holds here"),
            "What was found elsewhere"
        );
        assert_eq!(
            of("Would another run say the same?"),
            "Would another run say the same"
        );
        assert_eq!(
            of("A/A: what is equal, measured twice"),
            "A-A what is equal, measured"
        );
        assert_eq!(of("Memory of subjects and databases"), "Memory of subjects");
        assert_eq!(
            of("Processor time of an increment under a lock"),
            "Processor time of an increment"
        );
        assert_eq!(of(""), "Sheet");
        assert_eq!(of(&"x".repeat(40)).chars().count(), LONGEST);
    }

    #[test]
    fn names_are_short_and_unlike_each_other() {
        let titles = [
            "run",
            "Processor time of a lookup in Ada and C",
            "Processor time of a lookup in Go and Java",
        ];
        let mut taken = vec!["Run".to_owned()];
        for title in titles.into_iter().cycle().take(40) {
            let name = sheet(title, &taken);
            assert!(name.chars().count() <= LONGEST, "{name}");
            assert!(!taken.contains(&name), "{name}");
            taken.push(name);
        }
        assert_eq!(
            taken[1..4],
            [
                "run 2",
                "Processor time of a lookup",
                "Processor time of a lookup 2"
            ]
        );
    }
}
