//! A writer of C text.

/// Lines of C with their indentation.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Makes a writer whose first line is indented by `depth` steps.
    pub fn at_depth(depth: usize) -> Writer {
        Writer {
            text: String::new(),
            depth,
        }
    }

    /// Returns the depth of the next line.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Writes a line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Writes a line that begins in the first column: a directive.
    pub fn directive(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes a label, one step to the left.
    pub fn label(&mut self, label: &str) {
        let depth = self.depth.saturating_sub(1);
        self.text.extend(std::iter::repeat_n("    ", depth));
        self.text.push_str(label);
        self.text.push_str(":;\n");
    }

    /// Writes a line that begins a block.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Ends a block.
    pub fn close(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
    }

    /// Ends a block and begins another.
    pub fn reopen(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
        self.depth += 1;
    }

    /// Indents the next lines by one more step.
    pub fn indent(&mut self) {
        self.depth += 1;
    }

    /// Indents the next lines by one step less.
    pub fn outdent(&mut self) {
        self.depth -= 1;
    }

    /// Appends lines of another writer.
    pub fn append(&mut self, other: &str) {
        self.text.push_str(other);
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// Returns bytes as a C string literal.
pub fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            // Two question marks could begin a trigraph.
            b'?' => text.push_str("\\?"),
            b' '..=b'~' => text.push(char::from(byte)),
            // Three digits, so that a following digit is not part of the escape.
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

/// Returns an expression without the parentheses around it.
pub fn bare(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0i32;
    for byte in inner.bytes() {
        match byte {
            // Parentheses in literals would confuse the search.
            b'"' | b'\'' => return text,
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text;
        }
    }
    inner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_one_literal_whatever_is_in_it() {
        assert_eq!(string(b"a\"b\\"), r#""a\"b\\""#);
        assert_eq!(string(b"??=\n\x0012"), r#""\?\?=\n\00012""#);
        assert_eq!(string("é".as_bytes()), r#""\303\251""#);
    }

    #[test]
    fn only_parentheses_around_the_whole_are_taken_away() {
        assert_eq!(bare("(a + (b))"), "a + (b)");
        assert_eq!(bare("(a) + (b)"), "(a) + (b)");
        assert_eq!(bare("(f(')'))"), "(f(')'))");
        assert_eq!(bare("a"), "a");
    }

    #[test]
    fn blocks_indent_and_labels_stand_to_the_left() {
        let mut out = Writer::at_depth(1);
        out.open("if (a) {");
        out.line("b();");
        out.label("again");
        out.reopen("} else {");
        out.directive("#line 3");
        out.close("}");
        let text = "    if (a) {\n        b();\n    again:;\n    } else {\n#line 3\n    }\n";
        assert_eq!(out.finish(), text);
    }
}
