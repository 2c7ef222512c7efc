//! The tokens of a project file.

/// A token of a project file. Words are in lower case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Sign(char),
    /// `:=` and `=>`.
    Arrow,
}

/// Splits a text into tokens with their lines.
pub(super) fn tokens(text: &str) -> Vec<(Token, usize)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            if rest.starts_with("--") {
                break;
            }
            let length;
            let token = if first == '"' {
                let mut text = String::new();
                let mut chars = rest.char_indices().skip(1).peekable();
                let mut end = rest.len();
                while let Some((at, c)) = chars.next() {
                    if c != '"' {
                        text.push(c);
                    } else if chars.next_if(|&(_, next)| next == '"').is_some() {
                        text.push('"');
                    } else {
                        end = at + 1;
                        break;
                    }
                }
                length = end;
                Token::Text(text)
            } else if first.is_alphanumeric() || first == '_' {
                length = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                Token::Word(rest[..length].to_lowercase())
            } else if rest.starts_with(":=") || rest.starts_with("=>") {
                length = 2;
                Token::Arrow
            } else {
                length = first.len_utf8();
                Token::Sign(first)
            };
            found.push((token, index + 1));
            rest = rest[length..].trim_start();
        }
    }
    found
}
