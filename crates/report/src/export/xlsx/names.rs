//! Short names of sheets.

/// Limit of the format.
const LONGEST: usize = 31;

/// Shortest clause that still shows its topic.
const CLAUSE_LEAST: usize = 10;

/// Shortest beginning that is kept before a differing end.
const BEGINNING_LEAST: usize = 5;

/// Mark between words for omitted ones.
const LEFT_OUT: &str = " … ";

/// Words that nothing ends with.
const LEADING: [&str; 19] = [
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "with", "without", "and", "or",
    "among", "against", "one", "whether", "that",
];

/// Returns a name for each section's sheet: at most 31 characters, cut between words, none of
/// `[]:*?/\`.
///
/// Names are unique without regard to case. Titles that would be cut to the same name keep their
/// differences.
pub(super) fn sheets(titles: &[&str], taken: &[&str]) -> Vec<String> {
    let mut taken: Vec<String> = taken.iter().map(|name| name.to_lowercase()).collect();
    let shortened: Vec<String> = titles.iter().map(|t| short(t, LONGEST)).collect();
    let mut names = vec![None; titles.len()];
    // A title that fits stays unchanged, whatever the others become.
    let fitting = (0..titles.len()).filter(|at| shortened[*at] == allowed(titles[*at]));
    let others = (0..titles.len()).filter(|at| shortened[*at] != allowed(titles[*at]));
    for at in fitting.chain(others) {
        let is_like = |other: &usize| {
            titles[*other] != titles[at]
                && shortened[*other].to_lowercase() == shortened[at].to_lowercase()
        };
        let others: Vec<&str> = (0..titles.len())
            .filter(is_like)
            .map(|o| titles[o])
            .collect();
        let name = free(titles[at], &shortened[at], &others, &taken);
        taken.push(name.to_lowercase());
        names[at] = Some(name);
    }
    names.into_iter().flatten().collect()
}

/// Returns the first free name.
fn free(title: &str, shortened: &str, others: &[&str], taken: &[String]) -> String {
    let numbered = (2..).map(|n| {
        let number = format!(" {n}");
        short(title, LONGEST - number.len()) + &number
    });
    let is_whole = shortened == allowed(title);
    let plain = (others.is_empty() || is_whole).then(|| shortened.to_owned());
    let reported = match others.is_empty() {
        true => Vec::new(),
        false => telling(title, others),
    };
    let mut names = plain.into_iter().chain(reported).chain(numbered);
    names
        .find(|name| !taken.contains(&name.to_lowercase()))
        .unwrap_or_default()
}

/// Returns names that keep a title's difference from others: its last clause, or its last words.
fn telling(title: &str, others: &[&str]) -> Vec<String> {
    let whole = allowed(title);
    let clauses: Vec<String> = title.split([',', ':', ';']).map(allowed).collect();
    let shortened =
        [shorter_at_the_end, shorter_at_the_beginning].map(|cut| of_clauses(&clauses, cut));
    let mut names: Vec<String> = match clauses.len() {
        1 => Vec::new(),
        _ => shortened.into_iter().flatten().collect(),
    };
    names.extend(with_last_words(&whole, others));
    names
}

/// Shortens all clauses, the longest first, until there is room; the last clause only if no other
/// has more than one word.
fn of_clauses(clauses: &[String], cut: fn(&str) -> Option<String>) -> Option<String> {
    let (last, rest) = clauses.split_last()?;
    let (mut last, mut rest) = (last.clone(), rest.to_vec());
    loop {
        let name = format!("{}, {last}", rest.join(", "));
        if name.chars().count() <= LONGEST {
            return Some(capitalized(&name));
        }
        let cuttable = rest.iter_mut().filter(|clause| cut(clause).is_some());
        match cuttable.max_by_key(|clause| clause.chars().count()) {
            Some(longest) => *longest = cut(longest)?,
            None => last = shorter_at_the_end(&last)?,
        }
    }
}

