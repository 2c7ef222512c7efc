//! The SR text under construction, with the origin of every part.

use std::collections::HashMap;
use std::ops::Range;

use antiphon_lang::Origin;

use super::scan::{self, Use};
use super::{Made, Mistake};

/// A construct: its name, its number of arguments, and its SR template. In the template, `$1` is
/// the first argument, `$a` the tenth, and `$"1` the first one's text as a literal.
pub(super) struct Construct {
    pub name: &'static str,
    pub arguments: usize,
    pub text: &'static str,
}

/// All constructs of a notation for which a template is enough.
pub(super) type Table<'t> = &'t [Construct];

pub(super) struct Output<'w> {
    pub written: &'w str,
    table: Table<'w>,
    /// Constructs besides those of the table.
    others: &'static [&'static str],
    definitions: HashMap<&'w str, &'w str>,
    made: Made,
}

impl<'w> Output<'w> {
    pub(super) fn new(
        written: &'w str,
        table: Table<'w>,
        others: &'static [&'static str],
    ) -> Output<'w> {
        Output {
            written,
            table,
            others,
            definitions: scan::definitions(written),
            made: Made {
                text: String::new(),
                origins: Vec::new(),
                errors: Vec::new(),
            },
        }
    }

    pub(super) fn made(self) -> Made {
        self.made
    }

    /// Returns a part of the original text.
    pub(super) fn part(&self, range: &Range<usize>) -> &'w str {
        &self.written[range.clone()]
    }

    fn begin_part(&mut self, from: &Range<usize>, is_copied: bool) {
        self.made.origins.push(Origin {
            start: self.made.text.len() as u32,
            from: from.start as u32,
            to: from.end as u32,
            is_copied,
        });
    }

    /// Copies a range, and expands the constructs in it.
    pub(super) fn copy(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some(found) = scan::next(self.written, at..range.end) {
            self.copy_plain(at..found.range.start);
            at = found.range.end;
            self.expand(&found);
        }
        self.copy_plain(at..range.end);
    }

    /// Copies a range, and replaces defined words.
    pub(super) fn copy_plain(&mut self, range: Range<usize>) {
        let (mut copied, mut at) = (range.start, range.start);
        while let Some(word) = scan::next_word(self.written, at..range.end) {
            at = word.end;
            if let Some(value) = self.definitions.get(self.part(&word)).copied() {
                self.copy_as_is(copied..word.start);
                self.begin_part(&word, false);
                self.made.text += value;
                copied = word.end;
            }
        }
        self.copy_as_is(copied..range.end);
    }

    fn copy_as_is(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.begin_part(&range, true);
            self.made.text += self.part(&range);
        }
    }

    /// Adds the SR of a construct.
    pub(super) fn put(&mut self, text: &str, from: &Use) {
        if !text.is_empty() {
            self.begin_part(&from.range, false);
            self.made.text += text;
        }
    }

    /// Expands a construct of the table.
    pub(super) fn expand(&mut self, found: &Use) {
        let name = self.part(&found.name);
        let table = self.table;
        match table.iter().find(|construct| construct.name == name) {
            Some(construct) if self.fits(found, construct.arguments) => {
                self.template(construct.text, found);
            }
            Some(_) => {}
            None => self.unknown(found),
        }
    }

    /// Whether a construct has the right number of arguments; reports a mistake otherwise.
    pub(super) fn fits(&mut self, found: &Use, arguments: usize) -> bool {
        let name = self.part(&found.name);
        let given = match &found.arguments[..] {
            [only] if only.is_empty() => 0,
            all => all.len(),
        };
        if !found.is_closed {
            self.mistake(
                found,
                format!("the arguments of {name} do not end"),
                "close them with \")\"",
            );
        } else if given != arguments {
            self.mistake(
                found,
                match arguments {
                    1 => format!("{name} has 1 argument, not {given}"),
                    _ => format!("{name} has {arguments} arguments, not {given}"),
                },
                "write them between commas, in parentheses; a comma in brackets does not count",
            );
        }
        found.is_closed && given == arguments
    }

    pub(super) fn unknown(&mut self, found: &Use) {
        let table = self.table.iter().map(|construct| construct.name);
        let names: Vec<&str> = table.chain(self.others.iter().copied()).collect();
        let message = format!(
            "there is no construct {} in this notation",
            self.part(&found.name)
        );
        self.mistake(found, message, &format!("there are {}", names.join(", ")));
    }

    pub(super) fn mistake(&mut self, found: &Use, message: String, help: &str) {
        let at = self.made.text.len() as u32;
        // A blank, so that the error has a place in the text.
        self.put(" ", found);
        self.made.errors.push(Mistake {
            at,
            message,
            help: help.to_owned(),
        });
    }

    /// Adds a template with its arguments filled in.
    pub(super) fn template(&mut self, template: &str, found: &Use) {
        let mut rest = template;
        while let Some(dollar) = rest.find('$') {
            self.put(&rest[..dollar], found);
            rest = &rest[dollar + 1..];
            let is_literal = rest.starts_with('"');
            rest = rest.strip_prefix('"').unwrap_or(rest);
            let digit = rest.chars().next().and_then(|c| c.to_digit(16));
            let argument = digit.and_then(|digit| found.arguments.get(digit as usize - 1));
            let Some(argument) = argument else {
                unreachable!("templates speak of arguments that their constructs have")
            };
            rest = &rest[1..];
            if is_literal {
                let text = literal(self.part(argument));
                self.put(&text, found);
            } else {
                self.copy(argument.clone());
            }
        }
        self.put(rest, found);
    }
}

/// Returns a text as a string literal; white space in it becomes a blank.
pub(super) fn literal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let escaped = words.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}