fn shorter_at_the_end(clause: &str) -> Option<String> {
    let (kept, _) = clause.rsplit_once(' ')?;
    Some(words(kept, LONGEST))
}

fn shorter_at_the_beginning(clause: &str) -> Option<String> {
    let mut kept = clause.split_once(' ')?.1;
    while let Some((first, rest)) = kept.split_once(' ') {
        // A number may distinguish one title from another.
        if first == "one" || !LEADING.contains(&first.to_lowercase().as_str()) {
            break;
        }
        kept = rest;
    }
    Some(kept.to_owned())
}

/// Returns the first words, and those from the first difference to other titles on.
fn with_last_words(title: &str, others: &[&str]) -> Option<String> {
    let own: Vec<&str> = title.split(' ').collect();
    let common = |other: &&str| {
        let other = allowed(other);
        let pairs = own.iter().zip(other.split(' '));
        pairs.take_while(|(word, other)| **word == *other).count()
    };
    let mut from = others.iter().map(common).max()?;
    // Words that lead to the first that differs belong to it.
    while from > 1 && LEADING.contains(&own[from - 1].to_lowercase().as_str()) {
        from -= 1;
    }
    let last = own.get(from..).filter(|last| !last.is_empty())?.join(" ");
    let taken = last.chars().count() + LEFT_OUT.chars().count();
    let first = words(title, LONGEST.checked_sub(taken)?);
    (first.chars().count() >= BEGINNING_LEAST).then(|| first + LEFT_OUT + &last)
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns the title, or its first clause, or as many of its words as there is room for.
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
    let is_reported = |text: &String| fits(text) && text.chars().count() >= CLAUSE_LEAST;
    clause
        .filter(is_reported)
        .unwrap_or_else(|| words(&whole, room))
}

/// Returns the first words of a text, without words at the end that lead to another. Of one long
/// word it is the beginning.
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

/// Replaces characters that names of sheets may not have.
fn allowed(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '/' | '\\' => '-',
            '\'' => '’',
            c if "[]:*?".contains(c) || c.is_control() => ' ',
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
        let of = |title: &str| sheets(&[title], &[]).remove(0);
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
        let titles: Vec<&str> = titles.into_iter().cycle().take(40).collect();
        let names = sheets(&titles, &["Run"]);
        for (at, name) in names.iter().enumerate() {
            assert!(name.chars().count() <= LONGEST, "{name}");
            assert!(!names[..at].contains(name), "{name}");
        }
        assert_eq!(
            names[..4],
            [
                "run 2",
                "Processor time … in Ada and C",
                "Processor time … in Go and Java",
                "run 3",
            ]
        );
    }

    #[test]
    fn what_titles_differ_in_is_kept() {
        let of = |titles: &[&str]| sheets(titles, &[]);
        assert_eq!(
            of(&[
                "The cost of the layer, one processor",
                "The cost of the layer, two processors",
            ]),
            ["The cost, one processor", "The cost, two processors"]
        );
        assert_eq!(
            of(&[
                "Dining philosophers",
                "Dining philosophers, two processors",
                "Dining philosophers: switch count and quantum",
                "Dining philosophers: switch count and quantum, two processors",
            ]),
            [
                "Dining philosophers",
                "Dining, two processors",
                "Dining, switch count",
                "Dining, switch, two processors"
            ]
        );
        assert_eq!(
            of(&[
                "Over connections, SQLite",
                "Over connections, MariaDB",
                "Over connections on one processor, SQLite",
                "Over connections on one processor, MariaDB",
            ])[2..],
            ["One processor, SQLite", "One processor, MariaDB"]
        );
        assert_eq!(
            of(&[
                "Processor time of a lookup in the cache under a lock",
                "Processor time of a lookup in the cache that is replaced",
            ]),
            [
                "Processor time … under a lock",
                "Processor … that is replaced"
            ]
        );
    }
}
